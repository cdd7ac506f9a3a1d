/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The links of a path's step, as a search takes them: each way through alternatives and sequences is a chain.
 */
#include "daemon/plan/sqlgen-private.h"

/* Links of a step that queryd_steps() takes. */
#define LINKS_MAX 60

/* A link of a step, and those that go on from it: arms of the step share their ends. */
typedef struct Chain {
    const QdTerm *iri;
    gboolean backward;
    guint n; /* links */
    const struct Chain *next;
} Chain;

static gboolean list_chains(QdGenerator *self, const QdPath *path, gboolean backward, const Chain *next, GPtrArray *out);

/* From the last member that is walked to the first. */
static gboolean
list_sequence(QdGenerator *self, const QdPath *path, gboolean backward, const Chain *next, GPtrArray *out)
{
    g_autoptr(GPtrArray) ends = g_ptr_array_new();

    g_ptr_array_add(ends, (gpointer) next);
    for (guint i = path->n_children; i-- > 0;) {
        const QdPath *member = path->children[backward ? path->n_children - 1 - i : i];
        g_autoptr(GPtrArray) longer = g_ptr_array_new();

        for (guint j = 0; j < ends->len; j++) {
            if (!list_chains(self, member, backward, ends->pdata[j], longer))
                return FALSE;
        }
        g_ptr_array_unref(ends);
        ends = g_steal_pointer(&longer);
    }
    g_ptr_array_extend(out, ends, NULL, NULL);
    return out->len <= LINKS_MAX;
}

/* The ways that @path may take, each followed by @next, are added to @out. FALSE: they are too many, or more than links. */
static gboolean
list_chains(QdGenerator *self, const QdPath *path, gboolean backward, const Chain *next, GPtrArray *out)
{
    Chain *chain;

    switch (path->kind) {
    case QD_PATH_LINK:
        chain = qd_arena_new0(self->arena, Chain);
        *chain = (Chain){ path->iri, backward, next != NULL ? next->n + 1 : 1, next };
        g_ptr_array_add(out, chain);
        return out->len <= LINKS_MAX && chain->n <= LINKS_MAX;
    case QD_PATH_INVERSE:
        return list_chains(self, path->children[0], !backward, next, out);
    case QD_PATH_ALTERNATIVE:
        for (guint i = 0; i < path->n_children; i++)
            if (!list_chains(self, path->children[i], backward, next, out))
                return FALSE;
        return TRUE;
    case QD_PATH_SEQUENCE:
        return list_sequence(self, path, backward, next, out);
    case QD_PATH_ZERO_OR_MORE:
    case QD_PATH_ONE_OR_MORE:
    case QD_PATH_ZERO_OR_ONE:
    case QD_PATH_NEGATED:
        return FALSE;
    }
    g_assert_not_reached();
}

gboolean
qd_path_append_links(QdGenerator *self, const QdPath *path, gboolean backward, QdSqlBuilder *out)
{
    g_autoptr(GPtrArray) chains = g_ptr_array_new();
    guint n_links = 0;

    if (!list_chains(self, path, backward, NULL, chains))
        return FALSE;
    for (guint i = 0; i < chains->len; i++)
        n_links += ((const Chain *) chains->pdata[i])->n;
    if (n_links > LINKS_MAX)
        return FALSE;
    for (guint i = 0; i < chains->len; i++) {
        for (const Chain *chain = chains->pdata[i]; chain != NULL; chain = chain->next)
            qd_sql_append(out, qd_sql_make(self->arena, ",@,@",
                                           qd_sql_text(qd_arena_printf(self->arena, "%d",
                                                                       (chain->next != NULL ? 2 : 1) * (chain->backward ? -1 : 1))),
                                           qd_generator_put_term(self, chain->iri)));
    }
    return TRUE;
}
