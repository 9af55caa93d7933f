/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * sock_close.c - the end of a socket: shutdown, close, and what it gives back.
 *
 * A socket ends once, inside its VP, when its number is gone: closed by its application or, when
 * the graph goes, by its VP.
 */
#include "protocols/sock/sock_priv.h"

#include "runtime/sync/xk_sync.h"
#include "runtime/upi/xk_inline.h"

void sock_end(struct sock *sk, bool reset)
{
	sk->closed = true;
	if (sk->state == SOCK_LISTENING)
		sock_listen_end(sk);
	sock_disable(sk);
	sock_leave_port(sk);
	sock_rx_free(sk);
	sk->state = SOCK_DEAD;
	sock_stream_detach(sk, reset);
	sock_leave(sk);
	sock_set_leave(sk);
	sock_wake(sk, POLLIN | POLLOUT | POLLPRI | POLLRDHUP | POLLNVAL);
}

/* ---- shutdown ------------------------------------------------------------------------------------------- */

static void shut_read(struct sock *sk)
{
	uint64_t n = sk->rx_bytes;

	sk->shut_rd = true;
	sock_rx_free(sk);
	if (n != 0 && sk->sess != NULL)
		(void)sock_told(sock_lls(sk), XK_STREAM_TAKEN, (uint32_t)n);
}

static void shut_write(struct sock *sk)
{
	struct xk_sess *lls;

	if (sk->shut_wr)
		return;
	sk->shut_wr = true;
	sk->drained = false;
	if (sk->sess == NULL)
		return;
	lls = xk_dup(sock_lls(sk));
	(void)xk_sess_control(lls, XK_STREAM_SHUTDOWN, NULL, 0);
	xk_close(lls);
}

struct shutdown { int how; bool held; };

static int64_t shutdown_op(struct sock *sk, void *arg)
{
	const struct shutdown *s = arg;
	int how = s->how;

	if (sk->closed)
		return XK_E_BADF;
	if (sk->state == SOCK_LISTENING && how != XK_SHUT_WR) {
		if (!s->held)
			return SOCK_BINDS;
		sock_listen_end(sk);
		sk->state = SOCK_IDLE;
	} else if (sk->type == XK_SOCK_DGRAM ? sk->peer.port == 0 :
		   sk->state != SOCK_CONNECTED && sk->state != SOCK_DEAD) {
		return XK_E_NOTCONN;
	} else {
		if (how != XK_SHUT_WR)
			shut_read(sk);
		if (how != XK_SHUT_RD)
			shut_write(sk);
	}
	sock_wake(sk, SOCK_EVERYTHING);
	return XK_OK;
}

int xk_sock_shutdown(int fd, int how)
{
	struct shutdown s = { .how = how };
	struct sock *sk;
	int res;

	if (how < XK_SHUT_RD || how > XK_SHUT_RDWR)
		return XK_E_INVAL;
	res = sock_hold(fd, &sk);
	if (res != XK_OK)
		return res;
	res = (int)sock_do_seldom(sk, shutdown_op, &s, &s.held);
	sock_put(sk);
	return res;
}

/* ---- close --------------------------------------------------------------------------------------------------- */

/* Ends our side; for a blocking socket that lingers, the seconds to wait. */
static int64_t close_begin(struct sock *sk, void *arg)
{
	(void)arg;
	if (!sk->opts.linger.on || sk->opts.linger.seconds <= 0 || sk->state != SOCK_CONNECTED || sk->rx_bytes != 0)
		return 0;
	shut_write(sk);
	return sk->opts.linger.seconds;
}

static int64_t close_drained(struct sock *sk, void *arg)
{
	(void)arg;
	return sk->drained || sk->sess == NULL ? XK_OK : XK_E_AGAIN;
}

static int64_t close_end(struct sock *sk, void *arg)
{
	if (sk->enabled != NULL && !*(bool *)arg)
		return SOCK_BINDS;
	sock_end(sk, (sk->opts.linger.on && sk->opts.linger.seconds == 0) || sk->rx_bytes != 0);
	return XK_OK;
}

/* Held by whoever takes its number back, and by nobody where the graph goes down: that closes it. */
static int close_hold(int fd, struct sock **sk)
{
	int err = sock_hold_longer(fd, sk);

	if (err != XK_OK)
		return err;
	err = sock_get_last(fd) != NULL ? XK_OK : XK_E_BADF;
	sock_put(*sk);
	return err;
}

int xk_sock_close(int fd)
{
	bool held = false;
	struct sock *sk;
	int64_t seconds;
	int err = close_hold(fd, &sk);

	if (err != XK_OK)
		return err;
	seconds = sk->type == XK_SOCK_STREAM ? sock_do(sk, close_begin, NULL) : 0;
	if (seconds > 0 && sock_blocks(sk, 0))
		(void)sock_wait(sk, close_drained, NULL, POLLOUT, true, (uint64_t)seconds * 1000000000u);
	sock_do_seldom(sk, close_end, &held, &held);
	if (sk->type == XK_SOCK_DGRAM)
		sock_dgram_forget_all(sk);
	sock_put(sk);
	return XK_OK;
}
