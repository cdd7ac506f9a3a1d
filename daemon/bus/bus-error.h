/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Errors of the engine on D-Bus, and texts that D-Bus can carry.
 *
 * Place: room bus; the only place that turns a GError into a D-Bus error. Names come from wire-error.c.
 * Invariant: what is appended as `s` passed qd_bus_is_text(); otherwise the message would have to be dropped.
 */
#pragma once

#include <glib.h>
#include <systemd/sd-bus.h>

/**
 * qd_bus_return_error:
 * @ret_error: the sd_bus_error of a handler
 * @error: (nullable) (transfer none): what happened; NULL is an internal error
 *
 * The last line of a handler that fails. Thread: main.
 *
 * Returns: a negative errno, for the handler to return
 */
int qd_bus_return_error(sd_bus_error *ret_error, const GError *error);

/**
 * qd_bus_note_sent:
 * @message: a call
 * @r: what sending its last answer gave
 *
 * A caller that gets no answer must not wait for one. If it could not be sent, the connection ends (and with it the daemon),
 * and the bus informs all callers.
 *
 * Returns: @r
 */
int qd_bus_note_sent(sd_bus_message *message, int r);

/**
 * qd_bus_reply_error:
 * @message: (transfer none): a method call
 * @error: (nullable) (transfer none): what happened; NULL is an internal error
 *
 * Answers a call whose handler has returned long ago. A caller that is gone is no error. Thread: main.
 */
void qd_bus_reply_error(sd_bus_message *message, const GError *error);

/**
 * qd_bus_reply_error_details:
 * @message: (transfer none): a method call whose options ask for details
 * @error: (transfer none): what happened
 *
 * The same with a second argument a(ss) after the message: the error's details. Thread: main.
 */
void qd_bus_reply_error_details(sd_bus_message *message, const GError *error);

/**
 * qd_bus_is_text:
 * @data: @n_bytes bytes, followed by a NUL
 * @n_bytes: their number
 *
 * sd-bus refuses more than invalid UTF-8: a NUL within, and Unicode's noncharacters (U+FDD0…U+FDEF, U+xxFFFE, U+xxFFFF).
 *
 * Thread: any.
 *
 * Returns: whether sd-bus takes the bytes as `s`
 */
gboolean qd_bus_is_text(const char *data, gsize n_bytes);

/**
 * qd_bus_make_text:
 * @data: @n_bytes bytes
 * @n_bytes: their number
 *
 * Thread: any.
 *
 * Returns: (transfer full): the bytes with U+FFFD for all that `s` cannot carry
 */
char *qd_bus_make_text(const char *data, gsize n_bytes);

/**
 * qd_bus_append_text:
 * @message: (transfer none): a message being built
 * @text: (nullable): any C string; NULL is ""
 *
 * Appends @text as `s`, made fit where it is not.
 *
 * Returns: as sd_bus_message_append()
 */
int qd_bus_append_text(sd_bus_message *message, const char *text);

/* Of @n_bytes bytes which have passed qd_bus_is_text(): no second look at them. */
int qd_bus_append_checked(sd_bus_message *message, const char *text, gsize n_bytes);
