// Preloaded into a process whose store commits: kills it when the page that makes a commit count is on the disk, before LMDB has told others.
// Where KEYSTORED_KILL_ONCE names a file, that is worker 2 of an appliance, which runs no jobs, once the file is there; it is removed.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>
#include <unistd.h>

ssize_t pwrite(int file, const void *octets, size_t length, off_t at)
{
	ssize_t (*real)(int, const void *, size_t, off_t) =
		(ssize_t (*)(int, const void *, size_t, off_t))dlsym(RTLD_NEXT, "pwrite");
	ssize_t written = real(file, octets, length, at);
	const char *once = getenv("KEYSTORED_KILL_ONCE"), *worker = getenv("KEYSTORED_WORKER");
	// LMDB opens the file of the store a second time, synchronous, for these pages alone.
	if ((fcntl(file, F_GETFL) & O_DSYNC) && (once == NULL || (worker != NULL && strcmp(worker, "2") == 0 && unlink(once) == 0)))
		kill(getpid(), SIGKILL);
	return written;
}

ssize_t pwrite64(int file, const void *octets, size_t length, off64_t at)
{
	return pwrite(file, octets, length, at);
}
