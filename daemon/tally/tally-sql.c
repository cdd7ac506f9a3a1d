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

/* The table itself has it, without columns. */
static gboolean
write_set(Writer *self, guint *ret_part)
{
    const char *begin = self->state.at;
    gint64 place;

    if (!qd_tally_read_id(&self->state, &place))
        return FALSE;
    begin_part(self, ret_part);
    g_string_append_printf(self->sql, "SELECT value,n FROM queryd_tally('=f%.2s',?1))", begin);
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
    if (what == 'f')
        return write_set(self, ret_part);
    return strchr("*+?-&", what) != NULL && write_combination(self, what, depth + 1, ret_part);
}

/* --- pairs ------------------------------------------------------------------------------------------------------------ */

/* The SELECT of a program of pairs: quads of its steps, and the parts that give weights. */
typedef struct Way {
    GString *from, *where, *count;
    const char *last; /* the column that the way has come to */
    guint n_steps;
} Way;

/* '.' for nothing, or a part that is joined where the way is. */
static gboolean
write_weights(Writer *self, Way *way)
{
    guint part;

    if (*self->state.at == '.') {
        self->state.at++;
        return TRUE;
    }
    if (!write_part(self, 0, &part))
        return FALSE;
    g_string_append_printf(way->from, "%st%u", way->from->len > 0 ? "," : "", part);
    g_string_append_printf(way->count, "*t%u.n", part);
    if (way->n_steps > 0)
        g_string_append_printf(way->where, " AND t%u.k=q%u.%s", part, way->n_steps, way->last);
    else
        g_string_append_printf(way->where, " AND t%u.k=q1.%s", part, self->state.at[0] == 's' ? "s" : "o");
    return TRUE;
}

static gboolean
write_step(Writer *self, Way *way)
{
    char what = *self->state.at;
    const char *key = what == 's' ? "s" : "o";
    gint64 id;

    if (what != 's' && what != 'o')
        return FALSE;
    self->state.at++;
    if (!qd_tally_read_id(&self->state, &id))
        return FALSE;
    g_string_append_printf(way->from, "%squeryd_quad AS q%u", way->from->len > 0 ? "," : "", way->n_steps + 1);
    g_string_append_printf(way->where, " AND q%u.p=%" G_GINT64_FORMAT " AND q%u.g=0", way->n_steps + 1, id, way->n_steps + 1);
    if (way->n_steps > 0)
        g_string_append_printf(way->where, " AND q%u.%s=q%u.%s", way->n_steps + 1, key, way->n_steps, way->last);
    way->n_steps++;
    way->last = what == 's' ? "o" : "s";
    return write_weights(self, way);
}

static char *
write_pairs(Writer *self)
{
    g_autoptr(GString) from = g_string_new(NULL);
    g_autoptr(GString) where = g_string_new(NULL);
    g_autoptr(GString) count = g_string_new("1");
    Way way = { .from = from, .where = where, .count = count };
    const char *first;

    if (!write_weights(self, &way))
        return NULL;
    first = *self->state.at == 's' ? "s" : "o";
    do {
        if (!write_step(self, &way))
            return NULL;
    } while (*self->state.at != '\0');
    g_string_append_printf(self->sql, " SELECT q1.%s,sum(%s),q%u.%s FROM %s WHERE 1%s GROUP BY 1,3 ORDER BY 1", first, count->str,
                           way.n_steps, way.last, from->str, where->str);
    return g_strdup(self->sql->str);
}

/* --- walks ------------------------------------------------------------------------------------------------------------ */

typedef struct Walk {
    GString *from, *count;
    char *variables[QD_TALLY_LEVELS_MAX]; /* columns: "t0.k", "q3.o" */
    guint n_variables, n_quads;
} Walk;

static gboolean
read_variable(Writer *self, const Walk *walk, const char **ret_column)
{
    guint index = (guint) (*self->state.at - 'A');

    if (!g_ascii_isupper(*self->state.at) || index >= walk->n_variables)
        return FALSE;
    self->state.at++;
    *ret_column = walk->variables[index];
    return TRUE;
}

