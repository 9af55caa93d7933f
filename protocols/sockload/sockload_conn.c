/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * sockload_conn.c - one connection of a thread: opened or accepted, written to or read,
 * ended.
 *
 * Nothing here waits: sockets are non-blocking, and who finds no room or no bytes comes
 * back when the set says so.  A sender ends its side behind its last message and is done when
 * its peer has ended, too: then all has arrived.
 * Invariant: every connection is done once, well or badly, unless the threads are halted.
 */
#include "protocols/sockload/sockload_priv.h"

#include <poll.h>
#include <string.h>

#include "runtime/upi/xk_app.h"

/* ---- the end ------------------------------------------------------------------------- */

static void conn_done(struct load_thread *t, uint64_t k)
{
	struct load_node *ln = t->ln;

	(void)xk_sock_close(t->conn[k].fd);
	t->conn[k].fd = 0;
	t->nopen--;
	if (xk_atomic_add(&ln->unfinished, (uint64_t)-1) == 1 && ln->c->count != 0)
		xk_app_finished(ln->node);
}

static unsigned counter_of(int err)
{
	return err == XK_E_CONNREFUSED ? N_REFUSED : err == XK_E_CONNRESET || err == XK_E_PIPE ? N_RESET : N_FAILED;
}

/* An error ended it; the sockets' own stop is none.  Who asks how many never were established may end
 * the run when it hears of the last: by then all that a report says of it is there. */
static void conn_lost(struct load_thread *t, uint64_t k, int err)
{
	struct load_node *ln = t->ln;

	if (err == XK_E_SHUTDOWN) {
		t->over = true;
		return;
	}
	load_count(t, counter_of(err), 1);
	if (xk_atomic_add(&ln->dead, 1) + 1 == ln->c->conns)
		xk_node_failed(ln->node, "every one of its connections was refused, reset or failed");
	if (!t->conn[k].up)
		(void)xk_atomic_add(&ln->lost, 1);
	conn_done(t, k);
}

/* ---- the beginning ---------------------------------------------------------------------- */

static void conn_up(struct load_thread *t, uint64_t k)
{
	t->conn[k].up = true;
	load_count(t, N_OPENED, 1);
	(void)xk_atomic_add(&t->ln->up, 1);
}

bool load_open(struct load_thread *t, uint64_t k)
{
	const struct load_node *ln = t->ln;
	const struct xk_sock_addr to = { ln->c->to, ln->c->port };
	int fd = xk_sock_socket(ln->sock, XK_SOCK_STREAM | XK_SOCK_NONBLOCK), err;

	t->nopen++;
	t->conn[k].fd = fd > 0 ? fd : 0;
	t->conn[k].left = ln->c->count != 0 ? ln->c->count : UINT64_MAX;
	err = fd > 0 ? xk_sock_connect(fd, &to) : fd;
	if (err == XK_OK || err == XK_E_INPROGRESS)
		err = xk_sock_set_add(t->set, fd, POLLIN | POLLOUT, k);
	if (err != XK_OK)
		conn_lost(t, k, err);
	return err == XK_OK;
}

bool load_opened(struct load_thread *t, uint64_t k)
{
	struct xk_sock_addr peer;
	int err = XK_OK, res;
	size_t len = sizeof err;

	res = xk_sock_getopt(t->conn[k].fd, XK_SO_ERROR, &err, &len);
	if (res == XK_OK && err == XK_OK)
		res = xk_sock_getpeername(t->conn[k].fd, &peer);
	if (res == XK_E_NOTCONN)
		return false;
	if (res != XK_OK || err != XK_OK)
		conn_lost(t, k, res != XK_OK ? res : err);
	else
		conn_up(t, k);
	return true;
}

void load_accepted(struct load_thread *t, int fd)
{
	uint64_t k = t->naccepted++;
	int err;

	t->nopen++;
	t->conn[k].fd = fd;
	err = xk_sock_set_add(t->set, fd, POLLIN, k);
	if (err == XK_OK)
		conn_up(t, k);
	else
		conn_lost(t, k, err);
}

/* ---- writing ------------------------------------------------------------------------------ */

