/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Updates in pieces of every size, and lengths that cannot be.
 */
#include "daemon/tracker/tracker-frame.h"

#include <string.h>

#include "daemon/base/error.h"

#define MOST 1000

/* @format: w: a word, s: a length and a text */
static GByteArray *
make(const char *format, ...)
{
    GByteArray *bytes = g_byte_array_new();
    va_list args;

    va_start(args, format);
    for (; *format != '\0'; format++) {
        const char *text = *format == 's' ? va_arg(args, const char *) : NULL;
        gint32 word = text != NULL ? (gint32) strlen(text) : va_arg(args, gint32);

        g_byte_array_append(bytes, (const guint8 *) &word, sizeof word);
        if (text != NULL)
            g_byte_array_append(bytes, (const guint8 *) text, (guint) strlen(text));
    }
    va_end(args);
    return bytes;
}

/* (transfer full): texts and parameters of all operations, from bytes that come one by one; NULL: an error */
static char *
read_all(GByteArray *bytes, gboolean is_array)
{
    g_autoptr(GString) out = g_string_new(NULL);
    g_autoptr(GError) error = NULL;
    QdTrackerFrame frame;
    QdTrackerOperation operation;
    QdTrackerFrameStatus status = QD_TRACKER_FRAME_MORE;

    qd_tracker_frame_init(&frame, is_array, MOST);
    for (guint n = 0; n <= bytes->len && status == QD_TRACKER_FRAME_MORE; n++) {
        g_autofree guint8 *copy = g_memdup2(bytes->data, n); /* of this size: valgrind sees what is read after it */

        while ((status = qd_tracker_frame_next(&frame, copy, n, &operation, &error)) == QD_TRACKER_FRAME_OPERATION)
            g_string_append_printf(out, "%s%.*s|%.*s;", operation.is_rdf ? "rdf " : "", (int) operation.n_text, operation.text,
                                   (int) operation.n_parameters, operation.parameters != NULL ? operation.parameters : "");
    }
    g_assert_cmpint(status == QD_TRACKER_FRAME_FAILED, ==, error != NULL);
    if (status == QD_TRACKER_FRAME_FAILED)
        return NULL;
    g_string_append(out, status == QD_TRACKER_FRAME_END ? "end" : "more");
    return g_string_free(g_steal_pointer(&out), FALSE);
}

static void
check(GByteArray *bytes, gboolean is_array, const char *expected)
{
    g_autofree char *found = read_all(bytes, is_array);

    g_assert_cmpstr(found, ==, expected);
    g_byte_array_unref(bytes);
}

static void
test_formats(void)
{
    check(make("s", "INSERT"), FALSE, "INSERT|;end");
    check(make("wss", 0, "INSERT", ""), FALSE, "INSERT|;end");
    check(make("wss", 0, "INSERT", "{}"), FALSE, "INSERT|{};end");
    check(make("wss", 2, "first", "second"), TRUE, "first|;second|;end");
    check(make("wwsswss", 2, 0, "first", "", 0, "second", "p"), TRUE, "first|;second|p;end");
    check(make("wwwwss", 1, 1, 0, 0, "urn:g", "<a:b> <c:d> <e:f> ."), TRUE, "rdf <a:b> <c:d> <e:f> .|;end");
    check(make("w", 0), TRUE, "end");
    check(make("ws", 2, "first"), TRUE, "first|;more");
    check(make(""), FALSE, "more");
}

static void
test_parameters_behind_a_nul(void)
{
    const char data[] = "\0\0\0\0text\0p";
    gint32 length = 6;
    GByteArray *bytes = g_byte_array_append(g_byte_array_new(), (const guint8 *) data, sizeof data - 1);

    memcpy(bytes->data, &length, sizeof length);
    check(bytes, FALSE, "text|p;end");
}

static void
test_nonsense(void)
{
    check(make("w", -1), FALSE, NULL);
    check(make("w", MOST), FALSE, NULL);
    check(make("ww", 0, -1), FALSE, NULL);
    check(make("wsw", 0, "text", -1), FALSE, NULL);
    check(make("w", -1), TRUE, NULL);
    check(make("w", 0x10000000), TRUE, NULL);
    check(make("wsw", 2, "an update", 0x7fffffff), TRUE, NULL);
    check(make("wwssw", 2, 0, "an update", "", 7), TRUE, NULL);
}

int
main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/tracker/tracker-frame/formats", test_formats);
    g_test_add_func("/tracker/tracker-frame/parameters-behind-a-nul", test_parameters_behind_a_nul);
    g_test_add_func("/tracker/tracker-frame/nonsense", test_nonsense);
    return g_test_run();
}
