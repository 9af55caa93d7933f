/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * vpx_call.c - calls of programs: their arguments, their answers, and which function has them.
 *
 * An argument in the caller's memory is read once, into a buffer of ours: the caller's other threads may write to it at
 * any time.  A caller may be gone, or interrupted, whenever an answer is made; then the answer is lost, and what it
 * was to tell must not be.
 */
#include "tools/vp-exec/vpx.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/seccomp.h>
#include <seccomp.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

/* ---- answers ---------------------------------------------------------------------------------------- */

/* The listener itself fails, so nobody under it is ever answered again: closed, it tells them ENOSYS, and we end. */
static void listener_fails(struct vpx_program *p)
{
	fprintf(stderr, "vp-exec: %s: its calls cannot be answered: %m\n", p->argv[0]);
	close(p->notify);
	p->notify = -1;
	vpx.over = vpx.broken = true;
}

bool vpx_call_answer(const struct vpx_call *c, int64_t result)
{
	struct seccomp_notif_resp r = { .id = c->id };

	if (c->by->notify < 0)
		return false;

	if (result == VPX_NATIVE)
		r.flags = SECCOMP_USER_NOTIF_FLAG_CONTINUE;
	else if (result < 0)
		r.error = (int)result;
	else
		r.val = result;
	if (ioctl(c->by->notify, SECCOMP_IOCTL_NOTIF_SEND, &r) < 0) {
		if (errno != ENOENT)
			listener_fails(c->by);
		vpx.lost++;
		return false;
	}
	if (result == VPX_NATIVE)
		vpx.native++;
	else
		vpx.answered++;
	return true;
}

bool vpx_call_valid(const struct vpx_call *c)
{
	uint64_t id = c->id;

	return ioctl(c->by->notify, SECCOMP_IOCTL_NOTIF_ID_VALID, &id) == 0;
}

int vpx_call_give(const struct vpx_call *c, int fd, bool cloexec)
{
	struct seccomp_notif_addfd a = { .id = c->id, .flags = SECCOMP_ADDFD_FLAG_SEND, .srcfd = (uint32_t)fd,
					 .newfd_flags = cloexec ? O_CLOEXEC : 0 };
	int n = ioctl(c->by->notify, SECCOMP_IOCTL_NOTIF_ADDFD, &a);

	if (n < 0) {
		vpx.lost += errno == ENOENT;
		return -errno;
	}
	vpx.answered++;
	return n;
}

/* ---- arguments ----------------------------------------------------------------------------------------- */

bool vpx_get(const struct vpx_call *c, uint64_t at, void *buf, size_t n)
{
	struct iovec ours = { buf, n }, theirs = { (void *)(uintptr_t)at, n };

	return n == 0 || process_vm_readv(c->tid, &ours, 1, &theirs, 1, 0) == (ssize_t)n;
}

bool vpx_put(const struct vpx_call *c, uint64_t at, const void *buf, size_t n)
{
	struct iovec ours = { (void *)(uintptr_t)buf, n }, theirs = { (void *)(uintptr_t)at, n };

	return n == 0 || process_vm_writev(c->tid, &ours, 1, &theirs, 1, 0) == (ssize_t)n;
}

int vpx_get_addr(const struct vpx_call *c, uint64_t at, uint64_t len, struct xk_sock_addr *a)
{
	struct sockaddr_in s = { .sin_family = AF_UNSPEC };
	int n = (int)len;

	if (n < (int)sizeof s.sin_family || n > (int)sizeof(struct sockaddr_storage))
		return -EINVAL;
	if (!vpx_get(c, at, &s, (size_t)n < sizeof s ? (size_t)n : sizeof s))
		return -EFAULT;
	*a = (struct xk_sock_addr){ ntohl(s.sin_addr.s_addr), ntohs(s.sin_port) };
	if (s.sin_family == AF_UNSPEC)
		return 1;
	if ((size_t)n < sizeof s)
		return -EINVAL;
	return s.sin_family == AF_INET ? 0 : -EAFNOSUPPORT;
}

