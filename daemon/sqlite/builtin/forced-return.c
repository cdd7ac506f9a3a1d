/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The handler changes what the kernel restores when it returns. These are the registers that a function keeps for its caller, as
 * the unwinder finds them, and the result. The stack and all else stay as they are.
 *
 * Its functions are known by where they begin. Those of modules are in SQLite's tables, to which each cursor leads. The others are
 * called by way of one that is not on the stack any more. So a statement of each is watched while it allocates.
 *
 * Where the interpreter has called another function, registers stay as they are. The programs of the statements end then.
 */
#include "daemon/sqlite/builtin/forced-return.h"

#include <sqlite3.h>

#if defined(__x86_64__) && defined(__linux__) && !defined(__SANITIZE_THREAD__)

#include <errno.h>
#include <link.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <ucontext.h>
#include <unistd.h>
#include <unwind.h>

#include "daemon/base/interrupt.h"
#include "daemon/base/thread.h"
#include "daemon/sqlite/builtin/builtin.h"
#include "daemon/sqlite/builtin/fts-calls.h"
#include "daemon/sqlite/builtin/program-end.h"
#include "daemon/sqlite/memory.h"

#define MAX_DEPTH 24
#define MAX_CALLS 16
/* So many looks have to find the same. Before a call is made to return they follow each other, with so much of the processor
 * between. A function changes a structure, or takes a page, within less. */
#define N_LOOKS 3
#define QUIET_NSEC INT64_C(1000000)
#define LEARN_BYTES (16 * UINT64_C(1048576))
/* Of a function that returns nothing this is dropped; then the interpreter asks soon. */
#define RESULT SQLITE_INTERRUPT

/* What a thread does: the functions from the innermost to the one that the interpreter has called. */
typedef struct Place {
    guint depth;
    uintptr_t functions[MAX_DEPTH];
    uint64_t n_changes;
    gint64 cpu_nsec;
    guint n_looks; /* that have found it */
} Place;

/* A function that the interpreter has called. */
typedef struct Call {
    uintptr_t function;
    guint n_looks; /* that have found it */
} Call;

/* Those of a statement, which calls some in turn. */
typedef struct Calls {
    guint n_watches; /* of the thread so far: a signal may come when another statement has begun */
    uintptr_t stack; /* of the interpreter */
    guint n;
    Call items[MAX_CALLS];
} Calls;

/* From the signal's frame, or that of a function of ours, to the interpreter. */
typedef struct Walk {
    uintptr_t from; /* an instruction of SQLite's; 0: the first that comes */
    gboolean inside;
    gboolean arrived;
    uintptr_t stack; /* the interpreter's */
    Place place;
    ucontext_t *context; /* (nullable): gets the registers as the interpreter has them */
} Walk;

/* DWARF's numbers of the registers that a function keeps, and the kernel's. */
static const struct {
    int dwarf;
    int kernel;
} kept_registers[] = { { 3, REG_RBX }, { 6, REG_RBP }, { 12, REG_R12 }, { 13, REG_R13 }, { 14, REG_R14 }, { 15, REG_R15 } };

/* Written once, by the first request, before any signal. */
static struct {
    gboolean is_complete;
    uintptr_t text_start;
    uintptr_t text_end;
    uintptr_t interpreter;
    guint n_calls;
    uintptr_t calls[MAX_CALLS];
} sqlite;

static _Thread_local Place last;
static _Thread_local Calls last_calls;

static gboolean
is_in_sqlite(uintptr_t address)
{
    return address >= sqlite.text_start && address < sqlite.text_end;
}

static gboolean
is_known_call(uintptr_t function)
{
    for (guint i = 0; i < sqlite.n_calls; i++)
        if (sqlite.calls[i] == function)
            return TRUE;
    return FALSE;
}

static void
take_registers(Walk *self, struct _Unwind_Context *frame)
{
    greg_t *registers = self->context->uc_mcontext.gregs;

    for (gsize i = 0; i < G_N_ELEMENTS(kept_registers); i++)
        registers[kept_registers[i].kernel] = (greg_t) _Unwind_GetGR(frame, kept_registers[i].dwarf);
    registers[REG_RIP] = (greg_t) _Unwind_GetIP(frame);
    registers[REG_RSP] = (greg_t) _Unwind_GetCFA(frame);
    registers[REG_RAX] = RESULT;
}

static _Unwind_Reason_Code
on_frame(struct _Unwind_Context *frame, void *data)
{
    Walk *self = data;
    uintptr_t address = _Unwind_GetIP(frame);
    uintptr_t function;

    if (!self->inside) {
        if (self->from != 0 ? address != self->from : !is_in_sqlite(address))
            return _URC_NO_REASON;
        self->inside = TRUE;
    }
    function = is_in_sqlite(address) ? _Unwind_GetRegionStart(frame) : 0;
    if (function == 0)
        return _URC_END_OF_STACK;
    if (function == sqlite.interpreter) {
        self->arrived = self->place.depth > 0;
        self->stack = _Unwind_GetCFA(frame);
        if (self->arrived && self->context != NULL)
            take_registers(self, frame);
        return _URC_END_OF_STACK;
    }
    if (self->place.depth == MAX_DEPTH)
        return _URC_END_OF_STACK;
    self->place.functions[self->place.depth++] = function;
    return _URC_NO_REASON;
}

