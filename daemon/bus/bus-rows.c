/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A table for each name that is both read and changed.
 */
#include "daemon/bus/bus-rows.h"

#include "daemon/bus/bus-error.h"
#include "daemon/bus/bus-reply.h"

#define ALL_TABLES "*"

static const char *
get_word(QdRowChange change)
{
    switch (change) {
    case QD_ROW_INSERTED:
        return "insert";
    case QD_ROW_UPDATED:
        return "update";
    case QD_ROW_DELETED:
        return "delete";
    }
    return "update";
}

static int
append_names(sd_bus_message *signal, char *const *names)
{
    int r;

    r = sd_bus_message_open_container(signal, 'a', "s");
    for (; r >= 0 && names != NULL && *names != NULL; names++)
        r = qd_bus_append_text(signal, *names);
    return r >= 0 ? sd_bus_message_close_container(signal) : r;
}

static int
append_row(sd_bus_message *signal, const QdRowKey *key, QdRowChange change)
{
    int r;

    r = sd_bus_message_open_container(signal, 'r', "sav");
    if (r >= 0)
        r = sd_bus_message_append(signal, "s", get_word(change));
    if (r >= 0)
        r = sd_bus_message_open_container(signal, 'a', "v");
    for (guint i = 0; r >= 0 && i < key->n_values; i++)
        r = qd_bus_append_value(signal, &key->values[i]);
    if (r >= 0)
        r = sd_bus_message_close_container(signal);
    return r >= 0 ? sd_bus_message_close_container(signal) : r;
}

static int
append_rows(sd_bus_message *signal, GHashTable *keys)
{
    GHashTableIter iter;
    gpointer key;
    gpointer change;
    int r;

    r = sd_bus_message_open_container(signal, 'a', "(sav)");
    if (keys != NULL) {
        g_hash_table_iter_init(&iter, keys);
        while (r >= 0 && g_hash_table_iter_next(&iter, &key, &change))
            r = append_row(signal, key, (QdRowChange) GPOINTER_TO_INT(change));
    }
    return r >= 0 ? sd_bus_message_close_container(signal) : r;
}

/* @rows: (nullable): nothing is known of it */
static int
append_table(sd_bus_message *signal, const char *table, const QdTableRows *rows, const QdKeySource *source)
{
    gboolean is_all = rows == NULL || rows->keys == NULL;
    gboolean is_source = !is_all && source != NULL && g_str_equal(source->table, table);
    int r;

    r = sd_bus_message_open_container(signal, 'r', "sbasasa(sav)");
    if (r >= 0)
        r = qd_bus_append_text(signal, table);
    if (r >= 0)
        r = sd_bus_message_append(signal, "b", is_all);
    if (r >= 0)
        r = append_names(signal, is_all ? NULL : rows->columns);
    if (r >= 0)
        r = append_names(signal, is_source ? source->columns : NULL);
    if (r >= 0)
        r = append_rows(signal, is_all ? NULL : rows->keys);
    return r >= 0 ? sd_bus_message_close_container(signal) : r;
}

/* Its tables are not known, or which of them have changed is not. */
static gboolean
is_of_all_tables(const QdReadSet *reads, const QdChanges *changes)
{
    return qd_name_set_is_all(reads->tables) || qd_name_set_is_all(changes->tables) || changes->schema ||
           qd_name_set_has(reads->tables, QD_READ_SET_RDF);
}

int
qd_bus_rows_append(sd_bus_message *signal, const QdReadSet *reads, const QdKeySource *source, const QdChanges *changes)
{
    g_autoptr(GPtrArray) names = qd_name_set_list(changes->tables);
    int r;

    r = sd_bus_message_open_container(signal, 'a', "(sbasasa(sav))");
    if (r >= 0 && is_of_all_tables(reads, changes)) {
        r = append_table(signal, ALL_TABLES, NULL, NULL);
        return r >= 0 ? sd_bus_message_close_container(signal) : r;
    }
    for (guint i = 0; r >= 0 && i < names->len; i++) {
        const char *table = names->pdata[i];
        g_autofree char *folded = qd_read_set_fold(table);

        if (qd_name_set_has(reads->tables, folded))
            r = append_table(signal, table, changes->rows != NULL ? qd_row_changes_get(changes->rows, table) : NULL, source);
    }
    return r >= 0 ? sd_bus_message_close_container(signal) : r;
}
