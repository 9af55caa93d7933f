/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * test_shm.c - links between two nodes of this process, and peers that are no graphs at all.
 *
 * Promises: a message of any size that is allowed comes as it was pushed, in order, whatever waits meanwhile;
 * who asks hears whether there is room; who pushes too much, and whose peer is gone, is told; what a peer wrote before
 * it went is read; a peer that greets wrongly is sent away; one that writes at random into its area while we read makes nothing but counted
 * messages, and in the end no link.
 */
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "drivers/shm/shm_priv.h"
#include "runtime/base/xk_rand.h"
#include "runtime/upi/xk_gives.h"
#include "runtime/upi/xk_part.h"
#include "runtime/upi/xk_stream.h"
#include "tests/protocols/proto_fixture.h"
#include "tests/support/xk_test.h"

extern const struct xk_proto xk_proto_shm;

#define SERVER 0x0a000001u
#define CLIENT 0x0a000002u
#define PORT   7u

static struct pf f;                      /* sa, ua: the server's; sb, ub: the client's */
static char job[32];

static void parts(struct xk_parts *ps, uint32_t host, uint16_t port)
{
	xk_parts_init(ps, 1);
	xk_part_push_host(&ps->p[XK_REMOTE], host);
	xk_part_push_port(&ps->p[XK_REMOTE], port);
}

/* more, for each of the two, and who is in the graph: both, or the client alone. */
static void of_vps(unsigned vps, const char *more, bool both)
{
	char server[160], client[160];
	const struct pf_spec g[] = {
		{ &xk_proto_shm, "sb", NULL, client }, { &pf_upper, "ub", "sb", "enable=false" },
		{ both ? &xk_proto_shm : NULL, "sa", NULL, server }, { &pf_upper, "ua", "sa", "enable=false" },
		{ NULL, NULL, NULL, NULL } };

	snprintf(job, sizeof job, "test-%d", (int)getpid());
	snprintf(server, sizeof server, "at=10.0.0.1; job=%s%s%s", job, more[0] != '\0' ? "; " : "", more);
	snprintf(client, sizeof client, "at=10.0.0.2; job=%s%s%s", job, more[0] != '\0' ? "; " : "", more);
	pf_up(&f, vps, g);
}

static void up(const char *more, bool both) { of_vps(1, more, both); }

static void vps_up(unsigned vps, const char *more)
{
	struct xk_parts ps;

	of_vps(vps, more, true);
	xk_parts_init(&ps, 1);
	xk_part_push_port(&ps.p[0], PORT);
	CU_ASSERT_EQUAL_FATAL(xk_open_enable(pf_node(&f, "ua"), pf_node(&f, "ua"), pf_node(&f, "sa"), &ps), XK_OK);
}

static void both_up(const char *more) { vps_up(1, more); }

static void both_down(void)
{
	xk_open_disable_all(pf_node(&f, "ua"), pf_node(&f, "sa"));
	pf_down(&f);
}

static struct xk_sess *opened(void)
{
	struct xk_parts ps;
	struct xk_sess *s;
	int err;

	parts(&ps, SERVER, PORT);
	s = pf_open(&f, "ub", 0, &ps, &err);
	CU_ASSERT_PTR_NOT_NULL_FATAL(s);
	return s;
}

static uint64_t count(const char *node, unsigned k) { return pf_rep(&f, node, 0)->count[k]; }
static uint64_t drops(const char *node, unsigned k) { return pf_rep(&f, node, 0)->drop[k]; }

/* They run until cond, or so long that it will not come. */
#define UNTIL(cond) \
	do { \
		unsigned rounds_ = 0; \
		while (!(cond) && rounds_++ < 5000) pf_run(&f, XK_MS); \
		CU_ASSERT_TRUE(cond); \
	} while (0)

static void fill(uint8_t *p, uint32_t n, uint32_t seed)
{
	for (uint32_t i = 0; i < n; i++)
		p[i] = (uint8_t)(seed + i * 7 + (i >> 8));
}

