/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Which payload files are to be looked at after a commit.
 *
 * Place: room payload, for the writer, which hears of it, and the threads that do it.
 */
#pragma once

typedef enum QdPayloadSweep {
    QD_PAYLOAD_SWEEP_NONE,
    QD_PAYLOAD_SWEEP_LATER, /* files that rows have given up, after others: the log has to be synced first */
    QD_PAYLOAD_SWEEP_SOME,  /* files that rows have given up */
    QD_PAYLOAD_SWEEP_ALL,   /* every file of the folder is looked at */
} QdPayloadSweep;
