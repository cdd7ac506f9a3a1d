/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * By device and inode, as they were when the store was opened. inotify tells before unlink() and rename() return.
 */
#include "daemon/sqlite/file-watch.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/inotify.h>
#include <sys/stat.h>
#include <unistd.h>

#include "daemon/base/error.h"
#include "daemon/base/fd.h"

#define EVENTS (IN_CREATE | IN_DELETE | IN_MOVED_FROM | IN_MOVED_TO | IN_DELETE_SELF | IN_MOVE_SELF)
#define EVENT_BYTES 4096

typedef enum File {
    FOLDER,
    DATABASE,
    LOCK,
    LOG,
    INDEX,
    N_FILES,
} File;

static const char *const names[N_FILES] = {
    [FOLDER] = ".", [DATABASE] = "queryd.db", [LOCK] = "lock", [LOG] = "queryd.db-wal", [INDEX] = "queryd.db-shm",
};

typedef struct Identity {
    gboolean is_known;
    dev_t device;
    ino_t inode;
} Identity;

struct QdFileWatch {
    char *directory;
    int folder_fd;  /* -1: nothing can be looked at */
    int inotify_fd; /* -1: each look compares */
    gboolean is_harmed;
    Identity files[N_FILES];
};

/* 0, or an errno. The folder is looked up by its path: it may have got another one. A link to a file is another file, also when the
 * file is the same: SQLite looks for the log beside the file. */
static int
identify(const QdFileWatch *self, File file, Identity *ret_identity)
{
    struct stat st;
    int r = file == FOLDER ? stat(self->directory, &st) : fstatat(self->folder_fd, names[file], &st, AT_SYMLINK_NOFOLLOW);

    if (r < 0)
        return errno;
    *ret_identity = (Identity){ TRUE, st.st_dev, st.st_ino };
    return 0;
}

static void
note(QdFileWatch *self, File file)
{
    self->files[file] = (Identity){ 0 };
    (void) identify(self, file, &self->files[file]);
}

QdFileWatch *
qd_file_watch_new(const char *directory)
{
    QdFileWatch *self = g_new0(QdFileWatch, 1);

    self->directory = g_strdup(directory);
    self->folder_fd = open(directory, O_PATH | O_DIRECTORY | O_CLOEXEC);
    self->inotify_fd = inotify_init1(IN_NONBLOCK | IN_CLOEXEC);
    if (self->inotify_fd >= 0 && inotify_add_watch(self->inotify_fd, directory, EVENTS) < 0)
        self->inotify_fd = qd_fd_close(self->inotify_fd);
    note(self, FOLDER);
    note(self, DATABASE);
    note(self, LOCK);
    self->is_harmed = TRUE; /* not known: the first look compares */
    return self;
}

QdFileWatch *
qd_file_watch_free(QdFileWatch *self)
{
    if (self == NULL)
        return NULL;

    self->folder_fd = qd_fd_close(self->folder_fd);
    self->inotify_fd = qd_fd_close(self->inotify_fd);
    g_free(self->directory);
    g_free(self);
    return NULL;
}

void
qd_file_watch_note_log(QdFileWatch *self)
{
    if (self->files[LOG].is_known)
        return;
    note(self, LOG);
    note(self, INDEX);
}

void
qd_file_watch_forget_log(QdFileWatch *self)
{
    self->files[LOG].is_known = self->files[INDEX].is_known = FALSE;
}

/* Whether something in the folder has changed since the last look. */
static gboolean
was_told(QdFileWatch *self)
{
    char events[EVENT_BYTES] __attribute__((aligned(__alignof__(struct inotify_event))));
    gboolean told = FALSE;

    if (self->inotify_fd < 0)
        return TRUE;
    while (read(self->inotify_fd, events, sizeof events) > 0)
        told = TRUE;
    return told;
}

static void
set_error(const QdFileWatch *self, File file, gboolean is_gone, GError **error)
{
    g_autofree char *path = file == FOLDER ? g_strdup(self->directory) : g_build_filename(self->directory, names[file], NULL);
    const char *what = is_gone ? "deleted" : "replaced";

    switch (file) {
    case FOLDER:
        qd_error_set(
            error, QW_ERROR_READ_ONLY,
            "the store's folder '%s' was moved or %s while it was open: nothing is written; move it back, or end the daemon", path,
            what);
        break;
    case DATABASE:
        qd_error_set(
            error, QW_ERROR_READ_ONLY,
            "the database '%s' was moved, or %s by another program, while it was open: nothing is written; move it back, or "
            "save its content, which the daemon still has open (the files in /proc/%ld/fd that begin with this path), before "
            "it ends",
            path, what, (long) getpid());
        break;
    case LOCK:
        qd_error_set(
            error, QW_ERROR_READ_ONLY,
            "the store's lock '%s' was %s, and another daemon could open the store: nothing is written; restart the daemon", path,
            what);
        break;
    case LOG:
    case INDEX:
        qd_error_set(error, QW_ERROR_READ_ONLY,
                     "'%s' was %s by another program while the database was open: nothing is written; restart the daemon, which "
                     "still has it open and writes what it holds into the database when it ends",
                     path, what);
        break;
    case N_FILES:
        g_assert_not_reached();
    }
}

static gboolean
compare(const QdFileWatch *self, GError **error)
{
    for (guint i = 0; i < N_FILES; i++) {
        const Identity *known = &self->files[i];
        Identity now = { 0 };
        int r = known->is_known ? identify(self, (File) i, &now) : 0;

        if (!known->is_known || (r == 0 && now.device == known->device && now.inode == known->inode))
            continue;
        if (r != 0 && r != ENOENT && r != ENOTDIR) /* it cannot be looked at just now */
            continue;
        set_error(self, (File) i, r != 0, error);
        return FALSE;
    }
    return TRUE;
}

gboolean
qd_file_watch_check(QdFileWatch *self, gboolean thoroughly, GError **error)
{
    if (self->folder_fd < 0 || (!was_told(self) && !thoroughly && !self->is_harmed))
        return TRUE;

    self->is_harmed = !compare(self, error);
    return !self->is_harmed;
}
