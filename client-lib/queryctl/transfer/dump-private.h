/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What is known of the schema when a dump is written.
 *
 * Place: layer B; between dump.c, which reads, and dump-text.c, which writes.
 */
#pragma once

#include "client-lib/queryctl/session.h"
#include "client-lib/queryctl/transfer/virtual.h"

typedef struct QctlDumpObject {
    char *type;
    char *name;
    char *sql;
    GPtrArray *columns;   /* of char*: those that are stored, of a table */
    bool has_others;      /* generated or hidden columns: an INSERT must name the others */
    QctlVirtual *virtual; /* (nullable) */
    bool is_shadow;
    bool is_lost;     /* the rows cannot be made again */
    bool is_sequence; /* SQLite's own table of the last ids */
} QctlDumpObject;

/* The INSERT that is not ended. */
typedef struct QctlDumpInsert {
    const QctlDumpObject *table; /* borrowed */
    guint n_rows;                /* 0: there is none */
    gsize n_bytes;
} QctlDumpInsert;

/* What a row of the statement is of; each table has two numbers: for rows, and for settings of FTS5. */
enum {
    QCTL_DUMP_ARM_SCHEMA,
    QCTL_DUMP_ARM_VERSION,
    QCTL_DUMP_ARM_TABLES,
};

typedef struct QctlDump {
    QctlSession *session;
    QctlSink *sink;
    const char *pattern;    /* (nullable) */
    GPtrArray *objects;     /* of QctlDumpObject*, in the order of the schema */
    GPtrArray *tables;      /* of QctlDumpObject*, borrowed: those with rows; virtual ones come last */
    GString *fingerprint;   /* of the schema */
    guint n_columns;        /* of the widest table */
    GHashTable *left_out;   /* borrowed, as the next one: names of tables that cannot be read */
    GString *failed;        /* fingerprint of a schema whose tables could not all be read */
    bool *is_whole;         /* borrowed */
    QctlDumpInsert *insert; /* borrowed */
} QctlDump;

/* Appends @text between two of @quote. */
void qctl_dump_put_quoted(GString *out, const char *text, gsize n_bytes, char quote);
void qctl_dump_put_name(GString *out, const char *name);

/* The tables and views. What cannot be written in full is a comment and is reported. */
void qctl_dump_put_start(const QctlDump *self);

/**
 * qctl_dump_write_row:
 * @arm: what the row is of, but the schema
 * @cursor: at the row
 * @error: (nullable): location for an error
 *
 * Errors: those of the sink.
 */
bool qctl_dump_write_row(const QctlDump *self, gint64 arm, QueryCursor *cursor, GError **error);

/* What is made of the rows. */
void qctl_dump_put_end(const QctlDump *self);
