/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The binary interface of an ADBC driver, after the specification: version 1.1.0, of which 1.0.0 is the beginning.
 *
 * Place: driver for ADBC. Names, order and values are those of the specification.
 */
#pragma once

#include <stdint.h>

#include "client-lib/query-client.h"

#define ADBC_VERSION_1_0_0 1000000
#define ADBC_VERSION_1_1_0 1001000

typedef uint8_t AdbcStatusCode;

enum {
    ADBC_STATUS_OK,
    ADBC_STATUS_UNKNOWN,
    ADBC_STATUS_NOT_IMPLEMENTED,
    ADBC_STATUS_NOT_FOUND,
    ADBC_STATUS_ALREADY_EXISTS,
    ADBC_STATUS_INVALID_ARGUMENT,
    ADBC_STATUS_INVALID_STATE,
    ADBC_STATUS_INVALID_DATA,
    ADBC_STATUS_INTEGRITY,
    ADBC_STATUS_INTERNAL,
    ADBC_STATUS_IO,
    ADBC_STATUS_CANCELLED,
    ADBC_STATUS_TIMEOUT,
    ADBC_STATUS_UNAUTHENTICATED,
    ADBC_STATUS_UNAUTHORIZED,
};

enum { ADBC_OBJECT_DEPTH_ALL, ADBC_OBJECT_DEPTH_CATALOGS, ADBC_OBJECT_DEPTH_DB_SCHEMAS, ADBC_OBJECT_DEPTH_TABLES };

enum {
    ADBC_INFO_VENDOR_NAME = 0,
    ADBC_INFO_VENDOR_VERSION = 1,
    ADBC_INFO_VENDOR_SQL = 3,
    ADBC_INFO_VENDOR_SUBSTRAIT = 4,
    ADBC_INFO_DRIVER_NAME = 100,
    ADBC_INFO_DRIVER_VERSION = 101,
    ADBC_INFO_DRIVER_ADBC_VERSION = 103,
};

/* In vendor_code: the caller knows version 1.1.0, and private_data may be set. */
#define ADBC_ERROR_VENDOR_CODE_PRIVATE_DATA INT32_MIN

struct AdbcDriver;

struct AdbcError {
    char *message;
    int32_t vendor_code;
    char sqlstate[5];
    void (*release)(struct AdbcError *error);
    void *private_data; /* this and the next since 1.1.0 */
    struct AdbcDriver *private_driver;
};

struct AdbcErrorDetail {
    const char *key;
    const uint8_t *value;
    size_t value_length;
};

struct AdbcDatabase {
    void *private_data;
    struct AdbcDriver *private_driver;
};

struct AdbcConnection {
    void *private_data;
    struct AdbcDriver *private_driver;
};

struct AdbcStatement {
    void *private_data;
    struct AdbcDriver *private_driver;
};

struct AdbcPartitions;

typedef struct AdbcError *AdbcErrorOut;

struct AdbcDriver {
    void *private_data;
    void *private_manager;
    AdbcStatusCode (*release)(struct AdbcDriver *, AdbcErrorOut);

    AdbcStatusCode (*DatabaseInit)(struct AdbcDatabase *, AdbcErrorOut);
    AdbcStatusCode (*DatabaseNew)(struct AdbcDatabase *, AdbcErrorOut);
    AdbcStatusCode (*DatabaseSetOption)(struct AdbcDatabase *, const char *, const char *, AdbcErrorOut);
    AdbcStatusCode (*DatabaseRelease)(struct AdbcDatabase *, AdbcErrorOut);

    AdbcStatusCode (*ConnectionCommit)(struct AdbcConnection *, AdbcErrorOut);
    AdbcStatusCode (*ConnectionGetInfo)(struct AdbcConnection *, const uint32_t *, size_t, struct ArrowArrayStream *, AdbcErrorOut);
    AdbcStatusCode (*ConnectionGetObjects)(struct AdbcConnection *, int, const char *, const char *, const char *, const char **,
                                           const char *, struct ArrowArrayStream *, AdbcErrorOut);
    AdbcStatusCode (*ConnectionGetTableSchema)(struct AdbcConnection *, const char *, const char *, const char *,
                                               struct ArrowSchema *, AdbcErrorOut);
    AdbcStatusCode (*ConnectionGetTableTypes)(struct AdbcConnection *, struct ArrowArrayStream *, AdbcErrorOut);
    AdbcStatusCode (*ConnectionInit)(struct AdbcConnection *, struct AdbcDatabase *, AdbcErrorOut);
    AdbcStatusCode (*ConnectionNew)(struct AdbcConnection *, AdbcErrorOut);
    AdbcStatusCode (*ConnectionSetOption)(struct AdbcConnection *, const char *, const char *, AdbcErrorOut);
    AdbcStatusCode (*ConnectionReadPartition)(struct AdbcConnection *, const uint8_t *, size_t, struct ArrowArrayStream *,
                                              AdbcErrorOut);
    AdbcStatusCode (*ConnectionRelease)(struct AdbcConnection *, AdbcErrorOut);
    AdbcStatusCode (*ConnectionRollback)(struct AdbcConnection *, AdbcErrorOut);

