/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * pkt_call.c - the calls of a program, made on sockets (xk_sock.h).
 *
 * Each answers its result, a negative errno, or WOULD_WAIT, and is asked again
 * whenever something has happened.  A call that the script gives no time to return
 * must return at once; one on a non-blocking socket answers EAGAIN instead.
 * Invariant: at most one call waits.
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>

#include "tools/pkt/pkt_priv.h"

#define WOULD_WAIT INT64_MIN

struct call_env {
	struct pkt_run         *u;
	const struct pkt_event *e;
	const struct pkt_call  *c;
	struct pkt_sock        *k;       /* of the first argument */
};

static int64_t arg(const struct call_env *v, unsigned i, int64_t otherwise)
{
	int64_t n;

	return i < v->c->nargs && pkt_expr_value(v->c->arg[i], &n) ? n : otherwise;
}

static bool is_null(const struct call_env *v, unsigned i)
{
	return i < v->c->nargs && v->c->arg[i]->kind == PKT_X_WORD && strcmp(v->c->arg[i]->s, "NULL") == 0;
}

/* A result of xk_sock: its errors are POSIX's numbers, negated, as ours are.  What a program's
 * thread would sleep for waits here. */
static int64_t or_wait(const struct call_env *v, int64_t r)
{
	return r == XK_E_AGAIN && pkt_sock_waits(v->k) ? WOULD_WAIT : r;
}

/* Of this call, tried before: how far it had come. */
static int64_t before(const struct call_env *v)
{
	return v->u->wait.e == v->e ? v->u->wait.done : 0;
}

/* ---- descriptors --------------------------------------------------------------------- */

static int64_t fd_for(struct pkt_run *u, int fd)
{
	for (int i = 3; i < PKT_FDS; i++)
		if (u->fd[i] == NULL) {
			u->fd[i] = pkt_sock_new(fd);
			return i;
		}
	(void)xk_sock_close(fd);
	return -EMFILE;
}

/* What a sysctl has made the rule for new sockets. */
static void inherit(const struct pkt_run *u, const struct pkt_sock *k)
{
	if (u->keepidle >= 0)
		(void)pkt_sock_set(k, XK_TCP_KEEPIDLE, u->keepidle / 1000);
	if (u->keepintvl >= 0)
		(void)pkt_sock_set(k, XK_TCP_KEEPINTVL, u->keepintvl / 1000);
	if (u->keepcnt >= 0)
		(void)pkt_sock_set(k, XK_TCP_KEEPCNT, u->keepcnt);
}

static int64_t do_socket(const struct call_env *v)
{
	int64_t type = arg(v, 1, SOCK_STREAM), r;

	if ((type & ~(int64_t)SOCK_NONBLOCK) != SOCK_STREAM)
		return -EPROTONOSUPPORT;
	r = xk_sock_socket(v->u->sock, XK_SOCK_STREAM | (type & SOCK_NONBLOCK ? XK_SOCK_NONBLOCK : 0));
	if (r >= 0)
		r = fd_for(v->u, (int)r);
	if (r >= 0)
		inherit(v->u, v->u->fd[r]);
	return r;
}

static int64_t do_bind(const struct call_env *v)
{
	int r = xk_sock_bind(v->k->fd, &(struct xk_sock_addr){ v->u->local, v->u->bind_port });

	v->k->bound |= r == XK_OK;
	return r;
}

/* TCP_DEFER_ACCEPT is tcp's, by port. */
static void defer(const struct call_env *v)
{
	struct tcp_defer d = { v->u->bind_port, v->k->defer };

	if (d.ms == 0)
		return;
	pkt_enter(v->u);
	(void)xk_control(v->u->tcp->rep[0], TCP_CTL_DEFER, &d, sizeof d);
	pkt_leave(v->u);
}

static int64_t do_listen(const struct call_env *v)
{
	int64_t backlog = arg(v, 1, 0), r = v->k->bound ? 0 : do_bind(v);

	if (r < 0)
		return r;
	defer(v);
	return xk_sock_listen(v->k->fd, backlog > 0 ? (unsigned)backlog : 0);
}

static int64_t do_accept(const struct call_env *v)
{
	bool nonblock = strcmp(v->c->name, "accept4") == 0 && (arg(v, 3, 0) & SOCK_NONBLOCK);
	int64_t r = or_wait(v, xk_sock_accept(v->k->fd, NULL, nonblock ? XK_SOCK_NONBLOCK : 0));

	return r >= 0 ? fd_for(v->u, (int)r) : r;
}

