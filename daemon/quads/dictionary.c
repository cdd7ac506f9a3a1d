/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Look-ups by id and by key, each through a direct-mapped cache; new terms with numbers from the counter.
 *
 * Column datatype of queryd_term: the id of the datatype's IRI, or the language tag as text, or NULL.
 */
#include "daemon/quads/dictionary.h"

#include <string.h>

#include "daemon/base/error.h"
#include "daemon/rdf/term-id.h"
#include "daemon/rdf/xsd-number.h"
#include "daemon/sqlite/schema.h"
#include "daemon/sqlite/sqlite-error.h"

#define N_SLOTS 1024
/* A longer text is not kept beyond its being borrowed. */
#define SLOT_TEXT_BYTES 4096
/* A text that was lent is freed early above this. */
#define RELEASED_BYTES (2 * SLOT_TEXT_BYTES)
#define N_KNOWN_READER 4096
#define N_KNOWN_WRITER 65536

typedef enum Statement {
    STATEMENT_GET,
    STATEMENT_FIND,
    STATEMENT_INSERT_TERM,
    STATEMENT_INSERT_HASH,
    STATEMENT_READ_COUNTERS,
    STATEMENT_WRITE_COUNTER,
    N_STATEMENTS,
} Statement;

static const char *const statement_texts[N_STATEMENTS] = {
    [STATEMENT_GET] = "SELECT lexical, datatype FROM queryd_term WHERE id=?",
    [STATEMENT_FIND] =
        "SELECT t.id, t.lexical, t.datatype FROM queryd_term_hash h CROSS JOIN queryd_term t ON t.id=h.id WHERE h.h=?",
    [STATEMENT_INSERT_TERM] = "INSERT INTO queryd_term(id, datatype, lexical, num) VALUES(?, ?, ?, ?)",
    [STATEMENT_INSERT_HASH] = "INSERT INTO queryd_term_hash(h, id) VALUES(?, ?)",
    [STATEMENT_READ_COUNTERS] = "SELECT (SELECT value FROM queryd_meta WHERE key='term_sequence'),"
                                " (SELECT value FROM queryd_meta WHERE key='bnode_serial'),"
                                " " QD_TERM_KEY_HALF("0") ", " QD_TERM_KEY_HALF("1"),
    [STATEMENT_WRITE_COUNTER] = "UPDATE queryd_meta SET value=?2 WHERE key=?1",
};

/* By id. One allocation holds the lexical form and, after it, the qualifier. */
typedef struct Slot {
    gint64 id; /* 0: empty */
    char *text;
    gsize n_lexical;
    gsize n_qualifier;
} Slot;

/* By key. */
typedef struct Known {
    QdTermKey key;
    gint64 id; /* 0: empty */
} Known;

struct QdDictionary {
    sqlite3 *db;
    sqlite3_stmt *statements[N_STATEMENTS];
    QdTermKey secret;
    Slot slots[N_SLOTS];
    char *borrowed[QD_DICTIONARY_N_BORROWED]; /* texts that left their slot, or never had one */
    gboolean has_lent_large;                  /* since the last release */
    QdTermBuffer buffers[QD_DICTIONARY_N_BORROWED];
    guint n_calls;
    Known *known;
    guint n_known;
    guint64 sequence;
    guint64 bnode_serial;
    gboolean counted; /* a counter has changed since begin */
};

static gboolean
fail(QdDictionary *self, int r, GError **error)
{
    qd_sqlite_set_error(error, self->db, r, NULL, 0, NULL);
    return FALSE;
}

/* Life ------------------------------------------------------------------------------------------------------------------ */

static void
forget(QdDictionary *self)
{
    for (guint i = 0; i < N_SLOTS; i++)
        g_clear_pointer(&self->slots[i].text, sqlite3_free);
    for (guint i = 0; i < QD_DICTIONARY_N_BORROWED; i++)
        g_clear_pointer(&self->borrowed[i], sqlite3_free);
    memset(self->slots, 0, sizeof self->slots);
    memset(self->known, 0, self->n_known * sizeof(Known));
}

