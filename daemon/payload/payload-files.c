/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * One flat folder: each level of folders would need a sync of its own, and the file systems index large ones.
 *
 * A file is written, or linked, under a temporary name, synced, renamed to its hash, and the folder is synced. A rename over a file
 * of that name is welcome: the content is the same, and is certainly on the disk after it. What has been promised no sync gets one
 * there, since the name may be that of a payload that is durable.
 */
#include "daemon/payload/payload-files.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "daemon/base/error.h"
#include "daemon/base/fd.h"

#define FOLDER_NAME "payload"
#define ASIDE_SUFFIX "-lost"
#define TEMP_PREFIX "tmp-"
#define NAME_BYTES 80
#define WRITE_BYTES (1024 * 1024)

struct QdPayloadFiles {
    char *path; /* of the folder */
    pthread_mutex_t mutex;
    int dir_fd; /* -1: not opened yet */
    uint64_t last_temp;
    uint64_t start; /* tells our temporary names from those of earlier processes */
};

QdPayloadFiles *
qd_payload_files_new(const char *directory)
{
    QdPayloadFiles *self = g_new0(QdPayloadFiles, 1);

    self->path = g_build_filename(directory, FOLDER_NAME, NULL);
    self->dir_fd = -1;
    self->start = (uint64_t) g_get_real_time();
    pthread_mutex_init(&self->mutex, NULL);
    return self;
}

QdPayloadFiles *
qd_payload_files_free(QdPayloadFiles *self)
{
    if (self == NULL)
        return NULL;

    (void) qd_fd_close(self->dir_fd);
    pthread_mutex_destroy(&self->mutex);
    g_free(self->path);
    g_free(self);
    return NULL;
}

