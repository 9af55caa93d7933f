/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * callfail.c - makes the n-th call of a library fail; for LD_PRELOAD, by callfail.py.
 *
 * Calls that can fail for want of something, or by a fault of a device, are counted in the order they come, in each
 * process anew, from its main on:
 *   XK_FAIL_AT=n      the n-th fails, with an errno that the kernel or the library has for it
 *   XK_FAIL_ON=1      all after it fail as well; an interruption (EINTR) is of one call alone
 *   XK_FAIL_ONLY=x    only in programs whose name begins with x
 *   XK_FAIL_CLASS=c   of this class: memory, threads, files, sockets, io, kernel, removal; each is counted by itself
 *   XK_FAIL_CALL=x    of that class, only calls of this name are counted
 *   XK_FAIL_REPORT=f  when a process ends, a line is added to f: its number, blocks of memory and descriptors that
 *                     were not given back, and the calls of each class
 *   XK_FAIL_SAY=f     the stack at the first failure is added to f
 * Calls that the C library makes inside itself are not seen, but for those of memory; streams fail where a program
 * asks for their bytes to be moved, with their error indicator set.  What is written to standard error never fails:
 * the sentence there is what is asked for.
 * Invariant: a call that is made to fail has had no effect; close and fclose give back what they have, and then fail.
 */
#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <execinfo.h>
#include <fcntl.h>
#include <fts.h>
#include <netdb.h>
#include <net/if.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/timerfd.h>
#include <sys/uio.h>
#include <unistd.h>

enum class { MEMORY, THREADS, FILES, SOCKETS, IO, KERNEL, REMOVAL, CLASSES };
static const char *const class_names[] = { "memory", "threads", "files", "sockets", "io", "kernel", "removal" };
static atomic_ulong calls[CLASSES];
static atomic_long blocks;
static unsigned long fail_at;
static bool counting, sticky;
static enum class class_only = CLASSES;         /* none */
static const char *call_only, *report_file, *say_file;

/* ---- what is there already ------------------------------------------------- */

