/*
 * Stands between a program and the files of one directory (LD_PRELOAD):
 *
 * - writes down every change and every fsync, with the data, so that the harness
 *   can tell what a power cut would have left (in the manner of dm-log-writes);
 * - fails calls, and fills the disk, as a control file says;
 * - moves the wall clock.
 *
 * SQLite writes past Node's `fs`, so it sits at the C library.
 *
 * DISK_SHIM_DIR      the directory; files whose name ends in "-shm" are left out,
 *                         as they are mapped into memory and are nothing after a crash
 * DISK_SHIM_LOG      the log; none is written without it
 * DISK_SHIM_CONTROL  the control file, mapped; see `struct control`
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

enum { MAX_FDS = 65536, MAX_PATH = 4096 };
enum { WRITES = 1, SYNCS = 2, TRUNCATES = 4 };

struct control {
  int64_t clock_offset_ns;
  /* Counts down at each call of `kinds`; the call that brings it to 0 fails. 0: none does. */
  int64_t countdown;
  int64_t error;
  /* All later ones fail, too. */
  int64_t sticky;
  /* A write that fails puts half of its bytes down first, and tells so; the next one fails. */
  int64_t is_short;
  int64_t kinds;
  /* How many bytes files may still grow by; -1: as many as they like. */
  int64_t room;
  /* Told back. */
  int64_t counted;
  int64_t failed;
};

struct record {
  uint8_t op;
  uint8_t flags;
  uint16_t path_length;
  uint32_t id;
  int64_t offset;
  uint32_t length;
  uint32_t second_path_length;
} __attribute__((packed));

static char dir[MAX_PATH];
static size_t dir_length;
static int log_fd = -1;
static struct control *control;
static int fail_next;
static uint32_t next_id;
static uint32_t ids[MAX_FDS];
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

#define REAL(type, name, ...) \
  static type (*real)(__VA_ARGS__); \
  if (!real) real = (type(*)(__VA_ARGS__))dlsym(RTLD_NEXT, name)

