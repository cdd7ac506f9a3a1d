/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * store: further databases, each with a queryd of its own that the bus starts by name.
 */
#include <errno.h>
#include <fcntl.h>
#include <glib/gstdio.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "client-lib/queryctl/verbs.h"

#define SQLITE_MAGIC "SQLite format 3" /* and its NUL */
/* The range that each connection of SQLite locks for reading: sqlite3's PENDING_BYTE + 2, SHARED_SIZE. */
#define SQLITE_SHARED_START 0x40000002
#define SQLITE_SHARED_BYTES 510

static bool
fail(GError **error, int errno_value, const char *what, const char *name)
{
    g_set_error(error, G_FILE_ERROR, (int) g_file_error_from_errno(errno_value), "%s '%s': %s", what, name,
                g_strerror(errno_value));
    return false;
}

/* create -------------------------------------------------------------------------------------------------------------- */

static bool
create_store(const char *name, GError **error)
{
    gboolean is_known = FALSE;

    if (!query_store_create(name, &is_known, NULL, error))
        return false;
    if (!is_known)
        (void) fprintf(stderr, "queryctl: the bus does not know the new store: before the next login it will not find the store\n");
    return true;
}

/* import -------------------------------------------------------------------------------------------------------------- */

/* What a database leaves beside its file while it is written: then the file alone is not the database. */
static bool
check_companions(const char *file, GError **error)
{
    static const char *const suffixes[] = { "-wal", "-journal" };

    for (guint i = 0; i < G_N_ELEMENTS(suffixes); i++) {
        g_autofree char *path = g_strconcat(file, suffixes[i], NULL);
        struct stat st;

        if (stat(path, &st) < 0 || st.st_size == 0)
            continue;
        g_set_error(error, G_FILE_ERROR, G_FILE_ERROR_FAILED,
                    "'%s' is in use or was not closed well: there is '%s'. Close its programs, or run: sqlite3 '%s' "
                    "'PRAGMA wal_checkpoint(TRUNCATE)'",
                    file, path, file);
        return false;
    }

    return true;
}

/* Checks what @fd is, and keeps writers away while it is open. */
static bool
check_source(int fd, const char *file, GError **error)
{
    struct flock lock = { .l_type = F_RDLCK, .l_whence = SEEK_SET, .l_start = SQLITE_SHARED_START, .l_len = SQLITE_SHARED_BYTES };
    char magic[sizeof SQLITE_MAGIC];
    struct stat st;

    if (fstat(fd, &st) < 0)
        return fail(error, errno, "cannot read", file);
    if (!S_ISREG(st.st_mode) || pread(fd, magic, sizeof magic, 0) != (ssize_t) sizeof magic ||
        memcmp(magic, SQLITE_MAGIC, sizeof magic) != 0) {
        g_set_error(error, G_FILE_ERROR, G_FILE_ERROR_INVAL, "'%s' is not an SQLite database", file);
        return false;
    }
    if (fcntl(fd, F_OFD_SETLK, &lock) < 0)
        return fail(error, errno, "cannot lock", file);

    return check_companions(file, error);
}

static bool
copy_bytes(int source, int target)
{
    g_autofree char *buffer = g_malloc(1 << 20);
    ssize_t n = 0;

    while ((n = read(source, buffer, 1 << 20)) != 0) {
        if (n < 0 && errno != EINTR)
            return false;
        for (ssize_t done = 0; done < n;) {
            ssize_t written = write(target, buffer + done, (size_t) (n - done));

            if (written < 0 && errno != EINTR)
                return false;
            done += MAX(written, 0);
        }
    }

    return fsync(target) == 0;
}

