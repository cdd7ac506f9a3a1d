/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The interrupter: it makes statements look, ends those that are over, and touches no other. Another thread does its ticks when it
 * is late.
 */
#include "daemon/sqlite/interrupter.h"

#include <pthread.h>
#include <sched.h>

#define ENDLESS "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT count(*) FROM n"
#define SHORT "SELECT 1"
#define N_THREADS 4
#define N_STATEMENTS 300
#define LATE_MAX_USEC (60 * G_USEC_PER_SEC)

typedef struct Statement {
    QdWatch watch;
    gint is_over; /* atomic */
    gint n_looks; /* atomic */
} Statement;

static gboolean
look(void *data)
{
    Statement *self = data;

    (void) g_atomic_int_add(&self->n_looks, 1);
    return g_atomic_int_get(&self->is_over);
}

static gboolean
is_over(void *data, uint64_t now_usec)
{
    return g_atomic_int_get(&((Statement *) data)->is_over);
}

static void
statement_init(Statement *self, sqlite3 *db, gboolean over)
{
    *self = (Statement){ .watch = { .interrupt = { .look = look, .data = self }, .db = db, .is_over = is_over }, .is_over = over };
}

static sqlite3 *
open_database(void)
{
    sqlite3 *db = NULL;

    g_assert_cmpint(sqlite3_open(":memory:", &db), ==, SQLITE_OK);
    return db;
}

/* What is over may end while it is compiled. */
static int
run(sqlite3 *db, const char *sql)
{
    sqlite3_stmt *stmt = NULL;
    int r = sqlite3_prepare_v2(db, sql, -1, &stmt, NULL);

    if (r != SQLITE_OK)
        return r;
    r = sqlite3_step(stmt);
    (void) sqlite3_finalize(stmt);
    return r;
}

static void
on_tick(void *data, guint n_over, gboolean is_stuck)
{
    guint *most_over = data;

    g_assert_false(is_stuck);
    *most_over = MAX(*most_over, n_over);
}

/* One step without an end: no question of ours is asked in it. */
static void
test_ends(void)
{
    guint most_over = 0;
    QdInterrupter *interrupter = qd_interrupter_new(on_tick, &most_over, NULL);
    sqlite3 *db = open_database();
    Statement statement;

    statement_init(&statement, db, TRUE);
    qd_interrupter_begin(interrupter, &statement.watch);
    g_assert_cmpint(run(db, ENDLESS), ==, SQLITE_INTERRUPT);
    qd_interrupter_end(interrupter, &statement.watch);
    (void) qd_interrupter_free(interrupter);
    g_assert_cmpuint(most_over, ==, 1);
    (void) sqlite3_close(db);
}

/* What is due looks on its own thread, and only then. */
static void
test_looks(void)
{
    QdInterrupter *interrupter = qd_interrupter_new(NULL, NULL, NULL);
    sqlite3 *db = open_database();
    Statement outer;
    Statement inner;

    statement_init(&outer, db, FALSE);
    statement_init(&inner, db, FALSE);
    qd_interrupter_begin(interrupter, &outer.watch);
    while (g_atomic_int_get(&outer.n_looks) < 2)
        g_assert_false(qd_interrupt_poll());
    qd_interrupter_begin(interrupter, &inner.watch);
    outer.n_looks = 0;
    while (g_atomic_int_get(&inner.n_looks) < 2)
        g_assert_false(qd_interrupt_poll());
    g_assert_cmpint(outer.n_looks, ==, 0); /* the innermost is asked */
    g_atomic_int_set(&inner.is_over, TRUE);
    while (!qd_interrupt_poll())
        ;
    g_assert_true(qd_interrupt_poll()); /* it stays so */
    qd_interrupter_end(interrupter, &inner.watch);
    g_assert_false(qd_interrupt_poll());
    qd_interrupter_end(interrupter, &outer.watch);
    g_assert_false(qd_interrupt_poll());
    (void) qd_interrupter_free(interrupter);
    (void) sqlite3_close(db);
}

/* Without a thread the watch looks each time. */
static void
test_without_thread(void)
{
    sqlite3 *db = open_database();
    Statement statement;

    statement_init(&statement, db, FALSE);
    qd_interrupter_begin(NULL, &statement.watch);
    for (guint i = 0; i < 3; i++)
        g_assert_false(qd_interrupt_poll());
    g_assert_cmpint(statement.n_looks, ==, 3);
    g_atomic_int_set(&statement.is_over, TRUE);
    g_assert_true(qd_interrupt_poll());
    qd_interrupter_end(NULL, &statement.watch);
    (void) sqlite3_close(db);
}

typedef struct Crew {
    QdInterrupter *interrupter;
    gint n_wrong; /* atomic */
} Crew;

/* Now and then a statement that is ended, then short ones on the same connection, which must not be. */
static gpointer
crew_main(gpointer data)
{
    Crew *self = data;
    sqlite3 *db = open_database();

    for (guint i = 0; i < N_STATEMENTS; i++) {
        gboolean ends = i % 50 == 0;
        Statement statement;

        statement_init(&statement, db, ends);
        qd_interrupter_begin(self->interrupter, &statement.watch);
        if (run(db, ends ? ENDLESS : SHORT) != (ends ? SQLITE_INTERRUPT : SQLITE_ROW))
            (void) g_atomic_int_add(&self->n_wrong, 1);
        qd_interrupter_end(self->interrupter, &statement.watch);
        if (run(db, SHORT) != SQLITE_ROW) /* without a watch */
            (void) g_atomic_int_add(&self->n_wrong, 1);
    }
    (void) sqlite3_close(db);
    return NULL;
}

