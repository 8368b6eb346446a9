// Preloaded into the processes of a daemon, for tests: makes a system call on the files below one directory fail, wait or do half of its
// work. Which one, a table in shared memory says that the test writes (faulty-disk.ts); all processes count their calls together.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

// In the order of the lists in faulty-disk.ts.
enum call { OPEN, READ, WRITE, SYNC, TRUNCATE, RENAME, UNLINK, MKDIR };
enum kind { NONE, FAIL, WAIT, HALF };

// As faulty-disk.ts writes it. Calls below the directory whose path has `part` in it pass `before` times, then the fault strikes.
struct table {
  _Atomic uint32_t armed;
  uint32_t call;
  uint32_t kind;
  uint32_t argument;
  _Atomic int32_t before;
  _Atomic int32_t times;
  _Atomic uint32_t struck;
  _Atomic uint32_t seen[MKDIR + 1];
  char directory[256];
  char part[64];
};

static struct table *table;

__attribute__((constructor)) static void load(void) {
  const char *path = getenv("KEYSTORED_DISK_TABLE");
  int file = path == NULL ? -1 : open(path, O_RDWR | O_CLOEXEC);
  if (file < 0) return;
  void *mapped = mmap(NULL, sizeof *table, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  close(file);
  if (mapped != MAP_FAILED) table = mapped;
}

static int is_ours(int fd, const char *path) {
  char link[32], target[PATH_MAX];
  if (path == NULL) {
    snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    ssize_t length = readlink(link, target, sizeof target - 1);
    if (length < 0) return 0;
    target[length] = 0;
    path = target;
  }
  return strncmp(path, table->directory, strlen(table->directory)) == 0 && strstr(path, table->part) != NULL;
}

// What is to happen to a call; `errno` is set for one that fails. A call that waits goes on as if nothing were.
static enum kind fault_of(enum call call, int fd, const char *path) {
  int before_errno = errno;
  if (table == NULL || atomic_load(&table->armed) == 0 || !is_ours(fd, path)) {
    errno = before_errno;
    return NONE;
  }
  atomic_fetch_add(&table->seen[call], 1);
  if (table->call != call) return NONE;
  if (atomic_fetch_sub(&table->before, 1) > 0 || atomic_fetch_sub(&table->times, 1) <= 0) return NONE;
  atomic_fetch_add(&table->struck, 1);
  if (table->kind == FAIL) errno = table->argument;
  if (table->kind != WAIT) return table->kind;
  nanosleep(&(struct timespec){table->argument / 1000, table->argument % 1000 * 1000000L}, NULL);
  return NONE;
}

// The function of the C library that this one stands before.
#define NEXT(name)                  \
  static __typeof__(name) *next;    \
  if (next == NULL) next = (__typeof__(name) *)dlsym(RTLD_NEXT, #name)

#define ON_PATH(name, call, parameters, arguments, path)          \
  int name parameters {                                           \
    NEXT(name);                                                   \
    return fault_of(call, -1, path) == FAIL ? -1 : next arguments; \
  }

#define ON_FILE(type, name, call, parameters, arguments, ...)        \
  type name parameters {                                             \
    NEXT(name);                                                      \
    switch (fault_of(call, fd, NULL)) {                              \
      case FAIL: return -1;                                          \
      case HALF: { __VA_ARGS__; return next arguments; }             \
      default: return next arguments;                                \
    }                                                                \
  }

#define OPENING(name)                                                 \
  int name(const char *path, int flags, ...) {                        \
    NEXT(name);                                                       \
    va_list more;                                                     \
    va_start(more, flags);                                            \
    mode_t mode = flags & (O_CREAT | O_TMPFILE) ? va_arg(more, mode_t) : 0; \
    va_end(more);                                                     \
    return fault_of(OPEN, -1, path) == FAIL ? -1 : next(path, flags, mode); \
  }

// The first half of the first piece.
#define HALF_OF_PIECES                                                                             \
  struct iovec half = {pieces->iov_base, (pieces->iov_len + 1) / 2};                               \
  pieces = &half;                                                                                  \
  count = 1

OPENING(open)
OPENING(open64)
ON_PATH(rename, RENAME, (const char *from, const char *to), (from, to), to)
ON_PATH(unlink, UNLINK, (const char *path), (path), path)
ON_PATH(mkdir, MKDIR, (const char *path, mode_t mode), (path, mode), path)
ON_FILE(int, fsync, SYNC, (int fd), (fd), )
ON_FILE(int, fdatasync, SYNC, (int fd), (fd), )
ON_FILE(int, ftruncate, TRUNCATE, (int fd, off_t length), (fd, length), )
ON_FILE(int, ftruncate64, TRUNCATE, (int fd, off64_t length), (fd, length), )
ON_FILE(ssize_t, read, READ, (int fd, void *to, size_t length), (fd, to, length), length = (length + 1) / 2)
ON_FILE(ssize_t, pread, READ, (int fd, void *to, size_t length, off_t at), (fd, to, length, at), length = (length + 1) / 2)
ON_FILE(ssize_t, pread64, READ, (int fd, void *to, size_t length, off64_t at), (fd, to, length, at), length = (length + 1) / 2)
ON_FILE(ssize_t, write, WRITE, (int fd, const void *from, size_t length), (fd, from, length), length = (length + 1) / 2)
ON_FILE(ssize_t, pwrite, WRITE, (int fd, const void *from, size_t length, off_t at), (fd, from, length, at), length = (length + 1) / 2)
ON_FILE(ssize_t, pwrite64, WRITE, (int fd, const void *from, size_t length, off64_t at), (fd, from, length, at), length = (length + 1) / 2)
ON_FILE(ssize_t, writev, WRITE, (int fd, const struct iovec *pieces, int count), (fd, pieces, count), HALF_OF_PIECES)
ON_FILE(ssize_t, pwritev, WRITE, (int fd, const struct iovec *pieces, int count, off_t at), (fd, pieces, count, at), HALF_OF_PIECES)
ON_FILE(ssize_t, pwritev64, WRITE, (int fd, const struct iovec *pieces, int count, off64_t at), (fd, pieces, count, at), HALF_OF_PIECES)
