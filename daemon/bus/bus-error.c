/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Error names, error messages and other texts on D-Bus. Messages are made fit here: they may quote a statement or a file.
 */
#include "daemon/bus/bus-error.h"

#include <string.h>
#include <sys/socket.h>

#include "daemon/base/error.h"
#include "daemon/bus/bus-private.h"

#define QD_TRACKER_ERROR "org.freedesktop.Tracker.Error."
#define REPLACEMENT "\xef\xbf\xbd" /* U+FFFD */

/* The noncharacters, as systemd's unichar_is_valid() has them. */
static gboolean
is_noncharacter(gunichar c)
{
    return (c & 0xfffe) == 0xfffe || (c >= 0xfdd0 && c <= 0xfdef);
}

/* In UTF-8 every noncharacter starts with 0xef (U+Fxxx) or with a byte from 0xf0 (planes 1–16). */
static const char *
find_noncharacter(const char *data, const char *end)
{
    for (const char *p = data; p < end; p++)
        if ((guchar) *p >= 0xef && is_noncharacter(g_utf8_get_char(p)))
            return p;

    return NULL;
}

/* Bytes from 0x01 to 0x7f alone: eight at once, as most texts are such. */
static gboolean
is_plain(const char *data, gsize n_bytes)
{
    const guint64 ones = G_GUINT64_CONSTANT(0x0101010101010101);
    guint64 bad = 0;
    gsize i = 0;

    for (; i + sizeof bad <= n_bytes; i += sizeof bad) {
        guint64 word;

        memcpy(&word, data + i, sizeof word);
        bad |= word | (word - ones); /* without a high bit, the difference has one where a byte is 0 */
    }
    for (; i < n_bytes; i++)
        bad |= (guchar) data[i] | (guint64) ((guchar) data[i] - 1);
    return (bad & (ones << 7)) == 0;
}

gboolean
qd_bus_is_text(const char *data, gsize n_bytes)
{
    if (is_plain(data, n_bytes))
        return TRUE;

    /* g_utf8_validate_len() also refuses a NUL within. */
    return g_utf8_validate_len(data, n_bytes, NULL) && find_noncharacter(data, data + n_bytes) == NULL;
}

char *
qd_bus_make_text(const char *data, gsize n_bytes)
{
    g_autofree char *valid = g_utf8_make_valid(data, (gssize) n_bytes); /* replaces NULs, too */
    g_autoptr(GString) text = g_string_new(NULL);
    const char *start = valid;
    const char *end = valid + strlen(valid);
    const char *bad;

    while ((bad = find_noncharacter(start, end)) != NULL) {
        g_string_append_len(text, start, bad - start);
        g_string_append(text, REPLACEMENT);
        start = g_utf8_next_char(bad);
    }
    g_string_append(text, start);

    return g_string_free(g_steal_pointer(&text), FALSE);
}

/* sd_bus_message_append_basic() would look at each character once more: 2 ms for a text of 1 MB, in which all others wait */
int
qd_bus_append_checked(sd_bus_message *message, const char *text, gsize n_bytes)
{
    char *space = NULL;
    int r = sd_bus_message_append_string_space(message, n_bytes, &space);

    if (r >= 0 && n_bytes > 0)
        memcpy(space, text, n_bytes);
    return r;
}

int
qd_bus_append_text(sd_bus_message *message, const char *text)
{
    gsize n_bytes = text != NULL ? strlen(text) : 0;
    g_autofree char *made = NULL;

    if (n_bytes == 0 || qd_bus_is_text(text, n_bytes))
        return qd_bus_append_checked(message, text, n_bytes);
    made = qd_bus_make_text(text, n_bytes);
    return qd_bus_append_checked(message, made, strlen(made));
}

int
qd_bus_return_error(sd_bus_error *ret_error, const GError *error)
{
    g_autofree char *message = NULL;
    QwError code = QW_ERROR_INTERNAL;

    if (error != NULL) {
        code = qd_error_get_code(error);
        message = qd_bus_make_text(error->message, strlen(error->message));
    }

    return sd_bus_error_set(ret_error, qw_error_get_dbus_name(code), message != NULL ? message : "internal error");
}

