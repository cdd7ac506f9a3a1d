/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * SERVICE: its pattern is parsed for its variables, and goes to the endpoint as it is written. So it may call functions that only
 * the endpoint knows.
 */
#include "daemon/sparql/parser-private.h"

static gint
compare_names(gconstpointer a, gconstpointer b)
{
    return g_strcmp0(*(const char *const *) a, *(const char *const *) b);
}

/* All prefixes that are known by now, in order. */
static void
append_prologue(QdParser *self, GString *out)
{
    g_autoptr(GPtrArray) prefixes = g_ptr_array_new();
    GHashTableIter iter;
    gpointer prefix;

    if (self->ast->base != NULL)
        g_string_append_printf(out, "BASE <%s>\n", self->ast->base);
    g_hash_table_iter_init(&iter, self->names.prefixes);
    while (g_hash_table_iter_next(&iter, &prefix, NULL))
        g_ptr_array_add(prefixes, prefix);
    g_ptr_array_sort(prefixes, compare_names);
    for (guint i = 0; i < prefixes->len; i++)
        g_string_append_printf(out, "PREFIX %s: <%s>\n", (const char *) prefixes->pdata[i],
                               (const char *) g_hash_table_lookup(self->names.prefixes, prefixes->pdata[i]));
}

/* The query for the endpoint, without the values that it is joined with. @offset: where the group begins. */
static const char *
make_text(QdParser *self, const QdPattern *group, guint64 offset)
{
    g_autoptr(GString) out = g_string_new(NULL);
    gsize before;

    append_prologue(self, out);
    g_string_append(out, "SELECT");
    before = out->len;
    QD_VARIABLE_SET_FOREACH(&group->visible, variable)
    {
        const char *name = qd_ast_get_variable_name(self->ast, variable);

        if (name != NULL)
            g_string_append_printf(out, " ?%s", name);
    }
    if (out->len == before)
        g_string_append(out, " (1 AS ?queryd_row)");
    g_string_append(out, " WHERE ");
    g_string_append_len(out, self->service.text + offset, (gssize) (self->service.group_end - offset));
    return qd_arena_strndup(self->arena, out->str, out->len);
}

QdPattern *
qd_parser_parse_service(QdParser *self)
{
    QdPattern *pattern = qd_parser_new_pattern(self, QD_PATTERN_SERVICE);
    QdPattern *group;
    guint64 offset;

    pattern->silent = qd_parser_accept_word(self, "SILENT");
    if (self->error != NULL || !qd_parser_parse_variable_or_iri(self, &pattern->node))
        return NULL;
    self->ast->is_volatile = self->ast->has_service = TRUE;
    offset = self->token.offset;
    self->service.depth++;
    group = qd_parser_parse_group(self);
    self->service.depth--;
    if (group == NULL)
        return NULL;
    pattern->remote = self->service.depth == 0 ? make_text(self, group, offset) : NULL;
    qd_pattern_add_variables(group, self->arena, &pattern->mentioned);
    pattern->children = qd_arena_new0(self->arena, QdPattern *);
    pattern->children[0] = group;
    pattern->n_children = 1;
    qd_variable_set_add_all(&pattern->visible, self->arena, &group->visible);
    if (pattern->node.kind == QD_NODE_VARIABLE)
        qd_variable_set_add(&pattern->visible, self->arena, pattern->node.variable);
    return pattern;
}