/* A crash leaves either nothing under the database's name, or all of it. */
static bool
copy_database(int source, const char *directory, GError **error)
{
    g_autofree char *path = g_build_filename(directory, "queryd.db", NULL);
    g_autofree char *unfinished = g_strconcat(path, ".part", NULL);
    int fd = open(unfinished, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    int directory_fd = -1;
    bool ok = false;

    if (fd < 0)
        return fail(error, errno, "cannot create", unfinished);

    ok = copy_bytes(source, fd) || fail(error, errno, "cannot write", unfinished);
    (void) close(fd);
    if (ok && rename(unfinished, path) < 0)
        ok = fail(error, errno, "cannot create", path);
    if (!ok) {
        (void) unlink(unfinished);
        (void) rmdir(directory);
        return false;
    }

    directory_fd = open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (directory_fd < 0 || fsync(directory_fd) < 0)
        ok = fail(error, errno, "cannot sync", directory);
    if (directory_fd >= 0)
        (void) close(directory_fd);
    return ok;
}

/* An import that was cut off leaves a directory without a database: it may be taken over. */
static bool
make_store_directory(const char *directory, GError **error)
{
    g_autofree char *database = g_build_filename(directory, "queryd.db", NULL);

    if (g_mkdir_with_parents(directory, 0700) < 0)
        return fail(error, errno, "cannot create", directory);
    if (g_file_test(database, G_FILE_TEST_EXISTS))
        return fail(error, EEXIST, "cannot import into", database);

    return true;
}

static bool
import_store(const char *file, const char *name, GError **error)
{
    g_autofree char *directory = query_store_get_folder(name);
    g_auto(GStrv) stores = query_store_list();
    int source = -1;
    bool ok = false;

    if (g_strv_contains((const char *const *) stores, name))
        return fail(error, EEXIST, "cannot create store", name);
    source = open(file, O_RDONLY | O_CLOEXEC);
    if (source < 0)
        return fail(error, errno, "cannot open", file);

    ok = check_source(source, file, error);
    ok = ok && make_store_directory(directory, error) && copy_database(source, directory, error);
    (void) close(source);
    return ok && create_store(name, error);
}

/* remove -------------------------------------------------------------------------------------------------------------- */

static bool
remove_store(const char *name, bool deletes, GError **error)
{
    g_autofree char *directory = query_store_get_folder(name);

    if (!query_store_remove(name, deletes, NULL, error))
        return false;
    if (!deletes)
        (void) fprintf(stderr, "queryctl: the data of store '%s' are still in '%s'; --delete deletes them\n", name, directory);
    return true;
}

/* list ---------------------------------------------------------------------------------------------------------------- */

static bool
list_stores(QctlSession *session, GError **error)
{
    static const char *const columns[] = { "name", "directory" };
    g_auto(GStrv) names = query_store_list();
    g_autoptr(QctlSink) sink = qctl_session_create_sink(session);
    g_autoptr(QctlOutput) output = qctl_session_create_output(session, sink, columns, 2);

    for (char **name = names; *name != NULL; name++) {
        g_autofree char *directory = query_store_get_folder(*name);
        QwValue cells[2];

        qctl_cell_init_text(&cells[0], *name);
        qctl_cell_init_text(&cells[1], directory);
        if (!qctl_output_put(output, cells, error))
            return false;
    }
    return qctl_output_finish(output, true, error);
}

static bool
check(const QctlArguments *arguments, GError **error)
{
    const char *action = arguments->words->pdata[0];
    guint n_words = arguments->words->len;
    guint n_wanted = g_str_equal(action, "list")                                      ? 1
                     : g_str_equal(action, "create") || g_str_equal(action, "remove") ? 2
                     : g_str_equal(action, "import")                                  ? 3
                                                                                      : 0;

    if (n_words != n_wanted || (arguments->deletes && !g_str_equal(action, "remove")))
        return qctl_arguments_refuse(arguments, error);
    if (n_words > 1 && (!qctl_is_store_name(arguments->words->pdata[n_words - 1]) ||
                        g_str_equal(arguments->words->pdata[n_words - 1], "default"))) {
        g_set_error(error, G_OPTION_ERROR, G_OPTION_ERROR_FAILED,
                    "'%s' is not a store's name: letters, digits and '_', at most 64, not a digit first, not 'default'",
                    (const char *) arguments->words->pdata[n_words - 1]);
        return false;
    }

    return true;
}

static int
run_store(QctlSession *session)
{
    GPtrArray *words = qctl_session_get_arguments(session)->words;
    const char *action = words->pdata[0];
    g_autoptr(GError) error = NULL;
    bool ok = false;

    if (g_str_equal(action, "list"))
        ok = list_stores(session, &error);
    else if (g_str_equal(action, "create"))
        ok = create_store(words->pdata[1], &error);
    else if (g_str_equal(action, "remove"))
        ok = remove_store(words->pdata[1], qctl_session_get_arguments(session)->deletes, &error);
    else
        ok = import_store(words->pdata[1], words->pdata[2], &error);

    return ok ? QCTL_EXIT_OK : qctl_session_report(session, g_steal_pointer(&error), NULL);
}

static const QctlOption option_delete = { "delete", 0, NULL, "remove: delete the store's data as well",
                                          .offset = G_STRUCT_OFFSET(QctlArguments, deletes) };
const QctlVerb qctl_store_verb = {
    "store",
    "list|create NAME|import FILE NAME|remove NAME",
    "manage further databases",
    QCTL_OPTIONS(&option_delete, QCTL_PRINT_OPTIONS),
    .n_words_min = 1,
    .n_words_max = 3,
    .actions = QCTL_ACTIONS("list", "create", "import", "remove"),
    .values = QCTL_VALUES_FILES,
    .check = check,
    .run = run_store,
};
