/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What a connection says of itself and of one table: GetInfo, GetTableTypes, GetTableSchema.
 */
#include <string.h>

#include "client-lib/adbc/adbc-build.h"
#include "client-lib/adbc/adbc-driver.h"

/* GetInfo -------------------------------------------------------------------------------------------------------------- */

enum { MEMBER_TEXT, MEMBER_BOOLEAN, MEMBER_INT64 };

static const QadField int32_list[] = { { "i", "item", FALSE, NULL }, { NULL, NULL, FALSE, NULL } };
static const QadField map_fields[] = { { "i", "key", TRUE, NULL },
                                       { "+l", "value", FALSE, int32_list },
                                       { NULL, NULL, FALSE, NULL } };
static const QadField map_entries[] = { { "+s", "entries", TRUE, map_fields }, { NULL, NULL, FALSE, NULL } };
static const QadField text_list[] = { { "u", "item", FALSE, NULL }, { NULL, NULL, FALSE, NULL } };

static const QadField info_members[] = {
    { "u", "string_value", FALSE, NULL },
    { "b", "bool_value", FALSE, NULL },
    { "l", "int64_value", FALSE, NULL },
    { "i", "int32_bitmask", FALSE, NULL },
    { "+l", "string_list", FALSE, text_list },
    { "+m", "int32_to_int32_list_map", FALSE, map_entries },
    { NULL, NULL, FALSE, NULL },
};

static const QadField info_fields[] = {
    { "I", "info_name", TRUE, NULL },
    { "+ud:0,1,2,3,4,5", "info_value", FALSE, info_members },
    { NULL, NULL, FALSE, NULL },
};

static const QadField info_root = { "+s", "", FALSE, info_fields };

static const struct {
    guint32 code;
    guint member;
    const char *text;
    gint64 number;
} infos[] = {
    { ADBC_INFO_VENDOR_NAME, MEMBER_TEXT, "queryd", 0 },
    { ADBC_INFO_VENDOR_VERSION, MEMBER_TEXT, QUERYD_VERSION, 0 },
    { ADBC_INFO_VENDOR_SQL, MEMBER_BOOLEAN, NULL, TRUE },
    { ADBC_INFO_VENDOR_SUBSTRAIT, MEMBER_BOOLEAN, NULL, FALSE },
    { ADBC_INFO_DRIVER_NAME, MEMBER_TEXT, "queryd ADBC driver", 0 },
    { ADBC_INFO_DRIVER_VERSION, MEMBER_TEXT, QUERYD_VERSION, 0 },
    { ADBC_INFO_DRIVER_ADBC_VERSION, MEMBER_INT64, NULL, ADBC_VERSION_1_1_0 },
};

static void
give_node(QadNode *node, struct ArrowArrayStream *stream)
{
    struct ArrowSchema schema;
    struct ArrowArray batch;

    qad_node_give(node, &schema, &batch);
    qad_stream_init_once(stream, &schema, &batch);
}

static void
add_info(QadNode *node, guint index)
{
    QadNode *value = qad_node_get_child(node, 1);
    QadNode *member = qad_node_get_child(value, infos[index].member);

    qad_node_add_int(qad_node_get_child(node, 0), infos[index].code);
    if (infos[index].member == MEMBER_TEXT)
        qad_node_add_text(member, infos[index].text);
    else
        qad_node_add_int(member, infos[index].number);
    qad_node_add_member(value, infos[index].member);
    qad_node_end(node);
}

static gboolean
is_asked(guint32 code, const uint32_t *codes, size_t n_codes)
{
    for (size_t i = 0; i < n_codes; i++)
        if (codes[i] == code)
            return TRUE;
    return codes == NULL;
}

AdbcStatusCode
qad_get_info(struct AdbcConnection *connection, const uint32_t *codes, size_t n_codes, struct ArrowArrayStream *stream,
             struct AdbcError *error)
{
    GError *failure = NULL;
    QadNode *node;

    if (!qad_connection_check(connection->private_data, &failure))
        return qad_report(error, failure);
    node = qad_node_new(&info_root);
    for (guint i = 0; i < G_N_ELEMENTS(infos); i++)
        if (is_asked(infos[i].code, codes, n_codes))
            add_info(node, i);
    give_node(node, stream);
    return ADBC_STATUS_OK;
}

/* Tables --------------------------------------------------------------------------------------------------------------- */

static const QadField type_fields[] = { { "u", "table_type", TRUE, NULL }, { NULL, NULL, FALSE, NULL } };
static const QadField type_root = { "+s", "", FALSE, type_fields };

AdbcStatusCode
qad_get_table_types(struct AdbcConnection *connection, struct ArrowArrayStream *stream, struct AdbcError *error)
{
    GError *failure = NULL;
    QadNode *node;

    if (!qad_connection_check(connection->private_data, &failure))
        return qad_report(error, failure);
    node = qad_node_new(&type_root);
    qad_node_add_text(qad_node_get_child(node, 0), "table");
    qad_node_end(node);
    qad_node_add_text(qad_node_get_child(node, 0), "view");
    qad_node_end(node);
    give_node(node, stream);
    return ADBC_STATUS_OK;
}

/* The declared types alone: no row is read. */
static gboolean
read_table_schema(QadConnection *self, const char *table, struct ArrowSchema *ret_schema, GError **error)
{
    g_autofree char *type = NULL;
    g_autofree char *quoted = qad_quote(table);
    g_autofree char *text = g_strdup_printf("SELECT * FROM %s LIMIT 0", quoted);
    g_autoptr(GError) failure = NULL;
    struct ArrowArrayStream stream;
    QueryCursor *cursor;

    type = qad_connection_find_table(self, table, &failure);
    if (failure != NULL) {
        g_propagate_error(error, g_steal_pointer(&failure));
        return FALSE;
    }
    if (type == NULL)
        return qad_set_error(error, ADBC_STATUS_NOT_FOUND, "there is no table '%s'", table);
    cursor = qad_connection_query(self, text, NULL, error);
    if (cursor == NULL || !qad_stream_init(&stream, self, cursor, QUERY_ARROW_TEXT, NULL, ret_schema, error))
        return FALSE;
    stream.release(&stream);
    return TRUE;
}

AdbcStatusCode
qad_get_table_schema(struct AdbcConnection *connection, const char *catalog, const char *schema, const char *table,
                     struct ArrowSchema *ret_schema, struct AdbcError *error)
{
    QadConnection *self = connection->private_data;
    GError *failure = NULL;

    if (!qad_connection_check(self, &failure))
        return qad_report(error, failure);
    g_rec_mutex_lock(&self->mutex);
    if ((catalog != NULL && strcmp(catalog, "main") != 0) || (schema != NULL && *schema != '\0'))
        (void) qad_set_error(&failure, ADBC_STATUS_NOT_FOUND, "the only catalog is 'main', and it has no schemas");
    else
        (void) read_table_schema(self, table, ret_schema, &failure);
    g_rec_mutex_unlock(&self->mutex);
    return qad_report(error, failure);
}
