/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A part after another; those of a combination are kept until it is made.
 */
#include "daemon/tally/tally-program.h"

#include <string.h>

typedef struct Machine {
    QdTallyReadState state;
    QdTallyReader *reader;
    guint depth;
    QdTallySource sources[QD_TALLY_LEVELS_MAX]; /* of a walk's variables: not looked into yet; of pairs the first and the last */
    guint n_sources;
} Machine;

static QdTallyOrder
get_opposite(QdTallyOrder order)
{
    return order == QD_TALLY_BY_SUBJECT ? QD_TALLY_BY_OBJECT : QD_TALLY_BY_SUBJECT;
}

static int run_part(Machine *self, QdTallyVector *ret_vector);

static gint64
get_word(const QdTallyProgram *self, gsize index)
{
    gint64 word;

    memcpy(&word, (const guint8 *) self->ids + index * sizeof word, sizeof word);
    return word;
}

gboolean
qd_tally_read_id(QdTallyReadState *self, gint64 *ret_id)
{
    gsize index;

    if (!g_ascii_isdigit(self->at[0]) || !g_ascii_isdigit(self->at[1]))
        return FALSE;
    index = (gsize) (self->at[0] - '0') * 10 + (gsize) (self->at[1] - '0');
    if (index >= self->program->n_ids)
        return FALSE;
    self->at += 2;
    *ret_id = get_word(self->program, index);
    return TRUE;
}

gboolean
qd_tally_is_at_link(const QdTallyReadState *self)
{
    return (self->at[0] == 's' || self->at[0] == 'o') && g_ascii_isupper(self->at[1]);
}

/* A column as @what says, and what comes from it. */
static int
run_column(Machine *self, char what, QdTallyVector *ret_vector)
{
    QdTallyOrder order = strchr("suSen", what) != NULL ? QD_TALLY_BY_SUBJECT : QD_TALLY_BY_OBJECT;
    g_auto(QdTallyVector) inner = { 0 };
    gboolean follows = what == 'S' || what == 'O';
    QdTallyColumn *column;
    gint64 id;
    int r;

    if (!qd_tally_read_id(&self->state, &id))
        return SQLITE_RANGE;
    if (follows) {
        r = run_part(self, &inner);
        if (r != SQLITE_OK)
            return r;
    }
    r = qd_tally_reader_get(self->reader, id, order, &column);
    if (r != SQLITE_OK)
        return r;
    if (follows)
        return qd_tally_vector_follow(column, &inner, ret_vector);
    if (what == 'e' || what == 'n')
        return qd_tally_vector_compare_values(column, what == 'e', ret_vector);
    *ret_vector = qd_tally_vector_from_column(column, what == 's' || what == 'o');
    return SQLITE_OK;
}

static int
run_list(Machine *self, char what, QdTallyVector *ret_vector)
{
    gint64 predicate;
    gint64 other;
    int r;

    if (!qd_tally_read_id(&self->state, &predicate) || !qd_tally_read_id(&self->state, &other))
        return SQLITE_RANGE;
    *ret_vector = (QdTallyVector){ 0 };
    r = qd_tally_reader_list(self->reader, predicate, other, what == 'c' ? QD_TALLY_BY_SUBJECT : QD_TALLY_BY_OBJECT,
                             &ret_vector->own_keys, &ret_vector->n);
    ret_vector->keys = ret_vector->own_keys;
    return r;
}