/* A shadow stack, where the kernel gives one, knows of each return. */
static gboolean
has_shadow_stack(void)
{
    uint64_t pointer = 0;

    __asm__ volatile("rdsspq %0" : "+r"(pointer)); /* does nothing where there is none */
    return pointer != 0;
}

static gint64
get_cpu_nsec(void)
{
    struct timespec used = { 0 };

    (void) clock_gettime(CLOCK_THREAD_CPUTIME_ID, &used);
    return used.tv_sec * INT64_C(1000000000) + used.tv_nsec;
}

/* Whether the thread was there the last time, and has only calculated since. */
static gboolean
is_quiet(const Place *place)
{
    return last.depth == place->depth && last.n_changes == place->n_changes && place->cpu_nsec >= last.cpu_nsec + QUIET_NSEC &&
           memcmp(last.functions, place->functions, place->depth * sizeof place->functions[0]) == 0;
}

static uintptr_t
get_call(const Walk *walk)
{
    return walk->place.functions[walk->place.depth - 1];
}

/* Returns: how many looks have found the call of @walk. What is found three times is none of the short calls that change the
 * program, as those at the ends of a trigger do. */
static guint
note_call(const Walk *walk)
{
    Calls *calls = &last_calls;
    uintptr_t function = get_call(walk);

    if (calls->n_watches != qd_interrupt_count() || calls->stack != walk->stack)
        *calls = (Calls){ .n_watches = qd_interrupt_count(), .stack = walk->stack };
    for (guint i = 0; i < calls->n; i++)
        if (calls->items[i].function == function)
            return ++calls->items[i].n_looks;
    if (calls->n == MAX_CALLS)
        calls->n = 0;
    calls->items[calls->n++] = (Call){ function, 1 };
    return 1;
}

/* A call that does not end is rare; a program without jumps has many. */
static void
end_program(const Walk *walk)
{
    if (note_call(walk) >= N_LOOKS && qd_program_end(qd_interrupt_get_connection()))
        (void) qd_interrupt_note_forced(false);
}

/* Only what may be called amid anything. A thread that runs a statement holds no lock of the unwinder. A call is made to return
 * from SQLite's own code only; a program may be ended from a function below, as memcpy(). */
static void
on_signal(int number, siginfo_t *info, void *data)
{
    ucontext_t *context = data;
    ucontext_t changed = *context;
    uintptr_t address = (uintptr_t) context->uc_mcontext.gregs[REG_RIP];
    Walk walk = { .from = is_in_sqlite(address) ? address : 0, .context = &changed };
    int kept_errno = errno;

    (void) _Unwind_Backtrace(on_frame, &walk);
    walk.place.n_changes = qd_memory_count_thread_changes();
    walk.place.cpu_nsec = get_cpu_nsec();
    walk.place.n_looks = is_quiet(&walk.place) ? last.n_looks + 1 : 1;
    last = walk.place;
    if (!walk.arrived || !is_known_call(get_call(&walk)) || walk.from == 0) {
        last.depth = 0;
    } else if (last.n_looks >= N_LOOKS && qd_interrupt_note_forced(true)) {
        memcpy(context->uc_mcontext.gregs, changed.uc_mcontext.gregs, sizeof changed.uc_mcontext.gregs);
        last.depth = 0;
    }
    if (walk.arrived && !is_known_call(get_call(&walk)))
        end_program(&walk);
    errno = kept_errno;
}

/* What SQLite has ------------------------------------------------------------------------------------------------------- */

static int
find_text(struct dl_phdr_info *info, size_t size, void *data)
{
    const uintptr_t address = (uintptr_t) sqlite3_step;

    for (guint i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *part = &info->dlpi_phdr[i];
        uintptr_t start = info->dlpi_addr + part->p_vaddr;

        if (part->p_type != PT_LOAD || (part->p_flags & PF_X) == 0 || address < start || address >= start + part->p_memsz)
            continue;
        sqlite.text_start = start;
        sqlite.text_end = start + part->p_memsz;
        return 1;
    }
    return 0;
}

static void
add_call(uintptr_t function)
{
    if (function != 0 && !is_known_call(function) && sqlite.n_calls < MAX_CALLS)
        sqlite.calls[sqlite.n_calls++] = function;
}

/* xFilter() and xNext() find rows. */
static void
add_module(const void *cursor)
{
    const sqlite3_module *module = ((const sqlite3_vtab_cursor *) cursor)->pVtab->pModule;

    add_call((uintptr_t) module->xFilter);
    add_call((uintptr_t) module->xNext);
}

/* The interpreter that calls a function of ours. */
typedef struct Caller {
    uintptr_t function;
    uintptr_t stack;
} Caller;