static void check(const char *node, unsigned i, uint32_t n, uint32_t seed)
{
	const struct pf_rec *r = pf_got(&f, node, i);
	uint8_t *p = malloc(n + 1);

	fill(p, n, seed);
	CU_ASSERT_EQUAL_FATAL(r->len, n);
	CU_ASSERT_EQUAL(memcmp(r->bytes, p, n), 0);
	free(p);
}

static void push(struct xk_sess *s, uint32_t n, uint32_t seed)
{
	uint8_t *p = malloc(n + 1);

	fill(p, n, seed);
	pf_push(&f, 0, s, p, n);
	free(p);
}

/* ---- two graphs ----------------------------------------------------------------------------- */

static const uint32_t sizes[] = { 1, 0, 51, 52, 53, 4095, 4096, 4097, 65535, 65536, 8, 60000 };

static void echo_back(struct xk_rep *r, struct xk_sess *lls, struct xk_msg *m)
{
	(void)r;
	xk_push(lls, xk_msg_share(m));
}

static void sizes_come_and_go(void)
{
	const unsigned n = XK_ARRAY_LEN(sizes), total = 4 * n;
	struct xk_sess *s;

	both_up("");
	pf_upper_of(&f, "ua")->on_msg = echo_back;
	s = opened();
	for (unsigned i = 0; i < total; i++)
		push(s, sizes[i % n], i);
	UNTIL(pf_ngot(&f, "ub") == total);
	for (unsigned i = 0; i < total; i++) {
		check("ua", i, sizes[i % n], i);
		check("ub", i, sizes[i % n], i);
	}
	CU_ASSERT_EQUAL(count("sa", SHM_N_MET), 1);
	CU_ASSERT_EQUAL(count("sb", SHM_N_BEGUN), 1);
	CU_ASSERT_EQUAL(pf_upper_of(&f, "ua")->open_dones, 1);
	pf_close(&f, 0, s);
	UNTIL(xk_rep_sessions(pf_rep(&f, "sa", 0)) == 0);         /* its peer has forgotten it */
	both_down();
}

static void what_has_no_room_waits_in_order(void)
{
	const unsigned n = 300;
	struct xk_sess *s;

	both_up("lines=64; slots=4; slot=4KiB");
	s = opened();
	for (unsigned i = 0; i < n; i++)
		push(s, i % 3 == 0 ? 4096 : i % 53, i);
	CU_ASSERT(count("sb", SHM_N_QUEUED) > 0);
	UNTIL(pf_ngot(&f, "ua") == n);
	for (unsigned i = 0; i < n; i++)
		check("ua", i, i % 3 == 0 ? 4096 : i % 53, i);
	push(s, 4097, 0);
	CU_ASSERT_EQUAL(drops("sb", SHM_DROP_TOO_LONG), 1);
	pf_close(&f, 0, s);
	both_down();
}

static uint32_t room_of(struct xk_sess *s)
{
	uint32_t room = 12345;

	CU_ASSERT_EQUAL(xk_sess_control(s, XK_STREAM_ROOM, &room, sizeof room), (int)sizeof room);
	return room;
}

static void who_asks_hears_of_no_room_while_something_waits(void)
{
	struct xk_sess *s, *other;
	uint8_t bytes[4096];
	unsigned n = 1;

	both_up("lines=64; slots=4; slot=4KiB; queue=1MiB");
	s = opened();
	other = opened();
	CU_ASSERT_EQUAL(room_of(s), 1u << 20);
	push(s, 1, 0);
	UNTIL(pf_ngot(&f, "ua") == 1);           /* they have met */
	pf_enter(&f, 0);                         /* nobody reads meanwhile */
	for (; room_of(s) != 0 && n < 100; n++) {
		fill(bytes, sizeof bytes, n);
		xk_push(s, pf_msg(bytes, sizeof bytes));
	}
	CU_ASSERT_EQUAL(n, 1 + 4 + 1);           /* the slots, and the first that waits */
	CU_ASSERT_EQUAL(room_of(other), 0);
	pf_leave(&f, 0);
	pf_close(&f, 0, other);                  /* nobody is there to be told */
	UNTIL(pf_ngot(&f, "ua") == n);
	CU_ASSERT_EQUAL(room_of(s), 1u << 20);
	for (unsigned i = 1; i < n; i++)
		check("ua", i, 4096, i);
	pf_close(&f, 0, s);
	both_down();
}

