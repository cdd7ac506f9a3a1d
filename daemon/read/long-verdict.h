/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What a run that has worked for longer than a short one should is allowed.
 *
 * Place: room read, for those who run and those who count what runs long.
 */
#pragma once

typedef enum QdLongVerdict {
    QD_LONG_GRANTED, /* it may go on */
    QD_LONG_DENIED,  /* as many run long as may: it gives the thread up if it can, else it goes on */
    QD_LONG_REFUSED, /* the same, but if it cannot it ends with BUSY */
} QdLongVerdict;
