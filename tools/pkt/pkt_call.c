/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * pkt_call.c - the calls of a program.
 *
 * Each answers its result, a negative errno, or WOULD_WAIT, and is asked again
 * whenever something has happened.  A call that the script gives no time to return
 * must return at once; one on a non-blocking socket answers EAGAIN instead.
 * Invariant: at most one call waits.
 */
#include <errno.h>
#include <fcntl.h>
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

static int64_t or_wait(const struct call_env *v)
{
	return v->k->nonblock ? -EAGAIN : WOULD_WAIT;
}

/* The pending error, given once. */
static int64_t take_error(struct pkt_sock *k)
{
	int err = k->err;

	k->err = 0;
	return -err;
}

/* ---- descriptors --------------------------------------------------------------------- */

static int64_t fd_for(struct pkt_run *u, struct pkt_sock *k)
{
	for (int i = 3; i < PKT_FDS; i++)
		if (u->fd[i] == NULL) {
			u->fd[i] = k;
			return i;
		}
	return -EMFILE;
}

static int64_t do_socket(const struct call_env *v)
{
	int64_t type = arg(v, 1, SOCK_STREAM);
	struct pkt_sock *k;

	if ((type & ~(int64_t)SOCK_NONBLOCK) != SOCK_STREAM)
		return -EPROTONOSUPPORT;
	k = pkt_sock_new(v->u);
	k->nonblock = (type & SOCK_NONBLOCK) != 0;
	return fd_for(v->u, k);
}

static int64_t do_bind(const struct call_env *v)
{
	if (v->k->lport != 0)
		return -EINVAL;
	v->k->lport = v->u->bind_port;
	return 0;
}

static int64_t do_listen(const struct call_env *v)
{
	struct pkt_sock *k = v->k;
	int err;

	if (k->state != PKT_S_NEW && k->state != PKT_S_LISTEN)
		return -EINVAL;
	k->backlog = (unsigned)arg(v, 1, 0);
	if (k->state == PKT_S_LISTEN)
		return 0;
	if (k->lport == 0)
		k->lport = v->u->bind_port;
	err = pkt_sock_listen(k, true);
	if (err < 0)
		return err;
	k->state = PKT_S_LISTEN;
	return 0;
}

static int64_t do_accept(const struct call_env *v)
{
	struct pkt_sock *l = v->k, *k = l->accept_first;

	if (l->state != PKT_S_LISTEN)
		return -EINVAL;
	if (k == NULL)
		return or_wait(v);
	l->accept_first = k->accept_next;
	k->accept_next = NULL;
	l->nqueued--;
	k->nonblock = strcmp(v->c->name, "accept4") == 0 && (arg(v, 3, 0) & SOCK_NONBLOCK) != 0;
	return fd_for(v->u, k);
}

static int64_t do_close(const struct call_env *v)
{
	v->u->fd[arg(v, 0, -1)] = NULL;
	pkt_sock_free(v->k);
	return 0;
}

/* ---- connecting and ending ------------------------------------------------------------- */

static int64_t do_connect(const struct call_env *v)
{
	struct pkt_sock *k = v->k;
	bool first = k->state == PKT_S_NEW;
	int err;

	if (first) {
		v->u->fresh = true;
		err = pkt_sock_connect(k);
		if (err < 0)
			return err;
	}
	if (k->state == PKT_S_DEAD)
		return k->err != 0 ? take_error(k) : -ECONNABORTED;
	if (k->opened) {
		if (!k->told) {
			k->told = true;
			return 0;
		}
		return -EISCONN;
	}
	return k->nonblock ? (first ? -EINPROGRESS : -EALREADY) : WOULD_WAIT;
}

static int64_t do_shutdown(const struct call_env *v)
{
	struct pkt_sock *k = v->k;
	int64_t how = arg(v, 1, -1);

	if (how != SHUT_RD && how != SHUT_WR && how != SHUT_RDWR)
		return -EINVAL;
	if (k->s == NULL || k->state == PKT_S_DEAD || !k->opened)
		return -ENOTCONN;
	k->shut_rd |= how != SHUT_WR;
	k->shut_wr |= how != SHUT_RD;
	if (how != SHUT_RD)
		xk_sess_control(k->s, XK_STREAM_SHUTDOWN, NULL, 0);
	return 0;
}

/* ---- data ---------------------------------------------------------------------------------- */

