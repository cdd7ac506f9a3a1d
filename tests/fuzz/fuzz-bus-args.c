/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Fuzz target: arguments of method calls.
 *
 * The input steers what is appended to a message: first the method, then parameters and options by (type, key, value). The
 * message is sealed as if it had come in, then read. Nothing may crash or leak, and a failure must set an error.
 */
#include <fcntl.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "daemon/base/limits.h"
#include "daemon/bus/bus-args.h"
#include "daemon/call/call-classes.h"
#include "daemon/job/job-classes.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define TEXT_BYTES_MAX 32u

typedef struct Input {
    const uint8_t *data;
    size_t size;
} Input;

static const char *const keys[] = {
    "transport", "page_size", "access", "timeout_ms", "max_rows", "max_bytes", "durability", "analyze",
    "table",     "create",    "header", "quick",      ":a",       "1",         "a",          "",
};
static const char *const texts[] = { "pipe",    "socketpair", "auto",   "read", "write", "full",
                                     "relaxed", "sql",        "sparql", "@id",  "@bnode" };

static uint8_t
take_byte(Input *self)
{
    if (self->size == 0)
        return 0;
    self->size--;
    return *self->data++;
}

static uint64_t
take_number(Input *self)
{
    uint64_t number = 0;
    size_t n = MIN(self->size, sizeof number);

    memcpy(&number, self->data, n);
    self->data += n;
    self->size -= n;
    return number;
}

/* A word of the table, or bytes of the input; bytes that are no text are refused by sd-bus when they are appended. */
static const char *
take_text(Input *self, const char *const *table, size_t n_table, char *buffer)
{
    uint8_t choice = take_byte(self);
    size_t n = 0;

    if (choice < 128)
        return table[choice % n_table];

    n = MIN(MIN(self->size, choice - 128u), TEXT_BYTES_MAX - 1);
    memcpy(buffer, self->data, n);
    buffer[n] = '\0';
    self->data += n;
    self->size -= n;
    return buffer;
}

static void
append_variant(Input *input, sd_bus_message *message)
{
    static const char *const types[] = {
        "y", "b", "n", "q", "i", "u", "x", "t", "d", "s", "g", "ay", "(sss)", "v", "as", "o", "h"
    };
    const char *type = types[take_byte(input) % G_N_ELEMENTS(types)];
    char buffer[3][TEXT_BYTES_MAX];
    uint64_t number;
    int flag;

    if (sd_bus_message_open_container(message, 'v', type) < 0)
        return;
    if (g_str_equal(type, "s")) {
        (void) sd_bus_message_append_basic(message, 's', take_text(input, texts, G_N_ELEMENTS(texts), buffer[0]));
    } else if (g_str_equal(type, "g")) {
        (void) sd_bus_message_append_basic(message, 'g', (take_byte(input) & 1) != 0 ? "as" : "");
    } else if (g_str_equal(type, "ay")) {
        const char *text = take_text(input, texts, G_N_ELEMENTS(texts), buffer[0]);

        (void) sd_bus_message_append_array(message, 'y', text, strlen(text));
    } else if (g_str_equal(type, "(sss)")) {
        const char *lexical = take_text(input, texts, G_N_ELEMENTS(texts), buffer[0]);
        const char *datatype = take_text(input, texts, G_N_ELEMENTS(texts), buffer[1]);

        (void) sd_bus_message_append(message, "(sss)", lexical, datatype, take_text(input, texts, G_N_ELEMENTS(texts), buffer[2]));
    } else if (g_str_equal(type, "v")) {
        (void) sd_bus_message_append(message, "v", "s", "x");
    } else if (g_str_equal(type, "as")) {
        (void) sd_bus_message_append(message, "as", 0);
    } else if (g_str_equal(type, "o")) {
        (void) sd_bus_message_append(message, "o", "/");
    } else if (g_str_equal(type, "h")) {
        (void) sd_bus_message_append(message, "h", STDERR_FILENO);
    } else if (g_str_equal(type, "b")) {
        flag = take_byte(input) & 1;
        (void) sd_bus_message_append_basic(message, 'b', &flag);
    } else {
        number = take_number(input);
        (void) sd_bus_message_append_basic(message, type[0], &number);
    }
    (void) sd_bus_message_close_container(message);
}

