/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Fuzz target: expression programs from outside, run by SQLite with terms of all kinds as arguments.
 *
 * Also: the first byte's high bit takes the bytes as a regular expression instead, its translation as PCRE2 sees it included.
 */
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "daemon/functions/regex/regex.h"
#include "daemon/functions/register.h"
#include "daemon/rdf/term-blob.h"
#include "daemon/rdf/term-id.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const QdTerm terms[] = {
    { QD_TERM_IRI, "http://example.org/a", 20, NULL, 0 },
    { QD_TERM_STRING, "a text", 6, NULL, 0 },
    { QD_TERM_LANG_STRING, "ein Text", 8, "de", 2 },
    { QD_TERM_TYPED, "1.5E0", 5, QD_XSD_NAMESPACE "double", sizeof QD_XSD_NAMESPACE "double" - 1 },
    { QD_TERM_TYPED, "x", 1, "http://example.org/t", 20 },
};

static gboolean
get_term(gpointer data, gint64 id, QdTerm *ret_term, GError **error)
{
    guint64 index = qd_term_id_get_sequence(id);

    if (index >= G_N_ELEMENTS(terms) || terms[index].kind != qd_term_id_get_kind(id)) {
        g_set_error_literal(error, g_quark_from_string("fuzz"), 1, "no such term");
        return FALSE;
    }
    *ret_term = terms[index];
    return TRUE;
}

static gboolean
find_id(gpointer data, const QdTerm *term, gint64 *ret_id, GError **error)
{
    return FALSE;
}

static void
run_program(const uint8_t *data, size_t size)
{
    static const char sql[] = "SELECT queryd_sort_key(v), queryd_equality_key(v), queryd_to_term(v), queryd_str_text(v), "
                              "queryd_ebv(v) "
                              "FROM (SELECT queryd_eval_volatile(?1,?2,?3,?4,?5,?6,?7,NULL) AS v)";
    const QdResolver resolver = { get_term, find_id, NULL };
    QdEvaluationContext context = { 0 };
    g_autoptr(GByteArray) blob = g_byte_array_new();
    sqlite3 *db = NULL;
    sqlite3_stmt *stmt = NULL;

    g_assert(sqlite3_open(":memory:", &db) == SQLITE_OK);
    (void) sqlite3_limit(db, SQLITE_LIMIT_LENGTH, 1 << 20);
    g_assert(qd_functions_register(db, &resolver, &context, NULL));
    g_assert(sqlite3_prepare_v2(db, sql, -1, &stmt, NULL) == SQLITE_OK);
    sqlite3_bind_blob64(stmt, 1, data, size, SQLITE_STATIC);
    for (guint i = 0; i < 4; i++)
        sqlite3_bind_int64(stmt, (int) i + 2, qd_term_id_from_sequence(i, terms[i].kind));
    sqlite3_bind_int64(stmt, 6, qd_term_id_make(QD_TAG_DATE_TIME_Z, G_GINT64_CONSTANT(1300000000000000) * 8));
    qd_term_blob_append(blob, &terms[4]);
    sqlite3_bind_blob64(stmt, 7, blob->data, blob->len, SQLITE_STATIC);
    (void) sqlite3_step(stmt);
    (void) sqlite3_finalize(stmt);
    g_assert(sqlite3_close(db) == SQLITE_OK);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const char text[] = "The quick brown f\xc3\xb6x\njumps 1234 times";
    static const QdRegexBounds bounds = { .max_steps = 100000 };
    static const char *const flags[] = { "", "i", "x", "q", "smi" };
    g_autoptr(QdRegex) regex = NULL;

    if (size == 0)
        return 0;
    if (data[0] < 0x80) {
        run_program(data, size);
        return 0;
    }
    regex = qd_regex_new((const char *) data + 1, size - 1, flags[data[0] % 5], strlen(flags[data[0] % 5]));
    if (regex != NULL)
        (void) qd_regex_search(regex, text, strlen(text), 0, &bounds);
    return 0;
}
