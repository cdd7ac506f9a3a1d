/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The kinds of calls: a row here and a file, or a part of one, that defines it.
 *
 * Place: room call. The bus layer names a class when it makes a call; nothing compares classes.
 */
#pragma once

#include "daemon/call/call.h"

/* call-query.c, call-text.c */
extern const QdCallClass qd_prepare_call;
extern const QdCallClass qd_query_call;
extern const QdCallClass qd_query_text_call;
extern const QdCallClass qd_explain_call;
/* call-subscribe.c */
extern const QdCallClass qd_subscribe_call;
extern const QdCallClass qd_prefixes_call;
/* call-update.c */
extern const QdCallClass qd_update_call;
extern const QdCallClass qd_batch_call;
/* payload-calls.c */
extern const QdCallClass qd_store_payload_call;
extern const QdCallClass qd_replace_payload_call;
extern const QdCallClass qd_delete_payload_call;
extern const QdCallClass qd_open_payloads_call;
