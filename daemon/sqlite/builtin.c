/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The definitions are variables of SQLite. Each is a place of the library's writable memory that names the function and whose
 * call leads into the library's code. Nothing is read outside of the segments that the dynamic linker tells.
 */
#include "daemon/sqlite/builtin.h"

#include <link.h>
#include <string.h>

/* The versions that keep a function as QdDefinition says: read in their source. */
#define FIRST_KNOWN_VERSION 3025000
#define LAST_KNOWN_VERSION 3050999

typedef struct Search {
    const char *name;
    const struct dl_phdr_info *library;
    QdSqlCall *found;
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

    return n_args == -1 && (definition->flags & SQLITE_DETERMINISTIC) != 0 && definition->finalize == NULL &&
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
        self->found = definition->call;
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

QdSqlCall *
qd_builtin_find(const char *name)
{
    Search self = { .name = name };

    if (qd_builtin_is_known())
        (void) dl_iterate_phdr(on_library, &self);
    return self.n_found == 1 ? self.found : NULL;
}