static void
dictionary_free(gpointer data)
{
    QdDictionary *self = data;

    forget(self);
    for (guint i = 0; i < N_STATEMENTS; i++)
        (void) sqlite3_finalize(self->statements[i]);
    g_free(self->known);
    g_free(self);
}

static gboolean
read_counters(QdDictionary *self, GError **error)
{
    sqlite3_stmt *stmt = self->statements[STATEMENT_READ_COUNTERS];
    int r = sqlite3_step(stmt);
    gboolean whole = r == SQLITE_ROW && sqlite3_column_type(stmt, 2) == SQLITE_INTEGER &&
                     sqlite3_column_type(stmt, 3) == SQLITE_INTEGER;

    if (whole) {
        self->sequence = (guint64) sqlite3_column_int64(stmt, 0);
        self->bnode_serial = (guint64) sqlite3_column_int64(stmt, 1);
        for (int i = 0; i < 2; i++) {
            guint64 half = GUINT64_TO_BE((guint64) sqlite3_column_int64(stmt, 2 + i));

            memcpy((guint8 *) &self->secret + (gsize) i * sizeof half, &half, sizeof half);
        }
    }
    (void) sqlite3_reset(stmt);
    if (r != SQLITE_ROW)
        return fail(self, r, error);
    if (!whole)
        qd_error_set(error, QW_ERROR_CORRUPT, "the dictionary's counters or its key are not in the store");
    return whole;
}

static QdDictionary *
dictionary_new(QdConnection *connection, GError **error)
{
    QdDictionary *self = g_new0(QdDictionary, 1);
    QdPolicy policy = qd_connection_set_policy(connection, QD_POLICY_INTERNAL);
    int r = SQLITE_OK;

    self->db = qd_connection_get_db(connection);
    self->n_known = N_KNOWN_READER;
    self->known = g_new0(Known, self->n_known);
    for (guint i = 0; i < N_STATEMENTS && r == SQLITE_OK; i++)
        r = sqlite3_prepare_v3(self->db, statement_texts[i], -1, SQLITE_PREPARE_PERSISTENT, &self->statements[i], NULL);
    if (r == SQLITE_OK ? !read_counters(self, error) : !fail(self, r, error)) {
        dictionary_free(self);
        self = NULL;
    }
    (void) qd_connection_set_policy(connection, policy);
    return self;
}

QdDictionary *
qd_dictionary_get(QdConnection *connection, GError **error)
{
    QdDictionary *self = qd_connection_get_attachment(connection, QD_ATTACHMENT_DICTIONARY);

    if (self == NULL) {
        self = dictionary_new(connection, error);
        if (self != NULL)
            qd_connection_set_attachment(connection, QD_ATTACHMENT_DICTIONARY, self, dictionary_free);
    }
    return self;
}

sqlite3 *
qd_dictionary_get_db(const QdDictionary *self)
{
    return self->db;
}

/* By id ----------------------------------------------------------------------------------------------------------------- */

static void
make_term(const Slot *slot, QdTerm *ret_term)
{
    *ret_term = (QdTerm){
        .kind = qd_term_id_get_kind(slot->id),
        .lexical = slot->text,
        .n_lexical = slot->n_lexical,
        .qualifier = slot->n_qualifier > 0 ? slot->text + slot->n_lexical : NULL,
        .n_qualifier = slot->n_qualifier,
    };
}

/* Takes @text over; what was in its place is freed some calls later. */
static void
lend(QdDictionary *self, char *text)
{
    char **place = &self->borrowed[self->n_calls % QD_DICTIONARY_N_BORROWED];

    sqlite3_free(*place);
    *place = text;
}

