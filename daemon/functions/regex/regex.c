/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Compiling, matching, and a small cache of compiled patterns.
 *
 * PCRE2 looks for the first or the last letter of a match as far as it sees text. It counts its steps from 0 at each start
 * position. So the positions are tried in windows, and each window sees only some of the text after it. An attempt that comes to
 * the end of this view is a partial match: it is tried again with a larger view. Thus no result depends on the windows.
 *
 * The pattern has another form, with a callout at each item, where the deadline is looked at. It is for attempts of many steps or
 * with a large view. No JIT: the daemon's sandbox forbids writable code.
 */
#include "daemon/functions/regex/regex.h"

#include <string.h>

#define PCRE2_CODE_UNIT_WIDTH 8
#include <pcre2.h>
#include <sqlite3.h>

#include "client-lib/wire/wire-recent.h"
#include "daemon/functions/regex/regex-pattern.h"
#include "daemon/rdf/code-point.h"

#define WINDOW_BYTES 256         /* start positions */
#define VIEW_BYTES 256           /* seen after them at first */
#define VIEW_GROWTH 4            /* after a partial match */
#define QUICK_VIEW_BYTES 4096    /* without callouts, at most */
#define QUICK_STEPS 1024         /* without callouts, at each start position */
#define SHORT_STEPS 8192         /* the same where all of the text is one window */
#define QUICK_WORK_BYTES 131072  /* without callouts: start positions times view */
#define CHECK_WORK_BYTES 2097152 /* between two looks at the deadline: callouts times view */
#define CALLOUTS_PER_CHECK 256   /* at most */
#define PATIENT_WINDOWS 16       /* tried before the rest of the text is looked at */
#define EMPTY_STEPS 1000000
#define HEAP_KIB 8192
#define LARGE_BYTES 65536
#define CACHE_SIZE 16

/* The bits of an index of a pattern's forms. */
enum {
    FORM_CAREFUL = 1, /* with callouts */
    FORM_CUT = 2,     /* for a view that ends before the text: there "^" of flag m is right after a newline, at a text's end not */
    N_FORMS = 4,
};

