/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Counts of slots, and a slot for each thread.
 */
#include "daemon/runtime/run-slots.h"

#include "daemon/base/limits.h"
#include "daemon/base/thread.h"

/* A slot that is held for so many ticks without being long may be one that runs beside the others. */
#define BESIDE_TICKS 2
/* Of those that run beside the others each rests for so long, times their number: together they have about one core. */
#define REST_USEC 4000u
/* Of the long ones. Two looks of the interrupter fit in; a rest is shorter than three. */
#define TURN_USEC 8000u
#define REST_MAX_USEC (3 * TURN_USEC)

/* Of a thread. Under the mutex but for thread. */
typedef struct Slot {
    gboolean is_taken;
    gboolean is_long;   /* one of n_long */
    gboolean is_beside; /* one of n_beside, and none of n_running */
    guint n_ticks;      /* since it was taken */
    QdClient *client;   /* that has it */
    QdThread *thread;   /* NULL: not one of ours */
} Slot;

static _Thread_local Slot slot;

void
qd_run_slots_init(QdRunSlots *self, const QdLimits *limits)
{
    *self = (QdRunSlots){ .limits = limits, .n_cores = g_get_num_processors(), .threads = g_ptr_array_new() };
}

void
qd_run_slots_clear(QdRunSlots *self)
{
    g_clear_pointer(&self->threads, g_ptr_array_unref);
}

void
qd_run_slots_enter(QdRunSlots *self)
{
    slot.thread = qd_thread_get_self();
    g_ptr_array_add(self->threads, &slot);
}

void
qd_run_slots_leave(QdRunSlots *self)
{
    (void) g_ptr_array_remove_fast(self->threads, &slot);
}

static gboolean
take_long(QdRunSlots *self, QdClient *client)
{
    if (self->n_long >= qd_limits_get(self->limits, QD_LIMIT_RUNNING) ||
        !qd_client_charge(client, QD_CHARGE_LONG, qd_limits_get(self->limits, QD_LIMIT_RUNNING_PER_CLIENT)))
        return FALSE;

    self->n_long++;
    slot.is_long = TRUE;
    if (slot.is_beside) {
        slot.is_beside = FALSE;
        self->n_beside--;
        self->n_running++;
        qd_client_discharge(client, QD_CHARGE_BESIDE);
        (void) qd_client_charge(client, QD_CHARGE_RUNNING, UINT64_MAX);
    }
    return TRUE;
}

/* How many may run for this client to have one more. */
static uint64_t
get_max_running(const QdRunSlots *self, const QdClient *client, gboolean sliced)
{
    uint64_t max = qd_limits_get(self->limits, QD_LIMIT_RUNNING) + QD_RUN_SLOTS_SPARE;
    gboolean is_first = qd_client_get_n_charged(client, QD_CHARGE_RUNNING) <= qd_client_get_n_charged(client, QD_CHARGE_LONG);

    return is_first && !sliced ? max + QD_RUN_SLOTS_FIRST : max;
}

gboolean
qd_run_slots_take(QdRunSlots *self, QdClient *client, gboolean sliced)
{
    if (client == NULL)
        return TRUE;
    if (self->n_running >= get_max_running(self, client, sliced) ||
        !qd_client_charge(client, QD_CHARGE_RUNNING, qd_limits_get(self->limits, QD_LIMIT_RUNNING_PER_CLIENT) + QD_RUN_SLOTS_SPARE))
        return FALSE;
    if (sliced && !take_long(self, client)) {
        qd_client_discharge(client, QD_CHARGE_RUNNING);
        return FALSE;
    }
    self->n_running++;
    slot.is_taken = TRUE;
    slot.client = client;
    slot.n_ticks = 0;
    return TRUE;
}

void
qd_run_slots_note_use(QdRunSlots *self)
{
    if (self->recent[0].slot != &slot)
        self->recent[1] = self->recent[0];
    self->recent[0] = (QdSlotUse){ &slot, qd_thread_get_coarse_usec() };
}

uint64_t
qd_run_slots_get_others_usec(const QdRunSlots *self)
{
    return self->recent[self->recent[0].slot == &slot ? 1 : 0].usec;
}