void
qd_dictionary_release(QdDictionary *self)
{
    for (guint i = 0; self->has_lent_large && i < QD_DICTIONARY_N_BORROWED; i++)
        if (sqlite3_msize(self->borrowed[i]) > RELEASED_BYTES)
            g_clear_pointer(&self->borrowed[i], sqlite3_free);
    self->has_lent_large = FALSE;
}

/* What lend() frees next, where it fits: an allocation and a free less for each term. (nullable) */
static char *
take_memory(QdDictionary *self, gsize n_bytes)
{
    char **place = &self->borrowed[(self->n_calls + 1) % QD_DICTIONARY_N_BORROWED];
    gsize n_there = *place != NULL ? (gsize) sqlite3_msize(*place) : 0;

    return n_there >= n_bytes && n_there <= 2 * n_bytes ? g_steal_pointer(place) : sqlite3_malloc64(n_bytes);
}

static gboolean
read_term(QdDictionary *self, gint64 id, Slot *ret_slot, gint64 *ret_datatype_id, GError **error)
{
    sqlite3_stmt *stmt = self->statements[STATEMENT_GET];
    Slot slot = { .id = id };
    int r;

    (void) sqlite3_bind_int64(stmt, 1, id);
    r = sqlite3_step(stmt);
    if (r == SQLITE_ROW) {
        const char *lexical = (const char *) sqlite3_column_text(stmt, 0);
        gboolean has_tag = qd_term_id_get_kind(id) == QD_TERM_LANG_STRING;
        const char *tag = has_tag ? (const char *) sqlite3_column_text(stmt, 1) : NULL;

        slot.n_lexical = (gsize) sqlite3_column_bytes(stmt, 0);
        slot.n_qualifier = tag != NULL ? (gsize) sqlite3_column_bytes(stmt, 1) : 0;
        slot.text = take_memory(self, slot.n_lexical + slot.n_qualifier + 1);
        if (slot.text == NULL)
            r = SQLITE_NOMEM;
        if (slot.text != NULL && slot.n_lexical > 0)
            memcpy(slot.text, lexical, slot.n_lexical);
        if (slot.text != NULL && tag != NULL)
            memcpy(slot.text + slot.n_lexical, tag, slot.n_qualifier);
        *ret_datatype_id = sqlite3_column_int64(stmt, 1);
    }
    (void) sqlite3_reset(stmt);
    if (r == SQLITE_DONE)
        qd_error_set(error, QW_ERROR_CORRUPT, "no term has the id %" G_GINT64_FORMAT, id);
    else if (r != SQLITE_ROW)
        (void) fail(self, r, error);
    *ret_slot = slot;
    return r == SQLITE_ROW;
}

/* The datatype's IRI after the lexical form. */
static gboolean
add_datatype(QdDictionary *self, Slot *slot, gint64 datatype_id, GError **error)
{
    QdTerm datatype;
    char *text;

    if (datatype_id <= 0 || qd_term_id_get_kind(datatype_id) != QD_TERM_IRI) {
        qd_error_set(error, QW_ERROR_CORRUPT, "term %" G_GINT64_FORMAT " has no datatype", slot->id);
        return FALSE;
    }
    if (!qd_dictionary_get_term(self, datatype_id, &datatype, error))
        return FALSE;

    text = sqlite3_realloc64(slot->text, slot->n_lexical + datatype.n_lexical + 1);
    if (text == NULL)
        return fail(self, SQLITE_NOMEM, error);
    slot->text = text;
    memcpy(slot->text + slot->n_lexical, datatype.lexical, datatype.n_lexical);
    slot->n_qualifier = datatype.n_lexical;
    return TRUE;
}

