/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * sock_talk.c - see sock_talk.h.
 *
 * No call waits, but for xk_sock_poll in a thread, which is for a while only: so a talker sees when it is over.
 */
#include "tests/graph/sock_talk.h"

#include "runtime/base/xk_clock.h"
#include "runtime/sync/xk_sync.h"

#include <string.h>

#define WINDOW 60000u                    /* bytes of a stream that are on their way */
#define WHILE  (50 * XK_MS)

struct talker talker[TALKERS];
uint32_t talk_over;

static uint8_t byte_of(const struct talker *t, uint64_t i)
{
	return (uint8_t)((i + 1) * (2 * t->no + 3) * 2654435761u >> 13);
}

static bool is_over(void) { return xk_load_relaxed(&talk_over) != 0; }

static bool fails(struct talker *t, int64_t res)
{
	if (res >= 0 || res == XK_E_AGAIN || res == XK_E_INPROGRESS)
		return false;
	xk_store_relaxed(&t->failed, (int)res);
	return true;
}

static void add(uint64_t *p, uint64_t n) { xk_store_relaxed(p, *p + n); }

/* ---- opening and closing ----------------------------------------------------------------- */

static int named(struct talker *t, struct xk_node *n, uint16_t port)
{
	int fd = xk_sock_socket(n, t->type | XK_SOCK_NONBLOCK);

	if (!fails(t, fd))
		(void)fails(t, xk_sock_bind(fd, &(struct xk_sock_addr){ 0, port }));
	return fd;
}

/* Every other round at another port, every third client has a name of its own. */
static void open_all(struct talker *t)
{
	struct xk_sock_addr there = { TALK_SERVER, 0 };

	t->port = (uint16_t)(7000 + 2 * t->no + t->rounds / 2 % 2);
	there.port = t->port;
	if (t->type == XK_SOCK_STREAM) {
		t->listener = named(t, t->server, t->port);
		(void)fails(t, xk_sock_listen(t->listener, 8));
		t->c = xk_sock_socket(t->client, t->type | XK_SOCK_NONBLOCK);
		(void)fails(t, xk_sock_connect(t->c, &there));
		return;
	}
	t->s = named(t, t->server, t->port);
	t->c = t->rounds % 3 != 0 ? xk_sock_socket(t->client, t->type | XK_SOCK_NONBLOCK) : named(t, t->client, (uint16_t)(9000 + t->no));
	t->connected = t->rounds % 2 != 0;
	if (t->connected)
		(void)fails(t, xk_sock_connect(t->c, &there));
}

static void close_one(struct talker *t, int *fd)
{
	if (*fd != 0)
		(void)fails(t, xk_sock_close(*fd));
	*fd = 0;
}

void talk_end(struct talker *t)
{
	close_one(t, &t->c);
	close_one(t, &t->s);
	close_one(t, &t->listener);
	t->connected = false;
	t->sent = t->got = t->echoed = 0;
	t->held = 0;
}

/* ---- streams ---------------------------------------------------------------------------------- */

static bool accepted(struct talker *t)
{
	int fd = t->s != 0 ? t->s : xk_sock_accept(t->listener, NULL, XK_SOCK_NONBLOCK);

	if (fd == XK_E_AGAIN || fails(t, fd))
		return false;
	t->s = fd;
	return true;
}

static bool may_send(const struct talker *t, uint64_t window)
{
	return !is_over() && t->sent - t->got < window && (t->limit == 0 || t->sent < t->limit);
}

static bool write_pattern(struct talker *t)
{
	uint8_t b[1500];
	size_t n = 1 + (t->sent * 7 + t->no) % sizeof b;
	ssize_t took;

	if (!may_send(t, WINDOW))
		return false;
	n = t->limit != 0 && n > t->limit - t->sent ? (size_t)(t->limit - t->sent) : n;
	for (size_t i = 0; i < n; i++)
		b[i] = byte_of(t, t->sent + i);
	took = xk_sock_write(t->c, b, n);
	if (took <= 0 || fails(t, took))
		return fails(t, took);
	t->sent += (uint64_t)took;
	return true;
}

static bool send_back(struct talker *t)
{
	ssize_t n = t->held < TALK_BUF ? xk_sock_read(t->s, t->buf + t->held, TALK_BUF - t->held) : 0;
	bool any = n > 0;

	(void)fails(t, n);
	t->held += n > 0 ? (size_t)n : 0;
	n = t->held != 0 ? xk_sock_write(t->s, t->buf, t->held) : 0;
	(void)fails(t, n);
	if (n <= 0)
		return any;
	memmove(t->buf, t->buf + n, t->held - (size_t)n);
	t->held -= (size_t)n;
	return true;
}

static bool read_pattern(struct talker *t)
{
	uint8_t b[3000];
	ssize_t n = xk_sock_read(t->c, b, sizeof b);

	if (n <= 0 || fails(t, n))
		return fails(t, n);
	for (ssize_t i = 0; i < n; i++)
		add(&t->wrong, b[i] != byte_of(t, t->got + (uint64_t)i));
	t->got += (uint64_t)n;
	add(&t->total, (uint64_t)n);
	return true;
}