static void
test_threads(void)
{
    Crew crew = { .interrupter = qd_interrupter_new(NULL, NULL, NULL) };
    GThread *threads[N_THREADS];

    for (guint i = 0; i < N_THREADS; i++)
        threads[i] = g_thread_new("crew", crew_main, &crew);
    for (guint i = 0; i < N_THREADS; i++)
        (void) g_thread_join(threads[i]);
    g_assert_cmpint(crew.n_wrong, ==, 0);
    (void) qd_interrupter_free(crew.interrupter);
}

/* The timer's thread stays in its callback, as one that gets no core. */
typedef struct Late {
    QdInterrupter *interrupter;
    pthread_t helper;
    pthread_mutex_t mutex;
    pthread_cond_t cond;
    gboolean is_kept;  /* under the mutex */
    gboolean may_go;   /* under the mutex */
    guint n_helped;    /* the helper's */
    guint n_own_asked; /* the helper's */
    gint result;       /* atomic: of the other statement */
    gint has_ended;    /* atomic: the other statement */
    gint is_told;      /* atomic: the other statement has heard of its end, by the helper */
} Late;

static void
keep_thread(void *data, guint n_over, gboolean is_stuck)
{
    Late *self = data;

    if (pthread_equal(pthread_self(), self->helper)) {
        self->n_helped++;
        return;
    }
    pthread_mutex_lock(&self->mutex);
    self->is_kept = TRUE;
    pthread_cond_broadcast(&self->cond);
    while (!self->may_go)
        pthread_cond_wait(&self->cond, &self->mutex);
    pthread_mutex_unlock(&self->mutex);
}

/* Its own statement looks by itself. */
static gboolean
note_own_asked(void *data, uint64_t now_usec)
{
    Late *self = data;

    if (pthread_equal(pthread_self(), self->helper))
        self->n_own_asked++;
    return FALSE;
}

static gboolean
look_at_own(void *data)
{
    return FALSE;
}

static gboolean
is_over_at_once(void *data, uint64_t now_usec)
{
    return TRUE;
}

static void
note_told(void *data, uint64_t now_usec)
{
    Late *self = data;

    g_atomic_int_set(&self->is_told, pthread_equal(pthread_self(), self->helper) != 0);
}

static gboolean
look_until_told(void *data)
{
    return g_atomic_int_get(&((Late *) data)->is_told);
}

/* First it does not come back from a call, and its caller hears of its end; then it is ended amid a step. */
static gpointer
other_main(gpointer data)
{
    Late *self = data;
    sqlite3 *db = open_database();
    QdWatch watch = {
        .interrupt = { .look = look_until_told, .data = self }, .db = db, .is_over = is_over_at_once, .tell = note_told
    };

    qd_interrupter_begin(self->interrupter, &watch);
    while (!qd_interrupt_poll())
        (void) sched_yield();
    g_atomic_int_set(&self->result, run(db, ENDLESS));
    qd_interrupter_end(self->interrupter, &watch);
    g_atomic_int_set(&self->has_ended, TRUE);
    (void) sqlite3_close(db);
    return NULL;
}

/* One that runs a statement does the ticks that are late. */
static void
test_late(void)
{
    Late late = { .helper = pthread_self(), .mutex = PTHREAD_MUTEX_INITIALIZER, .cond = PTHREAD_COND_INITIALIZER };
    QdWatch watch = { .interrupt = { .look = look_at_own, .data = &late }, .is_over = note_own_asked, .may_help = TRUE };
    gint64 end_usec = g_get_monotonic_time() + LATE_MAX_USEC;
    GThread *other;

    late.interrupter = qd_interrupter_new(keep_thread, &late, NULL);
    watch.db = open_database();
    qd_interrupter_begin(late.interrupter, &watch);
    pthread_mutex_lock(&late.mutex);
    while (!late.is_kept)
        pthread_cond_wait(&late.cond, &late.mutex);
    pthread_mutex_unlock(&late.mutex);

    other = g_thread_new("other", other_main, &late);
    while (!g_atomic_int_get(&late.has_ended) && g_get_monotonic_time() < end_usec)
        g_assert_false(qd_interrupt_poll());
    g_assert_true(late.has_ended);
    g_assert_true(late.is_told);
    g_assert_cmpint(late.result, ==, SQLITE_INTERRUPT);
    g_assert_cmpuint(late.n_helped, >=, 2);
    g_assert_cmpuint(late.n_own_asked, ==, 0);

    pthread_mutex_lock(&late.mutex);
    late.may_go = TRUE;
    pthread_cond_broadcast(&late.cond);
    pthread_mutex_unlock(&late.mutex);
    (void) g_thread_join(other);
    qd_interrupter_end(late.interrupter, &watch);
    (void) qd_interrupter_free(late.interrupter);
    (void) sqlite3_close(watch.db);
}

int
main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/sqlite/interrupter/ends", test_ends);
    g_test_add_func("/sqlite/interrupter/looks", test_looks);
    g_test_add_func("/sqlite/interrupter/without-thread", test_without_thread);
    g_test_add_func("/sqlite/interrupter/threads", test_threads);
    g_test_add_func("/sqlite/interrupter/late", test_late);
    return g_test_run();
}
