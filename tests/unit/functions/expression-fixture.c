/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "tests/unit/functions/expression-fixture.h"

#include <string.h>

#include "daemon/rdf/expression-code.h"
#include "daemon/rdf/term-blob.h"
#include "daemon/rdf/term-id.h"

/* A text of this length may have more terms than SQLite allows arguments. */
#define MANY_ARGS 400

/* --- the dictionary ------------------------------------------------------------------------------------------------------ */

static gboolean
get_term(gpointer data, gint64 id, QdTerm *ret_term, GError **error)
{
    Expressions *self = data;
    guint64 index = qd_term_id_get_sequence(id) - 1;
    gsize n;
    gconstpointer blob;

    if (self->fail || index >= self->terms->len) {
        g_set_error(error, g_quark_from_string("test"), 1, "no term %" G_GINT64_FORMAT, id);
        return FALSE;
    }
    blob = g_bytes_get_data(g_ptr_array_index(self->terms, index), &n);
    return qd_term_blob_parse(blob, n, ret_term);
}

static gboolean
find_id(gpointer data, const QdTerm *term, gint64 *ret_id, GError **error)
{
    Expressions *self = data;
    g_autoptr(GByteArray) blob = g_byte_array_new();
    g_autoptr(GBytes) key = NULL;
    gpointer index;

    qd_term_blob_append(blob, term);
    key = g_byte_array_free_to_bytes(g_steal_pointer(&blob));
    if (!g_hash_table_lookup_extended(self->found, key, NULL, &index))
        return FALSE;
    *ret_id = qd_term_id_from_sequence(GPOINTER_TO_UINT(index) + 1, term->kind);
    return TRUE;
}

gboolean
expressions_intern(Expressions *self, GBytes *blob, gint64 *ret_id)
{
    gsize n;
    gconstpointer data = g_bytes_get_data(blob, &n);
    QdTerm term;

    g_assert_true(qd_term_blob_parse(data, n, &term));
    if (qd_term_id_from_term(&term, ret_id))
        return TRUE;
    if (term.kind == QD_TERM_BNODE)
        return FALSE;
    if (!g_hash_table_contains(self->found, blob)) {
        g_hash_table_insert(self->found, g_bytes_ref(blob), GUINT_TO_POINTER(self->terms->len));
        g_ptr_array_add(self->terms, g_bytes_ref(blob));
    }
    g_assert_true(find_id(self, &term, ret_id, NULL));
    return TRUE;
}

Expressions *
expressions_new(void)
{
    return expressions_new_limited(-1); /* SQLite's own limit */
}

Expressions *
expressions_new_limited(int max_bytes)
{
    Expressions *self = g_new0(Expressions, 1);
    QdResolver resolver = { get_term, find_id, self };
    g_autoptr(GError) error = NULL;

    self->terms = g_ptr_array_new_with_free_func((GDestroyNotify) g_bytes_unref);
    self->found = g_hash_table_new_full(g_bytes_hash, g_bytes_equal, (GDestroyNotify) g_bytes_unref, NULL);
    qd_evaluation_context_start(&self->context);
    g_assert_cmpint(sqlite3_open(":memory:", &self->db), ==, SQLITE_OK);
    (void) sqlite3_limit(self->db, SQLITE_LIMIT_LENGTH, max_bytes);
    g_assert_true(qd_functions_register(self->db, &resolver, &self->context, &error));
    g_assert_no_error(error);
    return self;
}

Expressions *
expressions_free(Expressions *self)
{
    if (self == NULL)
        return NULL;

    g_assert_cmpint(sqlite3_close(self->db), ==, SQLITE_OK);
    g_ptr_array_unref(self->terms);
    g_hash_table_unref(self->found);
    g_free(self);
    return NULL;
}

/* --- assembling ------------------------------------------------------------------------------------------------------------ */

typedef struct Assembler {
    const char *p;
    GByteArray *out;
    GPtrArray *terms;
} Assembler;