static void who_pushes_too_much_is_told(void)
{
	struct xk_sess *s, *other;

	both_up("lines=64; queue=64KiB");
	s = opened();
	other = opened();
	for (unsigned i = 0; i < 40; i++)
		push(s, 4096, i);
	CU_ASSERT(drops("sb", SHM_DROP_QUEUE) > 0);
	pf_run(&f, XK_MS);
	CU_ASSERT_EQUAL(pf_upper_of(&f, "ub")->close_dones, 1);
	pf_close(&f, 0, s);
	UNTIL(count("sb", SHM_N_WRITTEN) == count("sb", SHM_N_QUEUED));
	push(other, 9, 1);               /* the others go on */
	UNTIL(pf_ngot(&f, "ua") == count("sb", SHM_N_WRITTEN) && count("sb", SHM_N_WRITTEN) > 1);
	check("ua", pf_ngot(&f, "ua") - 1, 9, 1);
	pf_close(&f, 0, other);
	both_down();
}

static void who_is_not_there_is_looked_for_and_missed(void)
{
	struct xk_sess *s;

	up("wait=50ms", false);
	s = opened();
	push(s, 4, 1);
	for (unsigned i = 0; i < 200; i++)
		pf_run(&f, XK_MS);
	CU_ASSERT_EQUAL(pf_upper_of(&f, "ub")->close_dones, 1);
	CU_ASSERT_EQUAL(drops("sb", SHM_DROP_GONE), 1);
	push(s, 4, 1);
	CU_ASSERT_EQUAL(drops("sb", SHM_DROP_GONE), 2);
	pf_close(&f, 0, s);
	pf_down(&f);
}

/* Two links to the server, of which the other is looked at first now. */
static void others_turn(struct shm_rep *hr)
{
	struct xk_listed *i = xk_list_first(&hr->links);

	xk_list_take(i);
	xk_list_put(&hr->links, i);
}

/* What belongs together by ports of no VP, as a connection and its control, meets one VP of the peer. */
static void sessions_to_ports_of_no_vp_share_a_link(void)
{
	struct shm_rep *hr;
	struct xk_sess *s[3], *back;
	struct xk_parts ps;
	int err;

	vps_up(2, "");
	hr = shm_rep(pf_rep(&f, "sb", 1));
	parts(&ps, SERVER, PORT);
	s[0] = pf_open(&f, "ub", 1, &ps, &err);
	CU_ASSERT_PTR_NOT_NULL_FATAL(s[0]);
	parts(&ps, CLIENT, PORT);
	back = pf_open(&f, "ua", 1, &ps, &err);
	CU_ASSERT_PTR_NOT_NULL_FATAL(back);
	UNTIL(pf_rep(&f, "sb", 1)->count[SHM_N_MET] == 1 && pf_rep(&f, "sb", 1)->count[SHM_N_BEGUN] == 1);
	for (unsigned i = 1; i < 3; i++) {
		others_turn(hr);
		parts(&ps, SERVER, (uint16_t)(PORT + i));
		s[i] = pf_open(&f, "ub", 1, &ps, &err);
		CU_ASSERT_PTR_NOT_NULL_FATAL(s[i]);
		CU_ASSERT_PTR_EQUAL(shm_sess(s[i])->link, shm_sess(s[0])->link);
	}
	for (unsigned i = 0; i < 3; i++)
		pf_close(&f, 1, s[i]);
	pf_close(&f, 1, back);
	both_down();
}

