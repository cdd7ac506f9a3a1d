/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Compiling, matching, and a small cache of compiled patterns.
 *
 * PCRE2 counts its steps from 0 at each start position, so a long text could take 10^6 steps at each of its bytes. So the
 * positions are tried in windows, with a look at the deadline between them. No JIT: the daemon's sandbox forbids writable code.
 */
#include "daemon/functions/regex/regex.h"

#include <string.h>

#define PCRE2_CODE_UNIT_WIDTH 8
#include <pcre2.h>
#include <sqlite3.h>

#include "client-lib/wire/wire-recent.h"
#include "daemon/functions/regex/regex-pattern.h"
#include "daemon/rdf/code-point.h"

#define WINDOW_BYTES 256
#define HEAP_KIB 8192
#define LARGE_BYTES 65536
#define CACHE_SIZE 16

struct QdRegex {
    pcre2_code *code;
    pcre2_match_data *match; /* (nullable): made when needed */
    pcre2_match_context *context;
    gboolean literal;
    gboolean has_large; /* @match has much memory */
};

/* The stack of a search stays in its match data: as SQLite's memory it counts, up to HEAP_KIB. */
static void *
take_memory(PCRE2_SIZE n_bytes, void *data)
{
    QdRegex *self = data;

    self->has_large = self->has_large || n_bytes > LARGE_BYTES;
    return sqlite3_malloc64(n_bytes);
}

static void
free_memory(void *memory, void *data)
{
    sqlite3_free(memory);
}

static gboolean
make_match(QdRegex *self)
{
    pcre2_general_context *general = pcre2_general_context_create(take_memory, free_memory, self);

    self->has_large = FALSE;
    self->match = general != NULL ? pcre2_match_data_create_from_pattern(self->code, general) : NULL;
    pcre2_general_context_free(general);
    return self->match != NULL;
}

void
qd_regex_trim(QdRegex *self)
{
    if (self->has_large)
        g_clear_pointer(&self->match, pcre2_match_data_free);
}

static gboolean
parse_flags(const char *flags, gsize n_flags, guint32 *options, gboolean *ret_literal, gboolean *ret_skip_space)
{
    for (gsize i = 0; i < n_flags; i++)
        switch (flags[i]) {
        case 's':
            *options |= PCRE2_DOTALL;
            break;
        case 'm':
            *options |= PCRE2_MULTILINE;
            break;
        case 'i':
            *options |= PCRE2_CASELESS;
            break;
        case 'x':
            *ret_skip_space = TRUE;
            break;
        case 'q':
            *ret_literal = TRUE;
            break;
        default: /* a letter from the query */
            return FALSE;
        }
    return TRUE;
}

QdRegex *
qd_regex_new(const char *pattern, gsize n_pattern, const char *flags, gsize n_flags)
{
    g_autoptr(QdRegex) self = g_new0(QdRegex, 1);
    g_autoptr(GString) translated = g_string_new(NULL);
    guint32 options = PCRE2_UTF | PCRE2_NO_UTF_CHECK | PCRE2_USE_OFFSET_LIMIT;
    gboolean skip_space = FALSE;
    pcre2_compile_context *compile;
    int code = 0;
    PCRE2_SIZE offset = 0;

    if (!qd_code_point_check(pattern, n_pattern, NULL) || !parse_flags(flags, n_flags, &options, &self->literal, &skip_space))
        return NULL;

    if (self->literal) {
        options = (options & ~(guint32) (PCRE2_DOTALL | PCRE2_MULTILINE)) | PCRE2_LITERAL;
        g_string_append_len(translated, pattern, (gssize) n_pattern);
    } else {
        options |= PCRE2_DOLLAR_ENDONLY | PCRE2_MATCH_UNSET_BACKREF;
        if (!qd_regex_translate(pattern, n_pattern, skip_space, translated))
            return NULL;
    }
    compile = pcre2_compile_context_create(NULL);
    (void) pcre2_set_newline(compile, PCRE2_NEWLINE_LF);
    self->code = pcre2_compile((PCRE2_SPTR) translated->str, translated->len, options, &code, &offset, compile);
    pcre2_compile_context_free(compile);
    if (self->code == NULL)
        return NULL;

    self->context = pcre2_match_context_create(NULL);
    (void) pcre2_set_heap_limit(self->context, HEAP_KIB);
    return g_steal_pointer(&self);
}

QdRegex *
qd_regex_free(QdRegex *self)
{
    if (self == NULL)
        return NULL;

    pcre2_match_data_free(self->match);
    pcre2_match_context_free(self->context);
    pcre2_code_free(self->code);
    g_free(self);
    return NULL;
}

