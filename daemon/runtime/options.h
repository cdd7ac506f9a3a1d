/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The options of a call, as D-Bus methods and PREPARE records carry them.
 *
 * Place: above transport.h only. A class of calls names the options that its method takes. One table (options.c) knows their names,
 * types and values, for both ways in.
 */
#pragma once

#include <glib.h>
#include <stdint.h>

#include "daemon/runtime/transport.h"

/* Options of the methods; a class names the ones that its method takes by QD_TAKES(). */
typedef enum QdOptionId {
    QD_OPTION_TRANSPORT,
    QD_OPTION_PAGE_SIZE,
    QD_OPTION_ACCESS,
    QD_OPTION_TIMEOUT,
    QD_OPTION_MAX_ROWS,
    QD_OPTION_MAX_BYTES,
    QD_OPTION_DURABILITY,
    QD_OPTION_RESULTS,
    QD_OPTION_ERROR_DETAILS,
    QD_OPTION_SCHEMA_DETAILS,
    QD_OPTION_WHOLE_RESULTS,
    QD_OPTION_TEXT_TRANSACTIONS,
    QD_OPTION_FETCH,
    QD_OPTION_REQUESTED,
    QD_OPTION_SESSION,
    QD_OPTION_MEDIA_TYPE,
    QD_OPTION_ANALYZE,
    QD_OPTION_TABLE,
    QD_OPTION_CREATE, /* types, detect_types, too */
    QD_OPTION_HEADER,
    QD_OPTION_DELIMITER,
    QD_OPTION_RDF_TERMS,
    QD_OPTION_GRAPH,
    QD_OPTION_BASE,
    QD_OPTION_DATASET,
    QD_OPTION_REPLACE,
    QD_OPTION_CHECK_ONLY,
    QD_OPTION_ONE_GRAPH,
    QD_OPTION_QUICK,
    QD_OPTION_WARM,
    QD_OPTION_KEYS,
    QD_OPTION_FULL_TEXT, /* tokenizer, add, remove, all, rebuild, check */
} QdOptionId;

#define QD_TAKES(id) (1u << QD_OPTION_##id)

/* SetFullText: what is to be done, in this order. */
typedef struct QdFullTextOptions {
    char *tokenizer; /* (nullable) */
    char **add;      /* (nullable) IRIs of predicates */
    char **remove;   /* (nullable) */
    gboolean has_all, all;
    gboolean rebuild, check;
} QdFullTextOptions;

/* Of one execution, on the bus and on a channel: by value, refers to nothing. */
typedef struct QdExecutionOptions {
    gboolean access_write;
    gboolean has_timeout;
    uint32_t timeout_msec; /* 0: none, if has_timeout */
    uint64_t max_rows;     /* 0: not given */
    uint64_t max_bytes;    /* 0: not given */
    gboolean relaxed_durability;
    gboolean fresh; /* not from the result memory, nor kept there */
} QdExecutionOptions;

/* Prepare: the channel that it makes. */
typedef struct QdChannelOptions {
    QdTransport transport;
    uint32_t page_size;       /* bytes; 0: default */
    gboolean refuses_control; /* it takes no BEGIN, COMMIT or ROLLBACK by text */
    gboolean whole_results;   /* the caller maps whole results */
    gboolean schema_details;  /* the caller reads flags of SCHEMA that readers of before refuse */
    gboolean fetches;         /* it runs at once, as if a FETCH had come */
    uint64_t requested_usec;  /* monotonic: when the caller was asked for the statement; 0: not given */
    uint64_t session;         /* its client's channels with the same number count together; 0: it counts alone */
} QdChannelOptions;

/* Import, Export, Dump, Restore. */
typedef struct QdTransferOptions {
    char *table;    /* (nullable) Import */
    char *graph;    /* (nullable) Import of RDF, Dump: IRI */
    char delimiter; /* Import of csv; '\0': a comma */
    gboolean header;
    gboolean rdf_structs; /* Export to Arrow: RDF terms are structs, not text */
    gboolean create;
    gboolean detect_types; /* with create */
    char **types;          /* (nullable) with create: NAME=TYPE */
    gboolean check_only;   /* Import of RDF, Restore */
    gboolean one_graph;    /* Import of RDF: the document has no named graphs */
    gboolean replace;      /* Import of RDF */
} QdTransferOptions;

/* What it refers to is its own. */
typedef struct QdCallOptions {
    QdExecutionOptions execution;
    QdChannelOptions channel;
    QdTransferOptions transfer;
    QdFullTextOptions full_text;
    char *base;             /* (nullable) IRI */
    char *dataset;          /* (nullable) SPARQL: FROM clauses */
    char *media_type;       /* (nullable) StorePayload, ReplacePayload */
    gboolean error_details; /* the caller reads more of an error than its message */
    gboolean analyze;
    gboolean keys;                /* Subscribe: RowsChanged, too */
    gboolean quick;               /* Check */
    gboolean warm;                /* Optimize */
    gboolean union_default_graph; /* calls of TinySPARQL's clients: the default graph is all graphs together */
} QdCallOptions;

/* The value of an option, of its type. */
typedef union QdOptionValue {
    const char *text;
    uint64_t number;
    gboolean is_on;
    char *const *texts;
} QdOptionValue;

/* A row of the table of options. */
typedef struct QdOption QdOption;

/* With the defaults of the methods. */
void qd_options_init(QdCallOptions *self);
void qd_options_clear(QdCallOptions *self);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(QdCallOptions, qd_options_clear)

/**
 * qd_option_find:
 * @taken: QD_TAKES() of those that the request takes
 * @seen: (inout): the options that it had so far, from 0
 * @error: (nullable): location for an error
 *
 * Errors: BAD_PARAMETER for an unknown key, one of another method, and one that is given twice.
 *
 * Returns: (transfer none) (nullable): the option
 */
const QdOption *qd_option_find(const char *key, guint taken, uint64_t *seen, GError **error);
const char *qd_option_get_key(const QdOption *self);
/* Of D-Bus: 's', 'u', 't', 'b', or 'a' for an array of texts. */
char qd_option_get_type(const QdOption *self);

/* Sets what is copied of @value. Errors: BAD_PARAMETER. */
gboolean qd_option_set(const QdOption *self, QdCallOptions *options, const QdOptionValue *value, GError **error);
/* The same of a text, as records carry all values: a number in decimal digits. */
gboolean qd_option_parse(const QdOption *self, QdCallOptions *options, const char *text, GError **error);