static const struct {
    const char *name;
    QdExpressionOp op;
} symbols[] = {
    { "||", QD_EXPRESSION_OR },     { "&&", QD_EXPRESSION_AND },  { "!", QD_EXPRESSION_NOT },         { "=", QD_EXPRESSION_EQ },
    { "!=", QD_EXPRESSION_NE },     { "<", QD_EXPRESSION_LT },    { "<=", QD_EXPRESSION_LE },         { ">", QD_EXPRESSION_GT },
    { ">=", QD_EXPRESSION_GE },     { "IN", QD_EXPRESSION_IN },   { "NOT_IN", QD_EXPRESSION_NOT_IN }, { "+", QD_EXPRESSION_ADD },
    { "-", QD_EXPRESSION_SUB },     { "*", QD_EXPRESSION_MUL },   { "/", QD_EXPRESSION_DIV },         { "NEG", QD_EXPRESSION_NEG },
    { "PLUS", QD_EXPRESSION_PLUS }, { "EBV", QD_EXPRESSION_EBV },
};

static QdExpressionOp
find_op(const char *name, gsize n)
{
    g_autofree char *iri = g_strdup_printf(QD_XSD_NAMESPACE "%.*s", (int) n - 4 > 0 ? (int) n - 4 : 0, name + MIN(n, 4));

    for (gsize i = 0; i < G_N_ELEMENTS(symbols); i++)
        if (strlen(symbols[i].name) == n && memcmp(symbols[i].name, name, n) == 0)
            return symbols[i].op;
    if (n > 4 && memcmp(name, "xsd:", 4) == 0)
        return qd_expression_op_from_iri(iri, strlen(iri));
    return qd_expression_op_from_keyword(name, n);
}

static const char *
word_end(const char *p)
{
    return p + strcspn(p, " ()");
}

/* "text"@en, "text"^^xsd:name, "text"^^<iri>; \n, \" and \\ and \0 in the text */
static const char *
read_string(const char *p, QdTerm *term, GString *text, GString *qualifier)
{
    for (p++; *p != '"'; p++) {
        gboolean escaped = *p == '\\';

        if (escaped)
            p++;
        g_string_append_c(text, !escaped ? *p : *p == 'n' ? '\n' : *p == '0' ? '\0' : *p);
    }
    p++;
    if (*p == '@') {
        const char *end = word_end(p);

        g_string_append_len(qualifier, p + 1, end - p - 1);
        term->kind = QD_TERM_LANG_STRING;
        return end;
    }
    if (g_str_has_prefix(p, "^^xsd:")) {
        const char *end = word_end(p);

        g_string_append_printf(qualifier, QD_XSD_NAMESPACE "%.*s", (int) (end - p - 6), p + 6);
        term->kind = QD_TERM_TYPED;
        return end;
    }
    if (g_str_has_prefix(p, "^^<")) {
        const char *end = strchr(p, '>');

        g_string_append_len(qualifier, p + 3, end - p - 3);
        term->kind = QD_TERM_TYPED;
        return end + 1;
    }
    term->kind = QD_TERM_STRING;
    return p;
}

static const char *
read_term(const char *p, GByteArray *blob)
{
    g_autoptr(GString) text = g_string_new(NULL);
    g_autoptr(GString) qualifier = g_string_new(NULL);
    QdTerm term = { .kind = QD_TERM_TYPED };
    const char *end = word_end(p);

    if (*p == '"') {
        end = read_string(p, &term, text, qualifier);
    } else if (*p == '<') {
        end = strchr(p, '>') + 1;
        g_string_append_len(text, p + 1, end - p - 2);
        term.kind = QD_TERM_IRI;
    } else if (p[0] == '_' && p[1] == ':') {
        g_string_append_len(text, p + 2, end - p - 2);
        term.kind = QD_TERM_BNODE;
    } else {
        g_string_append_len(text, p, end - p);
        g_string_append_printf(qualifier, QD_XSD_NAMESPACE "%s",
                               g_ascii_isalpha(*p)                         ? "boolean"
                               : memchr(p, 'e', (gsize) (end - p)) != NULL ? "double"
                               : memchr(p, '.', (gsize) (end - p)) != NULL ? "decimal"
                                                                           : "integer");
    }
    term.lexical = text->str;
    term.n_lexical = text->len;
    if (term.kind == QD_TERM_TYPED || term.kind == QD_TERM_LANG_STRING) {
        term.qualifier = qualifier->str;
        term.n_qualifier = qualifier->len;
    }
    qd_term_blob_append(blob, &term);
    return end;
}

