/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * vpr_door.c - where the root of a job waits for its ranks: who comes says hello, and is let in or told why not.
 *
 * It stays open while the job runs, so that who is late or twice is told.
 * Invariant: whoever comes costs a descriptor and JOIN_HELLO bytes, DOOR_GUESTS at a time, HELLO_MS each.  Nobody is
 * turned away whose hello is there.
 */
#include "runtime/base/xk_bytes.h"
#include "tools/vp-run/vpr_join.h"

#include <arpa/inet.h>
#include <errno.h>
#include <stdarg.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define HELLO_MS 5000                    /* for a guest to say it */
#define YOUNG_MS 500                     /* of those: it does not go for another's sake */
#define REST_MS  100
#define TELL_MOST 16u                    /* refusals that are told here; each is told to whom it is for */

void vpr_join_hello(char hello[JOIN_HELLO], const struct vpr_who *who)
{
	memset(hello, 0, JOIN_HELLO);
	memcpy(hello, JOIN_MAGIC, 4);
	xk_put_be32(hello + 4, JOIN_VERSION);
	xk_put_be32(hello + 8, who->rank);
	xk_put_be32(hello + 12, who->ranks);
	memcpy(hello + 16, who->job, strlen(who->job));
	memcpy(hello + 80, who->key, strlen(who->key));
}

int vpr_door_open(struct vpr_door *d, struct in_addr at, uint16_t port)
{
	const struct sockaddr_in sa = { .sin_family = AF_INET, .sin_addr = at, .sin_port = htons(port) };
	int one = 1, err = XK_OK;

	d->fd = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	if (d->fd < 0)
		return -errno;
	(void)setsockopt(d->fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof one);
	if (bind(d->fd, (const struct sockaddr *)&sa, sizeof sa) < 0 || listen(d->fd, SOMAXCONN) < 0)
		err = -errno;
	if (err != XK_OK)
		vpr_door_close(d);
	return err;
}

/* ---- guests ------------------------------------------------------------------------------------- */

static void leave(struct vpr_door *d, unsigned i)
{
	d->nguests--;
	memmove(&d->guest[i], &d->guest[i + 1], (d->nguests - i) * sizeof d->guest[0]);
}

/* Who is no rank goes without a word. */
static void turn_away(struct vpr_door *d, unsigned i)
{
	close(d->guest[i].fd);
	d->strangers++;
	leave(d, i);
}

__attribute__((format(printf, 3, 4)))
static void refuse(struct vpr_door *d, unsigned i, const char *fmt, ...)
{
	char say[2 + JOIN_SAY + 1];
	va_list ap;
	int n;

	va_start(ap, fmt);
	n = vsnprintf(say + 2, JOIN_SAY + 1, fmt, ap);
	va_end(ap);
	n = n < 0 ? 0 : n > (int)JOIN_SAY ? (int)JOIN_SAY : n;
	say[0] = JOIN_NO;
	say[1] = (char)n;
	if (d->refused++ < TELL_MOST)
		fprintf(stderr, "vp-run: a rank at %s is refused: %s\n", inet_ntoa(d->guest[i].addr), say + 2);
	(void)send(d->guest[i].fd, say, 2 + (size_t)n, MSG_NOSIGNAL | MSG_DONTWAIT);
	close(d->guest[i].fd);
	leave(d, i);
}

/* What this job is called is nothing for strangers. */
static void refuse_other(struct vpr_door *d, unsigned i)
{
	if (d->refused < TELL_MOST)
		fprintf(stderr, "vp-run: this is job '%s'\n", d->who->job);
	refuse(d, i, "it is of another job");
}

static void let_in(struct vpr_door *d, unsigned i, uint32_t rank)
{
	struct vpr_link *l = &d->link[rank];

	*l = (struct vpr_link){ .fd = d->guest[i].fd, .addr = d->guest[i].addr };
	d->come++;
	leave(d, i);
}

/* In a time that says nothing of where they differ. */
static bool same_key(const char *said, const char *key)
{
	volatile char differ = 0;
	char own[VPR_KEY] = "";

	memcpy(own, key, strlen(key));
	for (unsigned i = 0; i < VPR_KEY; i++)
		differ = (char)(differ | (said[i] ^ own[i]));
	return differ == 0;
}

