/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The SPARQL of TinySPARQL's clients, written as SPARQL 1.1: docs/tinysparql.md describes the differences.
 *
 * Place: room tracker, pure: texts in, texts out. The parser of daemon/sparql sees SPARQL 1.1 only: it stays strict for all other
 * callers, and texts of this profile share plans with theirs.
 * Invariant: lines stay lines, so that an error names the right one. Values of parameters become single tokens: no value can
 * become a part of the query. CONSTRAINT is obeyed regardless of the rest of the text: it becomes the dataset of the call, which
 * takes the place of the text's own.
 */
#pragma once

#include <glib.h>

typedef struct QdParameters QdParameters;
typedef struct QwValue QwValue;

/* Appends a pair of VALUES, ("IRI" "prefix") in SPARQL, for each prefix that the store keeps. */
typedef gboolean (*QdTrackerListPrefixes)(GString *out, void *data, GError **error);

typedef struct QdTrackerProfile {
    const QdParameters *parameters; /* (nullable): values of ~name */
    gboolean is_update;
    gboolean names_blank_nodes;   /* labels in templates stand for new IRIs, which the caller wants to know */
    gboolean union_default_graph; /* without FROM the default graph is all graphs together */
    QdTrackerListPrefixes list_prefixes;
    void *data;
} QdTrackerProfile;

typedef struct QdTrackerText {
    GString *text;
    char *dataset;          /* (nullable): the option `dataset` of the call */
    GPtrArray *blank_nodes; /* of char *: label, IRI, label, IRI, … */
} QdTrackerText;

/* A value of a parameter, which refers to what it is made of: a text, NUL, and its language tag. */
void qd_tracker_set_tagged(QwValue *value, const char *data, gsize n_bytes);

void qd_tracker_text_clear(QdTrackerText *self);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(QdTrackerText, qd_tracker_text_clear)

/**
 * qd_tracker_text_init:
 * @self: (out caller-allocates): the text in SPARQL 1.1; valid on success
 * @profile: (not owned): how @text is to be read
 * @error: (nullable): location for an error
 *
 * Thread: any. Errors: SYNTAX; BAD_PARAMETER: a value that is missing, or cannot stand where it is used; UNSUPPORTED.
 *
 * Returns: TRUE on success
 */
gboolean qd_tracker_text_init(QdTrackerText *self, const char *text, const QdTrackerProfile *profile, GError **error);