static int64_t do_close(const struct call_env *v)
{
	uint32_t bad;

	v->u->fd[arg(v, 0, -1)] = NULL;
	bad = pkt_sock_close(v->k);
	if (bad != 0)
		pkt_differs(v->u, v->e, "%u bytes received are not what was sent", bad);
	return 0;
}

/* ---- connecting and ending ------------------------------------------------------------- */

static int64_t do_connect(const struct call_env *v)
{
	bool again = before(v) != 0;
	int r = xk_sock_connect(v->k->fd, &(struct xk_sock_addr){ v->u->remote, v->u->connect_port });

	if (r == XK_E_INPROGRESS && !again)
		v->u->fresh = true;      /* a new connection: its SYN shows our numbers */
	if (again && r == XK_E_ISCONN)
		return 0;
	if ((r != XK_E_INPROGRESS && r != XK_E_ALREADY) || !pkt_sock_waits(v->k))
		return r;
	v->u->wait.done = 1;
	return WOULD_WAIT;
}

static int64_t do_shutdown(const struct call_env *v)
{
	int64_t how = arg(v, 1, -1);

	if (how != SHUT_RD && how != SHUT_WR && how != SHUT_RDWR)
		return -EINVAL;
	return xk_sock_shutdown(v->k->fd, how == SHUT_RD ? XK_SHUT_RD : how == SHUT_WR ? XK_SHUT_WR : XK_SHUT_RDWR);
}

/* ---- data ---------------------------------------------------------------------------------- */

/* Flags of a call as xk_sock has them; negative: one that nobody has. */
static int64_t flags_of(const struct call_env *v, int64_t flags)
{
	static const struct { int script, ours; } map[] = {
		{ MSG_PEEK, XK_SOCK_PEEK }, { MSG_DONTWAIT, XK_SOCK_DONTWAIT }, { MSG_WAITALL, XK_SOCK_WAITALL },
		{ MSG_OOB, XK_SOCK_OOB }, { MSG_NOSIGNAL, 0 },   /* no call raises a signal */
	};
	int64_t r = 0;

	for (unsigned i = 0; i < XK_ARRAY_LEN(map); i++)
		if (flags & map[i].script) {
			r |= map[i].ours;
			flags &= ~(int64_t)map[i].script;
		}
	if (flags == 0)
		return r;
	pkt_bad(v->u, v->e, "flags 0x%llx are not known here", (long long)flags);
	return -EINVAL;
}

static int64_t transfer_in(const struct call_env *v, int64_t want, int64_t how)
{
	int64_t flags = flags_of(v, how), done = before(v), r;
	bool all = (how & MSG_WAITALL) && !(how & (MSG_PEEK | MSG_DONTWAIT)) && pkt_sock_waits(v->k);

	if (want < 0 || want > INT32_MAX || flags < 0)
		return -EINVAL;
	if (is_null(v, 1)) {
		r = pkt_sock_read(v->k, 1, XK_SOCK_PEEK);
		r = r > 0 ? -EFAULT : r;
	} else {
		r = pkt_sock_read(v->k, want - done, (int)flags);
	}
	if (all && r > 0 && done + r < want) {
		v->u->wait.done = done + r;
		return WOULD_WAIT;
	}
	if (r == XK_E_AGAIN)
		return how & MSG_DONTWAIT ? r : or_wait(v, r);
	return r < 0 && done > 0 ? done : done + r;
}

static int64_t transfer_out(const struct call_env *v, int64_t want, int64_t how)
{
	int64_t flags = flags_of(v, how), done = before(v), r;

	if (want < 0 || want > INT32_MAX || flags < 0)
		return -EINVAL;
	if (is_null(v, 1))
		return -EFAULT;
	r = pkt_sock_write(v->k, want - done, (int)flags);
	if (r < 0 && r != XK_E_AGAIN)
		return done > 0 ? done : r;
	done += r > 0 ? r : 0;
	if (done == want)
		return done;
	if ((how & MSG_DONTWAIT) || !pkt_sock_waits(v->k))
		return done > 0 ? done : r;
	v->u->wait.done = done;
	return WOULD_WAIT;
}

static int64_t do_read(const struct call_env *v)  { return transfer_in(v, arg(v, 2, -1), 0); }
static int64_t do_recv(const struct call_env *v)  { return transfer_in(v, arg(v, 2, -1), arg(v, 3, 0)); }
static int64_t do_write(const struct call_env *v) { return transfer_out(v, arg(v, 2, -1), 0); }
static int64_t do_send(const struct call_env *v)  { return transfer_out(v, arg(v, 2, -1), arg(v, 3, 0)); }