static void
assemble(Assembler *self)
{
    self->p += strspn(self->p, " ");
    if (*self->p == '(') {
        const char *end = word_end(++self->p);
        QdExpressionOp op = find_op(self->p, (gsize) (end - self->p));
        guint place = self->out->len + 1;
        guint n = 0;

        g_assert_cmpuint(op, !=, 0);
        self->p = end + strspn(end, " ");
        qd_expression_put_node(self->out, op, 0);
        for (; *self->p != ')'; n++) {
            assemble(self);
            self->p += strspn(self->p, " ");
        }
        self->p++;
        self->out->data[place] = (guint8) n;
    } else if (g_str_has_prefix(self->p, "unbound")) {
        self->p += strlen("unbound");
        qd_expression_put_node(self->out, QD_EXPRESSION_UNBOUND, 0);
    } else if (*self->p == '$') {
        qd_expression_put_arg(self->out, (guint) g_ascii_strtoull(self->p + 1, (char **) &self->p, 10));
    } else {
        g_autoptr(GByteArray) blob = g_byte_array_new();
        QdTerm term;

        self->p = read_term(self->p, blob);
        g_assert_true(qd_term_blob_parse(blob->data, blob->len, &term));
        if (self->terms == NULL) {
            qd_expression_put_const(self->out, &term);
        } else {
            qd_expression_put_arg(self->out, self->terms->len);
            g_ptr_array_add(self->terms, g_byte_array_free_to_bytes(g_steal_pointer(&blob)));
        }
    }
}

GByteArray *
expressions_assemble(const char *text, GPtrArray *terms)
{
    Assembler self = { .p = text, .out = g_byte_array_new(), .terms = terms };

    assemble(&self);
    g_assert_cmpstr(self.p, ==, "");
    return self.out;
}

GBytes *
expressions_parse_term(const char *text)
{
    g_autoptr(GByteArray) blob = g_byte_array_new();

    g_assert_cmpstr(read_term(text, blob), ==, "");
    return g_byte_array_free_to_bytes(g_steal_pointer(&blob));
}

/* --- running ---------------------------------------------------------------------------------------------------------------- */

static char *
describe_term(const QdTerm *term)
{
    g_autoptr(GString) text = g_string_new(NULL);

    for (gsize i = 0; i < term->n_lexical; i++) {
        if (term->lexical[i] == '\0')
            g_string_append(text, "\\0");
        else
            g_string_append_c(text, term->lexical[i]);
    }
    switch (term->kind) {
    case QD_TERM_IRI:
        return g_strdup_printf("<%s>", text->str);
    case QD_TERM_BNODE:
        return g_strdup_printf("_:%s", text->str);
    case QD_TERM_STRING:
        return g_strdup_printf("\"%s\"", text->str);
    case QD_TERM_LANG_STRING:
        return g_strdup_printf("\"%s\"@%.*s", text->str, (int) term->n_qualifier, term->qualifier);
    case QD_TERM_TYPED:
        break;
    }
    if (g_str_has_prefix(term->qualifier, QD_XSD_NAMESPACE)) {
        const char *name = term->qualifier + strlen(QD_XSD_NAMESPACE);
        int n = (int) (term->n_qualifier - strlen(QD_XSD_NAMESPACE));

        if ((n == 7 && memcmp(name, "integer", 7) == 0) || (n == 7 && memcmp(name, "boolean", 7) == 0) ||
            (n == 6 && memcmp(name, "double", 6) == 0) || (n == 7 && memcmp(name, "decimal", 7) == 0))
            return g_strdup(text->str);
        return g_strdup_printf("\"%s\"^^xsd:%.*s", text->str, n, name);
    }
    return g_strdup_printf("\"%s\"^^<%.*s>", text->str, (int) term->n_qualifier, term->qualifier);
}

char *
expressions_describe(Expressions *self, sqlite3_stmt *stmt, int column)
{
    QdTermBuffer buffer;
    QdTerm term;
    gint64 id;

    switch (sqlite3_column_type(stmt, column)) {
    case SQLITE_NULL:
        return g_strdup("unbound");
    case SQLITE_INTEGER:
        id = sqlite3_column_int64(stmt, column);
        if (id > 1 && get_term(self, id, &term, NULL))
            return describe_term(&term);
        if (qd_term_id_to_term(id, &buffer, &term))
            return describe_term(&term);
        return g_strdup_printf("id %" G_GINT64_FORMAT, id);
    case SQLITE_BLOB:
        if (qd_term_blob_parse(sqlite3_column_blob(stmt, column), (gsize) sqlite3_column_bytes(stmt, column), &term))
            return describe_term(&term);
        return g_strdup("blob");
    default: /* SQLite's numbers, not an enum of ours */
        return g_strdup((const char *) sqlite3_column_text(stmt, column));
    }
}