/* One window of start positions, from @start to @last. */
static QdRegexResult
search_window(QdRegex *self, const char *text, gsize n_bytes, gsize start, gsize last, guint32 options)
{
    int r;

    if (self->match == NULL && !make_match(self))
        return QD_REGEX_TOO_COMPLEX;
    (void) pcre2_set_offset_limit(self->context, last);
    r = pcre2_match(self->code, (PCRE2_SPTR) text, n_bytes, start, options, self->match, self->context);
    if (r >= 0)
        return QD_REGEX_MATCH;
    return r == PCRE2_ERROR_NOMATCH ? QD_REGEX_NO_MATCH : QD_REGEX_TOO_COMPLEX;
}

QdRegexResult
qd_regex_search(QdRegex *self, const char *text, gsize n_bytes, gsize start, const QdRegexBounds *bounds)
{
    (void) pcre2_set_match_limit(self->context, bounds->max_steps);
    while (start <= n_bytes) {
        gsize last = n_bytes - start > WINDOW_BYTES ? start + WINDOW_BYTES : n_bytes;
        QdRegexResult result;

        while (last < n_bytes && ((guchar) text[last] & 0xc0) == 0x80)
            last++;
        result = search_window(self, text, n_bytes, start, last, PCRE2_NO_UTF_CHECK);
        if (result != QD_REGEX_NO_MATCH)
            return result;
        if (last == n_bytes)
            return QD_REGEX_NO_MATCH;
        if (bounds->interrupt != NULL && bounds->interrupt(bounds->data))
            return QD_REGEX_INTERRUPTED;
        start = last;
    }
    return QD_REGEX_NO_MATCH;
}

gboolean
qd_regex_get_group(const QdRegex *self, guint group, gsize *ret_start, gsize *ret_end)
{
    const PCRE2_SIZE *offsets = pcre2_get_ovector_pointer(self->match);

    if (group >= pcre2_get_ovector_count(self->match) || offsets[2 * group] == PCRE2_UNSET)
        return FALSE;

    *ret_start = offsets[2 * group];
    *ret_end = offsets[2 * group + 1];
    return TRUE;
}

guint
qd_regex_get_n_groups(const QdRegex *self)
{
    return pcre2_get_ovector_count(self->match) - 1;
}

gboolean
qd_regex_matches_empty(QdRegex *self)
{
    return search_window(self, "", 0, 0, 0, 0) == QD_REGEX_MATCH;
}

gboolean
qd_regex_is_literal(const QdRegex *self)
{
    return self->literal;
}

/* --- the cache ------------------------------------------------------------------------------------------------------------ */

typedef struct Entry {
    GBytes *pattern;
    GBytes *flags;
    QdRegex *regex; /* NULL: not valid */
} Entry;

struct QdRegexCache {
    QwRecent recent; /* of Entry */
    void *entries[CACHE_SIZE];
};

QdRegexCache *
qd_regex_cache_new(void)
{
    QdRegexCache *self = g_new0(QdRegexCache, 1);

    self->recent = (QwRecent){ .items = self->entries, .max = CACHE_SIZE };
    return self;
}

static void
entry_free(Entry *self)
{
    if (self == NULL)
        return;

    g_bytes_unref(self->pattern);
    g_bytes_unref(self->flags);
    (void) qd_regex_free(self->regex);
    g_free(self);
}

QdRegexCache *
qd_regex_cache_free(QdRegexCache *self)
{
    if (self == NULL)
        return NULL;

    while (self->recent.n > 0)
        entry_free(qw_recent_pop(&self->recent));
    g_free(self);
    return NULL;
}

static gboolean
bytes_are(GBytes *bytes, const char *text, gsize n)
{
    gsize size;
    gconstpointer data = g_bytes_get_data(bytes, &size);

    return size == n && (n == 0 || memcmp(data, text, n) == 0);
}

QdRegex *
qd_regex_cache_get(QdRegexCache *self, const char *pattern, gsize n_pattern, const char *flags, gsize n_flags)
{
    Entry *entry;

    for (guint i = self->recent.n; i-- > 0;) {
        entry = self->entries[i];
        if (bytes_are(entry->pattern, pattern, n_pattern) && bytes_are(entry->flags, flags, n_flags)) {
            qw_recent_use(&self->recent, i);
            return entry->regex;
        }
    }
    entry = g_new(Entry, 1);
    *entry = (Entry){ g_bytes_new(pattern, n_pattern), g_bytes_new(flags, n_flags),
                      qd_regex_new(pattern, n_pattern, flags, n_flags) };
    entry_free(qw_recent_add(&self->recent, entry));
    return entry->regex;
}
