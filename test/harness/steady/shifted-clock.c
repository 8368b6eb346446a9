// Preloaded into processes whose clock of the day a test sets: the seconds in the file KEYSTORED_CLOCK are added to it. Monotonic clocks stay, as
// when somebody sets the clock of a machine.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

static int (*real_gettime)(clockid_t, struct timespec *);
static const volatile int64_t *shift;

__attribute__((constructor)) static void begin(void)
{
	real_gettime = (int (*)(clockid_t, struct timespec *))dlsym(RTLD_NEXT, "clock_gettime");
	const char *path = getenv("KEYSTORED_CLOCK");
	int file = path == NULL ? -1 : open(path, O_RDONLY | O_CLOEXEC);
	if (file < 0)
		return;
	void *mapped = mmap(NULL, sizeof *shift, PROT_READ, MAP_SHARED, file, 0);
	close(file);
	if (mapped != MAP_FAILED)
		shift = mapped;
}

int clock_gettime(clockid_t clock, struct timespec *at)
{
	if (real_gettime == NULL)
		begin();
	int result = real_gettime(clock, at);
	if (result == 0 && shift != NULL && (clock == CLOCK_REALTIME || clock == CLOCK_REALTIME_COARSE))
		at->tv_sec += *shift;
	return result;
}

int gettimeofday(struct timeval *restrict at, void *restrict zone)
{
	(void)zone;
	struct timespec now;
	int result = clock_gettime(CLOCK_REALTIME, &now);
	if (result == 0)
		*at = (struct timeval){.tv_sec = now.tv_sec, .tv_usec = now.tv_nsec / 1000};
	return result;
}

time_t time(time_t *at)
{
	struct timespec now;
	if (clock_gettime(CLOCK_REALTIME, &now) != 0)
		return (time_t)-1;
	if (at != NULL)
		*at = now.tv_sec;
	return now.tv_sec;
}