/* REAL: real_NAME, looked up before main, or where another library's constructor is earlier. */
#define REAL(ret, name, params) \
	static ret (*real_##name) params; \
	__attribute__((constructor)) static void find_##name(void) \
	{ \
		if (real_##name == NULL) \
			real_##name = (ret (*) params)dlsym(RTLD_NEXT, #name); \
	}

REAL(int, open, (const char *path, int flags, ...))
REAL(ssize_t, write, (int fd, const void *p, size_t n))
REAL(int, fcntl, (int fd, int cmd, ...))

/* ---- which call fails ------------------------------------------------------ */

static void say(const char *name)
{
	void *frames[24];
	char line[80];
	int fd = real_open(say_file, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);

	if (fd < 0)
		return;
	if (real_write(fd, line, (size_t)snprintf(line, sizeof line, "%s fails\n", name)) > 0)
		backtrace_symbols_fd(frames, backtrace(frames, 24), fd);
	close(fd);
}

/* once: it fails at n alone, whatever is asked for. */
static bool fails_as(enum class class, const char *name, bool once)
{
	static _Thread_local bool inside;      /* a stack may ask for memory */
	unsigned long n;

	if (!counting || inside || (call_only != NULL && strcmp(name, call_only) != 0))
		return false;
	n = atomic_fetch_add(&calls[class], 1) + 1;
	if (class != class_only || fail_at == 0 || n < fail_at || (n > fail_at && (!sticky || once)))
		return false;
	if (n == fail_at && say_file != NULL) {
		inside = true;
		say(name);
		inside = false;
	}
	return true;
}

static bool fails(enum class class, const char *name, int err)
{
	bool yes = fails_as(class, name, err == EINTR);

	if (yes)
		errno = err;
	return yes;
}

/* ---- from main to the end -------------------------------------------------- */

static int (*real_main)(int, char **, char **);

static int counted_main(int argc, char **argv, char **envp)
{
	const char *only = getenv("XK_FAIL_ONLY");

	counting = only == NULL || strncmp(program_invocation_short_name, only, strlen(only)) == 0;
	return real_main(argc, argv, envp);
}

typedef int begin_fn(int (*)(int, char **, char **), int, char **, void (*)(void), void (*)(void), void (*)(void),
		     void *);
begin_fn __libc_start_main;
int __libc_start_main(int (*fn)(int, char **, char **), int argc, char **argv, void (*init)(void), void (*fini)(void),
		      void (*linker_fini)(void), void *stack_end)
{
	begin_fn *begin = (begin_fn *)dlsym(RTLD_NEXT, "__libc_start_main");

	real_main = fn;
	return begin(counted_main, argc, argv, init, fini, linker_fini, stack_end);
}

__attribute__((constructor)) static void read_wishes(void)
{
	const char *at = getenv("XK_FAIL_AT"), *class = getenv("XK_FAIL_CLASS");
	void *frame;
	int i;

	for (i = 0; class != NULL && i < CLASSES; i++)
		if (strcmp(class, class_names[i]) == 0)
			class_only = (enum class)i;
	call_only = getenv("XK_FAIL_CALL");
	report_file = getenv("XK_FAIL_REPORT");
	say_file = getenv("XK_FAIL_SAY");
	sticky = getenv("XK_FAIL_ON") != NULL;
	fail_at = at != NULL ? strtoul(at, NULL, 10) : 0;
	(void)backtrace(&frame, 1);            /* loads what it needs */
}

__attribute__((destructor)) static void report(void)
{
	char line[256];
	int files = 0, fd, n, i;

	if (!counting || report_file == NULL)
		return;
	counting = false;
	for (fd = 3; fd < 1024; fd++)
		files += real_fcntl(fd, F_GETFD) >= 0;
	fd = real_open(report_file, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
	if (fd < 0)
		return;
	n = snprintf(line, sizeof line, "%ld %ld %d", (long)getpid(), atomic_load(&blocks), files);
	for (i = 0; i < CLASSES; i++)
		n += snprintf(line + n, sizeof line - (size_t)n, " %lu", atomic_load(&calls[i]));
	line[n++] = '\n';
	(void)!real_write(fd, line, (size_t)n);
	close(fd);
}

/* ---- memory ---------------------------------------------------------------- */

REAL(void *, malloc, (size_t size))
REAL(void *, calloc, (size_t n, size_t size))
REAL(void *, realloc, (void *old, size_t size))
REAL(void *, aligned_alloc, (size_t align, size_t size))
REAL(void *, memalign, (size_t align, size_t size))
REAL(int, posix_memalign, (void **p, size_t align, size_t size))
REAL(void, free, (void *p))

/* A look-up may ask for a little before malloc is known: zeroed, never given back. */
static _Alignas(16) char early_room[16384];
static bool finding;

static void *early(size_t size)
{
	static size_t used;
	void *p = &early_room[used];

	size = (size + 15) & ~(size_t)15;
	if (size > sizeof early_room - used)
		return NULL;
	used += size;
	return p;
}

static bool is_early(const void *p)
{
	return (const char *)p >= early_room && (const char *)p < early_room + sizeof early_room;
}

/* Whether memory can be asked for; the first call finds out how. */
static bool memory_is_known(void)
{
	if (real_free == NULL && !finding) {
		finding = true;
		find_malloc();
		find_calloc();
		find_realloc();
		find_free();
		finding = false;
	}
	return real_free != NULL;
}

static void *had(void *p)
{
	if (p != NULL)
		atomic_fetch_add(&blocks, 1);
	return p;
}

void *malloc(size_t size)
{
	if (!memory_is_known())
		return early(size);
	return fails(MEMORY, "malloc", ENOMEM) ? NULL : had(real_malloc(size));
}

void *calloc(size_t n, size_t size)
{
	if (!memory_is_known())
		return early(n * size);
	return fails(MEMORY, "calloc", ENOMEM) ? NULL : had(real_calloc(n, size));
}

void free(void *p)
{
	if (p == NULL || is_early(p) || !memory_is_known())
		return;
	atomic_fetch_sub(&blocks, 1);
	real_free(p);
}

static void *moved_from_early(void *old, size_t size)
{
	size_t has = (size_t)(early_room + sizeof early_room - (char *)old);
	void *p = malloc(size);

	if (p != NULL)
		memcpy(p, old, size < has ? size : has);
	return p;
}

void *realloc(void *old, size_t size)
{
	void *p;

	if (old != NULL && is_early(old))
		return moved_from_early(old, size);
	if (!memory_is_known())
		return early(size);
	if (fails(MEMORY, "realloc", ENOMEM))
		return NULL;
	p = real_realloc(old, size);
	if (old == NULL && p != NULL)
		atomic_fetch_add(&blocks, 1);
	else if (old != NULL && p == NULL && size == 0)
		atomic_fetch_sub(&blocks, 1);
	return p;
}

void *reallocarray(void *old, size_t n, size_t size)
{
	size_t all;

	if (__builtin_mul_overflow(n, size, &all)) {
		errno = ENOMEM;
		return NULL;
	}
	return realloc(old, all);
}

void *aligned_alloc(size_t align, size_t size)
{
	return fails(MEMORY, "aligned_alloc", ENOMEM) ? NULL : had(real_aligned_alloc(align, size));
}

void *memalign(size_t align, size_t size);
void *memalign(size_t align, size_t size)
{
	return fails(MEMORY, "memalign", ENOMEM) ? NULL : had(real_memalign(align, size));
}

int posix_memalign(void **p, size_t align, size_t size)
{
	int err = fails_as(MEMORY, "posix_memalign", false) ? ENOMEM : real_posix_memalign(p, align, size);

	if (err == 0)
		(void)had(*p);
	return err;
}

/* ---- how a call fails ------------------------------------------------------ */

/* FAILING: says so by `bad` and errno. */
#define FAILING(class, ret, name, params, args, bad, err) \
	REAL(ret, name, params) \
	ret name params \
	{ \
		if (real_##name == NULL) \
			find_##name(); \
		return fails(class, #name, err) ? (bad) : real_##name args; \
	}

/* TELLING: returns its error. */
#define TELLING(class, name, params, args, err) \
	REAL(int, name, params) \
	int name params \
	{ \
		return fails_as(class, #name, false) ? (err) : real_##name args; \
	}

/* ALSO: the same by its name for large files. */
#define ALSO(ret, name, params) ret name##64 params __attribute__((alias(#name)));

FAILING(MEMORY, void *, mmap, (void *at, size_t len, int prot, int flags, int fd, off_t off),
	(at, len, prot, flags, fd, off), MAP_FAILED, ENOMEM)
ALSO(void *, mmap, (void *at, size_t len, int prot, int flags, int fd, off_t off))
FAILING(MEMORY, int, mprotect, (void *at, size_t len, int prot), (at, len, prot), -1, ENOMEM)
FAILING(MEMORY, int, madvise, (void *at, size_t len, int advice), (at, len, advice), -1, EINVAL)
FAILING(MEMORY, int, memfd_create, (const char *name, unsigned flags), (name, flags), -1, EMFILE)

/* ---- threads and processes -------------------------------------------------- */

TELLING(THREADS, pthread_create, (pthread_t *t, const pthread_attr_t *a, void *(*fn)(void *), void *arg),
	(t, a, fn, arg), EAGAIN)
TELLING(THREADS, pthread_key_create, (pthread_key_t *k, void (*gone)(void *)), (k, gone), EAGAIN)
TELLING(THREADS, pthread_attr_setaffinity_np, (pthread_attr_t *a, size_t n, const cpu_set_t *set), (a, n, set), ENOMEM)
FAILING(THREADS, int, sched_setaffinity, (pid_t pid, size_t n, const cpu_set_t *set), (pid, n, set), -1, EINVAL)
FAILING(THREADS, int, sched_getaffinity, (pid_t pid, size_t n, cpu_set_t *set), (pid, n, set), -1, EINVAL)
FAILING(THREADS, pid_t, fork, (void), (), -1, EAGAIN)

/* ---- files ------------------------------------------------------------------ */

FAILING(FILES, FILE *, fopen, (const char *path, const char *mode), (path, mode), NULL, EMFILE)
ALSO(FILE *, fopen, (const char *path, const char *mode))
FAILING(FILES, FILE *, fdopen, (int fd, const char *mode), (fd, mode), NULL, ENOMEM)
FAILING(FILES, FILE *, tmpfile, (void), (), NULL, EMFILE)
FAILING(FILES, int, mkstemp, (char *form), (form), -1, ENOSPC)
FAILING(FILES, int, mkstemps, (char *form, int end), (form, end), -1, ENOSPC)
FAILING(FILES, int, mkdir, (const char *path, mode_t mode), (path, mode), -1, ENOSPC)
FAILING(FILES, DIR *, opendir, (const char *path), (path), NULL, EMFILE)
FAILING(FILES, struct dirent *, readdir, (DIR *d), (d), NULL, EIO)
FAILING(FILES, FTS *, fts_open, (char *const *path, int how, int (*cmp)(const FTSENT **, const FTSENT **)),
	(path, how, cmp), NULL, EMFILE)
FAILING(FILES, int, stat, (const char *path, struct stat *s), (path, s), -1, EACCES)
FAILING(FILES, int, lstat, (const char *path, struct stat *s), (path, s), -1, EACCES)
FAILING(FILES, int, fstat, (int fd, struct stat *s), (fd, s), -1, EIO)
FAILING(FILES, int, access, (const char *path, int how), (path, how), -1, EACCES)
FAILING(FILES, ssize_t, readlink, (const char *path, char *p, size_t n), (path, p, n), -1, EACCES)
FAILING(FILES, char *, realpath, (const char *path, char *out), (path, out), NULL, EACCES)
FAILING(FILES, char *, getcwd, (char *p, size_t n), (p, n), NULL, ENOENT)
FAILING(FILES, off_t, lseek, (int fd, off_t off, int how), (fd, off, how), -1, ESPIPE)
FAILING(FILES, int, ftruncate, (int fd, off_t len), (fd, len), -1, ENOSPC)
ALSO(int, ftruncate, (int fd, off_t len))
TELLING(FILES, posix_fallocate, (int fd, off_t off, off_t len), (fd, off, len), ENOSPC)
FAILING(FILES, int, flock, (int fd, int how), (fd, how), -1, ENOLCK)
FAILING(FILES, int, dup, (int fd), (fd), -1, EMFILE)
FAILING(FILES, int, dup2, (int fd, int to), (fd, to), -1, EMFILE)
FAILING(FILES, int, pipe2, (int fds[2], int flags), (fds, flags), -1, EMFILE)
FAILING(FILES, int, epoll_create1, (int flags), (flags), -1, EMFILE)
FAILING(FILES, int, signalfd, (int fd, const sigset_t *set, int flags), (fd, set, flags), -1, EMFILE)
FAILING(FILES, int, timerfd_create, (clockid_t clock, int flags), (clock, flags), -1, EMFILE)
FAILING(FILES, ssize_t, getrandom, (void *p, size_t n, unsigned flags), (p, n, flags), -1, ENOSYS)
FAILING(FILES, int, setns, (int fd, int kind), (fd, kind), -1, EPERM)
FAILING(FILES, int, setrlimit, (__rlimit_resource_t what, const struct rlimit *l), (what, l), -1, EPERM)

/* Opened: the mode is there when the flags say so. */
static mode_t mode_of(int flags, va_list ap)
{
	return (flags & O_CREAT) != 0 || (flags & O_TMPFILE) == O_TMPFILE ? va_arg(ap, mode_t) : 0;
}

int open(const char *path, int flags, ...)
{
	mode_t mode;
	va_list ap;

	va_start(ap, flags);
	mode = mode_of(flags, ap);
	va_end(ap);
	if (real_open == NULL)
		find_open();
	return fails(FILES, "open", EMFILE) ? -1 : real_open(path, flags, mode);
}
ALSO(int, open, (const char *path, int flags, ...))

REAL(int, openat, (int at, const char *path, int flags, ...))
int openat(int at, const char *path, int flags, ...)
{
	mode_t mode;
	va_list ap;

	va_start(ap, flags);
	mode = mode_of(flags, ap);
	va_end(ap);
	return fails(FILES, "openat", EMFILE) ? -1 : real_openat(at, path, flags, mode);
}
ALSO(int, openat, (int at, const char *path, int flags, ...))

int fcntl(int fd, int cmd, ...)
{
	va_list ap;
	void *arg;

	va_start(ap, cmd);
	arg = va_arg(ap, void *);
	va_end(ap);
	if (real_fcntl == NULL)
		find_fcntl();
	return fails(FILES, "fcntl", cmd == F_DUPFD || cmd == F_DUPFD_CLOEXEC ? EMFILE : EINVAL) ? -1 :
		real_fcntl(fd, cmd, arg);
}
ALSO(int, fcntl, (int fd, int cmd, ...))

REAL(void *, dlopen, (const char *path, int flags))
void *dlopen(const char *path, int flags)
{
	return real_dlopen(fails_as(FILES, "dlopen", false) ? "/nonexistent/made-to-fail.so" : path, flags);
}

/* ---- what is taken away, where something may be left by right ---------------- */

FAILING(REMOVAL, int, unlink, (const char *path), (path), -1, EACCES)
FAILING(REMOVAL, int, rmdir, (const char *path), (path), -1, EACCES)
FAILING(REMOVAL, int, rename, (const char *from, const char *to), (from, to), -1, ENOSPC)

/* ---- bytes ------------------------------------------------------------------ */

/* Counters of events: the kernel has no reason to fail reading or writing one, and a wake-up that is lost is no error. */
static bool is_counter[1024];

REAL(int, eventfd, (unsigned first, int flags))
int eventfd(unsigned first, int flags)
{
	int fd = fails(FILES, "eventfd", EMFILE) ? -1 : real_eventfd(first, flags);

	if (fd >= 0 && fd < 1024)
		is_counter[fd] = true;
	return fd;
}

static bool moves_bytes(int fd)
{
	return fd != STDERR_FILENO && !(fd >= 0 && fd < 1024 && is_counter[fd]);
}

REAL(int, close, (int fd))
int close(int fd)
{
	int rc;

	if (real_close == NULL)
		find_close();
	if (fd >= 0 && fd < 1024)
		is_counter[fd] = false;
	rc = real_close(fd);
	return rc == 0 && fails(REMOVAL, "close", EIO) ? -1 : rc;
}

REAL(ssize_t, read, (int fd, void *p, size_t n))
ssize_t read(int fd, void *p, size_t n)
{
	if (real_read == NULL)
		find_read();
	return moves_bytes(fd) && fails(IO, "read", EIO) ? -1 : real_read(fd, p, n);
}

FAILING(IO, ssize_t, pread, (int fd, void *p, size_t n, off_t off), (fd, p, n, off), -1, EIO)
ALSO(ssize_t, pread, (int fd, void *p, size_t n, off_t off))
FAILING(IO, ssize_t, readv, (int fd, const struct iovec *v, int n), (fd, v, n), -1, EIO)
FAILING(IO, ssize_t, preadv, (int fd, const struct iovec *v, int n, off_t off), (fd, v, n, off), -1, EIO)
FAILING(IO, int, fsync, (int fd), (fd), -1, EIO)
/* So few have room on the kernel's stack: it needs no memory for them. */
#define POLLED_FREE 30
#define POLL_FAILS (n > POLLED_FREE ? ENOMEM : EINTR)
FAILING(IO, int, poll, (struct pollfd *p, nfds_t n, int wait), (p, n, wait), -1, POLL_FAILS)
FAILING(IO, int, ppoll, (struct pollfd *p, nfds_t n, const struct timespec *t, const sigset_t *m), (p, n, t, m), -1,
	POLL_FAILS)
FAILING(IO, int, epoll_ctl, (int set, int op, int fd, struct epoll_event *e), (set, op, fd, e), -1, ENOSPC)
FAILING(IO, int, epoll_wait, (int set, struct epoll_event *e, int n, int wait), (set, e, n, wait), -1, EINTR)
FAILING(IO, ssize_t, process_vm_readv, (pid_t pid, const struct iovec *l, unsigned long nl, const struct iovec *r,
	unsigned long nr, unsigned long flags), (pid, l, nl, r, nr, flags), -1, EPERM)
FAILING(IO, ssize_t, process_vm_writev, (pid_t pid, const struct iovec *l, unsigned long nl, const struct iovec *r,
	unsigned long nr, unsigned long flags), (pid, l, nl, r, nr, flags), -1, EPERM)

ssize_t write(int fd, const void *p, size_t n)
{
	if (real_write == NULL)
		find_write();
	return moves_bytes(fd) && fails(IO, "write", ENOSPC) ? -1 : real_write(fd, p, n);
}

REAL(ssize_t, writev, (int fd, const struct iovec *v, int n))
ssize_t writev(int fd, const struct iovec *v, int n)
{
	return moves_bytes(fd) && fails(IO, "writev", ENOSPC) ? -1 : real_writev(fd, v, n);
}

REAL(int, ioctl, (int fd, unsigned long cmd, ...))
int ioctl(int fd, unsigned long cmd, ...)
{
	va_list ap;
	void *arg;

	va_start(ap, cmd);
	arg = va_arg(ap, void *);
	va_end(ap);
	return fails(IO, "ioctl", ENODEV) ? -1 : real_ioctl(fd, cmd, arg);
}

/* What the library knows of a stream whose bytes could not be moved. */
static bool stream_fails(FILE *f, const char *name, int err)
{
	if (f == NULL || f == stderr || !fails(IO, name, err))
		return false;
	f->_flags |= _IO_ERR_SEEN;
	return true;
}

REAL(size_t, fread, (void *p, size_t size, size_t n, FILE *f))
size_t fread(void *p, size_t size, size_t n, FILE *f)
{
	return stream_fails(f, "fread", EIO) ? 0 : real_fread(p, size, n, f);
}

REAL(char *, fgets, (char *p, int n, FILE *f))
char *fgets(char *p, int n, FILE *f)
{
	return stream_fails(f, "fgets", EIO) ? NULL : real_fgets(p, n, f);
}

REAL(int, fflush, (FILE *f))
int fflush(FILE *f)
{
	return stream_fails(f, "fflush", ENOSPC) ? EOF : real_fflush(f);
}

REAL(int, fclose, (FILE *f))
int fclose(FILE *f)
{
	bool fail = f != stderr && fails_as(IO, "fclose", false);
	int rc = real_fclose(f);

	if (fail)
		errno = ENOSPC;
	return fail ? EOF : rc;
}

/* ---- sockets ----------------------------------------------------------------- */

/* The types of addresses are the header's own: unions of all kinds. */
FAILING(SOCKETS, int, socket, (int domain, int type, int proto), (domain, type, proto), -1, EMFILE)
FAILING(SOCKETS, int, socketpair, (int domain, int type, int proto, int fds[2]), (domain, type, proto, fds), -1, EMFILE)
FAILING(SOCKETS, int, bind, (int fd, __CONST_SOCKADDR_ARG a, socklen_t n), (fd, a, n), -1, EADDRINUSE)
FAILING(SOCKETS, int, listen, (int fd, int backlog), (fd, backlog), -1, EADDRINUSE)
FAILING(SOCKETS, int, connect, (int fd, __CONST_SOCKADDR_ARG a, socklen_t n), (fd, a, n), -1, ECONNREFUSED)
FAILING(SOCKETS, int, accept4, (int fd, __SOCKADDR_ARG a, socklen_t *n, int flags), (fd, a, n, flags), -1, EMFILE)
FAILING(SOCKETS, int, getsockname, (int fd, __SOCKADDR_ARG a, socklen_t *n), (fd, a, n), -1, ENOBUFS)
FAILING(SOCKETS, int, getpeername, (int fd, __SOCKADDR_ARG a, socklen_t *n), (fd, a, n), -1, ENOTCONN)
FAILING(SOCKETS, int, getsockopt, (int fd, int level, int name, void *p, socklen_t *n), (fd, level, name, p, n), -1,
	ENOPROTOOPT)
FAILING(SOCKETS, int, setsockopt, (int fd, int level, int name, const void *p, socklen_t n), (fd, level, name, p, n),
	-1, ENOPROTOOPT)
FAILING(SOCKETS, int, shutdown, (int fd, int how), (fd, how), -1, ENOTCONN)
FAILING(SOCKETS, ssize_t, send, (int fd, const void *p, size_t n, int flags), (fd, p, n, flags), -1, ENOBUFS)
FAILING(SOCKETS, ssize_t, sendto, (int fd, const void *p, size_t n, int flags, __CONST_SOCKADDR_ARG a, socklen_t len),
	(fd, p, n, flags, a, len), -1, ENOBUFS)
FAILING(SOCKETS, ssize_t, sendmsg, (int fd, const struct msghdr *m, int flags), (fd, m, flags), -1, ENOBUFS)
FAILING(SOCKETS, int, sendmmsg, (int fd, struct mmsghdr *m, unsigned n, int flags), (fd, m, n, flags), -1, ENOBUFS)
FAILING(SOCKETS, ssize_t, recv, (int fd, void *p, size_t n, int flags), (fd, p, n, flags), -1, ENOMEM)
FAILING(SOCKETS, ssize_t, recvfrom, (int fd, void *p, size_t n, int flags, __SOCKADDR_ARG a, socklen_t *len),
	(fd, p, n, flags, a, len), -1, ENOMEM)
FAILING(SOCKETS, ssize_t, recvmsg, (int fd, struct msghdr *m, int flags), (fd, m, flags), -1, ENOMEM)
FAILING(SOCKETS, int, recvmmsg, (int fd, struct mmsghdr *m, unsigned n, int flags, struct timespec *t),
	(fd, m, n, flags, t), -1, ENOMEM)
FAILING(SOCKETS, unsigned, if_nametoindex, (const char *name), (name), 0, ENODEV)
TELLING(SOCKETS, getaddrinfo, (const char *host, const char *port, const struct addrinfo *want, struct addrinfo **out),
	(host, port, want, out), EAI_MEMORY)

/* ---- the kernel, by number ---------------------------------------------------- */

/*
 * libbpf and libseccomp come to the kernel by this.  liburcu does, too: its futex and membarrier are not for want of
 * anything, and a kernel that had them once has them.
 */
REAL(long, syscall, (long number, ...))
long syscall(long number, ...)
{
	long a[6];
	va_list ap;
	size_t i;

	va_start(ap, number);
	for (i = 0; i < 6; i++)
		a[i] = va_arg(ap, long);
	va_end(ap);
	if (real_syscall == NULL)
		find_syscall();
	if (number != SYS_futex && number != SYS_membarrier && fails(KERNEL, "syscall", EPERM))
		return -1;
	return real_syscall(number, a[0], a[1], a[2], a[3], a[4], a[5]);
}
