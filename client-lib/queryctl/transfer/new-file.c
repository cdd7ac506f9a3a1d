/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * New files: made without a name, and linked to one at the end.
 *
 * A link never replaces a file: where there is one, the new file has a second name for the moment between link and rename.
 */
#include "client-lib/queryctl/transfer/new-file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "client-lib/queryctl/transfer/transfer-private.h"

#define TRIES 100

/* A link to it is made by this path. */
static void
get_path(int fd, char ret_path[64])
{
    (void) snprintf(ret_path, 64, "/proc/self/fd/%d", fd);
}

static int
open_without_name(const char *name)
{
    g_autofree char *folder = g_path_get_dirname(name);
    int fd = open(folder, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
    char path[64];

    if (fd < 0)
        return -1;
    get_path(fd, path);
    if (access(path, F_OK) == 0)
        return fd;
    (void) close(fd);
    return -1;
}

/* Where files have to have names: a reader of a new name sees it grow, one of an older file does not. */
static void
open_named(QctlNewFile *self)
{
    self->unfinished = self->replaces ? g_strdup_printf("%s.part-XXXXXX", self->name) : g_strdup(self->name);
    self->fd = self->replaces ? g_mkstemp_full(self->unfinished, O_RDWR | O_CLOEXEC, 0600)
                              : open(self->name, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    if (self->fd < 0)
        g_clear_pointer(&self->unfinished, g_free);
}

bool
qctl_new_file_open(QctlNewFile *self, const char *name, bool replaces, GError **error)
{
    struct stat st;

    self->name = g_strdup(name);
    self->replaces = replaces;
    if (!replaces && lstat(name, &st) == 0) {
        errno = EEXIST;
        qctl_transfer_fail_errno(error, "cannot create", name);
        return false;
    }
    self->fd = open_without_name(name);
    if (self->fd < 0)
        open_named(self);
    if (self->fd < 0)
        qctl_transfer_fail_errno(error, "cannot create", name);
    return self->fd >= 0;
}

static bool
link_to(const QctlNewFile *self, const char *name)
{
    char path[64];

    get_path(self->fd, path);
    return linkat(AT_FDCWD, path, AT_FDCWD, name, AT_SYMLINK_FOLLOW) == 0;
}

/* A name beside the one that is taken. */
static bool
link_beside(QctlNewFile *self)
{
    for (int i = 0; i < TRIES; i++) {
        g_autofree char *name = g_strdup_printf("%s.part-%08x", self->name, g_random_int());

        if (link_to(self, name)) {
            self->unfinished = g_steal_pointer(&name);
            return true;
        }
        if (errno != EEXIST)
            return false;
    }
    return false;
}

static bool
take_name(QctlNewFile *self)
{
    if (self->unfinished == NULL && link_to(self, self->name))
        return true;
    if (self->unfinished == NULL && (errno != EEXIST || !self->replaces || !link_beside(self)))
        return false;
    return !self->replaces || rename(self->unfinished, self->name) == 0;
}

bool
qctl_new_file_publish(QctlNewFile *self, GError **error)
{
    if (fsync(self->fd) < 0) {
        qctl_transfer_fail_errno(error, "cannot write", self->name);
        return false;
    }
    if (!take_name(self)) {
        qctl_transfer_fail_errno(error, "cannot create", self->name);
        return false;
    }
    g_clear_pointer(&self->unfinished, g_free);
    return true;
}

void
qctl_new_file_clear(QctlNewFile *self)
{
    if (self->fd >= 0)
        (void) close(self->fd);
    self->fd = -1;
    if (self->unfinished != NULL)
        (void) unlink(self->unfinished);
    g_clear_pointer(&self->unfinished, g_free);
    g_clear_pointer(&self->name, g_free);
}
