/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The file: a word, the SHA-256 of the rest, and the rest as a GVariant in the byte order of the machine. It never leaves it, and
 * what does not fit its hash is as none.
 */
#include "daemon/recover/schema-copy.h"

#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "daemon/base/fd.h"
#include "daemon/base/sha256.h"
#include "daemon/base/small-file.h"

#define MAGIC "queryd schema 1\n"
#define MAGIC_BYTES (sizeof MAGIC - 1)
#define HEAD_BYTES (MAGIC_BYTES + QD_SHA256_BYTES)
/* cookie, encoding, user_version, application_id; type, name, table, root, sql (empty: none). Texts are what SQLite takes for
 * UTF-8. */
#define ROW_TYPE "(ayayayuay)"
#define COPY_TYPE "(uuiia" ROW_TYPE ")"

G_STATIC_ASSERT(HEAD_BYTES % 8 == 0); /* GVariant wants its bytes aligned */

static void
hash_content(const void *data, gsize n_bytes, uint8_t ret_hash[QD_SHA256_BYTES])
{
    QdSha256 sha;

    qd_sha256_init(&sha);
    qd_sha256_update(&sha, data, n_bytes);
    qd_sha256_finish(&sha, ret_hash);
}

/* Writing -------------------------------------------------------------------------------------------------------------- */

static guint32
get_number(QdConnection *connection, const char *sql)
{
    gint64 number = 0;

    (void) qd_connection_get_int64(connection, sql, &number, NULL);
    return (guint32) number;
}

static guint32
get_encoding(QdConnection *connection)
{
    return get_number(connection,
                      "SELECT CASE encoding WHEN 'UTF-16le' THEN 2 WHEN 'UTF-16be' THEN 3 ELSE 1 END FROM temp.pragma_encoding");
}

static const char *
get_text(sqlite3_stmt *stmt, int column)
{
    const char *text = (const char *) sqlite3_column_text(stmt, column);

    return text != NULL ? text : "";
}

/* NULL: it could not be read, or there is too much of it. */
static GVariant *
collect(QdConnection *connection, gsize max_bytes)
{
    g_autoptr(GVariantBuilder) rows = g_variant_builder_new(G_VARIANT_TYPE("a" ROW_TYPE));
    QdPolicy policy = qd_connection_set_policy(connection, QD_POLICY_INTERNAL);
    gsize n_bytes = HEAD_BYTES;
    sqlite3_stmt *stmt = NULL;
    int r = SQLITE_ERROR;

    (void) sqlite3_prepare_v2(qd_connection_get_db(connection), "SELECT type, name, tbl_name, rootpage, sql FROM sqlite_schema", -1,
                              &stmt, NULL);
    while (n_bytes <= max_bytes && (r = sqlite3_step(stmt)) == SQLITE_ROW) {
        for (int column = 0; column < 5; column++)
            n_bytes += (gsize) sqlite3_column_bytes(stmt, column) + 1;
        g_variant_builder_add(rows, "(^ay^ay^ayu^ay)", get_text(stmt, 0), get_text(stmt, 1), get_text(stmt, 2),
                              (guint32) sqlite3_column_int64(stmt, 3), get_text(stmt, 4));
    }
    (void) sqlite3_finalize(stmt);
    (void) qd_connection_set_policy(connection, policy);
    if (r != SQLITE_DONE)
        return NULL;
    return g_variant_ref_sink(g_variant_new("(uuiia" ROW_TYPE ")", get_number(connection, "PRAGMA schema_version"),
                                            get_encoding(connection), (gint32) get_number(connection, "PRAGMA user_version"),
                                            (gint32) get_number(connection, "PRAGMA application_id"), rows));
}

