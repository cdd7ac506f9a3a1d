/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Loaded before everything else: fdatasync() and fsync() take at least as many microseconds as QUERYD_SYNC_USEC says. So what a
 * disk that takes longer changes is measured on one that does not, for all programs of a run alike.
 */
#include <stdint.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define USEC_MAX 10000000
#define NSEC_PER_SEC 1000000000

static long
get_nsec(void)
{
    const char *text = getenv("QUERYD_SYNC_USEC");
    long usec = text != NULL ? strtol(text, NULL, 10) : 0;

    return usec > 0 && usec <= USEC_MAX ? usec * 1000 : 0;
}

/* Asleep, as one waits for a disk. */
static void
wait_until(struct timespec end)
{
    end.tv_sec += end.tv_nsec / NSEC_PER_SEC;
    end.tv_nsec %= NSEC_PER_SEC;
    (void) prctl(PR_SET_TIMERSLACK, 1ul, 0ul, 0ul, 0ul); /* of 50 us otherwise */
    (void) clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &end, NULL);
}

static int
sync_slowly(long number, int fd)
{
    struct timespec end;
    int r;

    (void) clock_gettime(CLOCK_MONOTONIC, &end);
    end.tv_sec += get_nsec() / NSEC_PER_SEC;
    end.tv_nsec += get_nsec() % NSEC_PER_SEC;
    r = (int) syscall(number, fd);
    if (r == 0)
        wait_until(end);
    return r;
}

int
fdatasync(int fd)
{
    return sync_slowly(SYS_fdatasync, fd);
}

int
fsync(int fd)
{
    return sync_slowly(SYS_fsync, fd);
}