    AdbcStatusCode (*StatementBind)(struct AdbcStatement *, struct ArrowArray *, struct ArrowSchema *, AdbcErrorOut);
    AdbcStatusCode (*StatementBindStream)(struct AdbcStatement *, struct ArrowArrayStream *, AdbcErrorOut);
    AdbcStatusCode (*StatementExecuteQuery)(struct AdbcStatement *, struct ArrowArrayStream *, int64_t *, AdbcErrorOut);
    AdbcStatusCode (*StatementExecutePartitions)(struct AdbcStatement *, struct ArrowSchema *, struct AdbcPartitions *, int64_t *,
                                                 AdbcErrorOut);
    AdbcStatusCode (*StatementGetParameterSchema)(struct AdbcStatement *, struct ArrowSchema *, AdbcErrorOut);
    AdbcStatusCode (*StatementNew)(struct AdbcConnection *, struct AdbcStatement *, AdbcErrorOut);
    AdbcStatusCode (*StatementPrepare)(struct AdbcStatement *, AdbcErrorOut);
    AdbcStatusCode (*StatementRelease)(struct AdbcStatement *, AdbcErrorOut);
    AdbcStatusCode (*StatementSetOption)(struct AdbcStatement *, const char *, const char *, AdbcErrorOut);
    AdbcStatusCode (*StatementSetSqlQuery)(struct AdbcStatement *, const char *, AdbcErrorOut);
    AdbcStatusCode (*StatementSetSubstraitPlan)(struct AdbcStatement *, const uint8_t *, size_t, AdbcErrorOut);

    /* Since 1.1.0 */
    int (*ErrorGetDetailCount)(const struct AdbcError *);
    struct AdbcErrorDetail (*ErrorGetDetail)(const struct AdbcError *, int);
    const struct AdbcError *(*ErrorFromArrayStream)(struct ArrowArrayStream *, AdbcStatusCode *);

    AdbcStatusCode (*DatabaseGetOption)(struct AdbcDatabase *, const char *, char *, size_t *, AdbcErrorOut);
    AdbcStatusCode (*DatabaseGetOptionBytes)(struct AdbcDatabase *, const char *, uint8_t *, size_t *, AdbcErrorOut);
    AdbcStatusCode (*DatabaseGetOptionDouble)(struct AdbcDatabase *, const char *, double *, AdbcErrorOut);
    AdbcStatusCode (*DatabaseGetOptionInt)(struct AdbcDatabase *, const char *, int64_t *, AdbcErrorOut);
    AdbcStatusCode (*DatabaseSetOptionBytes)(struct AdbcDatabase *, const char *, const uint8_t *, size_t, AdbcErrorOut);
    AdbcStatusCode (*DatabaseSetOptionDouble)(struct AdbcDatabase *, const char *, double, AdbcErrorOut);
    AdbcStatusCode (*DatabaseSetOptionInt)(struct AdbcDatabase *, const char *, int64_t, AdbcErrorOut);

    AdbcStatusCode (*ConnectionCancel)(struct AdbcConnection *, AdbcErrorOut);
    AdbcStatusCode (*ConnectionGetOption)(struct AdbcConnection *, const char *, char *, size_t *, AdbcErrorOut);
    AdbcStatusCode (*ConnectionGetOptionBytes)(struct AdbcConnection *, const char *, uint8_t *, size_t *, AdbcErrorOut);
    AdbcStatusCode (*ConnectionGetOptionDouble)(struct AdbcConnection *, const char *, double *, AdbcErrorOut);
    AdbcStatusCode (*ConnectionGetOptionInt)(struct AdbcConnection *, const char *, int64_t *, AdbcErrorOut);
    AdbcStatusCode (*ConnectionGetStatistics)(struct AdbcConnection *, const char *, const char *, const char *, char,
                                              struct ArrowArrayStream *, AdbcErrorOut);
    AdbcStatusCode (*ConnectionGetStatisticNames)(struct AdbcConnection *, struct ArrowArrayStream *, AdbcErrorOut);
    AdbcStatusCode (*ConnectionSetOptionBytes)(struct AdbcConnection *, const char *, const uint8_t *, size_t, AdbcErrorOut);
    AdbcStatusCode (*ConnectionSetOptionDouble)(struct AdbcConnection *, const char *, double, AdbcErrorOut);
    AdbcStatusCode (*ConnectionSetOptionInt)(struct AdbcConnection *, const char *, int64_t, AdbcErrorOut);

    AdbcStatusCode (*StatementCancel)(struct AdbcStatement *, AdbcErrorOut);
    AdbcStatusCode (*StatementExecuteSchema)(struct AdbcStatement *, struct ArrowSchema *, AdbcErrorOut);
    AdbcStatusCode (*StatementGetOption)(struct AdbcStatement *, const char *, char *, size_t *, AdbcErrorOut);
    AdbcStatusCode (*StatementGetOptionBytes)(struct AdbcStatement *, const char *, uint8_t *, size_t *, AdbcErrorOut);
    AdbcStatusCode (*StatementGetOptionDouble)(struct AdbcStatement *, const char *, double *, AdbcErrorOut);
    AdbcStatusCode (*StatementGetOptionInt)(struct AdbcStatement *, const char *, int64_t *, AdbcErrorOut);
    AdbcStatusCode (*StatementSetOptionBytes)(struct AdbcStatement *, const char *, const uint8_t *, size_t, AdbcErrorOut);
    AdbcStatusCode (*StatementSetOptionDouble)(struct AdbcStatement *, const char *, double, AdbcErrorOut);
    AdbcStatusCode (*StatementSetOptionInt)(struct AdbcStatement *, const char *, int64_t, AdbcErrorOut);
};

/* Of a caller of 1.0.0, which knows no more of the struct. */
#define ADBC_DRIVER_1_0_0_SIZE (offsetof(struct AdbcDriver, ErrorGetDetailCount))