/* Sum of the lengths of [{..., 1000}, {..., 500}]. */
static int64_t iov_length(const struct pkt_expr *x)
{
	int64_t sum = 0, n;

	for (unsigned i = 0; x != NULL && x->kind == PKT_X_LIST && i < x->n; i++)
		if (x->kid[i]->kind == PKT_X_STRUCT && x->kid[i]->n == 2 && pkt_expr_value(x->kid[i]->kid[1], &n))
			sum += n;
	return sum;
}

static int64_t do_readv(const struct call_env *v)
{
	return transfer_in(v, v->c->nargs > 1 ? iov_length(v->c->arg[1]) : -1, 0);
}

static int64_t do_writev(const struct call_env *v)
{
	return transfer_out(v, v->c->nargs > 1 ? iov_length(v->c->arg[1]) : -1, 0);
}

/* ---- asking -------------------------------------------------------------------------------- */

static int64_t do_fcntl(const struct call_env *v)
{
	int64_t cmd = arg(v, 1, -1);

	if (cmd == F_GETFL)
		return O_RDWR | (pkt_sock_waits(v->k) ? 0 : O_NONBLOCK);
	if (cmd != F_SETFL)
		return -EINVAL;
	return pkt_sock_set(v->k, XK_SO_NONBLOCK, (arg(v, 2, 0) & O_NONBLOCK) != 0);
}

static int64_t do_ioctl(const struct call_env *v)
{
	int64_t cmd = arg(v, 1, -1), is = 0, want, r;

	if (cmd == FIONBIO)
		return pkt_sock_set(v->k, XK_SO_NONBLOCK, arg(v, 2, 0) != 0);
	if (cmd != FIONREAD && cmd != TIOCOUTQ)
		return -EINVAL;
	r = pkt_sock_get(v->k, cmd == FIONREAD ? XK_SO_NREAD : XK_SO_NWRITE, &is);
	if (r == 0 && v->c->nargs > 2 && v->c->arg[2]->kind == PKT_X_LIST && pkt_expr_value(v->c->arg[2], &want) && want != is)
		pkt_differs(v->u, v->e, "the value is %lld, not %lld", (long long)is, (long long)want);
	return r;
}

/* What xk_sock_poll says, in the script's bits: data in order is all there is, so IN is
 * RDNORM, and OUT is WRNORM. */
static int64_t ready_of(const struct pkt_sock *k, int64_t events)
{
	int64_t in = POLLIN | POLLRDNORM, out = POLLOUT | POLLWRNORM, got;
	struct pollfd p = { .fd = k != NULL ? k->fd : INT_MAX };

	p.events = (short)((events & in ? POLLIN : 0) | (events & out ? POLLOUT : 0) | (events & (POLLPRI | POLLRDHUP)));
	if (k == NULL)
		return POLLNVAL;
	(void)xk_sock_poll(&p, 1, 0);
	got = p.revents & ~(POLLIN | POLLOUT);
	return got | (p.revents & POLLIN ? events & in : 0) | (p.revents & POLLOUT ? events & out : 0);
}

static int64_t field(const struct pkt_expr *x, const char *name, int64_t otherwise)
{
	int64_t n;

	for (unsigned i = 0; i < x->n; i++)
		if (x->kid[i]->kind == PKT_X_FIELD && strcmp(x->kid[i]->s, name) == 0 && pkt_expr_value(x->kid[i], &n))
			return n;
	return otherwise;
}

static int64_t do_poll(const struct call_env *v)
{
	const struct pkt_expr *set = v->c->nargs > 0 ? v->c->arg[0] : NULL;
	int64_t timeout = arg(v, 2, 0), n = 0;

	if (set == NULL || set->kind != PKT_X_LIST)
		return -EFAULT;
	for (unsigned i = 0; i < set->n; i++) {
		int64_t fd = field(set->kid[i], "fd", -1);
		int64_t got = ready_of(fd >= 0 && fd < PKT_FDS ? v->u->fd[fd] : NULL, field(set->kid[i], "events", 0));
		int64_t want = field(set->kid[i], "revents", got);

		n += got != 0;
		if (got != want && (got != 0 || timeout == 0 || v->u->wait.e == NULL))
			pkt_differs(v->u, v->e, "revents of descriptor %lld are 0x%llx, not 0x%llx", (long long)fd,
				    (long long)got, (long long)want);
	}
	if (n != 0 || timeout == 0)
		return n;
	return timeout > 0 && v->u->wait.e == v->e && pkt_now(v->u) >= v->u->wait.from + timeout * 1000000 ? 0 : WOULD_WAIT;
}

