/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The update adds a triple to each predicate and takes it away: the same triples, but nothing that was made of them is of use.
 */
#include "tests/bench/sparql-questions.h"

#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "tests/demo/measure.h"
#include "tests/demo/store-control.h"

#define LONG_MSEC 2000 /* what takes longer is asked once */
#define N_WARM 5
#define PASSES 3       /* of each client of a crew */
#define TOLERANCE 1e-9 /* of numbers */
#define TERM_SEPARATOR ' '

typedef struct Questions {
    const Bench *bench;
    QueryConnection *connection;
    const char *folder;
    char *answers;        /* folder */
    GHashTable *expected; /* name → fields of its line */
    char *touch;          /* updates */
    char *untouch;
    double sum_of_logs, cold_sum_of_logs;
} Questions;

/* --- one question ------------------------------------------------------------------------------------------------------- */

static guint64
read_rows(QueryCursor *cursor, char **ret_first, GError **error)
{
    guint64 n_rows = 0;

    for (; query_cursor_next(cursor, NULL, error); n_rows++) {
        for (guint i = 0; i < query_cursor_get_n_columns(cursor); i++) {
            const char *value = query_cursor_get_string(cursor, i, NULL);

            if (n_rows == 0 && i == 0 && ret_first != NULL)
                *ret_first = g_strdup(value);
        }
    }
    return n_rows;
}

double
sparql_questions_time(QueryConnection *connection, const char *text, guint64 *ret_n_rows, char **ret_first, GError **error)
{
    double start_msec = get_now_msec();
    g_autoptr(QueryCursor) cursor = query_connection_query(connection, QUERY_LANGUAGE_SPARQL, text, NULL, NULL, error);

    *ret_n_rows = cursor != NULL ? read_rows(cursor, ret_first, error) : 0;
    return get_now_msec() - start_msec;
}

static gboolean
is_same(const char *value, const char *expected)
{
    char *end;
    double number = g_ascii_strtod(expected, &end);

    if (g_strcmp0(value, expected) == 0)
        return TRUE;
    return value != NULL && end != expected && *end == '\0' &&
           fabs(g_ascii_strtod(value, NULL) - number) <= TOLERANCE * fabs(number);
}

static double
ask(const Questions *self, const char *name, const char *text)
{
    GStrv expected = g_hash_table_lookup(self->expected, name);
    g_autoptr(GError) error = NULL;
    g_autofree char *first = NULL;
    guint64 n_rows;
    double msec = sparql_questions_time(self->connection, text, &n_rows, &first, &error);

    if (error != NULL)
        bench_fail(self->bench, "%s: %s", name, error->message);
    if (expected != NULL && n_rows != g_ascii_strtoull(expected[1], NULL, 10))
        bench_fail(self->bench, "%s: %" G_GUINT64_FORMAT " rows instead of %s", name, n_rows, expected[1]);
    if (expected != NULL && n_rows == 1 && expected[2] != NULL && expected[2][0] != '\0' && !is_same(first, expected[2]))
        bench_fail(self->bench, "%s: '%s' instead of '%s'", name, first, expected[2]);
    return msec;
}

static void
keep_answer(const Questions *self, const char *name, const char *text)
{
    g_autofree char *path = g_strdup_printf("%s/%s.tsv", self->answers, name);
    g_autoptr(GError) error = NULL;
    int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);

    if (fd < 0)
        bench_fail(self->bench, "cannot write '%s'", path);
    (void) query_connection_export(self->connection, QUERY_LANGUAGE_SPARQL, text, "tsv", fd, NULL, NULL, NULL, NULL, &error);
    (void) close(fd);
    die_on_error(error, name);
}

static void
update(const Questions *self, const char *text)
{
    g_autoptr(GError) error = NULL;

    (void) query_connection_update(self->connection, QUERY_LANGUAGE_SPARQL, text, NULL, NULL, &error);
    die_on_error(error, text);
}

static void
measure(Questions *self, const char *name)
{
    g_autofree char *path = g_strdup_printf("%s/%s.rq", self->folder, name);
    g_autofree char *warm_metric = g_strconcat("question.", name, NULL);
    g_autofree char *cold_metric = g_strconcat("cold.", name, NULL);
    g_autofree char *text = NULL;
    g_autoptr(GError) error = NULL;
    g_auto(Samples) times = { NULL };
    double cold_msec;

    (void) g_file_get_contents(path, &text, NULL, &error);
    die_on_error(error, path);
    samples_init(&times);
    if (bench_is_warm_up(self->bench) && !g_hash_table_contains(self->expected, name))
        keep_answer(self, name, text);
    update(self, self->touch);
    update(self, self->untouch);
    cold_msec = ask(self, name, text);
    for (guint i = 0; cold_msec < LONG_MSEC && i < N_WARM; i++)
        samples_add(&times, ask(self, name, text));
    if (cold_msec >= LONG_MSEC)
        samples_add(&times, cold_msec);
    bench_record(self->bench, cold_metric, "ms", cold_msec);
    bench_record(self->bench, warm_metric, "ms", samples_get_quantile(&times, 0.5));
    self->cold_sum_of_logs += log(cold_msec);
    self->sum_of_logs += log(samples_get_quantile(&times, 0.5));
}

/* --- a folder ----------------------------------------------------------------------------------------------------------- */