static void
append_dictionary(Input *input, sd_bus_message *message)
{
    char buffer[TEXT_BYTES_MAX];

    if (sd_bus_message_open_container(message, 'a', "{sv}") < 0)
        return;
    for (uint8_t n = take_byte(input) & 7; n > 0; n--) {
        if (sd_bus_message_open_container(message, 'e', "sv") < 0)
            break;
        (void) sd_bus_message_append_basic(message, 's', take_text(input, keys, G_N_ELEMENTS(keys), buffer));
        append_variant(input, message);
        (void) sd_bus_message_close_container(message);
    }
    (void) sd_bus_message_close_container(message);
}

static void
append_statement(Input *input, sd_bus_message *message)
{
    char buffer[TEXT_BYTES_MAX];

    (void) sd_bus_message_append_basic(message, 's', take_text(input, texts, G_N_ELEMENTS(texts), buffer));
    (void) sd_bus_message_append_basic(message, 's', take_text(input, texts, G_N_ELEMENTS(texts), buffer));
    append_dictionary(input, message);
}

static void
append_batch(Input *input, sd_bus_message *message)
{
    if (sd_bus_message_open_container(message, 'a', "(ssa{sv})") < 0)
        return;
    for (uint8_t n = take_byte(input) & 7; n > 0; n--) {
        if (sd_bus_message_open_container(message, 'r', "ssa{sv}") < 0)
            break;
        append_statement(input, message);
        (void) sd_bus_message_close_container(message);
    }
    (void) sd_bus_message_close_container(message);
}

static const QdCallClass *const classes[] = {
    &qd_prepare_call,   &qd_query_call,         &qd_query_text_call,      &qd_update_call,         &qd_batch_call,
    &qd_explain_call,   &qd_subscribe_call,     &qd_prefixes_call,        &qd_check_call,          &qd_optimize_call,
    &qd_full_text_call, &qd_export_call,        &qd_import_call,          &qd_dump_call,           &qd_backup_call,
    &qd_restore_call,   &qd_store_payload_call, &qd_replace_payload_call, &qd_delete_payload_call, &qd_open_payloads_call,
};

static void
read_call(sd_bus_message *message, const QdCallClass *class)
{
    g_autoptr(QdCall) call = qd_call_new(class, NULL);
    g_autoptr(GError) error = NULL;
    QdLimits limits;
    gboolean ok;

    qd_limits_init(&limits);
    limits.values[QD_LIMIT_BATCH_STATEMENTS] = 3;
    if (class == &qd_batch_call)
        ok = qd_bus_read_statements(message, call, &limits, &error);
    else
        ok = qd_bus_read_query(message, call, &error);
    ok = ok && qd_bus_read_options(message, call, &error);
    g_assert_cmpint(ok, ==, error == NULL);
}

/* One connection for all inputs; its far end is closed and it is never run. */
static sd_bus *
get_bus(void)
{
    static sd_bus *bus;
    int fds[2];

    if (bus != NULL)
        return bus;
    g_assert_cmpint(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fds), ==, 0);
    g_assert_cmpint(sd_bus_new(&bus), >=, 0);
    g_assert_cmpint(sd_bus_set_fd(bus, fds[0], fds[0]), >=, 0);
    g_assert_cmpint(sd_bus_start(bus), >=, 0);
    (void) close(fds[1]);
    return bus;
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    Input input = { .data = data, .size = size };
    const QdCallClass *class = classes[take_byte(&input) % G_N_ELEMENTS(classes)];
    sd_bus_message *message = NULL;

    g_assert_cmpint(sd_bus_message_new_method_call(get_bus(), &message, NULL, "/", "a.b", "C"), >=, 0);
    if (class == &qd_batch_call)
        append_batch(&input, message);
    else
        append_statement(&input, message);
    append_dictionary(&input, message);

    /* A message with a broken append cannot be sealed, as it cannot be sent. */
    if (sd_bus_message_seal(message, 1, 0) >= 0 && sd_bus_message_rewind(message, TRUE) >= 0)
        read_call(message, class);
    sd_bus_message_unref(message);
    return 0;
}