/* A folder that was made just now has a durable name before anything is put into it. */
static int
make_folder(const char *path)
{
    g_autofree char *parent = g_path_get_dirname(path);
    g_auto(QdFd) parent_fd = -1;

    if (mkdir(path, 0700) < 0)
        return errno == EEXIST ? 0 : -1;
    parent_fd = open(parent, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    return parent_fd < 0 ? -1 : fsync(parent_fd);
}

/* Returns: the folder, which stays open; -1 with errno */
static int
get_folder(QdPayloadFiles *self, gboolean create)
{
    int fd;

    pthread_mutex_lock(&self->mutex);
    if (self->dir_fd < 0)
        self->dir_fd = open(self->path, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
    if (self->dir_fd < 0 && errno == ENOENT && create && make_folder(self->path) == 0)
        self->dir_fd = open(self->path, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
    fd = self->dir_fd;
    pthread_mutex_unlock(&self->mutex);
    return fd;
}

gboolean
qd_payload_files_exist(QdPayloadFiles *self)
{
    return get_folder(self, FALSE) >= 0;
}

static gboolean
fail(const QdPayloadFiles *self, const char *what, int errno_value, GError **error)
{
    qd_error_set_errno(error, errno_value, "cannot %s a payload file in '%s'", what, self->path);
    return FALSE;
}

static void
get_temp_name(const QdPayloadFiles *self, uint64_t number, char name[NAME_BYTES])
{
    (void) snprintf(name, NAME_BYTES, TEMP_PREFIX "%" G_GINT64_MODIFIER "x-%" G_GINT64_MODIFIER "x", self->start, number);
}

gboolean
qd_payload_files_create(QdPayloadFiles *self, QdPayloadTemp *ret_temp, GError **error)
{
    uint64_t number = __atomic_add_fetch(&self->last_temp, 1, __ATOMIC_RELAXED);
    int dir_fd = get_folder(self, TRUE);
    char name[NAME_BYTES];
    int fd = -1;

    get_temp_name(self, number, name);
    if (dir_fd >= 0)
        fd = openat(dir_fd, name, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
    if (fd < 0)
        return fail(self, "make", errno, error);

    *ret_temp = (QdPayloadTemp){ .fd = fd, .name = number };
    return TRUE;
}

/* As qd_payload_files_create() makes them, but without a name. */
static gboolean
can_be_ours(int dir_fd, int fd, uint64_t size)
{
    struct stat folder;
    struct stat st;

    return fstat(dir_fd, &folder) == 0 && fstat(fd, &st) == 0 && S_ISREG(st.st_mode) && (st.st_mode & 07777) == 0600 &&
           st.st_uid == geteuid() && st.st_nlink == 0 && st.st_dev == folder.st_dev && (uint64_t) st.st_size == size &&
           (uint64_t) st.st_blocks * 512 >= size;
}

/*
 * The kernel leases a file for reading only when no process has it open for writing, not even through a mapping. The descriptor
 * must be unable to write, and the lease lasts as long as it. A process that opens it for writing meanwhile has to wait, and we
 * get a signal, by default one that would end us.
 */
static gboolean
lease(int fd)
{
    return fcntl(fd, F_SETSIG, SIGURG) == 0 && fcntl(fd, F_SETLEASE, F_RDLCK) == 0;
}

gboolean
qd_payload_files_adopt(QdPayloadFiles *self, int fd, uint64_t size, QdPayloadTemp *ret_temp)
{
    uint64_t number = __atomic_add_fetch(&self->last_temp, 1, __ATOMIC_RELAXED);
    int dir_fd = get_folder(self, TRUE);
    g_auto(QdFd) own_fd = -1;
    char path[NAME_BYTES];
    char name[NAME_BYTES];

    if (dir_fd < 0 || !can_be_ours(dir_fd, fd, size))
        return FALSE;
    (void) snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    own_fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    /* again: what was opened is what is leased */
    if (own_fd < 0 || !lease(own_fd) || !can_be_ours(dir_fd, own_fd, size))
        return FALSE;

    (void) snprintf(path, sizeof path, "/proc/self/fd/%d", own_fd);
    get_temp_name(self, number, name);
    if (linkat(AT_FDCWD, path, dir_fd, name, AT_SYMLINK_FOLLOW) < 0) /* an O_EXCL temporary file, or one that was deleted */
        return FALSE;
    *ret_temp = (QdPayloadTemp){ .fd = g_steal_fd(&own_fd), .name = number };
    return TRUE;
}

gboolean
qd_payload_files_append(const QdPayloadTemp *temp, const void *data, gsize n_bytes, GError **error)
{
    const char *p = data;

    while (n_bytes > 0) {
        ssize_t n = write(temp->fd, p, MIN(n_bytes, WRITE_BYTES));

        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0) {
            qd_error_set_errno(error, errno, "cannot write a payload file");
            return FALSE;
        }
        p += n;
        n_bytes -= (gsize) n;
    }
    return TRUE;
}

void
qd_payload_files_start_sync(const QdPayloadTemp *temp)
{
    (void) sync_file_range(temp->fd, 0, 0, SYNC_FILE_RANGE_WRITE);
}

gboolean
qd_payload_files_sync(QdPayloadTemp *temp, GError **error)
{
    if (fdatasync(temp->fd) < 0) {
        qd_error_set_errno(error, errno, "cannot sync a payload file");
        return FALSE;
    }
    temp->fd = qd_fd_close(temp->fd);
    return TRUE;
}

/* EINVAL: the file system cannot tell. */
static gboolean
is_taken(int errno_value)
{
    return errno_value == EEXIST || errno_value == EINVAL;
}

gboolean
qd_payload_files_publish(QdPayloadFiles *self, QdPayloadTemp *temp, const uint8_t hash[QD_SHA256_BYTES], GError **error)
{
    char name[2 * QD_SHA256_BYTES + 1];
    char temp_name[NAME_BYTES];
    int r = -1;

    get_temp_name(self, temp->name, temp_name);
    qd_sha256_to_hex(hash, name);
    if (temp->fd >= 0) {
        r = renameat2(self->dir_fd, temp_name, self->dir_fd, name, RENAME_NOREPLACE);
        if (r < 0 && is_taken(errno) && !qd_payload_files_sync(temp, error))
            return FALSE;
    }
    if (r < 0 && renameat2(self->dir_fd, temp_name, self->dir_fd, name, 0) < 0)
        return fail(self, "rename", errno, error);

    temp->name = 0;
    temp->fd = qd_fd_close(temp->fd);
    return TRUE;
}

gboolean
qd_payload_files_sync_names(QdPayloadFiles *self, GError **error)
{
    return fsync(self->dir_fd) == 0 || fail(self, "sync the name of", errno, error);
}

void
qd_payload_files_discard(QdPayloadFiles *self, QdPayloadTemp *temp)
{
    char name[NAME_BYTES];

    if (temp->name != 0) {
        get_temp_name(self, temp->name, name);
        (void) unlinkat(self->dir_fd, name, 0);
    }
    temp->name = 0;
    temp->fd = qd_fd_close(temp->fd);
}

int
qd_payload_files_open_temp(QdPayloadFiles *self, const QdPayloadTemp *temp)
{
    char name[NAME_BYTES];

    get_temp_name(self, temp->name, name);
    return temp->name != 0 ? openat(self->dir_fd, name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK) : -1;
}

/* Beneath the folder, by its plain name: no link that was put there is followed. */
static int
open_beneath(int dir_fd, const char *name)
{
    struct open_how how = { .flags = O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK,
                            .resolve = RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS };
    long r = syscall(SYS_openat2, dir_fd, name, &how, sizeof how);

    if (r < 0 && errno == ENOSYS)
        return openat(dir_fd, name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
    return (int) r;
}

int
qd_payload_files_open_content(QdPayloadFiles *self, const uint8_t hash[QD_SHA256_BYTES], uint64_t size, gboolean *ret_missing,
                              GError **error)
{
    int dir_fd = get_folder(self, FALSE);
    char name[2 * QD_SHA256_BYTES + 1];
    g_auto(QdFd) fd = -1;
    struct stat st;

    qd_sha256_to_hex(hash, name);
    if (dir_fd >= 0)
        fd = open_beneath(dir_fd, name);
    if (ret_missing != NULL)
        *ret_missing = fd < 0 && errno == ENOENT;
    if (fd < 0 && errno != ENOENT) {
        qd_error_set_errno(error, errno, "cannot open the payload file '%s/%s'", self->path, name);
        return -1;
    }
    if (fd < 0) {
        qd_error_set(error, QW_ERROR_CORRUPT, "the payload file '%s/%s' is missing", self->path, name);
        return -1;
    }
    if (fstat(fd, &st) < 0) {
        qd_error_set_errno(error, errno, "cannot look at the payload file '%s/%s'", self->path, name);
        return -1;
    }
    if (!S_ISREG(st.st_mode) || (uint64_t) st.st_size != size) {
        qd_error_set(error, QW_ERROR_CORRUPT, "the payload file '%s/%s' is damaged: it should have %" G_GUINT64_FORMAT " bytes",
                     self->path, name, size);
        return -1;
    }
    return g_steal_fd(&fd);
}

int
qd_payload_files_hold(QdPayloadFiles *self, const uint8_t hash[QD_SHA256_BYTES])
{
    int dir_fd = get_folder(self, FALSE);
    char name[2 * QD_SHA256_BYTES + 1];

    qd_sha256_to_hex(hash, name);
    return dir_fd >= 0 ? openat(dir_fd, name, O_PATH | O_CLOEXEC | O_NOFOLLOW) : -1;
}

void
qd_payload_files_remove(QdPayloadFiles *self, const uint8_t hash[QD_SHA256_BYTES])
{
    int dir_fd = get_folder(self, FALSE);
    char name[2 * QD_SHA256_BYTES + 1];

    qd_sha256_to_hex(hash, name);
    if (dir_fd >= 0)
        (void) unlinkat(dir_fd, name, 0);
}

/* A link, so that a crash in between changes nothing; a move where the file system has no links. */
static gboolean
keep_file(int dir_fd, int aside_fd, const char *name)
{
    if (linkat(dir_fd, name, aside_fd, name, 0) == 0 || errno == EEXIST)
        return TRUE;
    return (errno == EPERM || errno == EOPNOTSUPP) && renameat(dir_fd, name, aside_fd, name) == 0;
}

gboolean
qd_payload_files_set_aside(QdPayloadFiles *self, const GPtrArray *hashes, char **ret_folder, GError **error)
{
    g_autofree char *folder = g_strconcat(self->path, ASIDE_SUFFIX, NULL);
    int dir_fd = get_folder(self, FALSE);
    g_auto(QdFd) aside_fd = -1;

    if (make_folder(folder) == 0)
        aside_fd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
    for (guint i = 0; aside_fd >= 0 && i < hashes->len; i++) {
        char name[2 * QD_SHA256_BYTES + 1];

        qd_sha256_to_hex(g_bytes_get_data(hashes->pdata[i], NULL), name);
        if (!keep_file(dir_fd, aside_fd, name))
            return fail(self, "set aside", errno, error);
    }
    if (aside_fd < 0 || fsync(aside_fd) < 0) {
        qd_error_set_errno(error, errno, "cannot set payload files aside in '%s'", folder);
        return FALSE;
    }
    *ret_folder = g_steal_pointer(&folder);
    return TRUE;
}

static gboolean
parse_hash(const char *name, uint8_t ret_hash[QD_SHA256_BYTES])
{
    if (strlen(name) != 2 * QD_SHA256_BYTES)
        return FALSE;
    for (int i = 0; i < QD_SHA256_BYTES; i++) {
        int high = g_ascii_xdigit_value(name[2 * i]);
        int low = g_ascii_xdigit_value(name[2 * i + 1]);

        if (high < 0 || low < 0)
            return FALSE;
        ret_hash[i] = (uint8_t) (high * 16 + low);
    }
    return TRUE;
}

GPtrArray *
qd_payload_files_list(QdPayloadFiles *self, gboolean *ret_complete)
{
    g_autofree char *ours = g_strdup_printf(TEMP_PREFIX "%" G_GINT64_MODIFIER "x-", self->start);
    GPtrArray *hashes = g_ptr_array_new_with_free_func((GDestroyNotify) g_bytes_unref);
    DIR *dir = opendir(self->path);
    gboolean is_complete = dir != NULL || errno == ENOENT;
    const struct dirent *entry;

    for (errno = 0; dir != NULL && (entry = readdir(dir)) != NULL; errno = 0) {
        uint8_t hash[QD_SHA256_BYTES];

        if (parse_hash(entry->d_name, hash))
            g_ptr_array_add(hashes, g_bytes_new(hash, sizeof hash));
        else if (g_str_has_prefix(entry->d_name, TEMP_PREFIX) && !g_str_has_prefix(entry->d_name, ours))
            (void) unlinkat(dirfd(dir), entry->d_name, 0);
    }
    if (ret_complete != NULL)
        *ret_complete = is_complete && errno == 0;
    if (dir != NULL)
        (void) closedir(dir);
    return hashes;
}
