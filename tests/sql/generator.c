/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The order of statements, and the source of choices.
 */
#include "tests/sql/generator-private.h"

#include <stdint.h>

#define SCRIPT_STEPS 60

/* xorshift64*, so that a seed makes the same script everywhere. */
guint
generator_pick(Generator *self, guint n)
{
    self->state ^= self->state >> 12;
    self->state ^= self->state << 25;
    self->state ^= self->state >> 27;
    return (guint) ((self->state * UINT64_C(0x2545f4914f6cdd1d)) >> 33) % n;
}

gboolean
generator_chance(Generator *self, guint n)
{
    return generator_pick(self, n) == 0;
}

void
generator_put(Generator *self, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    g_string_append_vprintf(self->text, format, args);
    va_end(args);
}

Relation *
generator_any_relation(Generator *self)
{
    return self->relations->len > 0 ? self->relations->pdata[generator_pick(self, self->relations->len)] : NULL;
}

Relation *
generator_any_table(Generator *self)
{
    for (guint i = 0; i < 8; i++) {
        Relation *relation = generator_any_relation(self);

        if (relation != NULL && relation->kind != RELATION_VIEW)
            return relation;
    }
    return NULL;
}

static void
add(Generator *self, StepKind kind, void (*write)(Generator *))
{
    self->text = g_string_new(NULL);
    self->n_scope = 0;
    if (write != generator_define)
        generator_begin_parameters(self);
    write(self);
    script_add(self->script, kind, generator_pick(self, 1 << 20), g_string_free(g_steal_pointer(&self->text), FALSE))
        ->bound = generator_end_parameters(self);
}

static void
write_query(Generator *self)
{
    generator_select(self, 3, generator_pick(self, 4));
}

static void
write_maintenance(Generator *self)
{
    static const char *const texts[] = { "ANALYZE", "REINDEX" };

    generator_put(self, "%s", texts[generator_pick(self, G_N_ELEMENTS(texts))]);
}

static void
add_some(Generator *self, guint n)
{
    for (guint i = 0; i < n; i++) {
        if (generator_chance(self, 6))
            add(self, STEP_UPDATE, generator_define);
        else if (generator_chance(self, 2))
            add(self, STEP_UPDATE, generator_change);
        else
            add(self, STEP_QUERY, write_query);
    }
}

static void
add_group(Generator *self)
{
    if (generator_chance(self, 2)) {
        (void) script_add(self->script, STEP_BATCH, 0, NULL);
        for (guint i = 0; i < 4; i++)
            add(self, STEP_UPDATE, generator_chance(self, 8) ? generator_define : generator_change);
        (void) script_add(self->script, STEP_END_BATCH, 0, NULL);
        return;
    }
    (void) script_add(self->script, STEP_BEGIN, 0, NULL);
    add_some(self, 6);
    (void) script_add(self->script, generator_chance(self, 3) ? STEP_ROLLBACK : STEP_COMMIT, 0, NULL);
}

Script *
generator_make_script(guint64 seed)
{
    Generator self = { .state = (seed + 1) * UINT64_C(0x9e3779b97f4a7c15), .script = script_new() };

    self.relations = g_ptr_array_new_with_free_func(g_free);
    self.counts = self.script->counts = generator_chance(&self, 4);
    for (guint i = 0; i < 6; i++)
        add(&self, STEP_UPDATE, generator_define);
    while (self.script->steps->len < SCRIPT_STEPS) {
        if (generator_chance(&self, 12))
            add_group(&self);
        else if (generator_chance(&self, 40))
            add(&self, STEP_UPDATE, write_maintenance);
        else
            add_some(&self, 1);
    }
    g_ptr_array_unref(self.relations);
    return self.script;
}
