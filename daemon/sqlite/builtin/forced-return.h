/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The end of statements that SQLite does not end: a call of full text is made to return, another program is ended.
 *
 * Place: room sqlite, for the interrupter. FTS3, FTS4 and NEAR of FTS5 work on one document for minutes, and ask nothing meanwhile
 * (docs/decisions/long-steps.md). A signal comes to the thread in such a loop. Its handler unwinds the stack to SQLite's
 * interpreter, and lets it go on there, as if the call had returned SQLITE_INTERRUPT. Where the interpreter calls something else,
 * in a program without jumps, the handler ends that program (program-end.h).
 *
 * Invariant of a call that is made to return: all functions between are SQLite's. The outermost is known to be one of full text
 * that reads. For a while the thread has stood in the same functions, and has allocated and freed nothing.
 */
#pragma once

#include <glib.h>

typedef struct QdThread QdThread;

/**
 * qd_forced_return_request:
 * @thread: runs a statement, which is over and was interrupted
 *
 * One try: the caller repeats it from time to time. Three of them have to find the thread in the same place, or the interpreter in
 * calls of one function. What a call has allocated in the meantime may be lost. So nothing but the end of its transaction, and
 * closing, may follow on its connection.
 *
 * The first call in a process looks for SQLite's functions, which takes a millisecond. Where they are not found, on other
 * processors than x86-64 and under ThreadSanitizer nothing happens. qd_interrupt_note_forced() says that it was done.
 *
 * Thread: one at a time, while that of @thread lives.
 */
void qd_forced_return_request(const QdThread *thread);

/* qd_forced_return_is_possible: whether qd_forced_return_request() can do anything here. It looks for SQLite's functions. */
gboolean qd_forced_return_is_possible(void);