static void conn_counts(struct load_thread *t, uint64_t k, uint64_t messages, uint64_t bytes)
{
	xk_count_add(t->messages[k], messages);
	xk_count_add(t->bytes[k], bytes);
	if (bytes != 0) {
		load_count(t, N_MESSAGES, messages);
		load_count(t, N_BYTES, bytes);
	}
}

/* At most a burst, as long as there is room.  1: there may be more; XK_E_AGAIN; or why no more will go. */
static int write_some(struct load_thread *t, uint64_t k)
{
	const struct load_conf *c = t->ln->c;
	struct load_conn *x = &t->conn[k];
	uint64_t messages = 0, bytes = 0;
	ssize_t n = 1;

	while (messages < c->burst && x->left != 0) {
		size_t want = (size_t)c->size - x->part;

		n = xk_sock_write(x->fd, t->ln->page + x->part, want);
		if (n <= 0)
			break;
		bytes += (uint64_t)n;
		x->part = (size_t)n == want ? 0 : x->part + (uint32_t)n;
		if (x->part != 0)
			break;                   /* that was all the room */
		messages++;
		x->left -= c->count != 0;
	}
	conn_counts(t, k, messages, bytes);
	if (n == XK_E_NOMEM) {
		load_count(t, N_NO_MEMORY, 1);
		xk_thread_yield();
		return 1;
	}
	return n > 0 ? 1 : (int)n;
}

/* ---- reading -------------------------------------------------------------------------------- */

static uint64_t wrong_bytes(const struct load_node *ln, const uint8_t *p, size_t len, uint64_t at)
{
	uint64_t size = ln->c->size, wrong = 0;

	for (size_t i = 0, n; i < len; i += n, at = (at + n) % size) {
		n = len - i < size - at ? len - i : (size_t)(size - at);
		if (memcmp(p + i, ln->page + at, n) == 0)
			continue;
		for (size_t b = 0; b < n; b++)
			wrong += p[i + b] != ln->page[at + b];
	}
	return wrong;
}

static void take(struct load_thread *t, uint64_t k, size_t n)
{
	const struct load_conf *c = t->ln->c;
	struct load_conn *x = &t->conn[k];
	uint64_t all = x->part + n;

	if (c->verify)
		load_count(t, N_WRONG, wrong_bytes(t->ln, t->buf, n, x->part));
	x->part = (uint32_t)(all % c->size);
	conn_counts(t, k, all / c->size, n);
}

/* Of a sender's peer: nothing is expected, and it is forgotten. */
static void take_answer(struct load_thread *t, uint64_t k, size_t n)
{
	(void)k;
	load_count(t, N_RECEIVED, n);
}

/* At most a burst.  1: there may be more; XK_E_AGAIN; 0: the peer has ended; else an error. */
static int read_some(struct load_thread *t, uint64_t k, void (*taken)(struct load_thread *, uint64_t, size_t))
{
	ssize_t n = 1;

	for (uint64_t i = 0; i < t->ln->c->burst && n > 0; i++) {
		n = xk_sock_read(t->conn[k].fd, t->buf, LOAD_BUF);
		if (n > 0)
			taken(t, k, (size_t)n);
	}
	return n > 0 ? 1 : (int)n;
}

/* ---- a turn ------------------------------------------------------------------------------------ */

static int serve_sender(struct load_thread *t, uint64_t k)
{
	struct load_conn *x = &t->conn[k];
	int res;

	if (x->ending)
		return read_some(t, k, take_answer);
	res = write_some(t, k);
	if (res != 1 || x->left != 0)
		return res;
	res = xk_sock_shutdown(x->fd, XK_SHUT_WR);
	x->ending = true;
	return res == XK_OK ? 1 : res;
}

bool load_serve(struct load_thread *t, uint64_t k)
{
	int res = load_sends(t->ln) ? serve_sender(t, k) : read_some(t, k, take);

	if (res == 0) {
		load_count(t, N_ENDED, 1);
		conn_done(t, k);
	} else if (res < 0 && res != XK_E_AGAIN) {
		conn_lost(t, k, res);
	}
	return res > 0;
}