/* Statistics of a predicate stay as they are: the object is one that it has. */
static void
write_touches(Questions *self, const char *data)
{
    g_autoptr(GHashTable) seen = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
    g_autoptr(GString) triples = g_string_new(NULL);
    g_autofree char *line = NULL;
    size_t capacity = 0;
    FILE *stream = fopen(data, "re");

    if (stream == NULL)
        bench_fail(self->bench, "cannot read '%s'", data);
    while (getline(&line, &capacity, stream) > 0) {
        char *predicate = strchr(line, TERM_SEPARATOR);
        char *object = predicate != NULL ? strchr(predicate + 1, TERM_SEPARATOR) : NULL;
        g_autofree char *key = object != NULL ? g_strndup(predicate, (gsize) (object - predicate)) : NULL;

        if (key != NULL && g_hash_table_add(seen, g_steal_pointer(&key)))
            g_string_append_printf(triples, "<http://example.org/bench/touched>%s", predicate);
    }
    (void) fclose(stream);
    self->touch = g_strdup_printf("INSERT DATA { %s }", triples->str);
    self->untouch = g_strdup_printf("DELETE DATA { %s }", triples->str);
}

static void
read_expected(Questions *self)
{
    g_autofree char *path = g_build_filename(self->folder, "EXPECTED.tsv", NULL);
    g_autofree char *text = NULL;
    g_auto(GStrv) lines = NULL;

    if (!g_file_get_contents(path, &text, NULL, NULL))
        return;
    lines = g_strsplit(text, "\n", -1);
    for (guint i = 0; lines[i] != NULL; i++) {
        GStrv fields = g_strsplit(lines[i], "\t", 3);

        if (g_strv_length(fields) >= 2)
            g_hash_table_insert(self->expected, fields[0], fields);
        else
            g_strfreev(fields);
    }
}

static int
compare_names(gconstpointer a, gconstpointer b)
{
    return strcmp(*(const char *const *) a, *(const char *const *) b);
}

static GPtrArray *
list_names(const char *folder)
{
    GPtrArray *names = g_ptr_array_new_with_free_func(g_free);
    g_autoptr(GDir) dir = g_dir_open(folder, 0, NULL);
    const char *file;

    while (dir != NULL && (file = g_dir_read_name(dir)) != NULL)
        if (g_str_has_suffix(file, ".rq"))
            g_ptr_array_add(names, g_strndup(file, strlen(file) - strlen(".rq")));
    g_ptr_array_sort(names, compare_names);
    return names;
}

void
sparql_questions_run(const Bench *bench, const char *folder, const char *data)
{
    g_autoptr(QueryConnection) connection = open_connection();
    g_autoptr(GHashTable) expected = g_hash_table_new_full(g_str_hash, g_str_equal, NULL, (GDestroyNotify) g_strfreev);
    g_autofree char *answers = g_strconcat(data, ".answers", NULL);
    g_autoptr(GPtrArray) names = list_names(folder);
    Questions self = { bench, connection, folder, answers, expected, NULL, NULL, 0, 0 };

    (void) g_mkdir_with_parents(answers, 0700);
    read_expected(&self);
    write_touches(&self, data);
    for (guint i = 0; i < names->len; i++)
        measure(&self, names->pdata[i]);
    bench_record(bench, "question.mean", "ms", exp(self.sum_of_logs / MAX(names->len, 1)));
    bench_record(bench, "cold.mean", "ms", exp(self.cold_sum_of_logs / MAX(names->len, 1)));
    bench_record(bench, "memory", "MiB", (double) get_status_kib(bench->daemon, "RssAnon") / 1024);
    g_free(self.touch);
    g_free(self.untouch);
}

/* --- many clients ------------------------------------------------------------------------------------------------------- */

typedef struct Client {
    const Bench *bench;
    GPtrArray *texts;
    guint offset;
    Samples times;
} Client;

static gpointer
run_client(gpointer data)
{
    Client *self = data;
    g_autoptr(QueryConnection) connection = open_connection();

    samples_init(&self->times);
    for (guint i = 0; i < PASSES * self->texts->len; i++) {
        const char *text = self->texts->pdata[(self->offset + i) % self->texts->len];
        g_autoptr(GError) error = NULL;
        guint64 n_rows;

        samples_add(&self->times, sparql_questions_time(connection, text, &n_rows, NULL, &error));
        die_on_error(error, text);
    }
    return NULL;
}

void
sparql_questions_run_crew(const Bench *bench, GPtrArray *texts, guint n)
{
    g_autofree Client *clients = g_new0(Client, n);
    g_autofree GThread **threads = g_new0(GThread *, n);
    g_auto(Samples) times = { NULL };
    double start_msec = get_now_msec();
    double msec;

    for (guint i = 0; i < n; i++) {
        clients[i] = (Client){ .bench = bench, .texts = texts, .offset = i * texts->len / n };
        threads[i] = g_thread_new("client", run_client, &clients[i]);
    }
    for (guint i = 0; i < n; i++)
        (void) g_thread_join(threads[i]);
    msec = get_now_msec() - start_msec;
    samples_init(&times);
    for (guint i = 0; i < n; i++) {
        g_array_append_vals(times.values, clients[i].times.values->data, clients[i].times.values->len);
        samples_clear(&clients[i].times);
    }
    bench_record_at(bench, "crew.rate", n, "queries/s", times.values->len / msec * 1000);
    bench_record_at(bench, "crew.p95", n, "ms", samples_get_quantile(&times, 0.95));
}
