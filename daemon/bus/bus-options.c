/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Options a{sv} of a method into QdCallOptions (daemon/runtime/options.c).
 */

#include "daemon/base/error.h"
#include "daemon/bus/bus-args.h"

static gboolean
read_value(sd_bus_message *message, const QdOption *option, QdCallOptions *options, GError **error)
{
    char type = qd_option_get_type(option);
    g_auto(GStrv) texts = NULL;
    QdOptionValue value = { 0 };
    union {
        const char *text;
        uint32_t number;
        uint64_t large_number;
        int is_on;
    } basic;

    if (type == 'a' ? sd_bus_message_read_strv(message, &texts) < 0 : sd_bus_message_read_basic(message, type, &basic) <= 0) {
        qd_error_set(error, QW_ERROR_BAD_PARAMETER, "option '%s': malformed value", qd_option_get_key(option));
        return FALSE;
    }
    if (type == 'a')
        value.texts = texts;
    else if (type == 's')
        value.text = basic.text;
    else if (type == 'u')
        value.number = basic.number;
    else if (type == 't')
        value.number = basic.large_number;
    else
        value.is_on = basic.is_on;
    return qd_option_set(option, options, &value, error);
}

static gboolean
read_option(sd_bus_message *message, const QdOption *option, QdCallOptions *options, GError **error)
{
    const char letter = qd_option_get_type(option);
    const char type[] = { letter, letter == 'a' ? 's' : '\0', '\0' };
    const char *given_type;

    if (sd_bus_message_peek_type(message, NULL, &given_type) <= 0 || !g_str_equal(given_type, type)) {
        qd_error_set(error, QW_ERROR_BAD_PARAMETER, "option '%s' has the type '%s'", qd_option_get_key(option), type);
        return FALSE;
    }
    if (sd_bus_message_enter_container(message, 'v', type) <= 0) {
        qd_error_set(error, QW_ERROR_BAD_PARAMETER, "option '%s': malformed value", qd_option_get_key(option));
        return FALSE;
    }
    if (!read_value(message, option, options, error))
        return FALSE;

    (void) sd_bus_message_exit_container(message);
    return TRUE;
}

static gboolean
read_entry(sd_bus_message *message, QdCall *call, uint64_t *seen, GError **error)
{
    const QdOption *option;
    const char *key;

    if (!qd_bus_read_text(message, "options", &key, error))
        return FALSE;
    option = qd_option_find(key, call->class->options, seen, error);
    return option != NULL && read_option(message, option, &call->options, error);
}

gboolean
qd_bus_read_options(sd_bus_message *message, QdCall *call, GError **error)
{
    uint64_t seen = 0;
    int r;

    r = sd_bus_message_enter_container(message, 'a', "{sv}");
    while (r >= 0 && (r = sd_bus_message_enter_container(message, 'e', "sv")) > 0) {
        if (!read_entry(message, call, &seen, error))
            return FALSE;
        r = sd_bus_message_exit_container(message);
    }
    if (r >= 0)
        r = sd_bus_message_exit_container(message);
    if (r < 0) {
        qd_error_set(error, QW_ERROR_BAD_PARAMETER, "options: malformed argument");
        return FALSE;
    }

    return TRUE;
}
