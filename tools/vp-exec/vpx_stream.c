/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * vpx_stream.c - bytes of streams between the pair and the graph, both ways; shutdown, close and reset.
 *
 * What does not fit the other side is kept, and nothing more is taken of this side until it has gone: each side's own
 * window does the rest.  Both sides tell by edges, so a turn goes on until neither has anything; after a while others
 * have theirs.
 *
 * Shutdown of writing puts a mark behind the program's bytes, one that is never read: as long as it is there the pair can
 * be reset (vpx_end.c).
 */
#include "tools/vp-exec/vpx.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

enum { PIECE = 128 * 1024, ROUNDS = 16 };
static char piece[PIECE];

static bool keep(struct vpx_rest *r, const char *from, size_t n)
{
	r->at = malloc(n);
	if (r->at == NULL)
		return false;
	memcpy(r->at, from, n);
	r->off = 0;
	r->n = n;
	return true;
}

static void gone_on(struct vpx_rest *r, size_t n)
{
	r->off += n;
	r->n -= n;
	if (r->n != 0)
		return;
	free(r->at);
	r->at = NULL;
}

/* The first error is what it is; the turn does what follows. */
static void fail(struct vpx_sock *v, int error)
{
	if (v->failed == 0)
		v->failed = v->error = error;
}

/* ---- from the program ------------------------------------------------------------------------------------- */

static ssize_t take(struct vpx_sock *v)
{
	int n = PIECE;

	if (v->marked) {
		if (ioctl(v->end, FIONREAD, &n) < 0 || n <= 1)
			return 0;
		n = n - 1 < PIECE ? n - 1 : PIECE;
	}
	return recv(v->end, piece, (size_t)n, MSG_DONTWAIT);
}

/* XK_OK: everything went, XK_E_AGAIN: not everything, or what the graph says. */
static int offer(struct vpx_sock *v, const char *from, size_t n, size_t *sent)
{
	ssize_t r;

	for (*sent = 0; *sent < n; *sent += (size_t)r) {
		r = xk_sock_send(v->graph, from + *sent, n - *sent, XK_SOCK_DONTWAIT);
		if (r < 0)
			return (int)r;
	}
	return XK_OK;
}

static int from_program(struct vpx_sock *v, bool *more)
{
	size_t sent;
	ssize_t n;
	int err;

	if (v->up.n != 0) {
		err = offer(v, v->up.at + v->up.off, v->up.n, &sent);
		gone_on(&v->up, sent);
		*more |= sent != 0;
		if (err != XK_OK)
			return err;
	}
	if (v->eof || v->end < 0)
		return XK_OK;
	n = take(v);
	if (n <= 0) {
		v->reset |= n < 0 && errno == ECONNRESET;
		v->eof |= n == 0 || v->reset;
		return XK_OK;
	}
	*more = true;
	err = offer(v, piece, (size_t)n, &sent);
	if (err == XK_E_AGAIN && !keep(&v->up, piece + sent, (size_t)n - sent))
		return XK_E_NOMEM;
	return err;
}

void vpx_stream_up(struct vpx_sock *v)
{
	bool more = v->state == VPX_CONNECTED && v->failed == 0;
	int err = XK_OK;

	while (more && err == XK_OK) {
		more = false;
		err = from_program(v, &more);
	}
	if (err != XK_OK && err != XK_E_AGAIN)
		fail(v, -err);
	vpx_sock_soon(v);
}

/* ---- from the graph ----------------------------------------------------------------------------------------- */

/* As much as fits; false: not all. */
static bool hand_over(struct vpx_sock *v, const char *from, size_t n, size_t *given)
{
	for (*given = 0; *given < n;) {
		ssize_t r = send(v->end, from + *given, n - *given, MSG_DONTWAIT | MSG_NOSIGNAL);

		if (r < 0 && errno == EPIPE)
			*given = n;      /* nobody reads any more: thrown away */
		else if (r < 0)
			return false;
		else
			*given += (size_t)r;
	}
	return true;
}

static int from_graph(struct vpx_sock *v, bool *more)
{
	size_t given, most = v->rcvbuf != 0 && v->rcvbuf < PIECE ? (size_t)v->rcvbuf : PIECE;
	ssize_t n;

	if (v->down.n != 0) {
		bool all = hand_over(v, v->down.at + v->down.off, v->down.n, &given);

		gone_on(&v->down, given);
		if (!all)
			return XK_OK;
	}
	if (v->graph_eof || (v->eof && !v->shut_wr))
		return XK_OK;
	n = xk_sock_recv(v->graph, piece, most, XK_SOCK_DONTWAIT);
	if (n == 0 && v->failed == 0) {
		v->graph_eof = true;
		(void)shutdown(v->end, SHUT_WR);
	}
	if (n <= 0)
		return n == XK_E_AGAIN ? XK_OK : (int)n;
	*more = true;
	if (!hand_over(v, piece, (size_t)n, &given) && !keep(&v->down, piece + given, (size_t)n - given))
		return XK_E_NOMEM;
	return XK_OK;
}

