/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Why the system refuses a file of the store, in words that say what to do.
 *
 * A database that is opened and closed here loses SQLite's locks of this process. qd_database_guard() has one that stays. Only a
 * file whose rights allow it is opened, and it mostly fails again.
 */
#include "daemon/sqlite/file-trouble.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#include "daemon/base/error.h"
#include "daemon/base/fd.h"

typedef struct Advice {
    int number;
    gboolean is_of_disk;
    const char *text;
} Advice;

#define OF_DISK "the disk reports an error, see the kernel's log"
#define DISCONNECTED "the file system has gone, mount it again"
#define RIGHTS "the user of this process needs rights to it"
#define ROOM "make room"

static const Advice advices[] = {
    { EROFS, TRUE, "mount the disk for writing, and see the kernel's log if an error has made it read-only" },
    { EIO, TRUE, OF_DISK },
    { ENXIO, TRUE, OF_DISK },
    { EUCLEAN, TRUE, OF_DISK }, /* a file system that finds itself damaged; the next, too */
    { EBADMSG, TRUE, OF_DISK },
    { ENOTCONN, TRUE, DISCONNECTED },
    { ESTALE, TRUE, DISCONNECTED },
    { ESHUTDOWN, TRUE, DISCONNECTED },
    { EACCES, FALSE, RIGHTS },
    { EPERM, FALSE, RIGHTS },
    { ENOSPC, FALSE, ROOM },
    { EDQUOT, FALSE, ROOM },
    { EMFILE, FALSE, "the next try opens it again" },
    { ENFILE, FALSE, "the next try opens it again" },
    { ENOMEM, FALSE, "the next try opens it again" },
};

static const Advice *
find_advice(int errno_value)
{
    for (guint i = 0; i < G_N_ELEMENTS(advices); i++)
        if (advices[i].number == errno_value)
            return &advices[i];
    return NULL;
}

void
qd_file_trouble_set(GError **error, int errno_value, const char *format, ...)
{
    const Advice *advice = find_advice(errno_value);
    g_autofree char *what = NULL;
    GError *failure = NULL;
    va_list args;

    va_start(args, format);
    what = g_strdup_vprintf(format, args);
    va_end(args);
    qd_error_set_errno(&failure, errno_value, "%s", what);
    qd_error_set(error, qd_error_get_code(failure), "%s%s%s", failure->message, advice != NULL ? "; " : "",
                 advice != NULL ? advice->text : "");
    g_error_free(failure);
}

gboolean
qd_file_trouble_is_of_disk(int errno_value)
{
    const Advice *advice = find_advice(errno_value);

    return advice != NULL && advice->is_of_disk;
}

/* What rights forbid is another error for files that are read. */
static void
set_refusal(GError **error, int errno_value, const char *what, const char *path, const char *why)
{
    GError *failure = NULL;

    qd_file_trouble_set(&failure, errno_value, "cannot %s '%s'%s", what, path, why);
    qd_error_set(error, errno_value == EACCES || errno_value == EPERM ? QW_ERROR_READ_ONLY : qd_error_get_code(failure), "%s",
                 failure->message);
    g_error_free(failure);
}

/* 0: none */
static int
find_errno(const char *path)
{
    g_auto(QdFd) fd = -1;

    if (access(path, W_OK) < 0)
        return errno;
    fd = open(path, O_RDWR | O_CLOEXEC | O_NONBLOCK);
    return fd >= 0 ? 0 : errno;
}

gboolean
qd_file_trouble_explain_read_only(const char *path, GError **error)
{
    static const char *const suffixes[] = { "", "-wal", "-shm" };
    g_autofree char *folder = g_path_get_dirname(path);

    for (guint i = 0; i < G_N_ELEMENTS(suffixes); i++) {
        g_autofree char *name = g_strconcat(path, suffixes[i], NULL);
        int number = find_errno(name);

        if (number == 0 || number == ENOENT)
            continue;
        set_refusal(error, number, "open", name, " for writing");
        return TRUE;
    }
    if (access(folder, W_OK | X_OK) == 0)
        return FALSE;
    set_refusal(error, errno, "make a file in", folder, "");
    return TRUE;
}
