/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The definitions are variables of SQLite. Each is a place of the library's writable memory that names the function and whose
 * call leads into the library's code. Nothing is read outside of the segments that the dynamic linker tells.
 */
#include "daemon/sqlite/builtin/builtin.h"

#include <link.h>
#include <string.h>

#include "daemon/base/name-set.h"

/* The versions that keep a function as QdDefinition says: read in their source. */
#define FIRST_KNOWN_VERSION 3025000
#define LAST_KNOWN_VERSION 3050999

/* Without SQLITE_DETERMINISTIC, but what they give is of the data alone. */
static const char *const stable_functions[] = { "bm25",           "highlight",        "match",          "matchinfo",
                                                "offsets",        "snippet",          "fts5_source_id", "queryd_payload",
                                                "sqlite_version", "sqlite_source_id", "rtreenode" };
/* With SQLITE_DETERMINISTIC, but they know the time by 'now', which may be a value of a row. */
static const char *const clock_functions[] = { "date", "time", "datetime", "julianday", "strftime", "timediff", "unixepoch" };
/* The other functions without SQLITE_DETERMINISTIC, the same for all connections of a process. */
static GPtrArray *volatile_functions;  /* (nullable) atomic: of char* */
static GPtrArray *aggregate_functions; /* (nullable) atomic: of char* */

typedef struct Search {
    const char *name;
    gint8 n_args;
    const struct dl_phdr_info *library;
    const QdDefinition *found;
    guint n_found;
} Search;

gboolean
qd_builtin_is_known(void)
{
    return sqlite3_libversion_number() >= FIRST_KNOWN_VERSION && sqlite3_libversion_number() <= LAST_KNOWN_VERSION;
}

/* Whether @n bytes at @address are in a segment with @flags. */
static gboolean
is_in(const struct dl_phdr_info *library, guintptr address, gsize n, guint flags)
{
    for (guint i = 0; i < library->dlpi_phnum; i++) {
        const ElfW(Phdr) *segment = &library->dlpi_phdr[i];
        guintptr start = library->dlpi_addr + segment->p_vaddr;

        if (segment->p_type == PT_LOAD && (segment->p_flags & flags) == flags && address >= start && segment->p_memsz >= n &&
            address - start <= segment->p_memsz - n)
            return TRUE;
    }
    return FALSE;
}

static gboolean
is_sought(const Search *self, const QdDefinition *definition)
{
    gsize n_bytes = strlen(self->name) + 1;
    gint8 n_args = *(const gint8 *) definition; /* of either size: -1 is all ones */

    return n_args == self->n_args && (definition->flags & SQLITE_DETERMINISTIC) != 0 && definition->finalize == NULL &&
           definition->value == NULL && definition->inverse == NULL && is_in(self->library, (guintptr) definition->call, 1, PF_X) &&
           is_in(self->library, (guintptr) definition->name, n_bytes, PF_R) && memcmp(definition->name, self->name, n_bytes) == 0;
}

static void
search_segment(Search *self, guintptr start, gsize n_bytes)
{
    guintptr end = start + n_bytes;

    for (guintptr p = (start + sizeof(gpointer) - 1) & ~(sizeof(gpointer) - 1); p < end && end - p >= sizeof(QdDefinition);
         p += sizeof(gpointer)) {
        const QdDefinition *definition = (const QdDefinition *) p;

        if (!is_sought(self, definition))
            continue;
        self->found = definition;
        self->n_found++;
    }
}

static int
on_library(struct dl_phdr_info *library, gsize n_bytes, void *data)
{
    Search *self = data;

    if (!is_in(library, (guintptr) sqlite3_libversion_number, 1, PF_X))
        return 0;

    self->library = library;
    for (guint i = 0; i < library->dlpi_phnum; i++) {
        const ElfW(Phdr) *segment = &library->dlpi_phdr[i];

        if (segment->p_type == PT_LOAD && (segment->p_flags & PF_W) != 0)
            search_segment(self, library->dlpi_addr + segment->p_vaddr, segment->p_memsz);
    }
    return 1;
}

