/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * queryd.conf: what is understood is taken, what is not is logged and left out.
 */
#include "daemon/base/config.h"

#include <errno.h>
#include <glib/gstdio.h>
#include <string.h>
#include <syslog.h>

#include "daemon/base/access.h"

typedef struct Fixture {
    char *dir;
    char *path;
    char *drop_in_dir;
} Fixture;

static void
set_up(Fixture *self, gconstpointer data)
{
    self->dir = g_dir_make_tmp("queryd-config-XXXXXX", NULL);
    self->path = g_build_filename(self->dir, "queryd.conf", NULL);
    self->drop_in_dir = g_strconcat(self->path, ".d", NULL);
}

static void
tear_down(Fixture *self, gconstpointer data)
{
    g_autoptr(GDir) dir = g_dir_open(self->drop_in_dir, 0, NULL);
    const char *name;

    while (dir != NULL && (name = g_dir_read_name(dir)) != NULL) {
        g_autofree char *path = g_build_filename(self->drop_in_dir, name, NULL);

        (void) g_remove(path);
    }
    (void) g_remove(self->drop_in_dir);
    (void) g_remove(self->path);
    g_assert_cmpint(g_remove(self->dir), ==, 0);
    g_free(self->drop_in_dir);
    g_free(self->path);
    g_free(self->dir);
}

static void
write_file(const char *dir, const char *name, const char *text)
{
    g_autofree char *path = g_build_filename(dir, name, NULL);
    g_autoptr(GError) error = NULL;

    (void) g_mkdir_with_parents(dir, 0700);
    g_file_set_contents(path, text, -1, &error);
    g_assert_no_error(error);
}

static QdConfig *
load(const Fixture *self, const char *text)
{
    write_file(self->dir, "queryd.conf", text);
    return qd_config_load(self->path);
}

static void
assert_warning(const QdConfig *config, guint i, const char *part)
{
    g_assert_cmpuint(config->warnings->len, >, i);
    g_assert_nonnull(strstr(config->warnings->pdata[i], part));
}

static void
test_missing(Fixture *self, gconstpointer data)
{
    g_autoptr(QdConfig) config = qd_config_load(self->path);
    QdLimits defaults;

    qd_limits_init(&defaults);
    g_assert_cmpmem(&config->limits, sizeof defaults, &defaults, sizeof defaults);
    g_assert_cmpint(config->log_level, ==, LOG_INFO);
    g_assert_cmpuint(config->warnings->len, ==, 0);
}

static void
test_values(Fixture *self, gconstpointer data)
{
    g_autoptr(QdConfig)
        config = load(self, "# a comment\n[Limits]\nchannels=7\nvalue_bytes = 2M\nwal_bytes=1G\nquery_timeout_ms=0\n"
                            "statement_text_bytes=2K\n[Daemon]\nlog_level=debug\n");

    g_assert_cmpuint(config->warnings->len, ==, 0);
    g_assert_cmpuint(qd_limits_get(&config->limits, QD_LIMIT_CHANNELS), ==, 7);
    g_assert_cmpuint(qd_limits_get(&config->limits, QD_LIMIT_VALUE_BYTES), ==, 2 << 20);
    g_assert_cmpuint(qd_limits_get(&config->limits, QD_LIMIT_WAL_BYTES), ==, 1 << 30);
    g_assert_cmpuint(qd_limits_get(&config->limits, QD_LIMIT_QUERY_TIMEOUT_MSEC), ==, 0);
    g_assert_cmpuint(qd_limits_get(&config->limits, QD_LIMIT_STATEMENT_TEXT_BYTES), ==, 2048);
    g_assert_cmpint(config->log_level, ==, LOG_DEBUG);
}