/* Whose port it is, is known when the peer has been met: a link of another VP's number is made for it. */
static void a_port_of_a_vp_is_reached_from_any(void)
{
	struct xk_sess *s, *known, *cross;
	struct xk_parts ps;
	int err;

	vps_up(2, "");
	xk_parts_init(&ps, 1);
	xk_part_push_port(&ps.p[0], PORT);
	CU_ASSERT_EQUAL_FATAL(xk_open_enable(pf_node(&f, "ub"), pf_node(&f, "ub"), pf_node(&f, "sb"), &ps), XK_OK);
	s = opened();                    /* of VP 0 */
	parts(&ps, CLIENT, PORT);
	known = pf_open(&f, "ua", 1, &ps, &err);
	CU_ASSERT_PTR_NOT_NULL_FATAL(known);
	UNTIL(pf_rep(&f, "sa", 1)->count[SHM_N_BEGUN] == 1);
	xk_parts_init(&ps, 2);
	xk_part_push_host(&ps.p[XK_REMOTE], CLIENT);
	xk_part_push_port(&ps.p[XK_REMOTE], shm_sess(s)->port);
	xk_part_push_any(&ps.p[XK_LOCAL]);
	xk_part_push_port(&ps.p[XK_LOCAL], PORT);
	cross = pf_open(&f, "ua", 1, &ps, &err);
	CU_ASSERT_PTR_NOT_NULL_FATAL(cross);
	CU_ASSERT_NOT_EQUAL(shm_sess(cross)->link, shm_sess(known)->link);
	pf_push(&f, 1, cross, "hello", 5);
	UNTIL(pf_rep(&f, "sb", 0)->count[SHM_N_READ] == 1);
	CU_ASSERT_EQUAL(drops("sb", SHM_DROP_NOBODY), 0);
	pf_close(&f, 1, cross);
	pf_close(&f, 1, known);
	pf_close(&f, 0, s);
	xk_open_disable_all(pf_node(&f, "ub"), pf_node(&f, "sb"));
	both_down();
}

static void what_it_gives(void)
{
	uint32_t gives = 0;

	up("", false);
	CU_ASSERT_EQUAL(xk_control(pf_rep(&f, "sb", 0), XK_CTL_GIVES, &gives, sizeof gives), (int)sizeof gives);
	CU_ASSERT_EQUAL(gives, XK_GIVES_BOUNDARIES | XK_GIVES_ORDER | XK_GIVES_RELIABLE);
	pf_down(&f);
}

/* ---- peers that are no graphs ------------------------------------------------------------------ */

static const struct shm_shape shape = { 64, 4, 4096 };

static int connected(void)
{
	struct shm_place at = { job, NULL, SERVER, 0 };
	int fd = -1;

	CU_ASSERT_EQUAL_FATAL(shm_connect(&at, &fd), XK_OK);
	return fd;
}

/* A memfd that is as long as an area of that shape. */
static int memory(const struct shm_shape *s, bool sealed, size_t more)
{
	int fd = memfd_create("peer", MFD_ALLOW_SEALING);

	CU_ASSERT_FATAL(fd >= 0 && ftruncate(fd, (off_t)(shm_area_size(s) + more)) == 0);
	if (sealed)
		CU_ASSERT_EQUAL(fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW), 0);
	return fd;
}

static void greets(struct shm_greeting g, int memfd, bool right)
{
	uint64_t met = count("sa", SHM_N_MET), bad = count("sa", SHM_N_BAD_PEERS);
	int fd = connected();
	char byte;

	CU_ASSERT_EQUAL(shm_greet(fd, &g, memfd), XK_OK);
	close(memfd);
	for (unsigned i = 0; i < 20; i++)
		pf_run(&f, XK_MS);
	CU_ASSERT_EQUAL(count("sa", SHM_N_MET) - met, right);
	CU_ASSERT_EQUAL(count("sa", SHM_N_BAD_PEERS) - bad, !right);
	CU_ASSERT_EQUAL(recv(fd, &byte, 1, MSG_DONTWAIT), right);        /* a greeting, or the end */
	close(fd);
}

