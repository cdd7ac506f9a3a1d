/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What is shown beside an error: the place in the statement's text, and the name that was probably meant.
 *
 * Place: layer B.
 */
#pragma once

#include <glib.h>

/**
 * qctl_place_show:
 * @text: of a statement, in UTF-8
 * @line: from 1
 * @column: from 1, in code points
 *
 * Returns: (transfer full) (nullable): two lines; of a long one the part around the place. NULL if @text has no such place
 */
char *qctl_place_show(const char *text, guint line, guint column);

typedef struct QctlSuggestion {
    const char *typed;
    const char *best; /* (nullable): so far */
    guint distance;
} QctlSuggestion;

/* Looks at one more name that would be right. At most two changes, and fewer than half of its characters, are near. */
void qctl_suggestion_try(QctlSuggestion *self, const char *name);