static int64_t do_setsockopt(const struct call_env *v) { return pkt_setsockopt(v->u, v->k, v->e); }
static int64_t do_getsockopt(const struct call_env *v) { return pkt_getsockopt(v->u, v->k, v->e); }

/* ---- all of them ------------------------------------------------------------------------------- */

static const struct { const char *name; int64_t (*fn)(const struct call_env *); bool has_fd; } calls[] = {
	{ "socket", do_socket, false }, { "bind", do_bind, true }, { "listen", do_listen, true },
	{ "accept", do_accept, true }, { "accept4", do_accept, true }, { "connect", do_connect, true },
	{ "close", do_close, true }, { "shutdown", do_shutdown, true }, { "read", do_read, true },
	{ "recv", do_recv, true }, { "recvfrom", do_recv, true }, { "readv", do_readv, true },
	{ "write", do_write, true }, { "send", do_send, true }, { "sendto", do_send, true },
	{ "writev", do_writev, true }, { "fcntl", do_fcntl, true }, { "ioctl", do_ioctl, true },
	{ "setsockopt", do_setsockopt, true }, { "getsockopt", do_getsockopt, true }, { "poll", do_poll, false },
};

static int64_t call_once(struct pkt_run *u, const struct pkt_event *e)
{
	struct call_env v = { .u = u, .e = e, .c = e->call };
	int64_t fd = arg(&v, 0, -1), r = -EBADF;

	for (unsigned i = 0; i < XK_ARRAY_LEN(calls); i++) {
		if (strcmp(calls[i].name, e->call->name) != 0)
			continue;
		if (calls[i].has_fd) {
			v.k = fd >= 0 && fd < PKT_FDS ? u->fd[fd] : NULL;
			if (v.k == NULL)
				return -EBADF;
			if (strcmp(calls[i].name, "close") != 0)
				u->last_fd = (int)fd;
		}
		r = calls[i].fn(&v);
		if (!calls[i].has_fd && r >= 3)
			u->last_fd = (int)r;
		if (calls[i].fn == do_accept && r >= 0)
			u->last_fd = (int)r;
		return r;
	}
	pkt_bad(u, e, "there is no call '%s' here", e->call->name);
	return 0;
}

static void check_result(struct pkt_run *u, const struct pkt_event *e, int64_t r)
{
	const struct pkt_call *c = e->call;
	int64_t want = 0;

	if (u->bad || c->any_result)
		return;
	if (c->err != NULL)
		pkt_word_value(c->err, &want);
	if (r < 0 ? c->result == -1 && (c->err == NULL || -r == want) : c->result == r)
		return;
	if (r < 0)
		pkt_differs(u, e, "%s returns -1 %s, not %lld %s", c->name, pkt_errno_name((int)-r),
			    (long long)c->result, c->err ? c->err : "");
	else
		pkt_differs(u, e, "%s returns %lld, not %lld %s", c->name, (long long)r, (long long)c->result,
			    c->err ? c->err : "");
}

/* A call that the script lets take its time returned. */
static void check_time(struct pkt_run *u, const struct pkt_event *e, int64_t until)
{
	int64_t now = pkt_now(u);

	if (now < until - u->tolerance || now > until + u->tolerance)
		pkt_differs(u, e, "%s returns at %.6f, not at %.6f", e->call->name, (double)now / 1e9,
			    (double)until / 1e9);
}

void pkt_call_start(struct pkt_run *u, const struct pkt_event *e, int64_t from, int64_t until)
{
	int64_t r;

	u->wait = (struct pkt_wait){ .e = e, .from = from, .until = until };
	r = call_once(u, e);
	if (r == WOULD_WAIT && e->t.blocks)
		return;
	u->wait.e = NULL;
	if (r == WOULD_WAIT) {
		pkt_differs(u, e, "%s waits; it had to return at once", e->call->name);
		return;
	}
	check_result(u, e, r);
	if (e->t.blocks)
		check_time(u, e, until);
}

bool pkt_call_again(struct pkt_run *u)
{
	const struct pkt_event *e = u->wait.e;
	int64_t r;

	if (e == NULL)
		return true;
	r = call_once(u, e);
	if (r == WOULD_WAIT) {
		if (pkt_now(u) <= u->wait.until + u->tolerance)
			return false;
		pkt_differs(u, e, "%s has not returned", e->call->name);
	} else {
		check_result(u, e, r);
		check_time(u, e, u->wait.until);
	}
	u->wait.e = NULL;
	return true;
}