int
qd_bus_note_sent(sd_bus_message *message, int r)
{
    if (r < 0)
        (void) shutdown(sd_bus_get_fd(sd_bus_message_get_bus(message)), SHUT_RDWR);
    return r;
}

/* The names that clients of TinySPARQL know. */
static const char *
get_tracker_name(QwError code)
{
    switch (code) {
    case QW_ERROR_SYNTAX:
        return QD_TRACKER_ERROR "Parse";
    case QW_ERROR_UNSUPPORTED:
        return QD_TRACKER_ERROR "Unsupported";
    case QW_ERROR_CONSTRAINT:
        return QD_TRACKER_ERROR "Constraint";
    case QW_ERROR_BAD_PARAMETER:
        return QD_TRACKER_ERROR "Type";
    case QW_ERROR_DISK_FULL:
        return QD_TRACKER_ERROR "NoSpace";
    case QW_ERROR_RECOVERING:
        return QD_TRACKER_ERROR "OpenError";
    case QW_ERROR_ACCESS_DENIED:
        return SD_BUS_ERROR_ACCESS_DENIED;
    case QW_ERROR_CORRUPT:
    case QW_ERROR_INTERNAL:
        return QD_TRACKER_ERROR "Internal";
    case QW_ERROR_READ_ONLY:
    case QW_ERROR_BUSY:
    case QW_ERROR_TOO_BIG:
    case QW_ERROR_TOO_COMPLEX:
    case QW_ERROR_TIMEOUT:
    case QW_ERROR_CANCELLED:
    case QW_ERROR_NO_MEMORY:
    case QW_ERROR_LIMIT_EXCEEDED:
    case QW_ERROR_CLOSED:
        break;
    }
    return QD_TRACKER_ERROR "QueryFailed";
}

/* A caller of the interface of TinySPARQL gets its names. */
static void
set_error_for(const sd_bus_message *message, sd_bus_error *ret_error, const GError *error)
{
    const char *path = sd_bus_message_get_path((sd_bus_message *) message);
    g_autofree char *text = NULL;

    if (error == NULL || g_strcmp0(path, QD_BUS_TRACKER_PATH) != 0) {
        (void) qd_bus_return_error(ret_error, error);
        return;
    }
    text = qd_bus_make_text(error->message, strlen(error->message));
    (void) sd_bus_error_set(ret_error, get_tracker_name(qd_error_get_code(error)), text);
}

void
qd_bus_reply_error(sd_bus_message *message, const GError *error)
{
    sd_bus_error bus_error = SD_BUS_ERROR_NULL;

    set_error_for(message, &bus_error, error);
    (void) qd_bus_note_sent(message, sd_bus_reply_method_error(message, &bus_error));
    sd_bus_error_free(&bus_error);
}

static int
append_details(sd_bus_message *reply, char **details)
{
    int r = sd_bus_message_open_container(reply, 'a', "(ss)");

    for (; r >= 0 && details != NULL && *details != NULL; details += 2) {
        r = sd_bus_message_open_container(reply, 'r', "ss");
        if (r >= 0)
            r = qd_bus_append_text(reply, details[0]);
        if (r >= 0)
            r = qd_bus_append_text(reply, details[1]);
        if (r >= 0)
            r = sd_bus_message_close_container(reply);
    }
    return r < 0 ? r : sd_bus_message_close_container(reply);
}

void
qd_bus_reply_error_details(sd_bus_message *message, const GError *error)
{
    sd_bus_error bus_error = SD_BUS_ERROR_NULL;
    sd_bus_message *reply = NULL;
    int r;

    (void) qd_bus_return_error(&bus_error, error);
    r = sd_bus_message_new_method_error(message, &reply, &bus_error);
    if (r >= 0)
        r = append_details(reply, qd_error_get_details(error));
    if (r >= 0)
        r = sd_bus_send(NULL, reply, NULL);
    (void) qd_bus_note_sent(message, r);
    sd_bus_message_unref(reply);
    sd_bus_error_free(&bus_error);
}