static int
run_set(Machine *self, QdTallyVector *ret_vector)
{
    const QdTallyProgram *program = self->state.program;
    gint64 place, n;

    if (!qd_tally_read_id(&self->state, &place) || place < 0 || (guint64) place >= program->n_ids)
        return SQLITE_RANGE;
    n = get_word(program, (gsize) place);
    if (n < 0 || (guint64) n >= program->n_ids - (gsize) place)
        return SQLITE_RANGE;
    *ret_vector = (QdTallyVector){ .n = (gsize) n, .own_keys = sqlite3_malloc64(((gsize) n + 1) * sizeof(gint64)) };
    ret_vector->keys = ret_vector->own_keys;
    if (ret_vector->own_keys == NULL)
        return SQLITE_NOMEM;
    for (gsize i = 0; i < ret_vector->n; i++) {
        ret_vector->own_keys[i] = get_word(program, (gsize) place + 1 + i);
        if (i > 0 && ret_vector->own_keys[i] <= ret_vector->own_keys[i - 1]) {
            qd_tally_vector_clear(ret_vector);
            return SQLITE_RANGE;
        }
    }
    return SQLITE_OK;
}

static int
run_predicates(Machine *self, QdTallyVector *ret_vector)
{
    guint objects = (guint) (*self->state.at - '0');
    int r;

    if (*self->state.at == '\0' || objects >= QD_TALLY_N_OBJECTS)
        return SQLITE_RANGE;
    self->state.at++;
    *ret_vector = (QdTallyVector){ 0 };
    r = qd_tally_reader_list_predicates(self->reader, (QdTallyObjects) objects, &ret_vector->own_keys, &ret_vector->own_counts,
                                        &ret_vector->n);
    ret_vector->keys = ret_vector->own_keys;
    ret_vector->counts = ret_vector->own_counts;
    return r;
}

static int
run_combination(Machine *self, QdTallyCombination how, QdTallyVector *ret_vector)
{
    g_auto(QdTallyVector) a = { 0 };
    g_auto(QdTallyVector) b = { 0 };
    int r = run_part(self, &a);

    if (r == SQLITE_OK)
        r = run_part(self, &b);
    return r == SQLITE_OK ? qd_tally_vector_combine(how, &a, &b, ret_vector) : r;
}

static int
run_what(Machine *self, QdTallyVector *ret_vector)
{
    static const char combinations[] = {
        [QD_TALLY_PRODUCT] = '*', [QD_TALLY_SUM] = '+', [QD_TALLY_OPTIONAL] = '?', [QD_TALLY_MINUS] = '-', [QD_TALLY_EXISTS] = '&'
    };
    char what = *self->state.at++;

    for (guint i = 0; i < G_N_ELEMENTS(combinations); i++) {
        if (what == combinations[i])
            return run_combination(self, (QdTallyCombination) i, ret_vector);
    }
    if (what != '\0' && strchr("souvSOen", what) != NULL)
        return run_column(self, what, ret_vector);
    if (what == 'c' || what == 'd')
        return run_list(self, what, ret_vector);
    if (what == 'f')
        return run_set(self, ret_vector);
    return what == 'p' ? run_predicates(self, ret_vector) : SQLITE_RANGE;
}

static int
run_part(Machine *self, QdTallyVector *ret_vector)
{
    int r;

    if (self->depth >= QD_TALLY_DEPTH_MAX)
        return SQLITE_RANGE;
    self->depth++;
    r = run_what(self, ret_vector);
    self->depth--;
    return r;
}

/* --- pairs ------------------------------------------------------------------------------------------------------------ */

/* '.' for nothing, or a part. */
static int
run_weights(Machine *self, QdTallyVector *ret_vector, gboolean *ret_some)
{
    *ret_some = *self->state.at != '.';
    if (*ret_some)
        return run_part(self, ret_vector);
    self->state.at++;
    return SQLITE_OK;
}