struct sockaddr_in vpx_sockaddr(struct xk_sock_addr a)
{
	return (struct sockaddr_in){ .sin_family = AF_INET, .sin_port = htons(a.port), .sin_addr.s_addr = htonl(a.host) };
}

int vpx_put_addr(const struct vpx_call *c, uint64_t at, uint64_t len_at, struct xk_sock_addr a)
{
	struct sockaddr_in s = vpx_sockaddr(a);
	int room, whole = sizeof s;

	if (at == 0)
		return 0;
	if (!vpx_get(c, len_at, &room, sizeof room))
		return -EFAULT;
	if (room < 0)
		return -EINVAL;
	return vpx_put(c, at, &s, (size_t)(room < whole ? room : whole)) && vpx_put(c, len_at, &whole, sizeof whole) ? 0 : -EFAULT;
}

/* ---- what cannot be done ----------------------------------------------------------------------------------- */

void vpx_say(enum vpx_cannot what, const struct vpx_call *c, int level, int name)
{
	static bool said[VPX_NO_KINDS];

	if (said[what])
		return;
	said[what] = true;
	fprintf(stderr, "vp-exec: process %d: ", (int)c->tid);
	switch (what) {
	case VPX_NO_IP6: fputs("graphs have no IPv6: its sockets fail with EAFNOSUPPORT", stderr); break;
	case VPX_NO_RAW: fputs("raw and packet sockets fail with EPERM", stderr); break;
	case VPX_NO_URGENT: fputs("urgent data fails with EOPNOTSUPP", stderr); break;
	default: fprintf(stderr, "option %d of level %d, and what else is unknown, fails with ENOPROTOOPT", name, level);
	}
	fputs(" (said once)\n", stderr);
}

/* ---- who answers ----------------------------------------------------------------------------------------------- */

static const struct { int nr; int64_t (*fn)(struct vpx_sock *, const struct vpx_call *); } functions[] = {
	{ SYS_accept4, vpx_accept }, { SYS_bind, vpx_bind }, { SYS_connect, vpx_connect },
#ifdef SYS_accept
	{ SYS_accept, vpx_accept },
#endif
	{ SYS_getpeername, vpx_getpeername }, { SYS_getsockname, vpx_getsockname }, { SYS_getsockopt, vpx_getsockopt },
	{ SYS_listen, vpx_listen }, { SYS_recvfrom, vpx_receive }, { SYS_recvmmsg, vpx_receive },
	{ SYS_recvmsg, vpx_receive }, { SYS_sendmmsg, vpx_sendmmsg }, { SYS_sendmsg, vpx_sendmsg },
	{ SYS_sendto, vpx_sendto }, { SYS_setsockopt, vpx_setsockopt }, { SYS_shutdown, vpx_shutdown },
};

static int64_t result_of(const struct vpx_call *c)
{
	struct vpx_sock *v;

	if (c->nr == SYS_socket)
		return vpx_socket(c);
	v = vpx_sock_of_call(c);
	for (unsigned i = 0; v != NULL && i < sizeof functions / sizeof *functions; i++)
		if (functions[i].nr == c->nr)
			return functions[i].fn(v, c);
	return VPX_NATIVE;
}

void vpx_call_receive(struct vpx_program *p)
{
	static struct seccomp_notif *n;
	struct vpx_call c;
	int64_t result;
	int err = n == NULL ? seccomp_notify_alloc(&n, NULL) : 0;    /* the kernel's may be longer than that of our headers */

	/* A call that waits would be told of for ever. */
	if (err != 0) {
		errno = -err;
		listener_fails(p);
		return;
	}
	memset(n, 0, sizeof *n);
	/* ENOENT: whoever called was interrupted meanwhile. */
	if (ioctl(p->notify, SECCOMP_IOCTL_NOTIF_RECV, n) < 0) {
		if (errno != ENOENT && errno != EINTR)
			listener_fails(p);
		return;
	}
	c = (struct vpx_call){ .by = p, .id = n->id, .tid = (pid_t)n->pid, .nr = n->data.nr };
	memcpy(c.arg, n->data.args, sizeof c.arg);
	result = result_of(&c);
	if (result != VPX_LATER)
		(void)vpx_call_answer(&c, result);
}