static void who_greets_wrongly_is_sent_away(void)
{
	const struct shm_greeting g = { .host = CLIENT, .vps = 1, .shape = shape };
	struct shm_greeting wrong = g;
	int fd;

	both_up("");
	greets(g, memory(&shape, true, 0), true);
	greets(g, memory(&shape, false, 0), false);
	greets(g, memory(&shape, true, 4096), false);
	wrong.shape.lines = 0;
	greets(wrong, memory(&shape, true, 0), false);
	wrong.shape.lines = 96;
	greets(wrong, memory(&wrong.shape, true, 0), false);
	wrong = g;
	wrong.shape.slot = 1u << 31;
	greets(wrong, memory(&shape, true, 0), false);
	wrong = g;
	wrong.vp = 1;
	greets(wrong, memory(&shape, true, 0), false);
	fd = connected();                /* and who says too little */
	CU_ASSERT_EQUAL(send(fd, "hello", 5, 0), 5);
	UNTIL(count("sa", SHM_N_BAD_PEERS) == 7);
	close(fd);
	both_down();
}

/* In our own words: five messages, then nothing more. */
static void a_peer_that_ends_is_missed_and_what_it_wrote_is_read(void)
{
	const struct shm_greeting g = { .host = CLIENT, .vps = 1, .shape = shape };
	int memfd = memory(&shape, true, 0), fd;
	uint32_t by[64];
	struct shm_out o;
	void *area;

	both_up("");
	pf_upper_of(&f, "ua")->keep = true;
	area = mmap(NULL, shm_area_size(&shape), PROT_READ | PROT_WRITE, MAP_SHARED, memfd, 0);
	CU_ASSERT_FATAL(area != MAP_FAILED);
	shm_out_init(&o, area, by, &shape);
	fd = connected();
	CU_ASSERT_EQUAL(shm_greet(fd, &g, memfd), XK_OK);
	for (uint32_t i = 0; i < 5; i++) {
		fill(shm_out_room(&o, 40 + i * 10), 40 + i * 10, i);
		shm_out_put(&o, SHM_MESSAGE, 9, PORT, 40 + i * 10);
	}
	close(fd);
	UNTIL(pf_upper_of(&f, "ua")->close_dones == 1);
	CU_ASSERT_EQUAL_FATAL(pf_ngot(&f, "ua"), 5);
	for (uint32_t i = 0; i < 5; i++)
		check("ua", i, 40 + i * 10, i);
	CU_ASSERT_EQUAL(count("sa", SHM_N_LOST), 1);
	pf_enter(&f, 0);
	xk_close(pf_upper_of(&f, "ua")->kept[0]);
	pf_upper_of(&f, "ua")->nkept = 0;
	pf_leave(&f, 0);
	both_down();
	(void)munmap(area, shm_area_size(&shape));
	close(memfd);
}

/* ---- a peer that writes at random ------------------------------------------------------------------ */

struct foe {
	int fd;
	uint8_t *area;
	const void *theirs;
	size_t theirs_size;
	struct shm_line *line;
	uint32_t next;
	struct xk_rand r;
};

/* In another process: no checks of CUnit. */
static bool foe_up(struct foe *e, uint64_t seed)
{
	struct shm_greeting g = { .host = CLIENT, .vps = 1, .shape = shape };
	struct shm_place at = { job, NULL, SERVER, 0 };
	int memfd = memfd_create("foe", MFD_ALLOW_SEALING);

	xk_rand_init(&e->r, seed, 0);
	e->next = 0;
	for (unsigned tries = 0; shm_connect(&at, &e->fd) != XK_OK; tries++)
		if (tries == 1000000)
			return false;
	if (ftruncate(memfd, (off_t)shm_area_size(&shape)) != 0 || fcntl(memfd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW) != 0)
		return false;
	e->area = mmap(NULL, shm_area_size(&shape), PROT_READ | PROT_WRITE, MAP_SHARED, memfd, 0);
	e->line = (void *)(e->area + SHM_PAGE);
	if (shm_greet(e->fd, &g, memfd) != XK_OK)
		return false;
	close(memfd);
	if (poll(&(struct pollfd){ .fd = e->fd, .events = POLLIN }, 1, 30000) != 1 || shm_greeted(e->fd, &g, &memfd) != XK_OK)
		return false;
	if (shm_area_map(&g.shape, memfd, &e->theirs) != XK_OK)
		return false;
	close(memfd);
	e->theirs_size = shm_area_size(&g.shape);
	return true;
}

