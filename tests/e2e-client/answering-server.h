/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * An HTTP server whose answers are right, slow, cut, endless or nonsense: which, says the path.
 *
 * Place: end-to-end tests of libquery-client.
 */
#pragma once

#include <glib.h>

/* Returns: its port. It goes on until the process ends. */
guint16 answering_server_start(void);
/* Whether the last request, head and body, has @text. */
gboolean answering_server_was_asked(const char *text);
void answering_server_forget(void);
guint answering_server_count_connections(void);
