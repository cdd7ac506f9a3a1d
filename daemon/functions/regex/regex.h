/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * XPath's regular expressions on PCRE2: fn:matches() and fn:replace() of XPath and XQuery Functions and Operators 3.1, §5.6.
 *
 * Place: room functions. A pattern is translated piece by piece: what XPath does not have never reaches PCRE2. Matching is
 * bounded in steps and memory, and looks at the deadline between start positions.
 */
#pragma once

#include <glib.h>

#include "client-lib/wire/wire-error.h"

typedef struct QdRegex QdRegex;
typedef struct QdRegexCache QdRegexCache;

typedef enum QdRegexResult {
    QD_REGEX_NO_MATCH,
    QD_REGEX_MATCH,
    QD_REGEX_TOO_COMPLEX, /* too many steps, or too much memory */
    QD_REGEX_INTERRUPTED,
} QdRegexResult;

typedef struct QdRegexBounds {
    guint32 max_steps;                    /* of PCRE2, at one start position */
    gboolean (*interrupt)(gpointer data); /* (nullable): asked between start positions of long texts; TRUE ends the work */
    gpointer data;
} QdRegexBounds;

/**
 * qd_regex_new:
 * @pattern: UTF-8
 * @flags: of the letters s, m, i, x, q
 *
 * Returns: (transfer full) (nullable): NULL when pattern or flags are not valid
 */
QdRegex *qd_regex_new(const char *pattern, gsize n_pattern, const char *flags, gsize n_flags);
QdRegex *qd_regex_free(QdRegex *self);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(QdRegex, qd_regex_free)

/* qd_regex_trim: after the last look at a match: the memory of a search that took much is free again. */
void qd_regex_trim(QdRegex *self);

/* qd_regex_search: finds the first match at or after @start; @text is UTF-8. */
QdRegexResult qd_regex_search(QdRegex *self, const char *text, gsize n_bytes, gsize start, const QdRegexBounds *bounds);

/* qd_regex_get_group: of the last match: 0 is all of it. FALSE: the group has not matched. */
gboolean qd_regex_get_group(const QdRegex *self, guint group, gsize *ret_start, gsize *ret_end);
guint qd_regex_get_n_groups(const QdRegex *self);

/* qd_regex_matches_empty: whether it matches the empty text, which fn:replace() refuses. */
gboolean qd_regex_matches_empty(QdRegex *self);

/* qd_regex_is_literal: flag q. */
gboolean qd_regex_is_literal(const QdRegex *self);

/* qd_regex_cache_get: (transfer none) (nullable): the compiled pattern; valid until the next call. Also keeps what is invalid. */
QdRegex *qd_regex_cache_get(QdRegexCache *self, const char *pattern, gsize n_pattern, const char *flags, gsize n_flags);
QdRegexCache *qd_regex_cache_new(void);
QdRegexCache *qd_regex_cache_free(QdRegexCache *self);