struct QdRegex {
    pcre2_code *codes[N_FORMS]; /* (nullable): made when needed, except for the first */
    char *translated;
    gsize n_translated;
    guint32 options;
    pcre2_match_data *match; /* (nullable): made when needed */
    pcre2_match_context *context;
    const QdRegexBounds *bounds; /* (nullable): of the search that runs */
    guint n_callouts;
    guint callouts_per_check;
    gboolean literal;
    gboolean has_large;   /* @match has much memory */
    gboolean is_too_long; /* for callouts */
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
    self->match = general != NULL ? pcre2_match_data_create_from_pattern(self->codes[0], general) : NULL;
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

/* (nullable): NULL when PCRE2 does not take the pattern. */
static pcre2_code *
compile(const QdRegex *self, guint form)
{
    pcre2_compile_context *context;
    guint32 options = self->options;
    int error = 0;
    PCRE2_SIZE offset = 0;
    pcre2_code *code;

    options |= (form & FORM_CAREFUL) != 0 ? PCRE2_AUTO_CALLOUT : 0;
    options |= (form & FORM_CUT) != 0 ? PCRE2_ALT_CIRCUMFLEX : 0;
    context = pcre2_compile_context_create(NULL);
    (void) pcre2_set_newline(context, PCRE2_NEWLINE_LF);
    code = pcre2_compile((PCRE2_SPTR) self->translated, self->n_translated, options, &error, &offset, context);
    pcre2_compile_context_free(context);
    return code;
}

/* (nullable): as above. A program of PCRE2 is limited to 64 KiB, which callouts take up to half of. */
static pcre2_code *
get_code(QdRegex *self, guint form)
{
    if ((self->options & PCRE2_MULTILINE) == 0)
        form &= ~(guint) FORM_CUT;
    if (self->is_too_long)
        form &= ~(guint) FORM_CAREFUL;
    if (self->codes[form] == NULL)
        self->codes[form] = compile(self, form);
    if (self->codes[form] == NULL && (form & FORM_CAREFUL) != 0) {
        self->is_too_long = TRUE;
        return get_code(self, form);
    }
    return self->codes[form];
}

static gboolean
has_callouts(QdRegex *self)
{
    return get_code(self, FORM_CAREFUL) != NULL && !self->is_too_long;
}

/* At each item of a pattern's careful form; not 0 ends the match. */
static int
on_callout(pcre2_callout_block *block, void *data)
{
    QdRegex *self = data;

    if (++self->n_callouts < self->callouts_per_check)
        return 0;
    self->n_callouts = 0;
    return self->bounds->interrupt != NULL && self->bounds->interrupt(self->bounds->data) ? PCRE2_ERROR_CALLOUT : 0;
}

QdRegex *
qd_regex_new(const char *pattern, gsize n_pattern, const char *flags, gsize n_flags)
{
    g_autoptr(QdRegex) self = g_new0(QdRegex, 1);
    g_autoptr(GString) translated = g_string_new(NULL);
    guint32 options = PCRE2_UTF | PCRE2_NO_UTF_CHECK | PCRE2_USE_OFFSET_LIMIT;
    gboolean skip_space = FALSE;

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
    self->options = options;
    self->n_translated = translated->len;
    self->translated = g_string_free(g_steal_pointer(&translated), FALSE);
    if (get_code(self, 0) == NULL)
        return NULL;

    self->context = pcre2_match_context_create(NULL);
    (void) pcre2_set_heap_limit(self->context, HEAP_KIB);
    (void) pcre2_set_callout(self->context, on_callout, self);
    return g_steal_pointer(&self);
}

QdRegex *
qd_regex_free(QdRegex *self)
{
    if (self == NULL)
        return NULL;

    pcre2_match_data_free(self->match);
    pcre2_match_context_free(self->context);
    for (guint i = 0; i < N_FORMS; i++)
        pcre2_code_free(self->codes[i]);
    g_free(self->translated);
    g_free(self);
    return NULL;
}

typedef enum Level {
    QUICK,   /* few steps, a small view */
    CAREFUL, /* all steps, with callouts */
    WHOLE,   /* the same in all of the text, and with callouts from all positions: then PCRE2 refuses it for a missing letter */
} Level;

typedef struct Search {
    QdRegex *regex;
    const char *text;
    gsize n_bytes;
    gsize start; /* the first position of the window */
    gsize last;  /* the last position of the window */
    gsize end;   /* of the view */
    gsize view;  /* bytes after @last */
    Level level;
    guint n_windows; /* that were tried */
} Search;

/* The next place at or after @at that is not within a character. */
static gsize
find_border(const Search *self, gsize at)
{
    while (at < self->n_bytes && ((guchar) self->text[at] & 0xc0) == 0x80)
        at++;
    return MIN(at, self->n_bytes);
}

static gsize
add_bytes(const Search *self, gsize at, gsize n)
{
    return self->n_bytes - at > n ? find_border(self, at + n) : self->n_bytes;
}

static void
place_window(Search *self)
{
    gsize n = WINDOW_BYTES;

    if (self->level == QUICK && self->view > QUICK_VIEW_BYTES)
        self->level = CAREFUL;
    if (self->level == QUICK && self->view > QUICK_WORK_BYTES / WINDOW_BYTES)
        n = QUICK_WORK_BYTES / self->view;
    self->last = add_bytes(self, self->start, n);
    self->end = add_bytes(self, self->last, self->view);
    if (self->level == CAREFUL && self->end == self->n_bytes)
        self->level = WHOLE;
    if (self->level == WHOLE)
        self->end = self->n_bytes;
    if (self->level == WHOLE && has_callouts(self->regex))
        self->last = self->n_bytes;
}

/* A number of PCRE2. */
static int
try_window(Search *self)
{
    QdRegex *regex = self->regex;
    gboolean is_cut = self->end < self->n_bytes;
    const pcre2_code *code = get_code(regex, (is_cut ? FORM_CUT : 0) | (self->level == QUICK ? 0 : FORM_CAREFUL));
    guint32 max_steps = regex->bounds->max_steps;

    if (code == NULL)
        return PCRE2_ERROR_NOMEMORY;
    if (self->level == QUICK)
        max_steps = MIN(max_steps, QUICK_STEPS);
    else
        regex->callouts_per_check = (guint) CLAMP(CHECK_WORK_BYTES / (self->end - self->start + 1), 1, CALLOUTS_PER_CHECK);
    (void) pcre2_set_match_limit(regex->context, max_steps);
    (void) pcre2_set_offset_limit(regex->context, self->last);
    return pcre2_match(code, (PCRE2_SPTR) self->text, self->end, self->start,
                       PCRE2_NO_UTF_CHECK | (is_cut ? PCRE2_PARTIAL_HARD : 0), regex->match, regex->context);
}

/* After an attempt that has neither matched nor failed: FALSE when there is no other way to try. */
static gboolean
try_harder(Search *self, int r)
{
    if (r == PCRE2_ERROR_PARTIAL) {
        self->start = pcre2_get_ovector_pointer(self->regex->match)[0];
        self->view = (self->end - self->start) * VIEW_GROWTH;
        return TRUE;
    }
    if (self->level == WHOLE)
        return FALSE;

    self->level++;
    return TRUE;
}

/* PCRE2 refuses a text without a byte that each match has, but does not look for it in a view that ends before the text. */
static gboolean
lacks_required_byte(const Search *self)
{
    const pcre2_code *code = self->regex->codes[0];
    guint32 type = 0;
    guint32 unit = 0;
    char other;

    (void) pcre2_pattern_info(code, PCRE2_INFO_LASTCODETYPE, &type);
    (void) pcre2_pattern_info(code, PCRE2_INFO_LASTCODEUNIT, &unit);
    if (type != 1)
        return FALSE;
    if ((self->regex->options & PCRE2_CASELESS) == 0)
        return memchr(self->text + self->start, (int) unit, self->n_bytes - self->start) == NULL;
    if (unit > 127)
        return FALSE;
    other = g_ascii_isupper((char) unit) ? g_ascii_tolower((char) unit) : g_ascii_toupper((char) unit);
    for (gsize i = self->start; i < self->n_bytes; i++)
        if (self->text[i] == (char) unit || self->text[i] == other)
            return FALSE;
    return TRUE;
}

static QdRegexResult
search(Search *self)
{
    const QdRegexBounds *bounds = self->regex->bounds;

    for (;;) {
        int r;

        place_window(self);
        if (self->n_windows++ == PATIENT_WINDOWS && lacks_required_byte(self))
            return QD_REGEX_NO_MATCH;
        r = try_window(self);
        if (r >= 0)
            return QD_REGEX_MATCH;
        if (r == PCRE2_ERROR_NOMATCH) {
            if (self->last == self->n_bytes)
                return QD_REGEX_NO_MATCH;
            self->start = find_border(self, self->last + 1);
            self->view = VIEW_BYTES;
            if (self->level == CAREFUL)
                self->level = QUICK;
        } else if (r != PCRE2_ERROR_CALLOUT && !try_harder(self, r)) {
            return QD_REGEX_TOO_COMPLEX;
        }
        if (r == PCRE2_ERROR_CALLOUT || (bounds->interrupt != NULL && bounds->interrupt(bounds->data)))
            return QD_REGEX_INTERRUPTED;
    }
}

/* Most texts: one window that sees all of it. A number of PCRE2. */
static int
try_short(QdRegex *self, const char *text, gsize n_bytes, gsize start, guint32 max_steps)
{
    (void) pcre2_set_match_limit(self->context, MIN(max_steps, SHORT_STEPS));
    (void) pcre2_set_offset_limit(self->context, n_bytes);
    return pcre2_match(self->codes[0], (PCRE2_SPTR) text, n_bytes, start, PCRE2_NO_UTF_CHECK, self->match, self->context);
}

QdRegexResult
qd_regex_search(QdRegex *self, const char *text, gsize n_bytes, gsize start, const QdRegexBounds *bounds)
{
    Search work = { .regex = self, .text = text, .n_bytes = n_bytes, .start = start, .view = VIEW_BYTES, .level = QUICK };
    QdRegexResult result;

    if (start > n_bytes)
        return QD_REGEX_NO_MATCH;
    if (self->match == NULL && !make_match(self))
        return QD_REGEX_TOO_COMPLEX;

    if (n_bytes - start <= WINDOW_BYTES) {
        int r = try_short(self, text, n_bytes, start, bounds->max_steps);

        if (r >= 0)
            return QD_REGEX_MATCH;
        if (r == PCRE2_ERROR_NOMATCH)
            return QD_REGEX_NO_MATCH;
        work.level = CAREFUL;
    }
    self->bounds = bounds;
    result = search(&work);
    self->bounds = NULL;
    return result;
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
    static const QdRegexBounds bounds = { .max_steps = EMPTY_STEPS };

    return qd_regex_search(self, "", 0, 0, &bounds) == QD_REGEX_MATCH;
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