static char *
run_once(Expressions *self, const char *text, gboolean with_args)
{
    g_autoptr(GPtrArray) terms = g_ptr_array_new_with_free_func((GDestroyNotify) g_bytes_unref);
    g_autoptr(GByteArray) program = expressions_assemble(text, with_args ? terms : NULL);
    g_autoptr(GString) sql = g_string_new("SELECT queryd_eval(?1");
    sqlite3_stmt *stmt = NULL;
    char *result;

    for (guint i = 0; i < terms->len; i++)
        g_string_append_printf(sql, ",?%u", i + 2);
    g_string_append_c(sql, ')');
    g_assert_cmpint(sqlite3_prepare_v2(self->db, sql->str, -1, &stmt, NULL), ==, SQLITE_OK);
    sqlite3_bind_blob64(stmt, 1, program->data, program->len, SQLITE_STATIC);
    for (guint i = 0; i < terms->len; i++) {
        GBytes *blob = g_ptr_array_index(terms, i);
        gint64 id;

        if (expressions_intern(self, blob, &id))
            sqlite3_bind_int64(stmt, (int) i + 2, id);
        else
            sqlite3_bind_blob64(stmt, (int) i + 2, g_bytes_get_data(blob, NULL), g_bytes_get_size(blob), SQLITE_STATIC);
    }
    if (sqlite3_step(stmt) == SQLITE_ROW)
        result = expressions_describe(self, stmt, 0);
    else
        result = g_strdup_printf("error: %s", sqlite3_errmsg(self->db));
    (void) sqlite3_finalize(stmt);
    return result;
}

char *
expressions_run(Expressions *self, const char *text)
{
    char *result = run_once(self, text, FALSE);
    g_autofree char *again = strlen(text) < MANY_ARGS ? run_once(self, text, TRUE) : NULL;

    if (again != NULL)
        g_assert_cmpstr(result, ==, again);
    return result;
}

void
expressions_check(const char *const (*cases)[2])
{
    g_autoptr(Expressions) self = expressions_new();

    for (; (*cases)[0] != NULL; cases++) {
        g_autofree char *result = NULL;

        g_test_message("%s", (*cases)[0]);
        result = expressions_run(self, (*cases)[0]);
        g_assert_cmpstr(result, ==, (*cases)[1]);
    }
}

char *
expressions_query(Expressions *self, const char *sql)
{
    g_autoptr(GString) text = g_string_new(NULL);
    g_autoptr(GString) out = g_string_new(NULL);
    sqlite3_stmt *stmt = NULL;

    for (const char *p = sql; *p != '\0'; p++) {
        const char *end = *p == '{' ? strchr(p, '}') : NULL;
        g_autofree char *name = end != NULL ? g_strndup(p + 1, (gsize) (end - p - 1)) : NULL;
        g_autoptr(GBytes) blob = name != NULL ? expressions_parse_term(name) : NULL;
        gint64 id;

        if (end == NULL) {
            g_string_append_c(text, *p);
            continue;
        }
        p = end;
        if (expressions_intern(self, blob, &id)) {
            g_string_append_printf(text, "%" G_GINT64_FORMAT, id);
            continue;
        }
        g_string_append(text, "X'");
        for (gsize i = 0; i < g_bytes_get_size(blob); i++)
            g_string_append_printf(text, "%02x", ((const guint8 *) g_bytes_get_data(blob, NULL))[i]);
        g_string_append_c(text, '\'');
    }
    g_assert_cmpint(sqlite3_prepare_v2(self->db, text->str, -1, &stmt, NULL), ==, SQLITE_OK);
    while (sqlite3_step(stmt) == SQLITE_ROW) {
        g_autofree char *value = expressions_describe(self, stmt, 0);

        g_string_append_printf(out, "%s%s", out->len > 0 ? " " : "", value);
    }
    if (sqlite3_errcode(self->db) != SQLITE_DONE)
        g_string_append_printf(out, "error: %s", sqlite3_errmsg(self->db));
    (void) sqlite3_finalize(stmt);
    return g_string_free(g_steal_pointer(&out), FALSE);
}