static int
run_step(Machine *self, QdTallyPairs *pairs)
{
    char what = *self->state.at++;
    QdTallyOrder order = what == 's' ? QD_TALLY_BY_SUBJECT : QD_TALLY_BY_OBJECT;
    g_auto(QdTallyVector) weights = { 0 };
    QdTallyStatistics statistics;
    QdTallyColumn *column;
    gboolean is_weighted, known;
    gint64 id;
    int r;

    if ((what != 's' && what != 'o') || !qd_tally_read_id(&self->state, &id))
        return SQLITE_RANGE;
    r = run_weights(self, &weights, &is_weighted);
    if (r == SQLITE_OK)
        r = qd_tally_reader_count(self->reader, id, &statistics, &known);
    if (r == SQLITE_OK)
        r = qd_tally_reader_get(self->reader, id, order, &column);
    if (r != SQLITE_OK)
        return r;
    if (self->n_sources == 0)
        qd_tally_source_init(&self->sources[self->n_sources++], id, column->stamp, order);
    qd_tally_source_init(&self->sources[1], id, column->stamp, get_opposite(order));
    return qd_tally_pairs_add_step(pairs, column, is_weighted ? &weights : NULL,
                                   (gsize) (what == 's' ? statistics.n_objects : statistics.n_subjects))
               ? SQLITE_OK
               : SQLITE_RANGE;
}

static int
run_pairs(Machine *self, QdTallyResult *result)
{
    g_auto(QdTallyVector) start = { 0 };
    g_autoptr(QdTallyPairs) pairs = NULL;
    gboolean has_start;
    int r = run_weights(self, &start, &has_start);

    if (r != SQLITE_OK)
        return r;
    pairs = qd_tally_pairs_new(has_start ? &start : NULL);
    do
        r = run_step(self, pairs);
    while (r == SQLITE_OK && *self->state.at != '\0');
    if (r == SQLITE_OK)
        r = qd_tally_pairs_begin(pairs);
    if (r != SQLITE_OK)
        return r;
    result->pairs = g_steal_pointer(&pairs);
    memcpy(result->sources, self->sources, 2 * sizeof *result->sources);
    return SQLITE_OK;
}

/* --- walks ------------------------------------------------------------------------------------------------------------ */

/* The number of a variable: 'A' is the first. */
static gboolean
read_level(Machine *self, guint *ret_level)
{
    if (!g_ascii_isupper(*self->state.at))
        return FALSE;
    *ret_level = (guint) (*self->state.at++ - 'A');
    return TRUE;
}

static int
run_link(Machine *self, QdTallyWalk *walk)
{
    QdTallyOrder order = *self->state.at++ == 's' ? QD_TALLY_BY_SUBJECT : QD_TALLY_BY_OBJECT;
    QdTallyColumn *column;
    guint from;
    gint64 id;
    int r;

    if (!read_level(self, &from) || !qd_tally_read_id(&self->state, &id))
        return SQLITE_RANGE;
    r = qd_tally_reader_get(self->reader, id, order, &column);
    if (r != SQLITE_OK)
        return r;
    qd_tally_source_init(&self->sources[self->n_sources], id, column->stamp, get_opposite(order));
    return qd_tally_walk_add_link(walk, from, column) ? SQLITE_OK : SQLITE_RANGE;
}

static int
run_level(Machine *self, QdTallyWalk *walk)
{
    gboolean is_optional = *self->state.at == '~';
    g_auto(QdTallyVector) weights = { 0 };
    gboolean is_weighted;
    int r;

    self->state.at += is_optional ? 1 : 0;
    if (!qd_tally_is_at_link(&self->state) || !qd_tally_walk_add_level(walk, is_optional))
        return SQLITE_RANGE;
    self->n_sources++; /* the first variable has none */
    do
        r = run_link(self, walk);
    while (r == SQLITE_OK && qd_tally_is_at_link(&self->state));
    if (r == SQLITE_OK)
        r = run_weights(self, &weights, &is_weighted);
    if (r == SQLITE_OK && is_weighted)
        qd_tally_walk_set_weights(walk, &weights);
    return r == SQLITE_OK && is_weighted && is_optional ? SQLITE_RANGE : r;
}