__attribute__((constructor)) static void begin(void) {
  const char *wanted = getenv("DISK_SHIM_DIR");
  const char *log = getenv("DISK_SHIM_LOG");
  const char *file = getenv("DISK_SHIM_CONTROL");
  if (wanted) {
    strncpy(dir, wanted, sizeof dir - 1);
    dir_length = strlen(dir);
  }
  if (log) log_fd = (int)syscall(SYS_openat, AT_FDCWD, log, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
  if (!file) return;
  int fd = (int)syscall(SYS_openat, AT_FDCWD, file, O_RDWR | O_CLOEXEC, 0);
  if (fd < 0) return;
  void *mapped = mmap(NULL, sizeof *control, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  if (mapped != MAP_FAILED) control = mapped;
  syscall(SYS_close, fd);
}

static int ours(const char *path) {
  if (!dir_length || strncmp(path, dir, dir_length) != 0) return 0;
  if (path[dir_length] != '/' && path[dir_length] != '\0') return 0;
  size_t length = strlen(path);
  return length < 4 || strcmp(path + length - 4, "-shm") != 0;
}

/* A number may have come back as a socket's: not every close is seen. */
static uint32_t id_of(int fd) {
  if (fd < 0 || fd >= MAX_FDS || !ids[fd]) return 0;
  struct stat found;
  if (fstat(fd, &found) != 0 || !(S_ISREG(found.st_mode) || S_ISDIR(found.st_mode))) ids[fd] = 0;
  return ids[fd];
}

static void put(uint8_t op, uint8_t flags, uint32_t id, int64_t offset, const char *path,
                const char *second, const void *data, size_t length) {
  if (log_fd < 0) return;
  struct record head = {op, flags, path ? (uint16_t)strlen(path) : 0, id, offset, (uint32_t)length,
                        second ? (uint32_t)strlen(second) : 0};
  struct iovec parts[4] = {{&head, sizeof head},
                           {(void *)path, head.path_length},
                           {(void *)second, head.second_path_length},
                           {(void *)data, length}};
  syscall(SYS_writev, log_fd, parts, 4);
}

/* Non-zero when this call has to fail; `errno` is set. */
static int fails(int kind) {
  if (!control || !(control->kinds & kind)) return 0;
  control->counted += 1;
  if (fail_next) {
    if (!control->sticky) fail_next = 0;
  } else if (control->countdown == 0 || --control->countdown > 0) {
    return 0;
  } else if (control->sticky) {
    fail_next = 1;
  }
  control->failed += 1;
  errno = (int)control->error;
  return 1;
}

static int opened(int fd, const char *path, int existed, int flags) {
  if (fd < 0 || fd >= MAX_FDS) return fd;
  struct stat found;
  int is_dir = fstat(fd, &found) == 0 && S_ISDIR(found.st_mode);
  int how = (existed ? 0 : 1) | (flags & O_TRUNC ? 2 : 0) | (is_dir ? 4 : 0);
  pthread_mutex_lock(&mutex);
  ids[fd] = ++next_id;
  put('O', (uint8_t)how, ids[fd], 0, path, NULL, NULL, 0);
  pthread_mutex_unlock(&mutex);
  return fd;
}

static int exists(const char *path) {
  struct stat found;
  return syscall(SYS_newfstatat, AT_FDCWD, path, &found, 0) == 0;
}

#define OPEN(name, call, ...) \
  mode_t mode = 0; \
  if (flags & (O_CREAT | O_TMPFILE)) { \
    va_list more; \
    va_start(more, flags); \
    mode = va_arg(more, mode_t); \
    va_end(more); \
  } \
  REAL(int, name, __VA_ARGS__); \
  int is_ours = ours(path); \
  int existed = is_ours && exists(path); \
  int fd = call; \
  if (!is_ours && fd >= 0 && fd < MAX_FDS) ids[fd] = 0; \
  return is_ours ? opened(fd, path, existed, flags) : fd

int open(const char *path, int flags, ...) { OPEN("open", real(path, flags, mode), const char *, int, ...); }
int open64(const char *path, int flags, ...) { OPEN("open64", real(path, flags, mode), const char *, int, ...); }
int openat(int at, const char *path, int flags, ...) {
  OPEN("openat", real(at, path, flags, mode), int, const char *, int, ...);
}
int openat64(int at, const char *path, int flags, ...) {
  OPEN("openat64", real(at, path, flags, mode), int, const char *, int, ...);
}
int creat(const char *path, mode_t mode) { return open(path, O_CREAT | O_WRONLY | O_TRUNC, mode); }

int close(int fd) {
  REAL(int, "close", int);
  if (fd >= 0 && fd < MAX_FDS) ids[fd] = 0;
  return real(fd);
}

int dup(int fd) {
  REAL(int, "dup", int);
  int copy = real(fd);
  if (copy >= 0 && copy < MAX_FDS) ids[copy] = id_of(fd);
  return copy;
}

/* How much of a write may be done: less than all of it when the disk is full or the call is to fail. */
static ssize_t allowed(int fd, size_t length, int64_t offset) {
  if (fails(WRITES)) {
    if (!control->is_short || length < 2) return -1;
    fail_next = 1;
    return (ssize_t)(length / 2);
  }
  if (!control || control->room < 0) return (ssize_t)length;
  struct stat now;
  int64_t size = fstat(fd, &now) == 0 ? now.st_size : 0;
  int64_t growth = offset + (int64_t)length - size;
  if (growth <= 0) return (ssize_t)length;
  if (growth <= control->room) {
    control->room -= growth;
    return (ssize_t)length;
  }
  int64_t fits = (int64_t)length - growth + control->room;
  control->room = 0;
  control->failed += 1;
  if (fits > 0) return (ssize_t)fits;
  errno = ENOSPC;
  return -1;
}

static ssize_t write_at(int fd, uint32_t id, const void *data, size_t length, int64_t offset, int moves) {
  pthread_mutex_lock(&mutex);
  if (moves) {
    int is_append = (fcntl(fd, F_GETFL) & O_APPEND) != 0;
    offset = lseek(fd, 0, is_append ? SEEK_END : SEEK_CUR);
  }
  ssize_t done = allowed(fd, length, offset);
  if (done > 0) {
    done = moves ? syscall(SYS_write, fd, data, (size_t)done)
                 : syscall(SYS_pwrite64, fd, data, (size_t)done, offset);
  }
  int error = errno;
  if (done > 0) put('W', 0, id, offset, NULL, NULL, data, (size_t)done);
  pthread_mutex_unlock(&mutex);
  errno = error;
  return done;
}

ssize_t write(int fd, const void *data, size_t length) {
  REAL(ssize_t, "write", int, const void *, size_t);
  uint32_t id = id_of(fd);
  return id ? write_at(fd, id, data, length, 0, 1) : real(fd, data, length);
}

ssize_t pwrite(int fd, const void *data, size_t length, off_t offset) {
  REAL(ssize_t, "pwrite", int, const void *, size_t, off_t);
  uint32_t id = id_of(fd);
  return id ? write_at(fd, id, data, length, offset, 0) : real(fd, data, length, offset);
}

ssize_t pwrite64(int fd, const void *data, size_t length, off64_t offset) {
  return pwrite(fd, data, length, offset);
}

static ssize_t write_parts(int fd, uint32_t id, const struct iovec *parts, int count, int64_t offset, int moves) {
  ssize_t total = 0;
  for (int i = 0; i < count; i += 1) {
    ssize_t done = write_at(fd, id, parts[i].iov_base, parts[i].iov_len, offset + total, moves);
    if (done < 0) return total > 0 ? total : -1;
    total += done;
    if ((size_t)done < parts[i].iov_len) break;
  }
  return total;
}

ssize_t writev(int fd, const struct iovec *parts, int count) {
  REAL(ssize_t, "writev", int, const struct iovec *, int);
  uint32_t id = id_of(fd);
  return id ? write_parts(fd, id, parts, count, 0, 1) : real(fd, parts, count);
}

ssize_t pwritev(int fd, const struct iovec *parts, int count, off_t offset) {
  REAL(ssize_t, "pwritev", int, const struct iovec *, int, off_t);
  uint32_t id = id_of(fd);
  return id ? write_parts(fd, id, parts, count, offset, 0) : real(fd, parts, count, offset);
}

ssize_t pwritev64(int fd, const struct iovec *parts, int count, off64_t offset) {
  return pwritev(fd, parts, count, offset);
}

int ftruncate(int fd, off_t length) {
  REAL(int, "ftruncate", int, off_t);
  uint32_t id = id_of(fd);
  if (!id) return real(fd, length);
  pthread_mutex_lock(&mutex);
  int result = fails(TRUNCATES) ? -1 : real(fd, length);
  int error = errno;
  if (result == 0) put('T', 0, id, length, NULL, NULL, NULL, 0);
  pthread_mutex_unlock(&mutex);
  errno = error;
  return result;
}

int ftruncate64(int fd, off64_t length) { return ftruncate(fd, length); }

/* What is written while it lasts is not part of it: so its beginning is told, and its end. */
static int synced(int fd, uint32_t id, long number) {
  pthread_mutex_lock(&mutex);
  int is_failing = fails(SYNCS);
  int error = errno;
  if (!is_failing) put('B', 0, id, 0, NULL, NULL, NULL, 0);
  pthread_mutex_unlock(&mutex);
  errno = error;
  if (is_failing) return -1;
  int result = (int)syscall(number, fd);
  if (result != 0) return result;
  pthread_mutex_lock(&mutex);
  put('E', 0, id, 0, NULL, NULL, NULL, 0);
  pthread_mutex_unlock(&mutex);
  return 0;
}

int fsync(int fd) {
  uint32_t id = id_of(fd);
  return id ? synced(fd, id, SYS_fsync) : (int)syscall(SYS_fsync, fd);
}

int fdatasync(int fd) {
  uint32_t id = id_of(fd);
  return id ? synced(fd, id, SYS_fdatasync) : (int)syscall(SYS_fdatasync, fd);
}

int rename(const char *from, const char *to) {
  REAL(int, "rename", const char *, const char *);
  if (!ours(from) && !ours(to)) return real(from, to);
  pthread_mutex_lock(&mutex);
  int result = real(from, to);
  int error = errno;
  if (result == 0) put('R', 0, 0, 0, from, to, NULL, 0);
  pthread_mutex_unlock(&mutex);
  errno = error;
  return result;
}

int unlink(const char *path) {
  REAL(int, "unlink", const char *);
  if (!ours(path)) return real(path);
  pthread_mutex_lock(&mutex);
  int result = real(path);
  int error = errno;
  if (result == 0) put('U', 0, 0, 0, path, NULL, NULL, 0);
  pthread_mutex_unlock(&mutex);
  errno = error;
  return result;
}

/* The wall clock. Timers and the monotonic clock stay as they are. */
int clock_gettime(clockid_t which, struct timespec *now) {
  REAL(int, "clock_gettime", clockid_t, struct timespec *);
  int result = real(which, now);
  if (result == 0 && control && (which == CLOCK_REALTIME || which == CLOCK_REALTIME_COARSE)) {
    int64_t ns = now->tv_nsec + control->clock_offset_ns % 1000000000;
    now->tv_sec += control->clock_offset_ns / 1000000000 + (ns < 0 ? -1 : ns / 1000000000);
    now->tv_nsec = ns < 0 ? ns + 1000000000 : ns % 1000000000;
  }
  return result;
}

int gettimeofday(struct timeval *now, void *zone) {
  (void)zone;
  struct timespec precise;
  if (clock_gettime(CLOCK_REALTIME, &precise) != 0) return -1;
  now->tv_sec = precise.tv_sec;
  now->tv_usec = precise.tv_nsec / 1000;
  return 0;
}

time_t time(time_t *now) {
  struct timespec precise;
  if (clock_gettime(CLOCK_REALTIME, &precise) != 0) return -1;
  if (now) *now = precise.tv_sec;
  return precise.tv_sec;
}
