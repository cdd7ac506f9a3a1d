/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The catalog of a store: the statistics that quads keep, and counts of patterns by looking.
 *
 * Place: room quads; implements catalog.h on a connection. Answers are of the connection's transaction; what fails answers 0.
 */
#pragma once

#include "daemon/sqlite/catalog.h"
#include "daemon/sqlite/connection.h"

/**
 * qd_store_catalog_load:
 * @connection: must outlive the use of @ret_catalog; used by one thread at a time, as ever
 * @ret_catalog: (out): with the totals of now; load it again for those of later
 */
gboolean qd_store_catalog_load(QdConnection *connection, QdCatalog *ret_catalog, GError **error);