static void
test_bad_lines(Fixture *self, gconstpointer data)
{
    g_autoptr(QdConfig) config = load(self, "[Limits]\nchanels=7\nchannels=many\nrunning=0\njobs=2\nvalue_rows=-1\n"
                                            "[Daemon]\nlog_level=loud\ncolour=red\n[Other]\nx=1\n");

    g_assert_cmpuint(config->warnings->len, ==, 7);
    assert_warning(config, 0, "no limit is named 'chanels'");
    assert_warning(config, 1, "limit 'channels': 'many' is no number");
    assert_warning(config, 2, "limit 'running': 0 is not between 1 and 64");
    assert_warning(config, 3, "limit 'value_rows': '-1' is no number");
    assert_warning(config, 4, "log_level 'loud'");
    assert_warning(config, 5, "unknown key 'colour'");
    assert_warning(config, 6, "unknown group [Other]");
    assert_warning(config, 0, self->path);
    g_assert_cmpuint(qd_limits_get(&config->limits, QD_LIMIT_CHANNELS), ==, qd_limit_get_info(QD_LIMIT_CHANNELS)->value);
    g_assert_cmpuint(qd_limits_get(&config->limits, QD_LIMIT_JOBS), ==, 2);
}

static void
test_no_key_file(Fixture *self, gconstpointer data)
{
    g_autoptr(QdConfig) config = load(self, "channels=7\n\x01\x02");

    g_assert_cmpuint(config->warnings->len, ==, 1);
    assert_warning(config, 0, "ignoring the file");
    g_assert_cmpuint(qd_limits_get(&config->limits, QD_LIMIT_CHANNELS), ==, qd_limit_get_info(QD_LIMIT_CHANNELS)->value);
}

static void
test_access(Fixture *self, gconstpointer data)
{
    g_autoptr(QdConfig) config = load(self, "[Access org.example.Music]\nread = table:albums\nwrite=graph:urn:g\n"
                                            "[Access org.example.Music work]\nread=*\n");
    g_autoptr(QdAccess) here = qd_config_get_access(config, "org.example.Music", "default");
    g_autoptr(QdAccess) work = qd_config_get_access(config, "org.example.Music", "work");
    g_autoptr(QdAccess) none = qd_config_get_access(config, "org.example.Music", "other");
    g_autoptr(QdAccess) other = qd_config_get_access(config, "org.example.Other", "default");

    g_assert_cmpuint(config->warnings->len, ==, 0);
    g_assert_true(qd_access_has_table(here, QD_ACCESS_READ, "albums"));
    g_assert_true(qd_access_has_graph(here, QD_ACCESS_WRITE, "urn:g"));
    g_assert_false(qd_access_has_all(here, QD_ACCESS_READ));
    g_assert_true(qd_access_has_all(work, QD_ACCESS_READ));
    g_assert_false(qd_access_has_any(work, QD_ACCESS_WRITE));
    g_assert_false(qd_access_has_any(none, QD_ACCESS_READ));
    g_assert_false(qd_access_has_any(other, QD_ACCESS_READ));
    g_assert_cmpstr(qd_access_get_application(other), ==, "org.example.Other");
}

/* A mistake takes back what the group grants beside it, and what an earlier file did. */
static void
test_access_mistakes(Fixture *self, gconstpointer data)
{
    static const struct {
        const char *text;
        const char *warning;
    } cases[] = {
        { "[Access]\nread=*\n", "queryd.conf:1: group [Access] is not" },
        { "\n[Access music]\nread=*\n", "queryd.conf:2: group [Access music] is not" },
        { "[Access a.b default more]\nread=*\n", "queryd.conf:1: group" },
        { "[Access a.b ../x]\nread=*\n", "queryd.conf:1: group" },
        { "[Access  a.b]\nread=*\n", "queryd.conf:1: group" },
        { "[Accessa.b]\nread=*\n", "unknown group [Accessa.b]" },
        { "[Access a.b]\nread=table:t\n# read=*\nwrite=t\n", "queryd.conf:4: [Access a.b] write: 't' is none of" },
        { "[Access a.b]\nread=*\nstore=x\n", "queryd.conf:3: [Access a.b] store: unknown key 'store'" },
        { "[Access a.b]\nread=table:t\nwrite=\n", "queryd.conf:3: [Access a.b] write: '' is none" },
        { "[Access a.b]\nread *\n", "ignoring the file" },
    };

    write_file(self->drop_in_dir, "10-a.conf", "[Access a.b]\nread=table:later\n");
    for (guint i = 0; i < G_N_ELEMENTS(cases); i++) {
        g_autoptr(QdConfig) config = load(self, cases[i].text);
        g_autoptr(QdAccess) access = qd_config_get_access(config, "a.b", "default");

        g_assert_cmpuint(config->warnings->len, ==, 1);
        assert_warning(config, 0, cases[i].warning);
        g_assert_true(qd_access_has_table(access, QD_ACCESS_READ, "later")); /* the later file's group is whole */
        g_assert_false(qd_access_has_table(access, QD_ACCESS_READ, "t"));
        g_assert_false(qd_access_has_all(access, QD_ACCESS_READ));
    }
    write_file(self->drop_in_dir, "10-a.conf", "[Access a.b]\nread=nonsense\n");
    {
        g_autoptr(QdConfig) config = load(self, "[Access a.b]\nread=*\n");
        g_autoptr(QdAccess) access = qd_config_get_access(config, "a.b", "default");

        g_assert_false(qd_access_has_any(access, QD_ACCESS_READ));
    }
}

