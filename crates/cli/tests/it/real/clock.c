// A wall clock that is ahead by as many seconds as the file CLOCK_AHEAD says, at any moment.

#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

static volatile long *ahead;

__attribute__((constructor)) static void look(void)
{
    const char *path = getenv("CLOCK_AHEAD");
    int file = path ? open(path, O_RDONLY | O_CLOEXEC) : -1;
    if (file < 0)
        return;
    void *seconds = mmap(NULL, sizeof(long), PROT_READ, MAP_SHARED, file, 0);
    if (seconds != MAP_FAILED)
        ahead = seconds;
    close(file);
}

int clock_gettime(clockid_t id, struct timespec *at)
{
    static int (*next)(clockid_t, struct timespec *);
    if (!next)
        next = dlsym(RTLD_NEXT, "clock_gettime");
    int failed = next(id, at);
    if (!failed && ahead && (id == CLOCK_REALTIME || id == CLOCK_REALTIME_COARSE))
        at->tv_sec += *ahead;
    return failed;
}

int gettimeofday(struct timeval *restrict at, void *restrict zone)
{
    struct timespec now;
    (void)zone;
    if (clock_gettime(CLOCK_REALTIME, &now))
        return -1;
    at->tv_sec = now.tv_sec;
    at->tv_usec = now.tv_nsec / 1000;
    return 0;
}

time_t time(time_t *at)
{
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    if (at)
        *at = now.tv_sec;
    return now.tv_sec;
}