/* In step with who reads, or he would read little; false: he does not any more. */
static bool foe_waits(const struct foe *e)
{
	const struct shm_front *front = e->theirs;
	struct pollfd p = { .fd = e->fd };

	while (e->next - xk_load_acquire(&front->taken) >= shape.lines / 2)
		if (poll(&p, 1, 0) != 0)
			return false;
	return true;
}

/* Lines that seem right mostly, and are changed while they are read; at last nonsense. */
static void foe_writes(struct foe *e, unsigned n)
{
	const uint32_t lens[] = { 0, 1, 52, 53, 4096, 4097, 0xfffffff };

	for (unsigned i = 0; i < n && foe_waits(e); i++) {
		uint64_t x = xk_rand_u64(&e->r);
		struct shm_line *l = &e->line[e->next & (shape.lines - 1)];

		l->from = (uint16_t)(x & 3);
		l->to = x & 4 ? PORT : (uint16_t)(x >> 16);
		l->word = lens[x >> 32 & 3] | ((x & 0x38) == 0 ? 1u << 28 : 0);
		if ((x & 0xfff80000000) == 0)
			l->word = lens[(x >> 34) % 7] | (uint32_t)(x >> 40) << 28;
		l->bytes[x >> 8 & 31] ^= 0x55;
		e->area[SHM_PAGE + 4096 + (x >> 12) % (shm_area_size(&shape) - SHM_PAGE - 4096)] ^= 1;
		if ((x & 0x3ff00000) == 0)       /* anywhere among the lines */
			e->area[SHM_PAGE + (x >> 44) % 4096] ^= 1;
		xk_store_release(&l->turn, ++e->next);
		if ((x & 0xfff000000) == 0)
			((struct shm_front *)(void *)e->area)->taken = (uint32_t)(x >> 32);
		((struct shm_front *)(void *)e->area)->wants = x >> 20 & 1;
		if ((x & 0x700) == 0)
			(void)send(e->fd, &x, 1 + (x >> 61), MSG_DONTWAIT | MSG_NOSIGNAL);
	}
}

static void attack(unsigned links, unsigned lines)
{
	struct foe e;

	for (unsigned k = 0; k < links; k++) {
		if (!foe_up(&e, k))
			_exit(1);
		foe_writes(&e, lines);
		close(e.fd);             /* as one that is killed */
		(void)munmap((void *)(uintptr_t)e.theirs, e.theirs_size);
		(void)munmap(e.area, shm_area_size(&shape));
	}
	_exit(0);
}

static void a_peer_that_writes_at_random(void)
{
	const unsigned links = (unsigned)xk_test_rounds(200);
	uint64_t got = 0;
	int status = -1;
	pid_t child;

	both_up("sessions=16; links=8");
	pf_upper_of(&f, "ua")->on_msg = echo_back;
	child = fork();
	if (child == 0)
		attack(links, 2000);
	while (waitpid(child, &status, WNOHANG) == 0) {
		pf_run(&f, XK_MS);
		CU_ASSERT(xk_rep_sessions(pf_rep(&f, "sa", 0)) <= 16);
		for (unsigned i = 0; i < pf_ngot(&f, "ua"); i++)
			CU_ASSERT(pf_got(&f, "ua", i)->len <= shape.slot);
		got += pf_ngot(&f, "ua");
		pf_forget(&f, "ua");
	}
	CU_ASSERT_EQUAL(status, 0);
	for (unsigned i = 0; i < 5000 && shm_rep(pf_rep(&f, "sa", 0))->nlinks != 0; i++)
		pf_run(&f, XK_MS);
	got += pf_ngot(&f, "ua");
	CU_ASSERT_EQUAL(shm_rep(pf_rep(&f, "sa", 0))->nlinks, 0);
	CU_ASSERT_EQUAL(xk_rep_sessions(pf_rep(&f, "sa", 0)), 0);
	CU_ASSERT(got > 0);
	CU_ASSERT_EQUAL(got, count("sa", SHM_N_READ));
	CU_ASSERT(count("sa", SHM_N_BAD_PEERS) > 0);
	CU_ASSERT_EQUAL(count("sa", SHM_N_LOST), count("sa", SHM_N_MET));
	both_down();
}