void
qd_run_slots_give(QdRunSlots *self, QdClient *client)
{
    if (slot.is_beside)
        self->n_beside--;
    else
        self->n_running--;
    qd_client_discharge(client, slot.is_beside ? QD_CHARGE_BESIDE : QD_CHARGE_RUNNING);
    if (slot.is_long) {
        self->n_long--;
        qd_client_discharge(client, QD_CHARGE_LONG);
    }
    slot.is_taken = slot.is_long = slot.is_beside = FALSE;
}

QdLongVerdict
qd_run_slots_become_long(QdRunSlots *self, QdClient *client)
{
    if (slot.is_long || take_long(self, client))
        return QD_LONG_GRANTED;
    if (slot.is_beside || self->n_beside < qd_limits_get(self->limits, QD_LIMIT_RUNNING_BESIDE))
        return QD_LONG_DENIED;
    return QD_LONG_REFUSED;
}

/*
 * Long ones take turns by the clock, as many at once as there are cores. If all were runnable at once, each that is to end would
 * wait for the slices of all others. So would what is short.
 */
static uint64_t
get_time_to_turn(const QdRunSlots *self, uint64_t now_usec)
{
    uint64_t turn = now_usec / TURN_USEC;
    guint first = (guint) (turn * self->n_cores % self->n_long);
    guint n_before = 0;
    guint n_turns;

    for (guint i = 0; i < self->threads->len && self->threads->pdata[i] != &slot; i++)
        n_before += ((Slot *) self->threads->pdata[i])->is_long ? 1 : 0;
    n_turns = (n_before + self->n_long - first) % self->n_long / self->n_cores;
    return n_turns == 0 ? 0 : MIN((turn + n_turns) * TURN_USEC - now_usec, REST_MAX_USEC);
}

uint64_t
qd_run_slots_get_rest_usec(const QdRunSlots *self, uint64_t now_usec)
{
    if (self->n_running + self->n_beside <= self->n_cores)
        return 0;
    if (slot.is_beside)
        return self->n_beside * REST_USEC;
    if (self->n_over > 0)
        return REST_USEC;
    return slot.is_long && self->n_long > self->n_cores ? get_time_to_turn(self, now_usec) : 0;
}

void
qd_run_slot_set_batch(gboolean batch)
{
    if (slot.thread != NULL)
        qd_thread_set_batch(slot.thread, batch);
}

void
qd_run_slots_count_tick(QdRunSlots *self, guint n_over)
{
    for (guint i = 0; i < self->threads->len; i++)
        ((Slot *) self->threads->pdata[i])->n_ticks++;
    self->n_over = n_over;
}

/* TRUE: it holds a slot for short ones, of all or of its client. More places beside are left than its client has. */
static gboolean
can_go_beside(const QdRunSlots *self, const Slot *each)
{
    if (!each->is_taken || each->is_long || each->is_beside || each->n_ticks < BESIDE_TICKS)
        return FALSE;
    if (self->n_running <= qd_limits_get(self->limits, QD_LIMIT_RUNNING) &&
        qd_client_get_n_charged(each->client, QD_CHARGE_RUNNING) <= qd_limits_get(self->limits, QD_LIMIT_RUNNING_PER_CLIENT))
        return FALSE;
    return self->n_beside + qd_client_get_n_charged(each->client, QD_CHARGE_BESIDE) <
           qd_limits_get(self->limits, QD_LIMIT_RUNNING_BESIDE);
}

/* The one that has held its thread longest and does not leave it by now, although it could. */
static Slot *
find_holder(const QdRunSlots *self)
{
    Slot *found = NULL;

    for (guint i = 0; i < self->threads->len; i++) {
        Slot *each = self->threads->pdata[i];

        if (can_go_beside(self, each) && (found == NULL || each->n_ticks > found->n_ticks))
            found = each;
    }
    return found;
}

static void
put_beside(QdRunSlots *self, Slot *holder)
{
    holder->is_beside = TRUE;
    self->n_beside++;
    self->n_running--;
    (void) qd_client_charge(holder->client, QD_CHARGE_BESIDE, UINT64_MAX);
    qd_client_discharge(holder->client, QD_CHARGE_RUNNING);
    if (holder->thread != NULL)
        qd_thread_set_batch(holder->thread, TRUE);
}

gboolean
qd_run_slots_make_room(QdRunSlots *self)
{
    gboolean made = FALSE;
    Slot *holder;

    while ((holder = find_holder(self)) != NULL) {
        put_beside(self, holder);
        made = TRUE;
    }
    return made;
}