/* @column (nullable): of the variable that it leads to, where another link has it. Returns: that column; NULL: it is no link */
static char *
write_link(Writer *self, Walk *walk, const char *join, const char *column)
{
    char key = *self->state.at++;
    char value = key == 's' ? 'o' : 's';
    guint number = ++walk->n_quads;
    const char *from;
    gint64 id;

    if (!read_variable(self, walk, &from) || !qd_tally_read_id(&self->state, &id))
        return NULL;
    g_string_append_printf(walk->from, " %s queryd_quad AS q%u ON q%u.p=%" G_GINT64_FORMAT " AND q%u.g=0 AND q%u.%c=%s", join,
                           number, number, id, number, number, key, from);
    if (column != NULL)
        g_string_append_printf(walk->from, " AND q%u.%c=%s", number, value, column);
    return g_strdup_printf("q%u.%c", number, value);
}

static gboolean
write_level(Writer *self, Walk *walk)
{
    gboolean is_optional = *self->state.at == '~';
    g_autofree char *column = NULL;
    guint part;

    self->state.at += is_optional ? 1 : 0;
    if (!qd_tally_is_at_link(&self->state) || walk->n_variables == QD_TALLY_LEVELS_MAX)
        return FALSE;
    do {
        char *next = write_link(self, walk, is_optional ? "LEFT JOIN" : "JOIN", column);

        g_free(column);
        column = next;
    } while (column != NULL && qd_tally_is_at_link(&self->state));
    if (column == NULL)
        return FALSE;
    if (*self->state.at == '.') {
        self->state.at++;
    } else {
        if (is_optional || !write_part(self, 0, &part))
            return FALSE;
        g_string_append_printf(walk->from, " JOIN t%u ON t%u.k=%s", part, part, column);
        g_string_append_printf(walk->count, "*t%u.n", part);
    }
    walk->variables[walk->n_variables++] = g_steal_pointer(&column);
    return TRUE;
}

static gboolean
write_walk_rows(Writer *self, Walk *walk, gboolean is_number)
{
    g_autoptr(GString) asked = g_string_new(NULL);
    const char *column;
    guint start;

    if (!write_part(self, 0, &start))
        return FALSE;
    walk->variables[walk->n_variables++] = g_strdup_printf("t%u.k", start);
    g_string_append_printf(walk->from, "t%u", start);
    g_string_append_printf(walk->count, "t%u.n", start);
    while (*self->state.at != '=') {
        if (!write_level(self, walk))
            return FALSE;
    }
    for (self->state.at++; *self->state.at != '\0';) {
        if (!read_variable(self, walk, &column))
            return FALSE;
        g_string_append_printf(asked, ",%s", column);
    }
    if (is_number)
        g_string_append_printf(self->sql, " SELECT 0,ifnull(sum(%s),0) FROM %s", walk->count->str, walk->from->str);
    else
        g_string_append_printf(self->sql, " SELECT %s,%s%s FROM %s ORDER BY 1", walk->variables[0], walk->count->str, asked->str,
                               walk->from->str);
    return TRUE;
}

static char *
write_walk(Writer *self, gboolean is_number)
{
    g_autoptr(GString) from = g_string_new(NULL);
    g_autoptr(GString) count = g_string_new(NULL);
    Walk walk = { .from = from, .count = count };
    gboolean ok = write_walk_rows(self, &walk, is_number);

    for (guint i = 0; i < walk.n_variables; i++)
        g_free(walk.variables[i]);
    return ok ? g_strdup(self->sql->str) : NULL;
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
    if (how == ':')
        return write_pairs(&writer);
    if (how == '@' || how == '%')
        return write_walk(&writer, how == '%');
    if (!write_part(&writer, 0, &part) || *writer.state.at != '\0')
        return NULL;
    g_string_append_printf(sql, " SELECT %s FROM t%u%s",
                           how == '='   ? "k,n,0"
                           : how == '#' ? "0,ifnull(sum(n),0),0"
                                        : "0,count(*),0",
                           part, how == '=' ? " ORDER BY 1" : "");
    return g_string_free(g_steal_pointer(&sql), FALSE);
}
