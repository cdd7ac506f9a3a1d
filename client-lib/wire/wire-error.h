/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The one table of error codes: their numbers on the descriptor, their names on D-Bus.
 *
 * Place: room wire, included by the daemon and by the client library alike.
 * Invariant: a number is never reused or renumbered; new codes go to the end.
 */
#pragma once

#include <stdint.h>

#define QW_ERROR_DBUS_PREFIX "org.queryd.Query1.Error."

typedef enum QwError {
    QW_ERROR_SYNTAX = 1,
    QW_ERROR_UNSUPPORTED = 2,
    QW_ERROR_BAD_PARAMETER = 3,
    QW_ERROR_CONSTRAINT = 4,
    QW_ERROR_READ_ONLY = 5,
    QW_ERROR_BUSY = 6,
    QW_ERROR_TOO_BIG = 7,
    QW_ERROR_TOO_COMPLEX = 8,
    QW_ERROR_TIMEOUT = 9,
    QW_ERROR_CANCELLED = 10,
    QW_ERROR_DISK_FULL = 11,
    QW_ERROR_NO_MEMORY = 12,
    QW_ERROR_CORRUPT = 13,
    QW_ERROR_RECOVERING = 14,
    QW_ERROR_ACCESS_DENIED = 15,
    QW_ERROR_LIMIT_EXCEEDED = 16,
    QW_ERROR_CLOSED = 17,
    QW_ERROR_INTERNAL = 18,
} QwError;

#define QW_ERROR_FIRST QW_ERROR_SYNTAX
#define QW_ERROR_LAST QW_ERROR_INTERNAL

/**
 * qw_error_get_name:
 * @code: a code, also one that this version does not know
 *
 * Returns: (transfer none): the last part of the D-Bus error name, "Internal" for an unknown code
 */
const char *qw_error_get_name(uint32_t code);

/**
 * qw_error_get_dbus_name:
 * @code: a code, also one that this version does not know
 *
 * Returns: (transfer none): the whole D-Bus error name
 */
const char *qw_error_get_dbus_name(uint32_t code);

/**
 * qw_error_from_dbus_name:
 * @name: (nullable): a D-Bus error name
 *
 * Returns: the code, 0 when @name is none of ours
 */
uint32_t qw_error_from_dbus_name(const char *name);