/* It has said all. */
static void judge(struct vpr_door *d, unsigned i)
{
	const char *h = d->guest[i].said, *job = h + 16;
	uint32_t rank = xk_be32(h + 8), ranks = xk_be32(h + 12);
	const struct vpr_who *who = d->who;

	if (who->key[0] != '\0' && !same_key(h + 80, who->key))
		turn_away(d, i);
	else if (who->key[0] == '\0' && h[80] != '\0')
		refuse(d, i, "it has a key (VP_KEY), and rank 0 has none");
	else if (memchr(job, '\0', VPR_JOB_MAX + 1) == NULL || strcmp(job, who->job) != 0)
		refuse_other(d, i);
	else if (ranks != who->ranks)
		refuse(d, i, "this job has %u ranks, and it was told of %u", who->ranks, (unsigned)ranks);
	else if (rank >= ranks)
		refuse(d, i, "rank %u is none of %u", (unsigned)rank, (unsigned)ranks);
	else if (rank == who->rank || d->link[rank].fd >= 0)
		refuse(d, i, "rank %u is there already, at %s", (unsigned)rank, inet_ntoa(d->link[rank].addr));
	else if (d->begun)
		refuse(d, i, "the job has begun, and its rank %u is gone", (unsigned)rank);
	else
		let_in(d, i, rank);
}

/* False: it is not there any more. */
static bool listen_to(struct vpr_door *d, unsigned i)
{
	struct vpr_guest *g = &d->guest[i];
	ssize_t n = recv(g->fd, g->said + g->n, JOIN_HELLO - g->n, MSG_DONTWAIT);

	if (n < 0 && (errno == EINTR || errno == EAGAIN))
		return true;
	g->n += n > 0 ? (unsigned)n : 0;
	if (n <= 0 || memcmp(g->said, JOIN_MAGIC, g->n < 4 ? g->n : 4) != 0)
		turn_away(d, i);
	else if (g->n >= 8 && xk_be32(g->said + 4) != JOIN_VERSION)
		refuse(d, i, "it is of another version of vp-run");
	else if (g->n == JOIN_HELLO)
		judge(d, i);
	else
		return true;
	return false;
}

/* The oldest guest, of a full house, has just come. */
static bool is_young(const struct vpr_door *d, int64_t now)
{
	return d->guest[0].by - now > HELLO_MS - YOUNG_MS;
}

/* The oldest one goes, unless it has said all by now. */
static void turn_oldest_away(struct vpr_door *d)
{
	if (listen_to(d, 0))
		turn_away(d, 0);
}

static bool has_place(struct vpr_door *d)
{
	if (d->nguests == DOOR_GUESTS && !is_young(d, vpr_now_ms()))
		turn_oldest_away(d);
	return d->nguests < DOOR_GUESTS;
}

static void open_to(struct vpr_door *d)
{
	struct sockaddr_in from;
	socklen_t len = sizeof from;
	int fd = 0;

	while (has_place(d) && (fd = accept4(d->fd, (struct sockaddr *)&from, &len, SOCK_CLOEXEC | SOCK_NONBLOCK)) >= 0) {
		d->guest[d->nguests++] = (struct vpr_guest){ .fd = fd, .by = vpr_now_ms() + HELLO_MS, .addr = from.sin_addr };
		len = sizeof from;
	}
	if (fd >= 0 || (errno != EMFILE && errno != ENFILE && errno != ENOBUFS && errno != ENOMEM))
		return;
	if (d->nguests != 0)
		turn_oldest_away(d);
	d->rest_by = vpr_now_ms() + REST_MS;
}

/* ---- the root's loop -------------------------------------------------------------------------------- */

int64_t vpr_door_watch(struct vpr_door *d, struct pollfd *p)
{
	int64_t now = vpr_now_ms(), next = d->rest_by, oldest = d->nguests != 0 ? d->guest[0].by : 0;

	if (next <= now)
		next = d->rest_by = 0;
	if (d->nguests == DOOR_GUESTS && is_young(d, now))
		next = oldest -= HELLO_MS - YOUNG_MS;
	p[0] = (struct pollfd){ .fd = next == 0 ? d->fd : -1, .events = POLLIN };
	for (unsigned i = 0; i < DOOR_GUESTS; i++)
		p[1 + i] = (struct pollfd){ .fd = i < d->nguests ? d->guest[i].fd : -1, .events = POLLIN };
	if (oldest != 0 && (next == 0 || oldest < next))
		next = oldest;
	if (next == 0)
		return -1;
	return next > now ? next - now : 0;
}

void vpr_door_look(struct vpr_door *d, const struct pollfd *p)
{
	for (unsigned i = 0, at = 0; at < DOOR_GUESTS && p[1 + at].fd >= 0; at++)
		i += p[1 + at].revents == 0 || listen_to(d, i);
	while (d->nguests != 0 && d->guest[0].by <= vpr_now_ms())
		turn_oldest_away(d);
	if (p[0].revents != 0)
		open_to(d);
}

void vpr_door_close(struct vpr_door *d)
{
	while (d->nguests != 0) {
		close(d->guest[0].fd);
		leave(d, 0);
	}
	if (d->fd >= 0)
		close(d->fd);
	d->fd = -1;
}
