/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Which watches a commit touches; each is reported once until the index is armed again.
 */
#include "daemon/notify/subscription-index.h"

#include <string.h>

/* "SQL: t u", "SPARQL: p q | g h", "*" for all, "-" for the default graph */
static void
add_words(QdNameSet *set, const char *words)
{
    g_auto(GStrv) parts = g_strsplit(words, " ", -1);

    for (char **part = parts; *part != NULL; part++) {
        if (g_str_equal(*part, "*"))
            qd_name_set_make_all(set);
        else if (g_str_equal(*part, "-"))
            qd_name_set_add(set, "", 0);
        else if (**part != '\0')
            qd_name_set_add(set, *part, strlen(*part));
    }
}

static void
clear_sets(QdReadSet *reads)
{
    qd_name_set_clear(reads->tables);
    qd_name_set_clear(reads->predicates);
    qd_name_set_clear(reads->graphs);
}

static QdReadSet *
sql(const char *tables)
{
    QdReadSet *reads = qd_read_set_new_all(FALSE);

    clear_sets(reads);
    add_words(reads->tables, tables);
    return reads;
}

static QdReadSet *
sparql(const char *predicates, const char *graphs)
{
    QdReadSet *reads = qd_read_set_new_all(TRUE);

    clear_sets(reads);
    add_words(reads->predicates, predicates);
    add_words(reads->graphs, graphs);
    return reads;
}

static void
note(gpointer data, const QdChanges *changes, gpointer user_data)
{
    g_ptr_array_add(user_data, data);
}

static int
compare_words(gconstpointer a, gconstpointer b)
{
    return strcmp(*(char *const *) a, *(char *const *) b);
}

static void
touch(QdSubscriptionIndex *index, const char *tables, const char *predicates, const char *graphs, const char *expected)
{
    g_autoptr(QdChanges) changes = qd_changes_new();
    g_autoptr(GPtrArray) watches = g_ptr_array_new();
    g_autofree char *told = NULL;

    add_words(changes->tables, tables);
    add_words(changes->predicates, predicates);
    add_words(changes->graphs, graphs);
    qd_subscription_index_touch(index, changes, note, watches);
    g_ptr_array_sort(watches, compare_words);
    g_ptr_array_add(watches, NULL);
    told = g_strjoinv(" ", (char **) watches->pdata);
    g_assert_cmpstr(told, ==, expected);
}

static void
test_tables(void)
{
    g_autoptr(QdSubscriptionIndex) index = qd_subscription_index_new();
    QdWatch *t = qd_subscription_index_add(index, sql("t"), "t");
    QdWatch *tu = qd_subscription_index_add(index, sql("t u"), "tu");
    QdWatch *all = qd_subscription_index_add(index, sql("*"), "all");
    QdWatch *none = qd_subscription_index_add(index, sql(""), "none");

    touch(index, "U", "", "", "all tu");
    touch(index, "t", "", "", "t");
    touch(index, "t u", "", "", "");
    qd_subscription_index_rearm(index);
    touch(index, "T", "", "", "all t tu");
    qd_subscription_index_rearm(index);
    touch(index, "x", "", "", "all");
    qd_subscription_index_rearm(index);
    touch(index, "*", "", "", "all t tu");

    qd_subscription_index_rearm(index);
    qd_subscription_index_set_reads(index, t, sql("x"));
    touch(index, "t", "", "", "all tu");
    touch(index, "x", "", "", "t");
    qd_subscription_index_remove(index, t);
    qd_subscription_index_remove(index, all);
    qd_subscription_index_rearm(index);
    touch(index, "t x", "", "", "tu");
    qd_subscription_index_remove(index, tu);
    qd_subscription_index_remove(index, none);
}

/* One that comes when the others of its bucket have been reported is not taken for reported. */
static void
test_late_comer(void)
{
    g_autoptr(QdSubscriptionIndex) index = qd_subscription_index_new();
    QdWatch *first = qd_subscription_index_add(index, sql("t"), "first");
    QdWatch *second;

    touch(index, "t", "", "", "first");
    second = qd_subscription_index_add(index, sql("t"), "second");
    touch(index, "t", "", "", "second");
    touch(index, "t", "", "", "");
    qd_subscription_index_remove(index, first);
    qd_subscription_index_remove(index, second);
}

static void
test_rdf(void)
{
    g_autoptr(QdSubscriptionIndex) index = qd_subscription_index_new();
    QdWatch *p = qd_subscription_index_add(index, sparql("p", "-"), "p");
    QdWatch *pg = qd_subscription_index_add(index, sparql("p q", "g"), "pg");
    QdWatch *any = qd_subscription_index_add(index, sparql("*", "*"), "any");
    QdWatch *view = qd_subscription_index_add(index, sql("queryd_ rdf_quad"), "view");

    touch(index, "", "p", "-", "any p view");
    qd_subscription_index_rearm(index);
    touch(index, "", "p", "g", "any pg view");
    qd_subscription_index_rearm(index);
    touch(index, "", "r", "g h", "any view");
    qd_subscription_index_rearm(index);
    touch(index, "", "", "new", "any view");
    qd_subscription_index_rearm(index);
    touch(index, "", "*", "h", "any view");
    touch(index, "", "*", "* ", "p pg");
    qd_subscription_index_rearm(index);
    touch(index, "t", "", "", "");

    qd_subscription_index_remove(index, p);
    qd_subscription_index_remove(index, pg);
    qd_subscription_index_remove(index, any);
    qd_subscription_index_remove(index, view);
}

static void
test_prefixes(void)
{
    g_autoptr(QdSubscriptionIndex) index = qd_subscription_index_new();
    g_autoptr(QdChanges) changes = qd_changes_new();
    g_autoptr(GPtrArray) told = g_ptr_array_new();
    QdWatch *p = qd_subscription_index_add(index, sparql("p", "-"), "p");
    QdWatch *t = qd_subscription_index_add(index, sql("t"), "t");

    changes->prefixes = TRUE;
    qd_subscription_index_touch(index, changes, note, told);
    g_assert_cmpuint(told->len, ==, 1);
    g_assert_cmpstr(told->pdata[0], ==, "p");
    qd_subscription_index_remove(index, p);
    qd_subscription_index_remove(index, t);
}

int
main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/notify/subscription-index/tables", test_tables);
    g_test_add_func("/notify/subscription-index/late-comer", test_late_comer);
    g_test_add_func("/notify/subscription-index/rdf", test_rdf);
    g_test_add_func("/notify/subscription-index/prefixes", test_prefixes);
    return g_test_run();
}
