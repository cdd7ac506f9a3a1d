/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The options of a call, as D-Bus methods and PREPARE records carry them.
 *
 * Place: above transport.h only. A class of calls names the options that its method takes.
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
    QD_OPTION_ERROR_DETAILS,
    QD_OPTION_TEXT_TRANSACTIONS,
    QD_OPTION_MEDIA_TYPE,
    QD_OPTION_ANALYZE,
    QD_OPTION_TABLE,
    QD_OPTION_CREATE,
    QD_OPTION_HEADER,
    QD_OPTION_GRAPH,
    QD_OPTION_BASE,
    QD_OPTION_REPLACE,
    QD_OPTION_CHECK_ONLY,
    QD_OPTION_QUICK,
    QD_OPTION_WARM,
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

typedef struct QdCallOptions {
    QdTransport transport;
    uint32_t page_size; /* bytes; 0: default */
    gboolean access_write;
    gboolean has_timeout;
    uint32_t timeout_msec; /* 0: none, if has_timeout */
    uint64_t max_rows;     /* 0: not given */
    uint64_t max_bytes;    /* 0: not given */
    gboolean relaxed_durability;
    gboolean refuses_control; /* Prepare: the channel takes no BEGIN, COMMIT or ROLLBACK by text */
    gboolean error_details;   /* the caller reads more of an error than its message */
    gboolean analyze;
    gboolean header; /* default TRUE */
    gboolean create;
    gboolean quick;              /* Check; default TRUE */
    gboolean warm;               /* Optimize */
    gboolean check_only;         /* Import of RDF, Restore */
    gboolean replace;            /* Import of RDF */
    const char *table;           /* (owned by the call) Import */
    const char *graph;           /* (owned by the call) Import of RDF, Dump: IRI */
    const char *base;            /* (owned by the call) Import of RDF: IRI */
    char *media_type;            /* (owned by the call) (nullable) StorePayload, ReplacePayload */
    QdFullTextOptions full_text; /* its texts are owned by the call */
} QdCallOptions;