static Caller witness_caller;

/* In an allocation: a call of this interpreter allocates, or one of a statement within. */
static void
on_allocation(void)
{
    Walk walk = { 0 };

    (void) _Unwind_Backtrace(on_frame, &walk);
    if (walk.arrived && walk.stack == witness_caller.stack)
        add_call(walk.place.functions[walk.place.depth - 1]);
}

static _Unwind_Reason_Code
on_caller(struct _Unwind_Context *frame, void *data)
{
    Caller *caller = data;

    if (!is_in_sqlite(_Unwind_GetIP(frame)))
        return _URC_NO_REASON;
    *caller = (Caller){ _Unwind_GetRegionStart(frame), _Unwind_GetCFA(frame) };
    return _URC_END_OF_STACK;
}

/* learn(table): the interpreter calls it with the cursor of FTS3 or FTS4. */
static void
learn_cursor(sqlite3_context *context, int n_args, sqlite3_value **args)
{
    const void *cursor = sqlite3_value_pointer(args[0], "fts3cursor");
    Caller caller = { 0 };

    (void) _Unwind_Backtrace(on_caller, &caller);
    sqlite.interpreter = caller.function;
    if (cursor != NULL)
        add_module(cursor);
}

/* witness(yes): calls of full text come between two of these. */
static void
set_witness(sqlite3_context *context, int n_args, sqlite3_value **args)
{
    (void) _Unwind_Backtrace(on_caller, &witness_caller);
    qd_memory_set_witness(sqlite3_value_int(args[0]) != 0 ? on_allocation : NULL);
}

/* FTS5 gives its cursor, which is known of the versions whose source has been read. */
static void
learn_context(const Fts5ExtensionApi *api, Fts5Context *context, sqlite3_context *result, int n_args, sqlite3_value **args)
{
    add_module(context);
}

static gboolean
register_fts5(sqlite3 *db)
{
    fts5_api *api = qd_builtin_is_known() ? qd_fts_calls_get_api(db) : NULL;

    return api != NULL && api->xCreateFunction(api, "learn5", NULL, learn_context, NULL) == SQLITE_OK;
}

static void
learn_from(sqlite3 *db)
{
    static const char
        fts4[] = "CREATE VIRTUAL TABLE temp.a USING fts4(t); INSERT INTO a VALUES('b b');"
                 "SELECT learn(a) FROM a WHERE a MATCH 'b';"
                 "SELECT witness(1), matchinfo(a, 's'), offsets(a), snippet(a), witness(0) FROM a WHERE a MATCH 'b b'";
    static const char fts5[] = "CREATE VIRTUAL TABLE temp.c USING fts5(t); INSERT INTO c VALUES('b');"
                               "SELECT learn5(c) FROM c WHERE c MATCH 'b'";

    if (sqlite3_create_function(db, "learn", 1, SQLITE_UTF8, NULL, learn_cursor, NULL, NULL) != SQLITE_OK ||
        sqlite3_create_function(db, "witness", 1, SQLITE_UTF8, NULL, set_witness, NULL, NULL) != SQLITE_OK)
        return;
    sqlite.is_complete = sqlite3_exec(db, fts4, NULL, NULL, NULL) == SQLITE_OK && sqlite.interpreter != 0;
    if (sqlite.is_complete && register_fts5(db))
        (void) sqlite3_exec(db, fts5, NULL, NULL, NULL);
    (void) qd_program_learn(db);
}

/* Once in a process. */
static void
learn(void)
{
    const struct sigaction action = { .sa_sigaction = on_signal, .sa_flags = SA_SIGINFO | SA_RESTART };
    sqlite3 *db = NULL;

    if (has_shadow_stack() || dl_iterate_phdr(find_text, NULL) == 0 || is_in_sqlite((uintptr_t) on_signal))
        return; /* at last: SQLite is no library by itself, and its functions are not known from ours */
    qd_memory_begin_budget(LEARN_BYTES, UINT64_MAX);
    if (sqlite3_open_v2(":memory:", &db, SQLITE_OPEN_READWRITE | SQLITE_OPEN_MEMORY, NULL) == SQLITE_OK)
        learn_from(db);
    (void) sqlite3_close(db);
    (void) qd_memory_end_budget();
    if (sqlite.is_complete && sigaction(QD_INTERRUPT_SIGNAL, &action, NULL) < 0)
        sqlite.is_complete = FALSE;
}

gboolean
qd_forced_return_is_possible(void)
{
    static gsize once;

    if (g_once_init_enter(&once)) {
        learn();
        g_once_init_leave(&once, 1);
    }
    return sqlite.is_complete;
}

void
qd_forced_return_request(const QdThread *thread)
{
    if (qd_forced_return_is_possible())
        (void) syscall(SYS_tgkill, getpid(), thread->tid, QD_INTERRUPT_SIGNAL);
}

#else

void
qd_forced_return_request(const QdThread *thread)
{
}

gboolean
qd_forced_return_is_possible(void)
{
    return FALSE;
}

#endif
