/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Statements, formats and descriptors as they stand in a method call. Parameters are in bus-parameters.c, options in
 * bus-options.c.
 *
 * sd-bus has checked the signature before a handler runs, but checks a string only when it is read. U+FFFE passes the bus
 * daemon and is refused here with EBADMSG.
 */
#include "daemon/bus/bus-args.h"

#include "daemon/base/error.h"
#include "daemon/base/fd.h"
#include "daemon/base/limits.h"

gboolean
qd_bus_read_text(sd_bus_message *message, const char *what, const char **ret_text, GError **error)
{
    const char *text;

    if (sd_bus_message_read_basic(message, 's', &text) <= 0) {
        qd_error_set(error, QW_ERROR_BAD_PARAMETER, "%s: this text holds characters that D-Bus does not carry", what);
        return FALSE;
    }

    *ret_text = text;
    return TRUE;
}

static gboolean
read_statement(sd_bus_message *message, gboolean with_parameters, QdCall *call, GError **error)
{
    g_autoptr(QdParameters) parameters = NULL;
    const char *name;
    const char *text;
    QdLanguage language;

    if (!qd_bus_read_text(message, "language", &name, error) || !qd_language_from_name(name, &language, error) ||
        !qd_bus_read_text(message, "text", &text, error))
        return FALSE;

    if (with_parameters) {
        parameters = qd_bus_read_parameters(message, language, error);
        if (parameters == NULL)
            return FALSE;
    }

    qd_call_add_statement(call, language, text, g_steal_pointer(&parameters));
    return TRUE;
}

gboolean
qd_bus_read_statement(sd_bus_message *message, QdCall *call, GError **error)
{
    return read_statement(message, FALSE, call, error);
}

gboolean
qd_bus_read_query(sd_bus_message *message, QdCall *call, GError **error)
{
    return read_statement(message, TRUE, call, error);
}

static gboolean
read_statement_structs(sd_bus_message *message, QdCall *call, const QdLimits *limits, GError **error)
{
    guint64 n_max = qd_limits_get(limits, QD_LIMIT_BATCH_STATEMENTS);
    int r;

    while ((r = sd_bus_message_enter_container(message, 'r', "ssa{sv}")) > 0) {
        if (call->statements->len >= n_max) {
            qd_limit_set_error(error, limits, QD_LIMIT_BATCH_STATEMENTS, "too many statements in the batch");
            return FALSE;
        }
        if (!qd_bus_read_query(message, call, error)) {
            g_prefix_error(error, "statement %u: ", call->statements->len + 1);
            return FALSE;
        }
        if (sd_bus_message_exit_container(message) < 0)
            break;
    }
    if (r == 0)
        return TRUE;

    qd_error_set(error, QW_ERROR_BAD_PARAMETER, "statements: malformed argument");
    return FALSE;
}

gboolean
qd_bus_read_statements(sd_bus_message *message, QdCall *call, const QdLimits *limits, GError **error)
{
    if (sd_bus_message_enter_container(message, 'a', "(ssa{sv})") <= 0) {
        qd_error_set(error, QW_ERROR_BAD_PARAMETER, "statements: malformed argument");
        return FALSE;
    }
    if (!read_statement_structs(message, call, limits, error))
        return FALSE;
    if (call->statements->len == 0) {
        qd_error_set(error, QW_ERROR_BAD_PARAMETER, "statements: the batch is empty");
        return FALSE;
    }

    (void) sd_bus_message_exit_container(message);
    return TRUE;
}

gboolean
qd_bus_read_format(sd_bus_message *message, QdCall *call, GError **error)
{
    const char *format;

    if (!qd_bus_read_text(message, "format", &format, error))
        return FALSE;

    g_free(call->format);
    call->format = g_strdup(format);
    return TRUE;
}

gboolean
qd_bus_read_fd(sd_bus_message *message, QdCall *call, GError **error)
{
    int fd;

    if (sd_bus_message_read_basic(message, 'h', &fd) <= 0) {
        qd_error_set(error, QW_ERROR_BAD_PARAMETER, "the call brought no descriptor");
        return FALSE;
    }

    /* The message keeps its own descriptor until it is freed. */
    fd = qd_fd_dup(fd);
    if (fd < 0) {
        qd_error_set_errno(error, -fd, "cannot duplicate the descriptor");
        return FALSE;
    }

    (void) qd_fd_close(call->fd);
    call->fd = fd;
    return TRUE;
}

gboolean
qd_bus_read_payload_id(sd_bus_message *message, int64_t *ret_id, GError **error)
{
    if (sd_bus_message_read_basic(message, 'x', ret_id) > 0)
        return TRUE;

    qd_error_set(error, QW_ERROR_BAD_PARAMETER, "id: malformed argument");
    return FALSE;
}

gboolean
qd_bus_read_payload_ids(sd_bus_message *message, QdCall *call, const QdLimits *limits, GError **error)
{
    const void *ids;
    size_t n_bytes;

    if (sd_bus_message_read_array(message, 'x', &ids, &n_bytes) < 0) {
        qd_error_set(error, QW_ERROR_BAD_PARAMETER, "ids: malformed argument");
        return FALSE;
    }
    if (n_bytes / sizeof(int64_t) > qd_limits_get(limits, QD_LIMIT_PAYLOADS_PER_CALL)) {
        qd_limit_set_error(error, limits, QD_LIMIT_PAYLOADS_PER_CALL, "too many ids");
        return FALSE;
    }
    call->payload_ids = g_array_new(FALSE, FALSE, sizeof(int64_t));
    g_array_append_vals(call->payload_ids, ids, (guint) (n_bytes / sizeof(int64_t)));
    return TRUE;
}
