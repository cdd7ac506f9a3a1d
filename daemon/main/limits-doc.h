/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The table of limits as text for the documents.
 *
 * Place: room main. Documents are generated from the code's own table, so that they cannot differ from it.
 */
#pragma once

#include <glib.h>

/**
 * qd_limits_doc_make:
 * @format: "markdown" (docs/limits.md) or "man" (the list of [Limits] in queryd.conf(5), in scdoc's markup)
 *
 * Thread: any.
 *
 * Returns: (transfer full) (nullable): the text; NULL for another format
 */
char *qd_limits_doc_make(const char *format);