/* ---- the turn -------------------------------------------------------------------------------------------------- */

static void connected(struct vpx_sock *v)
{
	bool more = true;
	int err = XK_OK;

	for (unsigned i = 0; more && err == XK_OK && i < ROUNDS; i++) {
		more = false;
		err = from_program(v, &more);
		if (err == XK_E_AGAIN)
			err = XK_OK;
		if (err == XK_OK)
			err = from_graph(v, &more);
	}
	if (err != XK_OK)
		fail(v, -err);
	else if (more)
		vpx_sock_soon(v);
}

/* What a program still writes into a connection that has failed. */
static void throw_away(struct vpx_sock *v)
{
	ssize_t n = 1;

	gone_on(&v->up, v->up.n);
	for (unsigned i = 0; i < ROUNDS && n > 0 && !v->eof; i++) {
		n = take(v);
		v->eof = n == 0 || (n < 0 && errno == ECONNRESET);
	}
	if (n > 0 && !v->eof)
		vpx_sock_soon(v);
}

/* The program reads all that had come before, waits for it or not, and then is told. */
static void failing(struct vpx_sock *v)
{
	bool more = true;
	int err = XK_OK;

	throw_away(v);
	v->hup |= v->eof && !v->shut_wr;
	while (!v->hup && more && err == XK_OK) {
		more = false;
		err = from_graph(v, &more);
	}
	if (!v->hup && v->down.n != 0)
		return;
	if (!v->hup)
		vpx_end_reset(v);
	vpx_sock_dead(v);
}

/* A pair that is shut both ways looks as one that was closed does; then the end itself is looked for. */
static bool closed(const struct vpx_sock *v)
{
	int end;

	if (!v->hup || !v->shut_rd || !v->shut_wr || vpx_end_there(v))
		return v->hup && !(v->shut_rd && v->shut_wr);
	end = vpx_end_find(v);
	if (end >= 0)
		close(end);
	return end < 0;
}

/* Both sides have said all: the connection is over, and the program's end still there. */
static void over(struct vpx_sock *v)
{
	if (v->marked)
		(void)recv(v->end, piece, 1, MSG_DONTWAIT);   /* unread it would reset the pair */
	close(v->end);
	v->end = -1;
	vpx_sock_dead(v);
}

/* All that the program has written has gone to the graph. */
static void written(struct vpx_sock *v)
{
	if (v->shut_wr && !v->fin_sent) {
		v->fin_sent = true;
		(void)xk_sock_shutdown(v->graph, XK_SHUT_WR);
	}
	if (v->fin_sent && v->graph_eof && v->down.n == 0)
		over(v);
	else if (!v->shut_wr || closed(v))
		vpx_sock_free(v);
}

void vpx_stream_turn(struct vpx_sock *v)
{
	if (v->state == VPX_IDLE && v->hup) {
		vpx_sock_free(v);
		return;
	}
	if (v->state != VPX_CONNECTED)
		return;
	if (v->failed == 0)
		connected(v);
	if (v->failed != 0)
		failing(v);
	if (v->state == VPX_DEAD && v->hup)
		vpx_sock_free(v);
	else if (v->state == VPX_CONNECTED && v->eof && v->up.n == 0)
		written(v);
}

/* ---- shutdown ------------------------------------------------------------------------------------------------------ */

static int64_t end_listening(struct vpx_sock *v)
{
	(void)xk_sock_shutdown(v->graph, XK_SHUT_RD);
	vpx_pending_all(v, -EINVAL);
	v->state = VPX_IDLE;
	return 0;
}

int64_t vpx_shutdown(struct vpx_sock *v, const struct vpx_call *c)
{
	int how = (int)c->arg[1], end;
	int64_t result = 0;

	if (how < SHUT_RD || how > SHUT_RDWR)
		return -EINVAL;
	if (v->state == VPX_LISTENING)
		return how == SHUT_WR ? 0 : end_listening(v);
	if (v->type == SOCK_STREAM ? v->state != VPX_CONNECTED : !v->to_peer)
		return -ENOTCONN;
	end = vpx_end_of_call(c);
	if (end < 0)
		return -EBADF;
	if (how != SHUT_RD && !v->shut_wr) {
		if (v->type == SOCK_STREAM) {
			vpx_stream_up(v);
			v->marked = v->state == VPX_CONNECTED && send(end, "m", 1, MSG_DONTWAIT | MSG_NOSIGNAL) == 1;
		}
		v->shut_wr = true;
	}
	v->shut_rd |= how != SHUT_WR;
	if (shutdown(end, how) < 0)
		result = -errno;
	close(end);
	vpx_sock_soon(v);
	return result;
}
