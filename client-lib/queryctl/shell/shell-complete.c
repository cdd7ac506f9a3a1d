/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What Tab offers. Commands and their arguments. In SQL keywords, tables, and columns of the tables that the statement names. In
 * SPARQL keywords, variables, prefixes, and predicates of the store.
 */
#include <string.h>

#include "client-lib/queryctl/shell/shell-private.h"

#define MAX_WORDS 500u

typedef struct Completion {
    QctlShell *shell;
    const char *prefix; /* of the word that is being typed */
    char *statement;    /* all of it that there is */
    GPtrArray *words;   /* of char* */
} Completion;

static void
add(Completion *self, const char *word)
{
    if (self->words->len < MAX_WORDS && g_str_has_prefix(word, self->prefix) &&
        !g_ptr_array_find_with_equal_func(self->words, word, g_str_equal, NULL))
        g_ptr_array_add(self->words, g_strdup(word));
}

/* Names of SQL have no case: what is typed stays. */
static void
add_name(Completion *self, const char *name)
{
    gsize n = strlen(self->prefix);
    g_autofree char *word = NULL;

    if (g_ascii_strncasecmp(name, self->prefix, n) != 0)
        return;
    word = g_strconcat(self->prefix, name + n, NULL);
    add(self, word);
}

/* In the case in which it is begun. */
static void
add_keywords(Completion *self, const char *const *keywords)
{
    for (; self->prefix[0] != 0 && *keywords != NULL; keywords++) {
        g_autofree char *lower = g_ascii_strdown(*keywords, -1);

        add(self, g_ascii_islower(self->prefix[0]) ? lower : *keywords);
    }
}

/* A query of ours, about what is stored. Without an answer there is nothing to offer. (transfer full) (nullable) */
static QueryCursor *
ask(Completion *self, const char *query)
{
    QueryConnection *connection = qctl_session_connect(self->shell->session, NULL);

    if (connection == NULL)
        return NULL;
    return query_connection_query(connection, QUERY_LANGUAGE_SQL, query, NULL, NULL, NULL);
}

/* SQL ----------------------------------------------------------------------------------------------------------------- */

static bool
is_name_character(char c)
{
    return g_ascii_isalnum(c) || c == '_' || c == '$' || (c & 0x80) != 0;
}

/* Whether @name is a word of @text. */
static bool
has_word(const char *text, const char *name)
{
    gsize n = strlen(name);

    for (const char *p = text; *p != 0; p++) {
        if ((p == text || !is_name_character(p[-1])) && g_ascii_strncasecmp(p, name, n) == 0 && !is_name_character(p[n]))
            return true;
    }
    return false;
}

static void
add_tables(Completion *self)
{
    g_autoptr(QueryCursor) cursor = ask(self, "SELECT name FROM sqlite_schema WHERE type IN ('table', 'view') "
                                              "AND name NOT GLOB 'sqlite_*' AND name NOT GLOB 'queryd_*' ORDER BY name");

    while (cursor != NULL && query_cursor_next(cursor, NULL, NULL)) {
        const char *name = query_cursor_get_string(cursor, 0, NULL);

        if (name != NULL)
            add_name(self, name);
    }
}

/* After "x." the words are "x.COLUMN". */
static void
add_column(Completion *self, const char *column)
{
    const char *dot = strrchr(self->prefix, '.');
    g_autofree char *word = dot != NULL ? g_strdup_printf("%.*s%s", (int) (dot + 1 - self->prefix), self->prefix, column)
                                        : g_strdup(column);

    add_name(self, word);
}

/* Of the tables that the statement names. A statement that names none yet gets those of all tables. */
static void
add_columns(Completion *self, const char *type)
{
    g_autofree char *query = g_strdup_printf(
        "SELECT m.name, p.name FROM sqlite_schema AS m, pragma_table_xinfo(m.name) AS p "
        "WHERE m.type='%s' AND p.hidden<>1 AND m.name NOT GLOB 'sqlite_*' AND m.name NOT GLOB 'queryd_*'",
        type);
    g_autoptr(QueryCursor) cursor = ask(self, query);
    g_autoptr(GPtrArray) others = g_ptr_array_new_with_free_func(g_free);
    bool is_named = false;

    while (cursor != NULL && query_cursor_next(cursor, NULL, NULL)) {
        const char *table = query_cursor_get_string(cursor, 0, NULL);
        const char *column = query_cursor_get_string(cursor, 1, NULL);

        if (table == NULL || column == NULL)
            continue;
        if (has_word(self->statement, table)) {
            is_named = true;
            add_column(self, column);
        } else if (!is_named) {
            g_ptr_array_add(others, g_strdup(column));
        }
    }
    for (guint i = 0; !is_named && self->prefix[0] != 0 && i < others->len; i++)
        add_column(self, others->pdata[i]);
}

