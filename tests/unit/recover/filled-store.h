/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A store with tables of every kind and quads, whose file is closed, to be damaged and salvaged.
 *
 * Place: tests, over daemon/recover/salvage.h. The content is known: each row's values follow from its number.
 */
#pragma once

#include "daemon/recover/salvage.h"
#include "tests/unit/store/store-fixture.h"

#define FILLED_N_ROWS 2000 /* of item, without one large */
#define FILLED_N_QUADS 600

typedef struct FilledStore {
    StoreFixture store;
    char *source;
    char *target;
    GBytes *whole; /* the undamaged file */
} FilledStore;

/* For g_test_add(). */
void filled_store_set_up(FilledStore *self, gconstpointer data);
void filled_store_tear_down(FilledStore *self, gconstpointer data);

gboolean filled_store_salvage(FilledStore *self, QdSalvageReport *report, GError **error);
sqlite3 *filled_store_open(const char *path);
/* -1: the query fails or has no row. */
gint64 filled_store_ask(sqlite3 *db, const char *sql);
