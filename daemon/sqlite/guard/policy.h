/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What a statement may do, and what it does to its transaction.
 *
 * Place: room sqlite, for those who name these and know no guard.
 */
#pragma once

typedef enum QdPolicy {
    QD_POLICY_READ,     /* a client's query */
    QD_POLICY_WRITE,    /* a client's update */
    QD_POLICY_INTERNAL, /* our own statements: everything */
} QdPolicy;

/* What a statement does to the transaction that it is in. */
typedef enum QdControl {
    QD_CONTROL_NONE,
    QD_CONTROL_BEGIN,
    QD_CONTROL_COMMIT,
    QD_CONTROL_ROLLBACK,
    QD_CONTROL_SAVEPOINT, /* SAVEPOINT, RELEASE, ROLLBACK TO */
} QdControl;
