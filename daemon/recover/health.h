/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What is known about the state of a store's file, kept in a small file beside it: "health".
 *
 * Place: room recover. Not in the database: that is what may be damaged. Losing the file loses the time of the last check, and
 * damage that was found and not salvaged yet: the next check finds it again.
 */
#pragma once

#include <glib.h>

#define QD_HEALTH_NAME "health"

typedef struct QdHealth {
    char *path;
    gint64 checked_sec; /* since 1970: the last check that came to its end; 0: none */
    gboolean unclean;   /* the store was not closed since it was opened: its file should be checked soon */
    char *damage;       /* (nullable) what the last check found */
    char *report;       /* (nullable) path: of the last salvage */
    gint64 salvaged_sec;
} QdHealth;

/* Reads what is there. Never fails. */
void qd_health_init(QdHealth *self, const char *directory);
void qd_health_clear(QdHealth *self);
/* A failure is not reported: the next one will be. */
void qd_health_save(const QdHealth *self);
void qd_health_set_text(char **field, const char *text);

/* One word: "ok", "damaged", "unchecked" */
const char *qd_health_get_word(const QdHealth *self);