/* All has come back: one end closes, the other reads the end. */
static bool part(struct talker *t)
{
	int *first = t->rounds % 2 != 0 ? &t->s : &t->c, *last = first == &t->s ? &t->c : &t->s;
	uint8_t b;
	ssize_t n;

	close_one(t, first);
	n = *last != 0 ? xk_sock_read(*last, &b, 1) : 0;
	if (n != 0) {
		add(&t->wrong, n > 0);
		return fails(t, n);
	}
	talk_end(t);
	add(&t->rounds, 1);
	return true;
}

static bool stream_turn(struct talker *t)
{
	bool any = false;

	if (t->limit != 0 && t->got == t->limit)
		return part(t);
	if (!accepted(t))
		return false;
	any |= write_pattern(t);
	any |= send_back(t);
	any |= read_pattern(t);
	return any;
}

/* ---- datagrams ---------------------------------------------------------------------------------- */

static bool send_number(struct talker *t, uint64_t *slot)
{
	const struct xk_sock_addr there = { TALK_SERVER, t->port };
	uint64_t word[2] = { t->sent + 1, t->no };
	ssize_t n;

	if (*slot != 0 || !may_send(t, TALK_WINDOW))
		return false;
	n = xk_sock_sendto(t->c, word, sizeof word, 0, t->connected ? NULL : &there);
	if (n != (ssize_t)sizeof word)
		return fails(t, n);
	*slot = ++t->sent;
	return true;
}

static bool answer_number(struct talker *t)
{
	struct xk_sock_addr from;
	uint64_t word[2];
	ssize_t n = xk_sock_recvfrom(t->s, word, sizeof word, 0, &from);

	if (n <= 0 || fails(t, n))
		return fails(t, n);
	(void)fails(t, xk_sock_sendto(t->s, word, (size_t)n, 0, &from));
	return true;
}

static bool take_number(struct talker *t)
{
	uint64_t word[2] = { 0 };
	ssize_t n = xk_sock_recv(t->c, word, sizeof word, 0);
	bool awaited = false;

	if (n <= 0 || fails(t, n))
		return fails(t, n);
	for (unsigned i = 0; i < TALK_WINDOW && !awaited; i++)
		if (t->slot[i] != 0 && t->slot[i] == word[0]) {
			t->slot[i] = 0;
			awaited = true;
		}
	add(&t->wrong, !awaited || n != (ssize_t)sizeof word || word[1] != t->no);
	t->got++;
	add(&t->total, 1);
	return true;
}

static bool dgram_turn(struct talker *t)
{
	bool any = false;

	if (t->limit != 0 && t->got == t->limit) {
		talk_end(t);
		add(&t->rounds, 1);
		return true;
	}
	for (unsigned i = 0; i < TALK_WINDOW; i++)
		any |= send_number(t, &t->slot[i]);
	any |= answer_number(t);
	any |= take_number(t);
	return any;
}

/* ---- all of it -------------------------------------------------------------------------------------- */

bool talk_is_over(const struct talker *t)
{
	return xk_load_relaxed(&t->failed) != 0 || (is_over() && t->sent == t->got);
}

bool talk_turn(struct talker *t)
{
	if (xk_load_relaxed(&t->failed) != 0)
		return false;
	if (t->c == 0 && t->s == 0) {
		if (is_over())
			return false;
		open_all(t);
	}
	return t->type == XK_SOCK_STREAM ? stream_turn(t) : dgram_turn(t);
}

static void wait_a_while(const struct talker *t)
{
	const bool room = t->sent - t->got < WINDOW && t->got != t->limit && !is_over();
	struct pollfd p[3] = {
		{ .fd = t->c != 0 ? t->c : -1, .events = (short)(POLLIN | (t->type == XK_SOCK_STREAM && t->s != 0 && room ? POLLOUT : 0)) },
		{ .fd = t->s != 0 ? t->s : -1, .events = (short)(POLLIN | (t->held != 0 ? POLLOUT : 0)) },
		{ .fd = t->listener != 0 && t->s == 0 ? t->listener : -1, .events = POLLIN },
	};

	(void)xk_sock_poll(p, 3, WHILE);
}

void *talk_thread(void *arg)
{
	struct talker *t = arg;

	while (!talk_is_over(t))
		if (!talk_turn(t))
			wait_a_while(t);
	return NULL;
}

void talk_begin(struct xk_node *client, struct xk_node *server)
{
	static const struct { int type; uint64_t limit; } of[TALKERS] = {
		{ XK_SOCK_STREAM, 0 }, { XK_SOCK_DGRAM, 0 }, { XK_SOCK_STREAM, 6000 }, { XK_SOCK_DGRAM, 40 },
		{ XK_SOCK_STREAM, 0 }, { XK_SOCK_DGRAM, 0 }, { XK_SOCK_STREAM, 700 }, { XK_SOCK_DGRAM, 7 },
	};

	xk_store_relaxed(&talk_over, 0u);
	memset(talker, 0, sizeof talker);
	for (unsigned i = 0; i < TALKERS; i++)
		talker[i] = (struct talker){ .no = i, .type = of[i].type, .limit = of[i].limit, .client = client, .server = server };
}
