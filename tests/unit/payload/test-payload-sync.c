/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Groups of drafts: all are synced, in any number of threads, and an error of one is reported.
 */
#include "daemon/payload/payload-sync.h"

#include <unistd.h>

#include "tests/unit/store/store-fixture.h"

#define N_DRAFTS 40u
#define CONTENT_BYTES 4096u

typedef struct Fixture {
    char *dir;
    QdLimits limits;
    QdPayloadFiles *files;
    QdPayloadDraft *drafts[N_DRAFTS];
} Fixture;

static void
set_up(Fixture *self, gconstpointer data)
{
    char content[CONTENT_BYTES] = "";

    self->dir = g_dir_make_tmp("queryd-sync-XXXXXX", NULL);
    self->files = qd_payload_files_new(self->dir);
    qd_limits_init(&self->limits);
    self->limits.values[QD_LIMIT_PAYLOAD_INLINE_BYTES] = 0;
    for (guint i = 0; i < N_DRAFTS; i++) {
        g_autoptr(GError) error = NULL;

        content[0] = (char) i;
        self->drafts[i] = qd_payload_draft_new(self->files, &self->limits);
        (void) qd_payload_draft_append(self->drafts[i], content, sizeof content, &error);
        g_assert_no_error(error);
        qd_payload_draft_finish(self->drafts[i]);
    }
}

static void
tear_down(Fixture *self, gconstpointer data)
{
    for (guint i = 0; i < N_DRAFTS; i++)
        qd_payload_draft_unref(self->drafts[i]);
    qd_payload_files_free(self->files);
    store_remove_folder(self->dir);
    g_free(self->dir);
}

static void
test_all(Fixture *self, gconstpointer data)
{
    g_autoptr(GError) error = NULL;

    g_assert_true(qd_payload_drafts_sync(self->drafts, 0, &error));
    g_assert_false(self->drafts[0]->synced);
    g_assert_true(qd_payload_drafts_sync(self->drafts, N_DRAFTS, &error));
    g_assert_no_error(error);
    for (guint i = 0; i < N_DRAFTS; i++) {
        g_assert_true(self->drafts[i]->synced);
        g_assert_cmpint(self->drafts[i]->temp.fd, ==, -1);
    }
}

/* A pipe cannot be synced: an error that is there on any file system. */
static void
test_error(Fixture *self, gconstpointer data)
{
    guint broken = GPOINTER_TO_UINT(data);
    g_autoptr(GError) error = NULL;
    int fds[2];

    g_assert_cmpint(pipe(fds), ==, 0);
    (void) close(self->drafts[broken]->temp.fd);
    self->drafts[broken]->temp.fd = fds[1];
    g_assert_false(qd_payload_drafts_sync(self->drafts, N_DRAFTS, &error));
    store_assert_error(error, QW_ERROR_INTERNAL, "cannot sync a payload file");
    g_assert_false(self->drafts[broken]->synced);
    (void) close(fds[0]);
}

int
main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add("/payload/payload-sync/all", Fixture, NULL, set_up, test_all, tear_down);
    g_test_add("/payload/payload-sync/error-of-first", Fixture, GUINT_TO_POINTER(0), set_up, test_error, tear_down);
    g_test_add("/payload/payload-sync/error-of-last", Fixture, GUINT_TO_POINTER(N_DRAFTS - 1), set_up, test_error, tear_down);
    return g_test_run();
}
