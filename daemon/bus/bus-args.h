/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Arguments of the D-Bus methods into the structs of the engine.
 *
 * Place: room bus. Everything here reads what a stranger sent; nothing asserts on it.
 * Invariant: an argument that is not understood is BadParameter and named; nothing is ignored.
 */
#pragma once

#include <glib.h>
#include <systemd/sd-bus.h>

#include "daemon/call/call.h"

/**
 * qd_bus_read_text:
 * @message: (transfer none): positioned at an `s`
 * @what: the argument's name, for the error
 * @ret_text: (out) (transfer none): lives as long as @message
 * @error: (nullable): location for an error
 *
 * Errors: BAD_PARAMETER. Thread: main.
 *
 * Returns: TRUE on success
 */
gboolean qd_bus_read_text(sd_bus_message *message, const char *what, const char **ret_text, GError **error);

/**
 * qd_bus_read_statement:
 * @message: (transfer none): positioned at s language, s text
 * @call: (transfer none): gets the statement
 * @error: (nullable): location for an error
 *
 * Errors: BAD_PARAMETER. Thread: main.
 *
 * Returns: TRUE on success
 */
gboolean qd_bus_read_statement(sd_bus_message *message, QdCall *call, GError **error);
/* The same with an a{sv} of parameters after it. */
gboolean qd_bus_read_query(sd_bus_message *message, QdCall *call, GError **error);

/**
 * qd_bus_read_statements:
 * @message: (transfer none): positioned at an a(ssa{sv})
 * @call: (transfer none): gets the statements; none is an error
 * @limits: (transfer none): bounds their number
 * @error: (nullable): location for an error
 *
 * Errors: BAD_PARAMETER, TOO_BIG. Thread: main.
 *
 * Returns: TRUE on success
 */
gboolean qd_bus_read_statements(sd_bus_message *message, QdCall *call, const QdLimits *limits, GError **error);

/**
 * qd_bus_read_parameters:
 * @message: (transfer none): positioned at an a{sv}
 * @language: of their statement: a boolean is xsd:boolean in SPARQL
 * @error: (nullable): location for an error
 *
 * Errors: BAD_PARAMETER. Thread: main.
 *
 * Returns: (transfer full): the parameters; NULL on failure
 */
QdParameters *qd_bus_read_parameters(sd_bus_message *message, QdLanguage language, GError **error);

/**
 * qd_bus_read_options:
 * @message: (transfer none): positioned at an a{sv}
 * @call: (transfer none): its class says which keys are known; gets the values
 * @error: (nullable): location for an error
 *
 * Errors: BAD_PARAMETER. Thread: main.
 *
 * Returns: TRUE on success
 */
gboolean qd_bus_read_options(sd_bus_message *message, QdCall *call, GError **error);

/**
 * qd_bus_read_format:
 * @message: (transfer none): positioned at an `s`
 * @call: (transfer none): gets the format
 * @error: (nullable): location for an error
 *
 * Errors: BAD_PARAMETER. Thread: main.
 *
 * Returns: TRUE on success
 */
gboolean qd_bus_read_format(sd_bus_message *message, QdCall *call, GError **error);

/**
 * qd_bus_read_fd:
 * @message: (transfer none): positioned at an `h`
 * @call: (transfer none): gets a CLOEXEC duplicate
 * @error: (nullable): location for an error
 *
 * Errors: BAD_PARAMETER, LIMIT_EXCEEDED. Thread: main.
 *
 * Returns: TRUE on success
 */
gboolean qd_bus_read_fd(sd_bus_message *message, QdCall *call, GError **error);

/**
 * qd_bus_read_payload_id:
 * @message: (transfer none): positioned at an `x`
 * @ret_id: (out): the id
 * @error: (nullable): location for an error
 *
 * Errors: BAD_PARAMETER. Thread: main.
 *
 * Returns: TRUE on success
 */
gboolean qd_bus_read_payload_id(sd_bus_message *message, int64_t *ret_id, GError **error);

/**
 * qd_bus_read_payload_ids:
 * @message: (transfer none): positioned at an `ax`
 * @call: (transfer none): gets the ids
 * @limits: (transfer none): bounds their number
 * @error: (nullable): location for an error
 *
 * Errors: BAD_PARAMETER, TOO_BIG. Thread: main.
 *
 * Returns: TRUE on success
 */
gboolean qd_bus_read_payload_ids(sd_bus_message *message, QdCall *call, const QdLimits *limits, GError **error);
