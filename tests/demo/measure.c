/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * /proc is the only source for memory: what the kernel charges, not what an allocator believes.
 */
#include "tests/demo/measure.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

#define SAMPLE_INTERVAL_USEC 5000

void
samples_init(Samples *self)
{
    self->values = g_array_new(FALSE, FALSE, sizeof(double));
}

void
samples_clear(Samples *self)
{
    g_clear_pointer(&self->values, g_array_unref);
}

void
samples_add(Samples *self, double value)
{
    g_array_append_val(self->values, value);
}

static gint
compare_doubles(gconstpointer a, gconstpointer b)
{
    double x = *(const double *) a;
    double y = *(const double *) b;

    return (x > y) - (x < y);
}

double
samples_get_quantile(Samples *self, double fraction)
{
    guint n = self->values->len;

    if (n == 0)
        return 0;

    g_array_sort(self->values, compare_doubles);
    return g_array_index(self->values, double, MIN((guint) (fraction * n), n - 1));
}

double
samples_get_mean(const Samples *self)
{
    double sum = 0;

    for (guint i = 0; i < self->values->len; i++)
        sum += g_array_index(self->values, double, i);
    return self->values->len > 0 ? sum / self->values->len : 0;
}

double
get_now_msec(void)
{
    return (double) g_get_monotonic_time() / 1000.0;
}

guint64
get_status_kib(GPid pid, const char *field)
{
    g_autofree char *path = g_strdup_printf("/proc/%d/status", (int) pid);
    g_autofree char *text = NULL;
    g_autofree char *key = g_strdup_printf("\n%s:", field);
    const char *place;

    if (!g_file_get_contents(path, &text, NULL, NULL))
        return 0;

    place = strstr(text, key);
    return place != NULL ? g_ascii_strtoull(place + strlen(key), NULL, 10) : 0;
}

double
get_cpu_msec(GPid pid)
{
    struct timespec used;
    clockid_t clock;

    if (clock_getcpuclockid(pid, &clock) != 0 || clock_gettime(clock, &used) != 0)
        return 0;

    return (double) used.tv_sec * 1e3 + (double) used.tv_nsec / 1e6;
}

void
reset_peak(GPid pid)
{
    g_autofree char *path = g_strdup_printf("/proc/%d/clear_refs", (int) pid);
    FILE *file = fopen(path, "we");

    if (file == NULL)
        return;
    (void) fputs("5", file);
    (void) fclose(file);
}

struct AnonSampler {
    GPid pid;
    GThread *thread;
    GMutex mutex;
    GCond cond;
    gboolean stopping; /* guarded by mutex */
    guint64 peak_kib;
};

static gpointer
sample(gpointer data)
{
    AnonSampler *self = data;

    g_mutex_lock(&self->mutex);
    while (!self->stopping) {
        self->peak_kib = MAX(self->peak_kib, get_status_kib(self->pid, "RssAnon"));
        (void) g_cond_wait_until(&self->cond, &self->mutex, g_get_monotonic_time() + SAMPLE_INTERVAL_USEC);
    }
    g_mutex_unlock(&self->mutex);
    return NULL;
}

AnonSampler *
anon_sampler_start(GPid pid)
{
    AnonSampler *self = g_new0(AnonSampler, 1);

    self->pid = pid;
    g_mutex_init(&self->mutex);
    g_cond_init(&self->cond);
    self->thread = g_thread_new("sampler", sample, self);
    return self;
}

guint64
anon_sampler_stop(AnonSampler *self)
{
    guint64 peak_kib;

    g_mutex_lock(&self->mutex);
    self->stopping = TRUE;
    g_cond_signal(&self->cond);
    g_mutex_unlock(&self->mutex);
    (void) g_thread_join(self->thread);
    peak_kib = MAX(self->peak_kib, get_status_kib(self->pid, "RssAnon"));
    g_mutex_clear(&self->mutex);
    g_cond_clear(&self->cond);
    g_free(self);
    return peak_kib;
}
