/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The table of error codes. A code that is missing here does not exist.
 */
#include "client-lib/wire/wire-error.h"

#include <stddef.h>
#include <string.h>

static const char *const error_names[] = {
    [QW_ERROR_SYNTAX] = QW_ERROR_DBUS_PREFIX "Syntax",
    [QW_ERROR_UNSUPPORTED] = QW_ERROR_DBUS_PREFIX "Unsupported",
    [QW_ERROR_BAD_PARAMETER] = QW_ERROR_DBUS_PREFIX "BadParameter",
    [QW_ERROR_CONSTRAINT] = QW_ERROR_DBUS_PREFIX "Constraint",
    [QW_ERROR_READ_ONLY] = QW_ERROR_DBUS_PREFIX "ReadOnly",
    [QW_ERROR_BUSY] = QW_ERROR_DBUS_PREFIX "Busy",
    [QW_ERROR_TOO_BIG] = QW_ERROR_DBUS_PREFIX "TooBig",
    [QW_ERROR_TOO_COMPLEX] = QW_ERROR_DBUS_PREFIX "TooComplex",
    [QW_ERROR_TIMEOUT] = QW_ERROR_DBUS_PREFIX "Timeout",
    [QW_ERROR_CANCELLED] = QW_ERROR_DBUS_PREFIX "Cancelled",
    [QW_ERROR_DISK_FULL] = QW_ERROR_DBUS_PREFIX "DiskFull",
    [QW_ERROR_NO_MEMORY] = QW_ERROR_DBUS_PREFIX "NoMemory",
    [QW_ERROR_CORRUPT] = QW_ERROR_DBUS_PREFIX "Corrupt",
    [QW_ERROR_RECOVERING] = QW_ERROR_DBUS_PREFIX "Recovering",
    [QW_ERROR_ACCESS_DENIED] = QW_ERROR_DBUS_PREFIX "AccessDenied",
    [QW_ERROR_LIMIT_EXCEEDED] = QW_ERROR_DBUS_PREFIX "LimitExceeded",
    [QW_ERROR_CLOSED] = QW_ERROR_DBUS_PREFIX "Closed",
    [QW_ERROR_INTERNAL] = QW_ERROR_DBUS_PREFIX "Internal",
};

const char *
qw_error_get_dbus_name(uint32_t code)
{
    if (code < QW_ERROR_FIRST || code > QW_ERROR_LAST)
        code = QW_ERROR_INTERNAL;

    return error_names[code];
}

const char *
qw_error_get_name(uint32_t code)
{
    return qw_error_get_dbus_name(code) + strlen(QW_ERROR_DBUS_PREFIX);
}

uint32_t
qw_error_from_dbus_name(const char *name)
{
    if (name == NULL)
        return 0;

    for (uint32_t code = QW_ERROR_FIRST; code <= QW_ERROR_LAST; code++)
        if (strcmp(error_names[code], name) == 0)
            return code;

    return 0;
}
