/*
 * Preloaded into a command and its children. Counts the operations on files below TORTURE_ROOT, over all threads and
 * processes, and records each with its data. At operation TORTURE_AT it kills the process group before it, tears a write, or
 * lets operations fail.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

/* As in operations.ts. */
enum op { CREATE = 1, OPEN, WRITE, SYNC, SYNC_FOLDER, TRUNCATE, RENAME, UNLINK, MKDIR, RMDIR, LINK, SYMLINK, CLOSE, READ, OPEN_READ };
enum action { RECORD, KILL, TEAR, FAIL };
enum verdict { PASS, TORN, FAILED };

/* In a file, so that children continue the count. */
struct shared {
  uint64_t count;
  /* The first operation that failed on purpose; 0 for none. */
  uint64_t fired;
  uint32_t is_ready;
  pthread_mutex_t lock;
};

struct header {
  uint64_t n, nanos, inode;
  int64_t offset;
  uint64_t length;
  uint32_t op, error, path_length, target_length;
};

static struct shared *shared;
static int log_fd = -1;
static const char *root;
static size_t root_length;
static enum action action;
static uint64_t at, op_mask, counted_mask;
static int fail_errno, is_persistent;
/* By descriptor: 1 was opened for reading, 2 for writing. */
static unsigned char opened[65536];

#define REAL(type, name, ...) \
  static type (*real)(__VA_ARGS__); \
  if (!real) real = (type (*)(__VA_ARGS__))dlsym(RTLD_NEXT, name)

static int real_close(int fd) { REAL(int, "close", int); return real(fd); }
static ssize_t real_writev(int fd, const struct iovec *v, int n) { REAL(ssize_t, "writev", int, const struct iovec *, int); return real(fd, v, n); }
static int real_open(const char *path, int flags, mode_t mode) { REAL(int, "open64", const char *, int, ...); return real(path, flags, mode); }

static uint64_t number(const char *name) {
  const char *text = getenv(name);
  return text ? strtoull(text, NULL, 10) : 0;
}

__attribute__((constructor)) static void start(void) {
  root = getenv("TORTURE_ROOT");
  const char *state = getenv("TORTURE_STATE"), *log = getenv("TORTURE_LOG");
  if (!root || !state || !log) { root = NULL; return; }
  root_length = strlen(root);
  action = number("TORTURE_ACTION");
  at = number("TORTURE_AT");
  op_mask = number("TORTURE_OPS");
  counted_mask = number("TORTURE_COUNTED");
  fail_errno = (int)number("TORTURE_ERRNO");
  is_persistent = (int)number("TORTURE_PERSISTENT");
  int fd = real_open(state, O_RDWR | O_CLOEXEC, 0);
  shared = fd < 0 ? MAP_FAILED : mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  log_fd = real_open(log, O_WRONLY | O_APPEND | O_CLOEXEC, 0);
  if (shared == MAP_FAILED || log_fd < 0) abort();
  real_close(fd);
  if (__atomic_exchange_n(&shared->is_ready, 1, __ATOMIC_SEQ_CST)) return;
  pthread_mutexattr_t attributes;
  pthread_mutexattr_init(&attributes);
  pthread_mutexattr_setpshared(&attributes, PTHREAD_PROCESS_SHARED);
  pthread_mutexattr_setrobust(&attributes, PTHREAD_MUTEX_ROBUST);
  pthread_mutex_init(&shared->lock, &attributes);
}

static void die(void) {
  kill(0, SIGKILL);
  for (;;) pause();
}

/* Copies the absolute path; NULL if it is outside the root. */
static const char *below(int folder, const char *path, char *buffer) {
  if (!root || !path) return NULL;
  if (path[0] == '/') snprintf(buffer, PATH_MAX, "%s", path);
  else {
    char parent[PATH_MAX];
    if (folder == AT_FDCWD) { if (!getcwd(parent, sizeof parent)) return NULL; }
    else {
      char link[64];
      snprintf(link, sizeof link, "/proc/self/fd/%d", folder);
      ssize_t length = readlink(link, parent, sizeof parent - 1);
      if (length < 0) return NULL;
      parent[length] = 0;
    }
    if (snprintf(buffer, PATH_MAX, "%s/%s", parent, path) >= PATH_MAX) return NULL;
  }
  if (strncmp(buffer, root, root_length) || (buffer[root_length] != '/' && buffer[root_length])) return NULL;
  return buffer;
}

static int is_tracked(int fd) { return root && fd >= 0 && fd < 65536 ? opened[fd] : 0; }

static void lock(void) {
  if (pthread_mutex_lock(&shared->lock) == EOWNERDEAD) pthread_mutex_consistent(&shared->lock);
}

