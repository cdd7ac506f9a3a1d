/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Each part is a common table expression of values k and numbers n, after those that it is made of.
 */
#include "daemon/tally/tally-sql.h"

#include <string.h>

#define QUAD "queryd_quad AS q"
#define BY_OBJECT QUAD " INDEXED BY queryd_quad_posg"
#define WHERE " WHERE q.p=%" G_GINT64_FORMAT " AND q.g=0"

typedef struct Writer {
    QdTallyReadState state;
    GString *sql;
    guint n_parts; /* that are written */
} Writer;

static gboolean write_part(Writer *self, guint depth, guint *ret_part);

static void
begin_part(Writer *self, guint *ret_part)
{
    *ret_part = self->n_parts++;
    g_string_append_printf(self->sql, "%s t%u(k,n) AS (", *ret_part == 0 ? "WITH" : ",", *ret_part);
}

static gboolean
write_column(Writer *self, char what, guint *ret_part)
{
    gint64 id;

    if (!qd_tally_read_id(&self->state, &id))
        return FALSE;
    begin_part(self, ret_part);
    switch (what) {
    case 's':
        g_string_append_printf(self->sql, "SELECT s,count(*) FROM " QUAD WHERE " GROUP BY 1)", id);
        return TRUE;
    case 'o':
        g_string_append_printf(self->sql, "SELECT o,count(*) FROM " BY_OBJECT WHERE " GROUP BY 1)", id);
        return TRUE;
    case 'u':
        g_string_append_printf(self->sql, "SELECT DISTINCT s,1 FROM " QUAD WHERE ")", id);
        return TRUE;
    case 'v':
        g_string_append_printf(self->sql, "SELECT DISTINCT o,1 FROM " BY_OBJECT WHERE ")", id);
        return TRUE;
    case 'e':
        g_string_append_printf(self->sql, "SELECT s,1 FROM " QUAD WHERE " AND s=o)", id);
        return TRUE;
    default:
        g_string_append_printf(self->sql, "SELECT s,count(*) FROM " QUAD WHERE " AND s<>o GROUP BY 1)", id);
        return TRUE;
    }
}

static gboolean
write_follow(Writer *self, char what, guint depth, guint *ret_part)
{
    char from = what == 'S' ? 's' : 'o';
    char to = what == 'S' ? 'o' : 's';
    guint inner;
    gint64 id;

    if (!qd_tally_read_id(&self->state, &id) || !write_part(self, depth, &inner))
        return FALSE;
    begin_part(self, ret_part);
    g_string_append_printf(self->sql, "SELECT q.%c,sum(x.n) FROM " QUAD " JOIN t%u AS x ON x.k=q.%c" WHERE " GROUP BY 1)", from,
                           inner, to, id);
    return TRUE;
}

static gboolean
write_list(Writer *self, char what, guint *ret_part)
{
    gint64 id;
    gint64 other;

    if (!qd_tally_read_id(&self->state, &id) || !qd_tally_read_id(&self->state, &other))
        return FALSE;
    begin_part(self, ret_part);
    g_string_append_printf(self->sql, "SELECT %c,1 FROM " QUAD WHERE " AND q.%c=%" G_GINT64_FORMAT ")", what == 'c' ? 's' : 'o', id,
                           what == 'c' ? 'o' : 's', other);
    return TRUE;
}

static gboolean
write_combination(Writer *self, char what, guint depth, guint *ret_part)
{
    guint a, b;

    if (!write_part(self, depth, &a) || !write_part(self, depth, &b))
        return FALSE;
    begin_part(self, ret_part);
    switch (what) {
    case '*':
        g_string_append_printf(self->sql, "SELECT a.k,a.n*b.n FROM t%u AS a JOIN t%u AS b ON a.k=b.k)", a, b);
        return TRUE;
    case '+':
        g_string_append_printf(self->sql, "SELECT k,sum(n) FROM (SELECT k,n FROM t%u UNION ALL SELECT k,n FROM t%u) GROUP BY 1)", a,
                               b);
        return TRUE;
    case '?':
        g_string_append_printf(self->sql, "SELECT a.k,a.n*ifnull(b.n,1) FROM t%u AS a LEFT JOIN t%u AS b ON a.k=b.k)", a, b);
        return TRUE;
    default:
        g_string_append_printf(self->sql, "SELECT k,n FROM t%u WHERE k %sIN (SELECT k FROM t%u))", a, what == '-' ? "NOT " : "", b);
        return TRUE;
    }
}

static gboolean
write_part(Writer *self, guint depth, guint *ret_part)
{
    char what = *self->state.at;

    if (what == '\0' || depth >= QD_TALLY_DEPTH_MAX)
        return FALSE;
    self->state.at++;
    if (strchr("souven", what) != NULL)
        return write_column(self, what, ret_part);
    if (what == 'S' || what == 'O')
        return write_follow(self, what, depth + 1, ret_part);
    if (what == 'c' || what == 'd')
        return write_list(self, what, ret_part);
    return strchr("*+?-&", what) != NULL && write_combination(self, what, depth + 1, ret_part);
}

char *
qd_tally_program_to_sql(const QdTallyProgram *self)
{
    g_autoptr(GString) sql = g_string_new(NULL);
    Writer writer = { .state = { self, self->text }, .sql = sql };
    char how = *writer.state.at;
    guint part;

    if (how == '\0')
        return NULL;
    writer.state.at++;
    if (!write_part(&writer, 0, &part) || *writer.state.at != '\0')
        return NULL;
    g_string_append_printf(sql, " SELECT %s FROM t%u", how == '=' ? "k,n" : how == '#' ? "0,ifnull(sum(n),0)" : "0,count(*)", part);
    return g_string_free(g_steal_pointer(&sql), FALSE);
}