static void
complete_sql(Completion *self)
{
    static const char *const keywords[] = {
        "SELECT",  "FROM",      "WHERE",       "GROUP BY",  "ORDER BY", "HAVING", "LIMIT",    "OFFSET",  "DISTINCT",
        "JOIN",    "LEFT JOIN", "INSERT INTO", "VALUES",    "UPDATE",   "DELETE", "CREATE",   "ALTER",   "DROP",
        "TABLE",   "INDEX",     "VIEW",        "TRIGGER",   "BEGIN",    "COMMIT", "ROLLBACK", "EXPLAIN", "PRAGMA",
        "BETWEEN", "COLLATE",   "UNION",       "RETURNING", "EXISTS",   NULL,
    };

    add_keywords(self, keywords);
    if (strchr(self->prefix, '.') == NULL)
        add_tables(self);
    add_columns(self, "table");
    add_columns(self, "view"); /* apart: one that is broken spoils its query */
}

/* SPARQL -------------------------------------------------------------------------------------------------------------- */

static void
add_variables(Completion *self)
{
    for (const char *p = self->statement; *p != 0; p++) {
        const char *end = p + 1;
        g_autofree char *word = NULL;

        if (*p != self->prefix[0])
            continue;
        while (is_name_character(*end) && *end != '$')
            end++;
        word = g_strndup(p, (gsize) (end - p));
        if (end > p + 1 && !g_str_equal(word, self->prefix))
            add(self, word);
    }
}

/* A local name that needs no escape. */
static bool
is_plain_local(const char *text)
{
    for (const char *p = text; *p != 0; p++)
        if (!g_ascii_isalnum(*p) && *p != '_' && (*p & 0x80) == 0 && (*p != '-' || p == text))
            return false;
    return true;
}

static void
add_predicates(Completion *self, const char *before, const char *iri, const char *after)
{
    g_autoptr(QueryCursor) cursor = ask(self, "SELECT t.lexical FROM queryd_predicate AS p JOIN queryd_term AS t ON t.id=p.id "
                                              "WHERE p.n_quads>0 ORDER BY t.lexical");

    while (cursor != NULL && query_cursor_next(cursor, NULL, NULL)) {
        const char *predicate = query_cursor_get_string(cursor, 0, NULL);
        const char *local = predicate != NULL && g_str_has_prefix(predicate, iri) ? predicate + strlen(iri) : NULL;
        g_autofree char *word = NULL;

        if (local == NULL || (after[0] == 0 && !is_plain_local(local)))
            continue;
        word = g_strconcat(before, local, after, NULL);
        add(self, word);
    }
}

/* (transfer full) (nullable): what the text declares @prefix, of @n characters, to stand for */
static char *
find_declared(const char *text, const char *prefix, gsize n)
{
    for (const char *p = strstr(text, ":"); p != NULL; p = strstr(p + 1, ":")) {
        const char *open = p + 1 + strspn(p + 1, " \t\n");
        const char *close = *open == '<' ? strchr(open, '>') : NULL;

        if (close != NULL && (gsize) (p - text) > n && strncmp(p - n, prefix, n) == 0 && g_ascii_isspace(p[-(gssize) n - 1]))
            return g_strndup(open + 1, (gsize) (close - open - 1));
    }
    return NULL;
}

/* Prefixes that the store has, and what begins with one of them. */
static void
add_prefixes(Completion *self)
{
    const char *colon = strchr(self->prefix, ':');
    gsize n = colon != NULL ? (gsize) (colon - self->prefix) : 0;
    g_autofree char *before = g_strndup(self->prefix, colon != NULL ? n + 1 : 0);
    g_autofree char *declared = colon != NULL ? find_declared(self->statement, self->prefix, n) : NULL;
    g_autoptr(QueryCursor) cursor = declared == NULL ? ask(self, "SELECT prefix, iri FROM queryd_prefix ORDER BY prefix") : NULL;

    if (declared != NULL)
        add_predicates(self, before, declared, "");
    while (cursor != NULL && query_cursor_next(cursor, NULL, NULL)) {
        const char *prefix = query_cursor_get_string(cursor, 0, NULL);
        const char *iri = query_cursor_get_string(cursor, 1, NULL);
        g_autofree char *word = g_strconcat(prefix != NULL ? prefix : "", ":", NULL);

        if (colon == NULL)
            add(self, word);
        else if (iri != NULL && g_str_equal(word, before))
            add_predicates(self, before, iri, "");
    }
}

