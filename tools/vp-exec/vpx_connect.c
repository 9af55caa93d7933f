/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * vpx_connect.c - connect.
 *
 * A blocking one is not answered until it is over; others go on.  For a non-blocking one the program's end is filled, so
 * that it is not writable, and emptied when the connection stands: that is the edge poll and epoll wait for.  If it
 * fails our end is closed with the filling unread, and poll says what it says of TCP.
 */
#include "tools/vp-exec/vpx.h"

#include <errno.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

/* What another one is told while or after one is under way; 0: there is none. */
static int64_t again(struct vpx_sock *v, const struct vpx_call *c, bool blocks)
{
	int error = v->error;

	switch (v->state) {
	case VPX_CONNECTING: return blocks ? vpx_wait(v, c, SO_SNDTIMEO) : -EALREADY;
	case VPX_CONNECTED:
		if (!v->untold)
			return -EISCONN;
		v->untold = false;       /* Linux says once that it has succeeded */
		return VPX_LATER;
	case VPX_LISTENING: return -EISCONN;
	case VPX_DEAD:
		v->error = 0;
		return error != 0 ? -error : -ECONNABORTED;
	default: return 0;
	}
}

static int64_t begin(struct vpx_sock *v, const struct vpx_call *c, int end)
{
	int err = xk_sock_connect(v->graph, &v->peer);

	if (err == XK_OK)
		v->state = VPX_CONNECTED;
	if (err != XK_E_INPROGRESS)
		return err;
	v->state = VPX_CONNECTING;
	if (v->rcvbuf != 0)
		vpx_sock_receives(v, v->rcvbuf);
	v->nonblocking = !vpx_end_blocks(end);
	vpx_sock_soon(v);
	if (!v->nonblocking)
		return vpx_wait(v, c, SO_SNDTIMEO);
	vpx_end_fill(v, end);
	return -EINPROGRESS;
}

static int64_t to_peer(struct vpx_sock *v, struct xk_sock_addr a, bool undo)
{
	int err;

	if (!vpx_dgram_turn(v))          /* what was written before goes where it was to go */
		return -EBADF;
	if (undo)
		a = (struct xk_sock_addr){ 0, 0 };
	/* One to a server of names has no peer in the graph. */
	err = xk_sock_connect(v->graph, vpx_hosts_server(v->stack, a) ? &(struct xk_sock_addr){ 0, 0 } : &a);
	if (err == XK_OK) {
		v->peer = a;
		v->to_peer = a.host != 0;
	}
	return err;
}

int64_t vpx_connect(struct vpx_sock *v, const struct vpx_call *c)
{
	struct xk_sock_addr a;
	int err = vpx_get_addr(c, c->arg[1], c->arg[2], &a), end;
	int64_t result;

	if (err < 0)
		return err;
	if (v->type == SOCK_DGRAM)
		return to_peer(v, a, err == 1);
	if (err == 1)
		return -EAFNOSUPPORT;
	end = vpx_end_of_call(c);
	if (end < 0)
		return -EBADF;
	result = again(v, c, vpx_end_blocks(end));
	if (result == 0) {
		v->peer = a;
		result = begin(v, c, end);
	} else if (v->state == VPX_CONNECTED && result == VPX_LATER) {
		(void)vpx_call_answer(c, 0);
	}
	close(end);
	return result;
}

/* ---- its end ---------------------------------------------------------------------------------------------- */

static bool succeeded(struct vpx_sock *v)
{
	int end;

	v->state = VPX_CONNECTED;
	if (v->nonblocking) {
		end = vpx_end_find(v);
		if (end < 0)
			return true;     /* closed meanwhile: that will be seen */
		vpx_end_empty(v, end);
		close(end);
		v->untold = true;
	}
	vpx_pending_all(v, 0);
	return true;
}

static bool failed(struct vpx_sock *v, int error)
{
	vpx_pending_all(v, -error);
	if (!v->nonblocking) {
		v->state = VPX_IDLE;
		return false;
	}
	v->error = error;
	close(v->end);
	v->end = -1;
	vpx_sock_dead(v);
	return false;
}

bool vpx_connect_turn(struct vpx_sock *v)
{
	struct pollfd p = { .fd = v->graph, .events = POLLOUT };
	size_t len = sizeof(int);
	int error = 0;

	if (v->hup) {
		vpx_sock_free(v);
		return false;
	}
	if (xk_sock_poll(&p, 1, 0) <= 0)
		return false;
	(void)xk_sock_getopt(v->graph, XK_SO_ERROR, &error, &len);
	if (error == 0 && (p.revents & (POLLHUP | POLLOUT)) == POLLOUT)
		return succeeded(v);
	return failed(v, error != 0 ? -error : ECONNABORTED);
}