/* The lock is held until `leave`. */
static enum verdict enter_locked(enum op op) {
  if (!(counted_mask >> op & 1)) return PASS;
  uint64_t n = ++shared->count;
  if (action == KILL && n == at) die();
  if (action == TEAR && n == at) { if (op == WRITE) return TORN; die(); }
  if (action == FAIL && n >= at && (op_mask >> op & 1) && (is_persistent || !shared->fired)) {
    if (!shared->fired) shared->fired = n;
    return FAILED;
  }
  return PASS;
}

static enum verdict enter(enum op op) {
  lock();
  return enter_locked(op);
}

static void leave(enum op op, int error, const char *path, const char *target, int fd, off_t offset, const struct iovec *data, int parts, size_t length) {
  struct timespec now;
  struct stat stats;
  clock_gettime(CLOCK_REALTIME, &now);
  struct header h = {0};
  h.n = shared->count;
  h.nanos = (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
  h.inode = fd >= 0 && !fstat(fd, &stats) ? stats.st_ino : 0;
  h.offset = offset;
  h.op = op;
  h.error = (uint32_t)error;
  h.path_length = path ? (uint32_t)strlen(path) : 0;
  h.target_length = target ? (uint32_t)strlen(target) : 0;
  struct iovec out[1027] = {{&h, sizeof h}, {(void *)path, h.path_length}, {(void *)target, h.target_length}};
  int count = 3;
  size_t left = length;
  for (int i = 0; i < parts && left > 0 && count < 1027; i++) {
    size_t size = data[i].iov_len < left ? data[i].iov_len : left;
    out[count++] = (struct iovec){data[i].iov_base, size};
    left -= size;
  }
  h.length = parts ? length - left : length;
  if (real_writev(log_fd, out, count) < 0) abort();
  pthread_mutex_unlock(&shared->lock);
}

static int path_op(enum op op, const char *path, const char *target, int (*act)(void *), void *argument) {
  int result = -1, error;
  if (enter(op) == FAILED) error = fail_errno;
  else { result = act(argument); error = result < 0 ? errno : 0; }
  leave(op, error, path, target, -1, 0, NULL, 0, 0);
  if (error) errno = error;
  return result;
}

/* ---- opening and closing ---- */

static int open_any(int folder, const char *path, int flags, mode_t mode) {
  REAL(int, "openat64", int, const char *, int, ...);
  char buffer[PATH_MAX];
  const char *full = below(folder, path, buffer);
  if (!full) return real(folder, path, flags, mode);
  struct stat stats;
  int writes = (flags & O_ACCMODE) != O_RDONLY;
  lock();
  int exists = !fstatat(folder, path, &stats, flags & O_NOFOLLOW ? AT_SYMLINK_NOFOLLOW : 0);
  enum op op = !writes && !(flags & O_CREAT) ? OPEN_READ : exists || !(flags & O_CREAT) ? OPEN : CREATE;
  int fd = -1, error;
  if (enter_locked(op) == FAILED) error = fail_errno;
  else {
    fd = real(folder, path, flags, mode);
    error = fd < 0 ? errno : 0;
    if (fd >= 0 && fd < 65536) opened[fd] = writes ? 2 : 1;
  }
  leave(op, error, full, NULL, fd, flags & O_TRUNC ? 1 : 0, NULL, 0, 0);
  if (error) errno = error;
  return fd;
}

#define MODE_OF(flags) mode_t mode = 0; if ((flags) & (O_CREAT | O_TMPFILE)) { va_list list; va_start(list, flags); mode = va_arg(list, mode_t); va_end(list); }
int open(const char *path, int flags, ...) { MODE_OF(flags) return open_any(AT_FDCWD, path, flags, mode); }
int open64(const char *path, int flags, ...) { MODE_OF(flags) return open_any(AT_FDCWD, path, flags, mode); }
int openat(int folder, const char *path, int flags, ...) { MODE_OF(flags) return open_any(folder, path, flags, mode); }
int openat64(int folder, const char *path, int flags, ...) { MODE_OF(flags) return open_any(folder, path, flags, mode); }
int creat(const char *path, mode_t mode) { return open_any(AT_FDCWD, path, O_CREAT | O_WRONLY | O_TRUNC, mode); }
int creat64(const char *path, mode_t mode) { return creat(path, mode); }

int close(int fd);
/* libuv closes files by this function. */
long syscall(long number, ...) {
  REAL(long, "syscall", long, ...);
  long a[6];
  va_list list;
  va_start(list, number);
  for (int i = 0; i < 6; i++) a[i] = va_arg(list, long);
  va_end(list);
  return number == SYS_close ? close((int)a[0]) : real(number, a[0], a[1], a[2], a[3], a[4], a[5]);
}

int close(int fd) {
  int tracked = is_tracked(fd);
  if (!tracked) return real_close(fd);
  opened[fd] = 0;
  if (tracked == 1) return real_close(fd);
  enum verdict verdict = enter(CLOSE);
  struct stat stats;
  fstat(fd, &stats);
  /* A close that fails has closed. */
  int result = real_close(fd), error = verdict == FAILED ? fail_errno : result < 0 ? errno : 0;
  leave(CLOSE, error, NULL, NULL, -1, (off_t)stats.st_ino, NULL, 0, 0);
  if (!error) return 0;
  errno = error;
  return -1;
}

/* ---- writing, reading and flushing ---- */

/* @param offset -1 for the current position */
static ssize_t write_any(int fd, const struct iovec *data, int parts, off_t offset) {
  REAL(ssize_t, "pwritev64", int, const struct iovec *, int, off_t);
  if (is_tracked(fd) != 2) return offset < 0 ? real_writev(fd, data, parts) : real(fd, data, parts, offset);
  enum verdict verdict = enter(WRITE);
  ssize_t result = -1;
  int error = fail_errno;
  if (verdict == TORN) {
    size_t length = 0;
    for (int i = 0; i < parts; i++) length += data[i].iov_len;
    struct iovec half = {data[0].iov_base, data[0].iov_len < length / 2 ? data[0].iov_len : length / 2};
    if (offset < 0) real_writev(fd, &half, 1);
    else real(fd, &half, 1, offset);
    die();
  }
  if (verdict == PASS) {
    result = offset < 0 ? real_writev(fd, data, parts) : real(fd, data, parts, offset);
    error = result < 0 ? errno : 0;
  }
  off_t place = offset >= 0 ? offset : lseek(fd, 0, SEEK_CUR) - (result > 0 ? result : 0);
  leave(WRITE, error, NULL, NULL, fd, place, data, parts, result > 0 ? (size_t)result : 0);
  if (error) errno = error;
  return result;
}

#define ONE(data, length) struct iovec one = {(void *)(data), length}
ssize_t write(int fd, const void *data, size_t length) { ONE(data, length); return write_any(fd, &one, 1, -1); }
ssize_t pwrite(int fd, const void *data, size_t length, off_t offset) { ONE(data, length); return write_any(fd, &one, 1, offset); }
ssize_t pwrite64(int fd, const void *data, size_t length, off_t offset) { ONE(data, length); return write_any(fd, &one, 1, offset); }
ssize_t writev(int fd, const struct iovec *data, int parts) { return write_any(fd, data, parts, -1); }
ssize_t pwritev(int fd, const struct iovec *data, int parts, off_t offset) { return write_any(fd, data, parts, offset); }
ssize_t pwritev64(int fd, const struct iovec *data, int parts, off_t offset) { return write_any(fd, data, parts, offset); }

/* Only counted: reading changes nothing. @returns whether it fails */
static int fails_reading(int fd) {
  if (!is_tracked(fd)) return 0;
  int failed = enter(READ) == FAILED;
  leave(READ, 0, NULL, NULL, -1, 0, NULL, 0, 0);
  if (failed) errno = fail_errno;
  return failed;
}
ssize_t read(int fd, void *data, size_t length) { REAL(ssize_t, "read", int, void *, size_t); return fails_reading(fd) ? -1 : real(fd, data, length); }
ssize_t pread(int fd, void *data, size_t length, off_t offset) { REAL(ssize_t, "pread", int, void *, size_t, off_t); return fails_reading(fd) ? -1 : real(fd, data, length, offset); }
ssize_t pread64(int fd, void *data, size_t length, off_t offset) { REAL(ssize_t, "pread64", int, void *, size_t, off_t); return fails_reading(fd) ? -1 : real(fd, data, length, offset); }

static int sync_any(int fd, int (*real)(int)) {
  if (!is_tracked(fd)) return real(fd);
  struct stat stats;
  enum op op = !fstat(fd, &stats) && S_ISDIR(stats.st_mode) ? SYNC_FOLDER : SYNC;
  char path[PATH_MAX] = "", link[64];
  snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
  if (readlink(link, path, sizeof path - 1) < 0) path[0] = 0;
  int error = fail_errno, result = -1;
  if (enter(op) != FAILED) { result = real(fd); error = result < 0 ? errno : 0; }
  leave(op, error, path, NULL, fd, 0, NULL, 0, 0);
  if (error) errno = error;
  return result;
}
int fsync(int fd) { REAL(int, "fsync", int); return sync_any(fd, real); }
int fdatasync(int fd) { REAL(int, "fdatasync", int); return sync_any(fd, real); }

int ftruncate64(int fd, off_t length) {
  REAL(int, "ftruncate64", int, off_t);
  if (is_tracked(fd) != 2) return real(fd, length);
  int error = fail_errno, result = -1;
  if (enter(TRUNCATE) != FAILED) { result = real(fd, length); error = result < 0 ? errno : 0; }
  leave(TRUNCATE, error, NULL, NULL, fd, length, NULL, 0, 0);
  if (error) errno = error;
  return result;
}
int ftruncate(int fd, off_t length) { return ftruncate64(fd, length); }

/* ---- names ---- */

struct names { int folder, other_folder, flags; const char *path, *target; mode_t mode; };
static int do_rename(void *p) { struct names *a = p; REAL(int, "renameat", int, const char *, int, const char *); return real(a->folder, a->path, a->other_folder, a->target); }
static int do_link(void *p) { struct names *a = p; REAL(int, "linkat", int, const char *, int, const char *, int); return real(a->folder, a->path, a->other_folder, a->target, a->flags); }
static int do_symlink(void *p) { struct names *a = p; REAL(int, "symlink", const char *, const char *); return real(a->path, a->target); }
static int do_unlink(void *p) { struct names *a = p; REAL(int, "unlinkat", int, const char *, int); return real(a->folder, a->path, a->flags); }
static int do_mkdir(void *p) { struct names *a = p; REAL(int, "mkdirat", int, const char *, mode_t); return real(a->folder, a->path, a->mode); }

int renameat(int folder, const char *from, int other_folder, const char *to) {
  char one[PATH_MAX], other[PATH_MAX];
  struct names names = {.folder = folder, .other_folder = other_folder, .path = from, .target = to};
  const char *path = below(folder, from, one), *target = below(other_folder, to, other);
  return path && target ? path_op(RENAME, path, target, do_rename, &names) : do_rename(&names);
}
int rename(const char *from, const char *to) { return renameat(AT_FDCWD, from, AT_FDCWD, to); }

int linkat(int folder, const char *from, int other_folder, const char *to, int flags) {
  char one[PATH_MAX], other[PATH_MAX];
  struct names names = {.folder = folder, .other_folder = other_folder, .flags = flags, .path = from, .target = to};
  const char *path = below(folder, from, one), *target = below(other_folder, to, other);
  return path && target ? path_op(LINK, path, target, do_link, &names) : do_link(&names);
}
int link(const char *from, const char *to) { return linkat(AT_FDCWD, from, AT_FDCWD, to, 0); }

int symlink(const char *text, const char *path) {
  char buffer[PATH_MAX];
  struct names names = {.path = text, .target = path};
  const char *full = below(AT_FDCWD, path, buffer);
  return full ? path_op(SYMLINK, full, text, do_symlink, &names) : do_symlink(&names);
}

int unlinkat(int folder, const char *path, int flags) {
  char buffer[PATH_MAX];
  struct names names = {.folder = folder, .flags = flags, .path = path};
  const char *full = below(folder, path, buffer);
  return full ? path_op(flags & AT_REMOVEDIR ? RMDIR : UNLINK, full, NULL, do_unlink, &names) : do_unlink(&names);
}
int unlink(const char *path) { return unlinkat(AT_FDCWD, path, 0); }
int rmdir(const char *path) { return unlinkat(AT_FDCWD, path, AT_REMOVEDIR); }
int remove(const char *path) {
  struct stat stats;
  return unlinkat(AT_FDCWD, path, !lstat(path, &stats) && S_ISDIR(stats.st_mode) ? AT_REMOVEDIR : 0);
}

int mkdirat(int folder, const char *path, mode_t mode) {
  char buffer[PATH_MAX];
  struct names names = {.folder = folder, .path = path, .mode = mode};
  const char *full = below(folder, path, buffer);
  return full ? path_op(MKDIR, full, NULL, do_mkdir, &names) : do_mkdir(&names);
}
int mkdir(const char *path, mode_t mode) { return mkdirat(AT_FDCWD, path, mode); }

char *mkdtemp(char *template) {
  REAL(char *, "mkdtemp", char *);
  char buffer[PATH_MAX];
  if (!below(AT_FDCWD, template, buffer)) return real(template);
  int error = fail_errno;
  char *made = NULL;
  if (enter(MKDIR) != FAILED) { made = real(template); error = made ? 0 : errno; }
  leave(MKDIR, error, made ? below(AT_FDCWD, made, buffer) : buffer, NULL, -1, 0, NULL, 0, 0);
  if (error) errno = error;
  return made;
}