static void
complete_sparql(Completion *self)
{
    static const char *const keywords[] = {
        "SELECT",      "DISTINCT",    "WHERE",  "PREFIX",    "OPTIONAL", "FILTER", "UNION",      "GRAPH", "ORDER BY", "GROUP BY",
        "HAVING",      "LIMIT",       "OFFSET", "CONSTRUCT", "DESCRIBE", "ASK",    "BIND",       "MINUS", "VALUES",   "EXISTS",
        "INSERT DATA", "DELETE DATA", "INSERT", "DELETE",    "WITH",     "CLEAR",  "NOT EXISTS", NULL,
    };

    if (self->prefix[0] == '?' || self->prefix[0] == '$') {
        add_variables(self);
    } else if (self->prefix[0] == '<') {
        add_predicates(self, "<", "", ">");
    } else {
        if (strchr(self->prefix, ':') == NULL)
            add_keywords(self, keywords);
        add_prefixes(self);
    }
}

/* Commands ------------------------------------------------------------------------------------------------------------ */

static void
add_files(Completion *self)
{
    const char *slash = strrchr(self->prefix, '/');
    g_autofree char *folder = slash != NULL ? g_strndup(self->prefix, (gsize) (slash + 1 - self->prefix)) : g_strdup("");
    g_autoptr(GDir) dir = g_dir_open(folder[0] != 0 ? folder : ".", 0, NULL);
    const char *name = NULL;

    while (dir != NULL && (name = g_dir_read_name(dir)) != NULL) {
        g_autofree char *path = g_strconcat(folder, name, NULL);
        g_autofree char *word = g_strconcat(path, g_file_test(path, G_FILE_TEST_IS_DIR) ? "/" : "", NULL);

        if (name[0] != '.' || (slash != NULL ? slash[1] : self->prefix[0]) == '.')
            add(self, word);
    }
}

static void
add_commands(Completion *self)
{
    for (const QctlCommand *command = qctl_shell_list_commands(); command->name != NULL; command++)
        add(self, command->name);
}

static void
add_values(Completion *self, QctlValues values)
{
    switch (values) {
    case QCTL_VALUES_FILES:
        add_files(self);
        break;
    case QCTL_VALUES_TABLES:
        add_tables(self);
        break;
    case QCTL_VALUES_FORMATS:
        for (guint i = QCTL_FORMAT_TABLE; i < QCTL_FORMAT_REMOTE; i++)
            add(self, qctl_format_get_name((QctlFormat) i));
        break;
    case QCTL_VALUES_COMMANDS:
        add_commands(self);
        break;
    case QCTL_VALUES_ANY:
    case QCTL_VALUES_STORES:
    case QCTL_VALUES_TOKENIZERS:
        break;
    }
}

/* An argument of the command with which @line begins. */
static void
complete_command(Completion *self, const char *line)
{
    gsize n = strcspn(line, " \t");

    for (const QctlCommand *command = qctl_shell_list_commands(); command->name != NULL; command++)
        if (strlen(command->name) == n && strncmp(command->name, line, n) == 0)
            add_values(self, command->values);
}

/* ---------------------------------------------------------------------------------------------------------------------- */

static int
compare_words(gconstpointer a, gconstpointer b)
{
    return strcmp(*(const char *const *) a, *(const char *const *) b);
}

char **
qctl_shell_complete(const char *line, gsize cursor, gsize *ret_start, gpointer user_data)
{
    QctlShell *shell = user_data;
    bool is_command = shell->text->len == 0 && line[0] == '.';
    bool is_sparql = qctl_session_get_language(shell->session) == QUERY_LANGUAGE_SPARQL;
    const char *others = is_command ? "./-~" : is_sparql ? ":?$-" : ".";
    g_autofree char *prefix = NULL;
    g_autofree char *statement = g_strdup_printf("%s%s", shell->text->str, line);
    Completion self = { shell, NULL, statement, g_ptr_array_new_with_free_func(g_free) };
    gsize start = cursor;

    while (start > 0 && (is_name_character(line[start - 1]) || strchr(others, line[start - 1]) != NULL))
        start--;
    for (gsize i = cursor; is_sparql && !is_command && i > 0 && strchr("> \t", line[i - 1]) == NULL; i--)
        if (line[i - 1] == '<') /* within an IRI */
            start = i - 1;
    *ret_start = start;
    self.prefix = prefix = g_strndup(line + start, cursor - start);
    if (is_command && start == 0)
        add_commands(&self);
    else if (is_command)
        complete_command(&self, line);
    else if (is_sparql)
        complete_sparql(&self);
    else
        complete_sql(&self);
    g_ptr_array_sort(self.words, compare_words);
    g_ptr_array_add(self.words, NULL);
    return (char **) g_ptr_array_free(self.words, FALSE);
}