/* ---- one ring, and numbers that wrap ---------------------------------------------------------------- */

static void numbers_wrap(void)
{
	static uint8_t area[SHM_PAGE + 64 * 64 + 4 * 4096] XK_ALIGNED, peer[sizeof area] XK_ALIGNED;
	static uint32_t by[64], by2[64];
	struct shm_out o, p;
	struct shm_in in, back;
	struct shm_got g;

	memset(area, 0, sizeof area);
	shm_out_init(&o, area, by, &shape);
	shm_out_init(&p, peer, by2, &shape);
	shm_in_init(&in, area, &shape);
	shm_in_init(&back, peer, &shape);
	o.head = o.taken = in.next = in.said = UINT32_MAX - 100;
	for (uint32_t i = 0; i < 1000; i++) {
		uint32_t len = i % 5 == 0 ? 100 : 4, *at = shm_out_room(&o, len);

		if (at == NULL) {
			CU_ASSERT_FALSE(shm_in_waits(&in));
			shm_in_say(&in, &p);
			CU_ASSERT_TRUE_FATAL(shm_out_look(&o, &back));
			at = shm_out_room(&o, len);
		}
		CU_ASSERT_PTR_NOT_NULL_FATAL(at);
		CU_ASSERT_FALSE(shm_in_waits(&in));
		memcpy(at, &i, sizeof i);
		shm_out_put(&o, SHM_MESSAGE, 1, 2, len);
		CU_ASSERT_TRUE_FATAL(shm_in_waits(&in));
		CU_ASSERT_TRUE_FATAL(shm_in_get(&in, &g));
		CU_ASSERT(g.from == 1 && g.to == 2 && g.len == len && memcmp(g.bytes, &i, sizeof i) == 0);
		shm_in_next(&in, &g);
	}
	p.front->taken = o.head + 1;     /* more than was written */
	CU_ASSERT_FALSE(shm_out_look(&o, &back));
	p.front->taken = o.taken - 1;
	CU_ASSERT_FALSE(shm_out_look(&o, &back));
}

static CU_TestInfo tests[] = {
	{ "numbers_wrap", numbers_wrap },
	{ "what_it_gives", what_it_gives },
	{ "sessions_to_ports_of_no_vp_share_a_link", sessions_to_ports_of_no_vp_share_a_link },
	{ "a_port_of_a_vp_is_reached_from_any", a_port_of_a_vp_is_reached_from_any },
	{ "sizes_come_and_go", sizes_come_and_go },
	{ "what_has_no_room_waits_in_order", what_has_no_room_waits_in_order },
	{ "who_asks_hears_of_no_room_while_something_waits", who_asks_hears_of_no_room_while_something_waits },
	{ "who_pushes_too_much_is_told", who_pushes_too_much_is_told },
	{ "a_peer_that_ends_is_missed_and_what_it_wrote_is_read", a_peer_that_ends_is_missed_and_what_it_wrote_is_read },
	{ "who_is_not_there_is_looked_for_and_missed", who_is_not_there_is_looked_for_and_missed },
	{ "who_greets_wrongly_is_sent_away", who_greets_wrongly_is_sent_away },
	{ "a_peer_that_writes_at_random", a_peer_that_writes_at_random },
	CU_TEST_INFO_NULL
};
static CU_SuiteInfo suites[] = { { "shm", NULL, NULL, NULL, NULL, tests }, CU_SUITE_INFO_NULL };

int main(void) { return xk_test_main(suites); }