gboolean
qd_dictionary_get_term(QdDictionary *self, gint64 id, QdTerm *ret_term, GError **error)
{
    Slot *slot = &self->slots[qd_term_id_get_sequence(id) % N_SLOTS];
    gint64 datatype_id = 0;
    Slot fresh;

    if (qd_term_id_is_inline(id)) {
        if (qd_term_id_to_term(id, &self->buffers[++self->n_calls % QD_DICTIONARY_N_BORROWED], ret_term))
            return TRUE;
        qd_error_set(error, QW_ERROR_CORRUPT, "no term has the id %" G_GINT64_FORMAT, id);
        return FALSE;
    }
    if (slot->id == id && id != 0) {
        make_term(slot, ret_term);
        self->n_calls++;
        return TRUE;
    }
    if (!read_term(self, id, &fresh, &datatype_id, error))
        return FALSE;
    if (qd_term_id_get_kind(id) == QD_TERM_TYPED && !add_datatype(self, &fresh, datatype_id, error)) {
        sqlite3_free(fresh.text);
        return FALSE;
    }
    make_term(&fresh, ret_term);
    self->n_calls++;
    if (fresh.n_lexical + fresh.n_qualifier > SLOT_TEXT_BYTES) {
        self->has_lent_large = TRUE;
        lend(self, fresh.text);
        return TRUE;
    }
    lend(self, slot->text);
    *slot = fresh;
    return TRUE;
}

/* By value -------------------------------------------------------------------------------------------------------------- */

/* NULL: *@ret_id is the term's, in line or known. Else the key and the place to keep the id in. */
static Known *
find_known(QdDictionary *self, const QdTerm *term, QdTermKey *ret_key, gint64 *ret_id)
{
    Known *known;

    if (qd_term_id_from_term(term, ret_id))
        return NULL;

    *ret_key = qd_term_key_compute(&self->secret, term);
    known = &self->known[ret_key->low % self->n_known];
    if (known->id == 0 || known->key.low != ret_key->low || known->key.high != ret_key->high)
        return known;

    *ret_id = known->id;
    return NULL;
}

static gboolean
row_matches(sqlite3_stmt *stmt, const QdTerm *term, gint64 datatype_id)
{
    gint64 id = sqlite3_column_int64(stmt, 0);
    const void *lexical = sqlite3_column_text(stmt, 1);

    if (id <= 0 || qd_term_id_get_kind(id) != term->kind || (gsize) sqlite3_column_bytes(stmt, 1) != term->n_lexical ||
        (term->n_lexical > 0 && memcmp(lexical, term->lexical, term->n_lexical) != 0))
        return FALSE;
    if (term->kind == QD_TERM_TYPED)
        return sqlite3_column_int64(stmt, 2) == datatype_id;
    if (term->kind == QD_TERM_LANG_STRING) {
        const char *tag = (const char *) sqlite3_column_text(stmt, 2);

        return (gsize) sqlite3_column_bytes(stmt, 2) == term->n_qualifier &&
               g_ascii_strncasecmp(tag, term->qualifier, term->n_qualifier) == 0;
    }
    return TRUE;
}

/* *@ret_id is 0 when there is none. */
static gboolean
find_row(QdDictionary *self, const QdTerm *term, guint64 hash, gint64 datatype_id, gint64 *ret_id, GError **error)
{
    sqlite3_stmt *stmt = self->statements[STATEMENT_FIND];
    gint64 id = 0;
    int r;

    (void) sqlite3_bind_int64(stmt, 1, (gint64) hash);
    while ((r = sqlite3_step(stmt)) == SQLITE_ROW && id == 0)
        if (row_matches(stmt, term, datatype_id))
            id = sqlite3_column_int64(stmt, 0);
    (void) sqlite3_reset(stmt);
    if (r != SQLITE_DONE && r != SQLITE_ROW)
        return fail(self, r, error);

    *ret_id = id;
    return TRUE;
}

/* "b" and a serial, as qd_term_id_to_term() writes it. */
static gboolean
parse_label(const QdTerm *term, guint64 *ret_serial)
{
    guint64 serial = 0;

    if (term->n_lexical < 2 || term->n_lexical > 18 || term->lexical[0] != 'b' || (term->n_lexical > 2 && term->lexical[1] == '0'))
        return FALSE;
    for (gsize i = 1; i < term->n_lexical; i++) {
        if (!g_ascii_isdigit(term->lexical[i]))
            return FALSE;
        serial = 10 * serial + (guint64) (term->lexical[i] - '0');
    }
    *ret_serial = serial;
    return serial <= (guint64) QD_TERM_ID_PAYLOAD_MAX;
}