static GByteArray *
format(GVariant *copy)
{
    gsize n_bytes = g_variant_get_size(copy);
    GByteArray *file = g_byte_array_sized_new((guint) (HEAD_BYTES + n_bytes));

    g_byte_array_set_size(file, (guint) (HEAD_BYTES + n_bytes));
    memcpy(file->data, MAGIC, MAGIC_BYTES);
    g_variant_store(copy, file->data + HEAD_BYTES);
    hash_content(file->data + HEAD_BYTES, n_bytes, file->data + MAGIC_BYTES);
    return file;
}

/* By its size and hash. */
static gboolean
is_there(const char *path, const GByteArray *file)
{
    g_auto(QdFd) fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
    guint8 head[HEAD_BYTES];
    struct stat st;

    return fd >= 0 && fstat(fd, &st) == 0 && st.st_size == (off_t) file->len && read(fd, head, sizeof head) == sizeof head &&
           memcmp(head, file->data, sizeof head) == 0;
}

void
qd_schema_copy_refresh(QdConnection *connection, gsize max_bytes)
{
    const char *database = sqlite3_db_filename(qd_connection_get_db(connection), "main");
    g_autofree char *path = g_strconcat(database != NULL ? database : "", QD_SCHEMA_COPY_SUFFIX, NULL);
    g_autoptr(GVariant) copy = collect(connection, max_bytes);
    g_autoptr(GByteArray) file = copy != NULL ? format(copy) : NULL;

    if (file == NULL || (!is_there(path, file) && !qd_small_file_replace(path, file->data, file->len)))
        (void) unlink(path);
}

/* Reading -------------------------------------------------------------------------------------------------------------- */

static void
row_free(gpointer data)
{
    QdSchemaCopyRow *row = data;

    g_free(row->type);
    g_free(row->name);
    g_free(row->table);
    g_free(row->sql);
    g_free(row);
}

QdSchemaCopy *
qd_schema_copy_free(QdSchemaCopy *self)
{
    if (self == NULL)
        return NULL;

    g_ptr_array_unref(self->rows);
    g_free(self);
    return NULL;
}

/* (transfer full) (nullable): the content after its hash, which it fits */
static GVariant *
load(const char *path)
{
    gsize n_bytes = 0;
    g_autofree char *data = qd_small_file_read(path, QD_SCHEMA_COPY_MAX_BYTES, &n_bytes);
    g_autoptr(GBytes) content = NULL;
    uint8_t hash[QD_SHA256_BYTES];

    if (n_bytes < HEAD_BYTES)
        return NULL;
    hash_content((const guint8 *) data + HEAD_BYTES, n_bytes - HEAD_BYTES, hash);
    if (memcmp(data, MAGIC, MAGIC_BYTES) != 0 || memcmp(data + MAGIC_BYTES, hash, sizeof hash) != 0)
        return NULL;
    content = g_bytes_new(data + HEAD_BYTES, n_bytes - HEAD_BYTES);
    return g_variant_ref_sink(g_variant_new_from_bytes(G_VARIANT_TYPE(COPY_TYPE), content, FALSE));
}

QdSchemaCopy *
qd_schema_copy_read(const char *database)
{
    g_autofree char *path = g_strconcat(database, QD_SCHEMA_COPY_SUFFIX, NULL);
    g_autoptr(GVariant) content = load(path);
    g_autoptr(GVariantIter) iter = NULL;
    QdSchemaCopy *self;
    QdSchemaCopyRow row;

    if (content == NULL || !g_variant_is_normal_form(content))
        return NULL;

    self = g_new0(QdSchemaCopy, 1);
    self->rows = g_ptr_array_new_with_free_func(row_free);
    g_variant_get(content, "(uuiia" ROW_TYPE ")", &self->cookie, &self->encoding, &self->user_version, &self->application_id,
                  &iter);
    while (g_variant_iter_next(iter, "(^ay^ay^ayu^ay)", &row.type, &row.name, &row.table, &row.root, &row.sql)) {
        if (row.sql[0] == '\0')
            g_clear_pointer(&row.sql, g_free);
        g_ptr_array_add(self->rows, g_memdup2(&row, sizeof row));
    }
    return self;
}