static int
run_walk(Machine *self, gboolean is_number, QdTallyResult *result)
{
    g_auto(QdTallyVector) start = { 0 };
    g_autoptr(QdTallyWalk) walk = NULL;
    guint n_asked = 0;
    guint asked;
    int r = run_part(self, &start);

    if (r != SQLITE_OK)
        return r;
    walk = qd_tally_walk_new(&start);
    while (r == SQLITE_OK && *self->state.at != '=')
        r = run_level(self, walk);
    if (r != SQLITE_OK)
        return r;
    for (self->state.at++; *self->state.at != '\0';) {
        if (is_number || !read_level(self, &asked) || !qd_tally_walk_ask(walk, asked))
            return SQLITE_RANGE;
        result->sources[++n_asked] = self->sources[asked];
    }
    r = qd_tally_walk_begin(walk, is_number);
    if (r == SQLITE_OK)
        result->walk = g_steal_pointer(&walk);
    return r;
}

/* --- the whole -------------------------------------------------------------------------------------------------------- */

/* Of a whole predicate the statistics know it. *@ret_known is FALSE where they do not. */
static int
count_by_statistics(Machine *self, char how, guint64 *ret_number, gboolean *ret_known)
{
    QdTallyStatistics statistics;
    char what = *self->state.at;
    const char *begin = self->state.at++;
    gint64 id;
    int r = SQLITE_OK;

    *ret_known = FALSE;
    if ((what == 's' || what == 'o') && qd_tally_read_id(&self->state, &id) && *self->state.at == '\0')
        r = qd_tally_reader_count(self->reader, id, &statistics, ret_known);
    if (r == SQLITE_OK && *ret_known)
        *ret_number = (guint64) (how == '#' ? statistics.n_quads : what == 's' ? statistics.n_subjects : statistics.n_objects);
    self->state.at = begin;
    return r;
}

static int
set_number(guint64 number, QdTallyVector *ret_vector)
{
    *ret_vector = (QdTallyVector){ .n = 1,
                                   .own_keys = sqlite3_malloc64(sizeof(gint64)),
                                   .own_counts = sqlite3_malloc64(sizeof(guint64)) };
    ret_vector->keys = ret_vector->own_keys;
    ret_vector->counts = ret_vector->own_counts;
    if (ret_vector->keys == NULL || ret_vector->counts == NULL) {
        qd_tally_vector_clear(ret_vector);
        return SQLITE_NOMEM;
    }
    ret_vector->own_keys[0] = 0;
    ret_vector->own_counts[0] = number;
    return SQLITE_OK;
}

void
qd_tally_result_clear(QdTallyResult *self)
{
    qd_tally_vector_clear(&self->vector);
    self->pairs = qd_tally_pairs_free(self->pairs);
    self->walk = qd_tally_walk_free(self->walk);
    for (guint i = 0; i < G_N_ELEMENTS(self->sources); i++)
        qd_tally_source_clear(&self->sources[i]);
}

int
qd_tally_program_run(const QdTallyProgram *self, QdTallyReader *reader, QdTallyResult *ret_result)
{
    Machine machine = { .state = { self, self->text }, .reader = reader };
    g_auto(QdTallyVector) vector = { 0 };
    char how = *machine.state.at;
    gboolean known = FALSE;
    guint64 number = 0;
    int r = SQLITE_OK;

    if (how == '\0' || strchr("=#$:@%", how) == NULL)
        return SQLITE_RANGE;
    machine.state.at++;
    qd_tally_reader_reset(reader);
    if (how == ':')
        return run_pairs(&machine, ret_result);
    if (how == '@' || how == '%')
        return run_walk(&machine, how == '%', ret_result);
    if (how != '=' && *machine.state.at != '\0')
        r = count_by_statistics(&machine, how, &number, &known);
    if (r == SQLITE_OK && !known)
        r = run_part(&machine, &vector);
    if (r == SQLITE_OK && !known && *machine.state.at != '\0')
        r = SQLITE_RANGE;
    if (r == SQLITE_OK && !known && how == '#')
        r = qd_tally_vector_add_up(&vector, &number);
    if (r != SQLITE_OK)
        return r;
    if (how != '=')
        return set_number(how == '$' && !known ? vector.n : number, &ret_result->vector);
    ret_result->vector = vector;
    vector = (QdTallyVector){ 0 };
    return SQLITE_OK;
}
