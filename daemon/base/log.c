/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The log's destination is a fact of the process, found once. systemd sets JOURNAL_STREAM to device and inode of the socket
 * that it gave as stderr; the comparison fails if stderr was redirected since.
 *
 * The level and that fact are the only variables of the daemon that outlive a function and belong to no object. A log handle in
 * every signature would be of no use.
 */
#include "daemon/base/log.h"

#include <errno.h>
#include <pthread.h>
#include <stdarg.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <systemd/sd-journal.h>
#include <unistd.h>

#define MAX_FIELDS 7

typedef struct LogRecord {
    struct iovec items[MAX_FIELDS];
    char *texts[MAX_FIELDS];
    int n_items;
} LogRecord;

static gint log_level = LOG_INFO; /* atomic */
static gboolean log_to_journal;   /* set once, by log_once */
static pthread_once_t log_once = PTHREAD_ONCE_INIT;

static const char *const level_names[] = {
    [LOG_ERR] = "error", [LOG_WARNING] = "warning", [LOG_NOTICE] = "notice", [LOG_INFO] = "info", [LOG_DEBUG] = "debug",
};

static void
find_target(void)
{
    const char *stream = g_getenv("JOURNAL_STREAM");
    g_autofree char *own = NULL;
    struct stat st;

    if (stream == NULL || fstat(STDERR_FILENO, &st) < 0)
        return;

    own = g_strdup_printf("%ju:%ju", (uintmax_t) st.st_dev, (uintmax_t) st.st_ino);
    log_to_journal = g_str_equal(stream, own);
}

void
qd_log_set_level(int level)
{
    g_atomic_int_set(&log_level, level);
}

int
qd_log_parse_level(const char *name)
{
    for (int i = LOG_ERR; i <= LOG_DEBUG; i++)
        if (g_strcmp0(level_names[i], name) == 0)
            return i;

    return -EINVAL;
}

gboolean
qd_log_is_enabled(int level)
{
    return level <= g_atomic_int_get(&log_level);
}

static void record_add(LogRecord *self, const char *format, ...) G_GNUC_PRINTF(2, 3);

static void
record_add(LogRecord *self, const char *format, ...)
{
    va_list args;
    char *text;

    va_start(args, format);
    text = g_strdup_vprintf(format, args);
    va_end(args);

    self->texts[self->n_items] = text;
    self->items[self->n_items++] = (struct iovec){ .iov_base = text, .iov_len = strlen(text) };
}

static void
send_to_journal(int level, const QdLogFields *fields, const char *message)
{
    LogRecord record = { 0 };

    record_add(&record, "PRIORITY=%d", level);
    record_add(&record, "SYSLOG_IDENTIFIER=queryd");
    record_add(&record, "MESSAGE=%s", message);
    if (fields != NULL && fields->message_id != NULL)
        record_add(&record, "MESSAGE_ID=%s", fields->message_id);
    if (fields != NULL && fields->sender != NULL)
        record_add(&record, "QUERYD_SENDER=%s", fields->sender);
    if (fields != NULL && fields->elapsed_usec > 0)
        record_add(&record, "QUERYD_ELAPSED_USEC=%" G_GUINT64_FORMAT, fields->elapsed_usec);
    if (fields != NULL && fields->n_rows > 0)
        record_add(&record, "QUERYD_ROWS=%" G_GUINT64_FORMAT, fields->n_rows);

    /* A full journal socket is waited for; a missing journal is not an error. */
    (void) sd_journal_sendv(record.items, record.n_items);
    for (int i = 0; i < record.n_items; i++)
        g_free(record.texts[i]);
}

static void
write_to_stderr(int level, const QdLogFields *fields, const char *message)
{
    g_autoptr(GString) line = g_string_new("queryd: ");

    if (level != LOG_INFO)
        g_string_append_printf(line, "%s: ", level_names[CLAMP(level, LOG_ERR, LOG_DEBUG)]);
    g_string_append(line, message);
    if (fields != NULL && fields->sender != NULL)
        g_string_append_printf(line, " [%s]", fields->sender);
    if (fields != NULL && fields->elapsed_usec > 0)
        g_string_append_printf(line, " (%.3f ms)", (double) fields->elapsed_usec / 1000);
    g_string_append_c(line, '\n');

    /* One write: lines of several threads do not mix. */
    if (write(STDERR_FILENO, line->str, line->len) < 0)
        return;
}

void
qd_log(int level, const QdLogFields *fields, const char *format, ...)
{
    g_autofree char *message = NULL;
    va_list args;

    if (!qd_log_is_enabled(level))
        return;

    va_start(args, format);
    message = g_strdup_vprintf(format, args);
    va_end(args);

    (void) pthread_once(&log_once, find_target);
    if (log_to_journal)
        send_to_journal(level, fields, message);
    else
        write_to_stderr(level, fields, message);
}