static int64_t transfer_in(const struct call_env *v, int64_t want, int64_t flags)
{
	struct pkt_sock *k = v->k;
	uint32_t n;

	if (want < 0)
		return -EINVAL;
	if (k->state == PKT_S_LISTEN || k->state == PKT_S_NEW)
		return -ENOTCONN;
	if (k->rx_n == 0) {
		if (k->err != 0)
			return take_error(k);
		if (k->eof || k->shut_rd || k->state == PKT_S_DEAD)
			return 0;
		return flags & MSG_DONTWAIT ? -EAGAIN : or_wait(v);
	}
	if (is_null(v, 1))
		return -EFAULT;
	if ((flags & MSG_WAITALL) && k->rx_n < want && !k->eof && k->state != PKT_S_DEAD && !k->nonblock)
		return WOULD_WAIT;
	n = k->rx_n < want ? k->rx_n : (uint32_t)want;
	if (!(flags & MSG_PEEK))
		pkt_sock_taken(k, n);
	return n;
}

static int64_t transfer_out(const struct call_env *v, int64_t want, int64_t flags)
{
	struct pkt_sock *k = v->k;
	struct pkt_wait *w = &v->u->wait;
	bool patient = !k->nonblock && !(flags & MSG_DONTWAIT);
	uint32_t n, before = w->e == v->e ? w->done : 0;

	if (want < 0 || want > INT32_MAX)
		return -EINVAL;
	if (k->err != 0)
		return take_error(k);
	if (k->shut_wr || k->state == PKT_S_DEAD || k->s == NULL)
		return k->state == PKT_S_NEW || k->state == PKT_S_LISTEN ? -ENOTCONN : -EPIPE;
	if (is_null(v, 1))
		return -EFAULT;
	n = before + pkt_sock_write(k, (uint32_t)want - before);
	if (n == want || (n != 0 && !patient))
		return n;
	if (!patient)
		return -EAGAIN;
	w->done = n;
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
		return O_RDWR | (v->k->nonblock ? O_NONBLOCK : 0);
	if (cmd != F_SETFL)
		return -EINVAL;
	v->k->nonblock = (arg(v, 2, 0) & O_NONBLOCK) != 0;
	return 0;
}

static int64_t do_ioctl(const struct call_env *v)
{
	int64_t cmd = arg(v, 1, -1), is = 0, want;
	uint32_t queued = 0;

	if (cmd == FIONBIO) {
		v->k->nonblock = arg(v, 2, 0) != 0;
		return 0;
	}
	if (cmd == FIONREAD)
		is = v->k->rx_n;
	else if (cmd == TIOCOUTQ && v->k->s != NULL &&
		 xk_sess_control(v->k->s, XK_STREAM_QUEUED, &queued, sizeof queued) == (int)sizeof queued)
		is = queued;
	else if (cmd != TIOCOUTQ)
		return -EINVAL;
	if (v->c->nargs > 2 && v->c->arg[2]->kind == PKT_X_LIST && pkt_expr_value(v->c->arg[2], &want) && want != is)
		pkt_differs(v->u, v->e, "the value is %lld, not %lld", (long long)is, (long long)want);
	return 0;
}

static int64_t ready_of(const struct pkt_sock *k)
{
	uint32_t room = 0;
	int64_t r = 0;

	if (k == NULL)
		return POLLNVAL;
	if (k->state == PKT_S_LISTEN)
		return k->accept_first != NULL ? POLLIN | POLLRDNORM : 0;
	if (k->state == PKT_S_NEW)
		return POLLOUT | POLLHUP | POLLWRNORM;
	if (k->rx_n != 0 || k->eof || k->shut_rd || k->state == PKT_S_DEAD)
		r |= POLLIN | POLLRDNORM;
	if (k->eof || k->shut_rd)
		r |= POLLRDHUP;
	if (k->state == PKT_S_DEAD)
		return r | POLLOUT | POLLWRNORM | POLLHUP | POLLRDHUP | (k->err ? POLLERR : 0);
	if (k->eof && k->shut_wr)
		r |= POLLHUP;
	if (k->opened && k->s != NULL && (k->shut_wr || (xk_sess_control(k->s, XK_STREAM_ROOM, &room, sizeof room) > 0 &&
							  room != 0)))
		r |= POLLOUT | POLLWRNORM;
	return r;
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
		int64_t got = ready_of(fd >= 0 && fd < PKT_FDS ? v->u->fd[fd] : NULL) &
			      (field(set->kid[i], "events", 0) | POLLERR | POLLHUP | POLLNVAL);
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
		pkt_enter(u);
		r = calls[i].fn(&v);
		pkt_leave(u);
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