static QdTerm
get_datatype(const QdTerm *term)
{
    return (QdTerm){ .kind = QD_TERM_IRI, .lexical = term->qualifier, .n_lexical = term->n_qualifier };
}

gboolean
qd_dictionary_find_id(QdDictionary *self, const QdTerm *term, gint64 *ret_id, GError **error)
{
    gint64 datatype_id = 0;
    gint64 id = 0;
    guint64 serial;
    QdTermKey key;
    Known *known;

    if (term->kind == QD_TERM_BNODE) {
        if (!parse_label(term, &serial))
            return FALSE;
        *ret_id = qd_term_id_from_bnode(serial);
        return TRUE;
    }
    known = find_known(self, term, &key, ret_id);
    if (known == NULL)
        return TRUE;
    if (term->kind == QD_TERM_TYPED) {
        QdTerm datatype = get_datatype(term);

        if (!qd_dictionary_find_id(self, &datatype, &datatype_id, error))
            return FALSE;
    }
    if (!find_row(self, term, key.low, datatype_id, &id, error) || id == 0)
        return FALSE;

    *known = (Known){ .key = key, .id = id };
    *ret_id = id;
    return TRUE;
}

void
qd_dictionary_note_id(QdDictionary *self, const QdTerm *term, gint64 id)
{
    QdTermKey key;
    gint64 known_id;
    Known *known = term->kind != QD_TERM_BNODE ? find_known(self, term, &key, &known_id) : NULL;

    if (known != NULL)
        *known = (Known){ .key = key, .id = id };
}

/* Writing --------------------------------------------------------------------------------------------------------------- */

gboolean
qd_dictionary_begin(QdDictionary *self, GError **error)
{
    guint64 sequence = self->sequence;

    qd_dictionary_release(self);
    if (!read_counters(self, error))
        return FALSE;

    /* a counter that went back shows a rollback */
    if (self->counted || self->sequence != sequence)
        forget(self);
    if (self->n_known < N_KNOWN_WRITER) {
        g_free(self->known);
        self->n_known = N_KNOWN_WRITER;
        self->known = g_new0(Known, self->n_known);
    }
    self->counted = FALSE;
    return TRUE;
}

static gboolean
write_counter(QdDictionary *self, const char *key, guint64 value, GError **error)
{
    sqlite3_stmt *stmt = self->statements[STATEMENT_WRITE_COUNTER];
    int r;

    (void) sqlite3_bind_text(stmt, 1, key, -1, SQLITE_STATIC);
    (void) sqlite3_bind_int64(stmt, 2, (gint64) value);
    r = sqlite3_step(stmt);
    (void) sqlite3_reset(stmt);
    return r == SQLITE_DONE || fail(self, r, error);
}

gboolean
qd_dictionary_finish(QdDictionary *self, GError **error)
{
    if (!self->counted)
        return TRUE;

    self->counted = FALSE;
    return write_counter(self, "term_sequence", self->sequence, error) &&
           write_counter(self, "bnode_serial", self->bnode_serial, error);
}

gint64
qd_dictionary_make_bnode(QdDictionary *self)
{
    self->counted = TRUE;
    return qd_term_id_from_bnode(++self->bnode_serial);
}

const QdTermKey *
qd_dictionary_get_secret(const QdDictionary *self)
{
    return &self->secret;
}

guint64
qd_dictionary_reserve(QdDictionary *self, guint64 n_terms, guint64 n_bnodes, guint64 *ret_sequence, guint64 *ret_bnode)
{
    guint64 last = self->sequence;

    *ret_sequence = last + 1;
    *ret_bnode = self->bnode_serial + 1;
    self->sequence += n_terms;
    self->bnode_serial += n_bnodes;
    self->counted = TRUE;
    return last;
}

