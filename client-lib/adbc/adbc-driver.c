/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The entry points of the driver.
 */
#include "client-lib/adbc/adbc-driver.h"

#include <string.h>

#pragma GCC visibility push(default)
AdbcStatusCode AdbcDriverInit(int version, void *raw_driver, struct AdbcError *error);
AdbcStatusCode AdbcDriverQuerydInit(int version, void *raw_driver, struct AdbcError *error);
#pragma GCC visibility pop

static AdbcStatusCode
release_driver(struct AdbcDriver *driver, struct AdbcError *error)
{
    return ADBC_STATUS_OK;
}

AdbcStatusCode
AdbcDriverQuerydInit(int version, void *raw_driver, struct AdbcError *error)
{
    struct AdbcDriver *driver = raw_driver;
    gboolean is_newer = version >= ADBC_VERSION_1_1_0;
    GError *failure = NULL;

    if (version != ADBC_VERSION_1_0_0 && version != ADBC_VERSION_1_1_0) {
        (void) qad_set_error(&failure, ADBC_STATUS_NOT_IMPLEMENTED, "the driver has ADBC 1.0.0 and 1.1.0, not %d", version);
        return qad_report(error, failure);
    }
    memset(driver, 0, is_newer ? sizeof *driver : ADBC_DRIVER_1_0_0_SIZE);
    driver->release = release_driver;
    qad_database_fill(driver, is_newer);
    qad_connection_fill(driver, is_newer);
    qad_statement_fill(driver, is_newer);
    if (is_newer) {
        driver->ErrorGetDetailCount = qad_error_get_detail_count;
        driver->ErrorGetDetail = qad_error_get_detail;
        driver->ErrorFromArrayStream = qad_stream_get_error;
    }
    return ADBC_STATUS_OK;
}

AdbcStatusCode
AdbcDriverInit(int version, void *raw_driver, struct AdbcError *error)
{
    return AdbcDriverQuerydInit(version, raw_driver, error);
}
