/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Runs a fuzz target over files and folders of inputs, without libFuzzer: so that every check replays the corpus.
 */
#include <glib.h>
#include <stddef.h>
#include <stdint.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void
run_file(const char *path)
{
    g_autofree char *text = NULL;
    g_autofree uint8_t *exact = NULL;
    g_autoptr(GError) error = NULL;
    gsize n_bytes = 0;

    if (!g_file_get_contents(path, &text, &n_bytes, &error))
        g_error("%s", error->message);
    /* GLib adds a NUL; a sanitizer shall see the true end. */
    exact = g_memdup2(text, n_bytes);
    (void) LLVMFuzzerTestOneInput(exact, n_bytes);
}

static guint
run_path(const char *path)
{
    g_autoptr(GDir) dir = NULL;
    const char *name;
    guint n = 0;

    if (g_file_test(path, G_FILE_TEST_IS_REGULAR)) {
        run_file(path);
        return 1;
    }

    dir = g_dir_open(path, 0, NULL);
    while (dir != NULL && (name = g_dir_read_name(dir)) != NULL) {
        g_autofree char *child = g_build_filename(path, name, NULL);

        n += run_path(child);
    }
    return n;
}

int
main(int argc, char **argv)
{
    guint n = 0;

    (void) LLVMFuzzerTestOneInput((const uint8_t *) "", 0);
    for (int i = 1; i < argc; i++)
        n += run_path(argv[i]);
    g_print("TAP version 13\nok 1 # %u inputs\n1..1\n", n);
    return 0;
}
