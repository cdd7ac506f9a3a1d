/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A plain SQLite file that is made by SQL, damaged, salvaged, and asked.
 *
 * Place: tests, over daemon/recover/salvage.h. Real files; all of them are removed.
 */
#pragma once

#include <sqlite3.h>

#include "daemon/recover/salvage.h"

typedef struct SalvageFixture {
    char *dir;
    char *source;
    char *target;
    QdLimits limits;
    QdSalvageReport *report; /* of the last run */
    sqlite3 *after;          /* (nullable) what it has made */
} SalvageFixture;

/* For g_test_add(). */
void salvage_fixture_set_up(SalvageFixture *self, gconstpointer data);
void salvage_fixture_tear_down(SalvageFixture *self, gconstpointer data);

/* Statements on the source, which must succeed. */
void salvage_fixture_execute(SalvageFixture *self, const char *sql);
/* A page of the source becomes zeros: the one that this query on the source names, such as one of dbstat's or a rootpage. */
void salvage_fixture_lose_page(SalvageFixture *self, const char *query);
/* Another page in its place, as a misdirected write leaves it; both are named by queries. */
void salvage_fixture_misplace_page(SalvageFixture *self, const char *from, const char *to);
/* Must succeed; opens what was made, which must be whole. */
void salvage_fixture_run(SalvageFixture *self);
/* Asks what was made. */
gint64 salvage_fixture_ask(SalvageFixture *self, const char *sql);
/* Whether the report says this somewhere. */
gboolean salvage_fixture_is_reported(const SalvageFixture *self, const char *words);