gboolean
qd_dictionary_find_stored(QdDictionary *self, const QdStoredTerm *term, gint64 *ret_id, GError **error)
{
    return find_row(self, &term->term, term->hash, term->datatype_id, ret_id, error);
}

static gboolean
append_hash(QdDictionary *self, guint64 hash, gint64 id, GError **error)
{
    sqlite3_stmt *stmt = self->statements[STATEMENT_INSERT_HASH];
    int r;

    (void) sqlite3_bind_int64(stmt, 1, (gint64) hash);
    (void) sqlite3_bind_int64(stmt, 2, id);
    r = sqlite3_step(stmt);
    (void) sqlite3_reset(stmt);
    return r == SQLITE_DONE || fail(self, r, error);
}

gboolean
qd_dictionary_append(QdDictionary *self, const QdStoredTerm *stored, GError **error)
{
    sqlite3_stmt *stmt = self->statements[STATEMENT_INSERT_TERM];
    const QdTerm *term = &stored->term;
    int r;

    (void) sqlite3_bind_int64(stmt, 1, stored->id);
    if (term->kind == QD_TERM_TYPED)
        (void) sqlite3_bind_int64(stmt, 2, stored->datatype_id);
    else if (term->kind == QD_TERM_LANG_STRING)
        (void) sqlite3_bind_text64(stmt, 2, term->qualifier, term->n_qualifier, SQLITE_STATIC, SQLITE_UTF8);
    else
        (void) sqlite3_bind_null(stmt, 2);
    r = sqlite3_bind_text64(stmt, 3, term->n_lexical > 0 ? term->lexical : "", term->n_lexical, SQLITE_STATIC, SQLITE_UTF8);
    if (stored->has_number)
        (void) sqlite3_bind_double(stmt, 4, stored->number);
    else
        (void) sqlite3_bind_null(stmt, 4);
    if (r == SQLITE_OK)
        r = sqlite3_step(stmt);
    (void) sqlite3_reset(stmt);
    (void) sqlite3_clear_bindings(stmt);
    return r == SQLITE_DONE ? append_hash(self, stored->hash, stored->id, error) : fail(self, r, error);
}

static gboolean
intern_bnode(QdDictionary *self, const QdTerm *term, gint64 *ret_id, GError **error)
{
    guint64 serial = 0;

    if (parse_label(term, &serial) && serial > 0 && serial <= self->bnode_serial) {
        *ret_id = qd_term_id_from_bnode(serial);
        return TRUE;
    }
    qd_error_set(error, QW_ERROR_BAD_PARAMETER, "no blank node has the label '%.*s'", (int) MIN(term->n_lexical, 100),
                 term->lexical);
    return FALSE;
}

gboolean
qd_dictionary_intern(QdDictionary *self, const QdTerm *term, gint64 *ret_id, GError **error)
{
    QdStoredTerm stored = { .term = *term };
    QdTermKey key;
    Known *known;
    gint64 id = 0;

    if (term->kind == QD_TERM_BNODE)
        return intern_bnode(self, term, ret_id, error);
    known = find_known(self, term, &key, ret_id);
    if (known == NULL)
        return TRUE;
    if (term->kind == QD_TERM_TYPED) {
        QdTerm datatype = get_datatype(term);

        if (!qd_dictionary_intern(self, &datatype, &stored.datatype_id, error))
            return FALSE;
    }
    if (!find_row(self, term, key.low, stored.datatype_id, &id, error))
        return FALSE;
    if (id == 0) {
        id = stored.id = qd_term_id_from_sequence(++self->sequence, term->kind);
        stored.hash = key.low;
        stored.has_number = qd_number_from_term(term, &stored.number);
        self->counted = TRUE;
        if (!qd_dictionary_append(self, &stored, error))
            return FALSE;
    }
    *known = (Known){ .key = key, .id = id };
    *ret_id = id;
    return TRUE;
}
