/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The durable disk follows the syncs; what is not synced yet waits in a list.
 */
#include "tests/crash/power-cut.h"

#include <string.h>

/* What a disk writes as a whole. */
#define SECTOR_BYTES 512

struct PowerCut {
    const MemoryDisk *disk;
    guint n_ops;
    guint n_lies;
    guint position;
    MemoryDisk *durable;
    GArray *pending; /* of guint: indexes of operations */
};

PowerCut *
power_cut_new(const MemoryDisk *disk, guint n_ops, MemoryDisk *start, guint n_lies)
{
    PowerCut *self = g_new0(PowerCut, 1);

    self->disk = disk;
    self->n_ops = n_ops;
    self->n_lies = n_lies;
    self->durable = start != NULL ? memory_disk_copy(start) : memory_disk_new();
    self->pending = g_array_new(FALSE, FALSE, sizeof(guint));
    return self;
}

PowerCut *
power_cut_free(PowerCut *self)
{
    if (self == NULL)
        return NULL;

    memory_disk_free(self->durable);
    g_array_unref(self->pending);
    g_free(self);
    return NULL;
}

static gboolean
is_name_op(const DiskOp *op)
{
    return op->kind == DISK_OP_CREATE || op->kind == DISK_OP_DELETE || op->kind == DISK_OP_RENAME;
}

static gboolean
is_in_directory(const char *name, const char *directory)
{
    const char *slash = strchr(name, '/');

    gsize n_bytes = slash != NULL ? (gsize) (slash - name) : 0;

    return strlen(directory) == n_bytes && strncmp(name, directory, n_bytes) == 0;
}

static gboolean
is_made_durable_by(const DiskOp *op, const DiskOp *sync)
{
    if (sync->kind == DISK_OP_SYNC_DIRECTORY)
        return is_name_op(op) && is_in_directory(op->name, sync->name);
    return !is_name_op(op) && op->file == sync->file;
}

static void
pass_sync(PowerCut *self, const DiskOp *sync, guint index)
{
    guint horizon = (guint) sync->offset; /* when it began */
    guint n_kept = 0;

    if (self->n_lies > 0)
        horizon = MIN(horizon, index - MIN(index, self->n_lies));
    for (guint i = 0; i < self->pending->len; i++) {
        guint pending = g_array_index(self->pending, guint, i);
        const DiskOp *op = memory_disk_get_op(self->disk, pending);

        if (pending < horizon && is_made_durable_by(op, sync))
            memory_disk_apply(self->durable, op, 0, op->n_bytes);
        else
            g_array_index(self->pending, guint, n_kept++) = pending;
    }
    g_array_set_size(self->pending, n_kept);
}

void
power_cut_advance(PowerCut *self, guint index)
{
    g_assert(index <= self->n_ops);

    for (; self->position < index; self->position++) {
        const DiskOp *op = memory_disk_get_op(self->disk, self->position);

        if (op->kind == DISK_OP_SYNC || op->kind == DISK_OP_SYNC_DIRECTORY)
            pass_sync(self, op, self->position);
        else
            g_array_append_val(self->pending, self->position);
    }
}

/* Sectors are those of the file: a write that is not aligned touches a part of its first and last one. */
static void
apply_torn(MemoryDisk *image, const DiskOp *op, GRand *rand)
{
    gboolean prefix = g_rand_boolean(rand);
    gsize end = prefix ? (gsize) g_rand_int_range(rand, 0, (gint32) op->n_bytes + 1) : op->n_bytes;

    for (gsize done = 0; done < op->n_bytes;) {
        gsize n = MIN(op->n_bytes - done, SECTOR_BYTES - (op->offset + done) % SECTOR_BYTES);

        if (prefix ? done + n <= end : g_rand_boolean(rand))
            memory_disk_apply(image, op, done, n);
        done += n;
    }
}

typedef struct Luck {
    double kept; /* of the operations that are not synced */
    double torn; /* of those kept */
} Luck;

static void
apply_with_luck(MemoryDisk *image, const DiskOp *op, const Luck *luck, GRand *rand)
{
    if (g_rand_double(rand) >= luck->kept)
        return;
    if (op->kind == DISK_OP_WRITE && g_rand_double(rand) < luck->torn)
        apply_torn(image, op, rand);
    else
        memory_disk_apply(image, op, 0, op->n_bytes);
}

MemoryDisk *
power_cut_make_image(PowerCut *self, GRand *rand)
{
    static const Luck lucks[] = { { 0.5, 0.3 }, { 0.9, 0.1 }, { 0.1, 0.5 }, { 1.0, 0.0 }, { 0.98, 0.02 }, { 1.0, 0.3 } };
    const Luck *luck = &lucks[g_rand_int_range(rand, 0, G_N_ELEMENTS(lucks))];
    MemoryDisk *image = memory_disk_copy(self->durable);
    guint n = self->pending->len;
    /* in order up to an end, or at a random one */
    guint end = g_rand_boolean(rand) ? n : (guint) g_rand_int_range(rand, 0, (gint32) n + 1);
    guint names_end = g_rand_boolean(rand) ? n : (guint) g_rand_int_range(rand, 0, (gint32) n + 1);
    double names_kept = g_rand_boolean(rand) ? 1.0 : luck->kept; /* 1.0: names change in order, as with a journal */

    for (guint i = 0; i < n; i++) {
        const DiskOp *op = memory_disk_get_op(self->disk, g_array_index(self->pending, guint, i));

        if (is_name_op(op)) {
            if (i < names_end && g_rand_double(rand) < names_kept)
                memory_disk_apply(image, op, 0, 0);
        } else if (i < end) {
            apply_with_luck(image, op, luck, rand);
        }
    }
    return image;
}
