/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Drafts: when content moves to a file, its hash, its limit, and that nothing is left of one that is given up.
 */
#include "daemon/payload/payload-draft.h"

#include <string.h>

#include "tests/unit/store/store-fixture.h"

#define INLINE_BYTES 8u
#define MAX_BYTES 20u

typedef struct Fixture {
    char *dir;
    QdLimits limits;
    QdPayloadFiles *files;
} Fixture;

static void
set_up(Fixture *self, gconstpointer data)
{
    self->dir = g_dir_make_tmp("queryd-draft-XXXXXX", NULL);
    self->files = qd_payload_files_new(self->dir);
    qd_limits_init(&self->limits);
    self->limits.values[QD_LIMIT_PAYLOAD_INLINE_BYTES] = INLINE_BYTES;
    self->limits.values[QD_LIMIT_PAYLOAD_BYTES] = MAX_BYTES;
}

static void
tear_down(Fixture *self, gconstpointer data)
{
    qd_payload_files_free(self->files);
    store_remove_folder(self->dir);
    g_free(self->dir);
}

static void
append(QdPayloadDraft *draft, const char *text)
{
    g_autoptr(GError) error = NULL;

    (void) qd_payload_draft_append(draft, text, strlen(text), &error);
    g_assert_no_error(error);
}

static void
assert_hash(const QdPayloadDraft *draft, const char *text)
{
    g_autofree char *expected = g_compute_checksum_for_string(G_CHECKSUM_SHA256, text, -1);
    char hex[2 * QD_SHA256_BYTES + 1];

    qd_sha256_to_hex(draft->hash, hex);
    g_assert_cmpstr(hex, ==, expected);
}

static void
test_in_row(Fixture *self, gconstpointer data)
{
    g_autoptr(QdPayloadDraft) draft = qd_payload_draft_new(self->files, &self->limits);
    g_autoptr(GError) error = NULL;

    append(draft, "abcd");
    append(draft, "efgh");
    qd_payload_draft_finish(draft);
    g_assert_false(draft->in_file);
    g_assert_cmpmem(draft->data, draft->size, "abcdefgh", 8);
    g_assert_true(qd_payload_draft_sync(draft, &error));
    g_assert_true(qd_payload_draft_publish(draft, &error));
    g_assert_cmpuint(store_count_files(self->dir, "payload"), ==, 0);
}

static void
test_in_file(Fixture *self, gconstpointer data)
{
    g_autoptr(QdPayloadDraft) draft = qd_payload_draft_new(self->files, &self->limits);
    g_autofree char *name = g_compute_checksum_for_string(G_CHECKSUM_SHA256, "abcdefghi", -1);
    g_autofree char *path = g_build_filename(self->dir, "payload", name, NULL);
    g_autofree char *text = NULL;
    g_autoptr(GError) error = NULL;

    append(draft, "abcdefgh");
    append(draft, "i");
    qd_payload_draft_finish(draft);
    g_assert_true(draft->in_file);
    assert_hash(draft, "abcdefghi");
    g_assert_true(qd_payload_draft_sync(draft, &error));
    g_assert_true(qd_payload_draft_sync(draft, &error));
    g_assert_false(g_file_test(path, G_FILE_TEST_EXISTS));
    g_assert_true(qd_payload_draft_publish(draft, &error));
    g_assert_true(qd_payload_draft_publish(draft, &error)); /* a transaction that is run again */
    g_assert_true(g_file_get_contents(path, &text, NULL, NULL));
    g_assert_cmpstr(text, ==, "abcdefghi");
}

/* The same two ways for content that is all there; in a row it is not copied. */
static void
test_static(Fixture *self, gconstpointer data)
{
    static const char text[] = "abcdefghijklmnopqrstu";
    g_autoptr(GError) error = NULL;
    g_autoptr(QdPayloadDraft) in_row = qd_payload_draft_new_static(self->files, &self->limits, text, 8, &error);
    g_autoptr(QdPayloadDraft) in_file = qd_payload_draft_new_static(self->files, &self->limits, text, 9, &error);

    g_assert_no_error(error);
    g_assert_false(in_row->in_file);
    g_assert_true(in_row->data == text);
    g_assert_cmpuint(in_row->size, ==, 8);
    g_assert_true(in_file->in_file);
    g_assert_cmpuint(in_file->size, ==, 9);
    assert_hash(in_file, "abcdefghi");
    g_assert_cmpuint(store_count_files(self->dir, "payload"), ==, 1);
    g_assert_null(qd_payload_draft_new_static(self->files, &self->limits, text, 21, &error));
    store_assert_error(error, QW_ERROR_TOO_BIG, "payload_bytes");
}

static void
test_given_up(Fixture *self, gconstpointer data)
{
    QdPayloadDraft *draft = qd_payload_draft_new(self->files, &self->limits);

    append(draft, "abcdefghi");
    g_assert_cmpuint(store_count_files(self->dir, "payload"), ==, 1);
    qd_payload_draft_unref(qd_payload_draft_ref(draft));
    g_assert_cmpuint(store_count_files(self->dir, "payload"), ==, 1);
    qd_payload_draft_unref(draft);
    g_assert_cmpuint(store_count_files(self->dir, "payload"), ==, 0);
}

static void
test_too_big(Fixture *self, gconstpointer data)
{
    g_autoptr(QdPayloadDraft) draft = qd_payload_draft_new(self->files, &self->limits);
    g_autoptr(GError) error = NULL;

    append(draft, "abcdefghijklmnopqrst");
    g_assert_false(qd_payload_draft_append(draft, "u", 1, &error));
    store_assert_error(error, QW_ERROR_TOO_BIG, "payload_bytes");
    g_clear_error(&error);
    g_assert_false(qd_payload_draft_append(draft, "u", G_MAXSIZE, &error));
    store_assert_error(error, QW_ERROR_TOO_BIG, "payload_bytes");
}

int
main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add("/payload/payload-draft/in-row", Fixture, NULL, set_up, test_in_row, tear_down);
    g_test_add("/payload/payload-draft/in-file", Fixture, NULL, set_up, test_in_file, tear_down);
    g_test_add("/payload/payload-draft/static", Fixture, NULL, set_up, test_static, tear_down);
    g_test_add("/payload/payload-draft/given-up", Fixture, NULL, set_up, test_given_up, tear_down);
    g_test_add("/payload/payload-draft/too-big", Fixture, NULL, set_up, test_too_big, tear_down);
    return g_test_run();
}