static void
test_drop_ins(Fixture *self, gconstpointer data)
{
    g_autoptr(QdConfig) config = NULL;

    write_file(self->drop_in_dir, "20-b.conf", "[Limits]\nchannels=20\njobs=3\n");
    write_file(self->drop_in_dir, "10-a.conf", "[Limits]\nchannels=10\nrunning=3\n");
    write_file(self->drop_in_dir, "30-c.conf.bak", "[Limits]\nchannels=30\n");
    config = load(self, "[Limits]\nchannels=5\nsnapshots=5\n");

    g_assert_cmpuint(config->warnings->len, ==, 0);
    g_assert_cmpuint(qd_limits_get(&config->limits, QD_LIMIT_CHANNELS), ==, 20);
    g_assert_cmpuint(qd_limits_get(&config->limits, QD_LIMIT_RUNNING), ==, 3);
    g_assert_cmpuint(qd_limits_get(&config->limits, QD_LIMIT_JOBS), ==, 3);
    g_assert_cmpuint(qd_limits_get(&config->limits, QD_LIMIT_SNAPSHOTS), ==, 5);
}

static void
test_parse_size(void)
{
    static const struct {
        const char *text;
        int r;
        guint64 value;
    } cases[] = {
        { "0", 0, 0 },
        { "17", 0, 17 },
        { "1K", 0, 1024 },
        { "64M", 0, 64 << 20 },
        { "18446744073709551615", 0, G_MAXUINT64 },
        { "18446744073709551616", -ERANGE, 0 },
        { "17179869184G", -ERANGE, 0 },
        { "", -EINVAL, 0 },
        { "-1", -EINVAL, 0 },
        { "+1", -EINVAL, 0 },
        { " 1", -EINVAL, 0 },
        { "1k", -EINVAL, 0 },
        { "1KB", -EINVAL, 0 },
        { "0x10", -EINVAL, 0 },
    };

    for (gsize i = 0; i < G_N_ELEMENTS(cases); i++) {
        guint64 value = 0;

        g_assert_cmpint(qd_config_parse_size(cases[i].text, &value), ==, cases[i].r);
        g_assert_cmpuint(value, ==, cases[i].value);
    }
}

int
main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/base/config/parse-size", test_parse_size);
    g_test_add("/base/config/missing", Fixture, NULL, set_up, test_missing, tear_down);
    g_test_add("/base/config/values", Fixture, NULL, set_up, test_values, tear_down);
    g_test_add("/base/config/bad-lines", Fixture, NULL, set_up, test_bad_lines, tear_down);
    g_test_add("/base/config/no-key-file", Fixture, NULL, set_up, test_no_key_file, tear_down);
    g_test_add("/base/config/drop-ins", Fixture, NULL, set_up, test_drop_ins, tear_down);
    g_test_add("/base/config/access", Fixture, NULL, set_up, test_access, tear_down);
    g_test_add("/base/config/access-mistakes", Fixture, NULL, set_up, test_access_mistakes, tear_down);
    return g_test_run();
}