/* (nullable) */
static const QdDefinition *
find(const char *name, gint8 n_args)
{
    Search self = { .name = name, .n_args = n_args };

    if (qd_builtin_is_known())
        (void) dl_iterate_phdr(on_library, &self);
    return self.n_found == 1 ? self.found : NULL;
}

QdSqlCall *
qd_builtin_find(const char *name)
{
    const QdDefinition *definition = find(name, -1);

    return definition != NULL ? definition->call : NULL;
}

void
qd_builtin_trust_json(sqlite3 *db)
{
    static const struct {
        const char *name;
        gint8 n_args;
    } functions[] = {
        { "->", 2 },
        { "->>", 2 },
        { "json", 1 },
        { "json_array", -1 },
        { "json_array_length", 1 },
        { "json_extract", -1 },
        { "json_insert", -1 },
        { "json_object", -1 },
        { "json_patch", 2 },
        { "json_array_length", 2 },
        { "json_quote", 1 },
        { "json_remove", -1 },
        { "json_replace", -1 },
        { "json_set", -1 },
        { "json_type", 1 },
        { "json_type", 2 },
        { "json_valid", 1 },
    };

    for (gsize i = 0; i < G_N_ELEMENTS(functions); i++) {
        const QdDefinition *definition = find(functions[i].name, functions[i].n_args);

        if (definition != NULL)
            (void) sqlite3_create_function_v2(db, functions[i].name, functions[i].n_args,
                                              SQLITE_UTF8 | SQLITE_DETERMINISTIC | SQLITE_INNOCUOUS, definition->user_data,
                                              definition->call, NULL, NULL, NULL);
    }
}

/* Volatile functions ------------------------------------------------------------------------------------------------------- */

/* The names that @sql gives to @names, once in a process. Those in @but are left out. */
static void
learn_names(sqlite3 *db, const char *sql, const char *const *but, gsize n_but, GPtrArray **names)
{
    GPtrArray *found;
    sqlite3_stmt *stmt = NULL;
    int r;

    if (g_atomic_pointer_get(names) != NULL)
        return;
    found = g_ptr_array_new_with_free_func(g_free);
    (void) sqlite3_prepare_v2(db, sql, -1, &stmt, NULL);
    while ((r = sqlite3_step(stmt)) == SQLITE_ROW) {
        const char *name = (const char *) sqlite3_column_text(stmt, 0);

        if (name != NULL && !qd_names_have(but, n_but, name))
            g_ptr_array_add(found, g_strdup(name));
    }
    (void) sqlite3_finalize(stmt);
    if (r != SQLITE_DONE || !g_atomic_pointer_compare_and_exchange(names, NULL, found))
        g_ptr_array_unref(found);
}

void
qd_builtin_learn(sqlite3 *db)
{
    /* aggregates have no such flag */
    learn_names(
        db,
        "SELECT DISTINCT name FROM temp.pragma_function_list WHERE type='s' AND flags & " G_STRINGIFY(SQLITE_DETERMINISTIC) "=0",
        stable_functions, G_N_ELEMENTS(stable_functions), &volatile_functions);
    learn_names(db, "SELECT DISTINCT name FROM temp.pragma_function_list WHERE type IN ('a','w')", NULL, 0, &aggregate_functions);
}

gboolean
qd_builtin_is_volatile(const char *name)
{
    const GPtrArray *names = g_atomic_pointer_get(&volatile_functions);

    return names == NULL || qd_names_have(clock_functions, G_N_ELEMENTS(clock_functions), name) ||
           qd_names_have((const char *const *) names->pdata, names->len, name);
}

gboolean
qd_builtin_is_aggregate(const char *name)
{
    const GPtrArray *names = g_atomic_pointer_get(&aggregate_functions);

    return names != NULL && qd_names_have((const char *const *) names->pdata, names->len, name);
}
