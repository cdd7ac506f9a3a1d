/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The kinds of jobs, as call-classes.h has those of the other calls.
 *
 * Place: room job.
 */
#pragma once

#include "daemon/call/call.h"

extern const QdCallClass qd_export_call;
extern const QdCallClass qd_import_call;
extern const QdCallClass qd_dump_call;
extern const QdCallClass qd_backup_call;
extern const QdCallClass qd_restore_call;
extern const QdCallClass qd_check_call;
extern const QdCallClass qd_optimize_call;
extern const QdCallClass qd_full_text_call;
