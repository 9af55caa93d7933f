/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * test_arp_doubt.c - address resolution: a neighbour that nobody confirms is asked for.
 *
 * Promises: what a forger or a silent move has put into the table heals within a minute of
 * use; who answers stays, who is not used or is heard of anyway is not asked, who is silent
 * is dropped.  All in virtual time.
 */
#include <stdio.h>
#include <unistd.h>

#include "tests/protocols/arp_fixture.h"
#include "runtime/upi/xk_inline.h"

static const struct pf_spec graph_plain[] = {
	DRV, { &xk_proto_arp, "arp", "eth", "addresses=10.0.0.1/8" }, UP, END
};
static const struct pf_spec graph_cautious[] = {
	DRV, { &xk_proto_arp, "arp", "eth", "addresses=10.0.0.1/8; learn=false" }, UP, END
};

/* Seconds from an entry's confirmation to the first probe: half to one and a half times `reachable`, and `delay`. */
enum { LEAST = 15 + 5, MOST = 45 + 5 };

/* Of all requests so far, those to that station. */
static unsigned asked_at(const uint8_t mac[6])
{
	unsigned n = 0;

	for (unsigned i = 0; i < pf_npushed(&f, "drv"); i++) {
		const struct pf_rec *r = pf_pushed(&f, "drv", i);

		n += xk_be16(r->bytes + 12) == 0x0806 && xk_be16(r->bytes + 20) == 1 && memcmp(r->bytes, mac, 6) == 0;
	}
	return n;
}

/* A session on each of n VPs, all on that station since now. */
static void all_stand_on(struct xk_sess **s, unsigned n, const uint8_t mac[6])
{
	for (unsigned vp = 0; vp < n; vp++) {
		s[vp] = pf_open_host(&f, "up", vp, THEM, NULL);
		CU_ASSERT_PTR_NOT_NULL_FATAL(s[vp]);
		pf_push(&f, vp, s[vp], "x", 1);
	}
	says_reply(0, mac, THEM);
	CU_ASSERT_EQUAL_FATAL(data_frames(), n);
	pf_forget(&f, "drv");
}

static void all_stand_on_peer(struct xk_sess **s, unsigned n)
{
	all_stand_on(s, n, peer);
}

/* Sends once a second for that long; the neighbour answers what it is asked: by all, or at its station. */
static void talk(struct xk_sess **s, unsigned n, unsigned seconds, bool answers)
{
	for (unsigned t = 0, seen = 0; t < seconds; t++) {
		for (unsigned vp = 0; vp < n; vp++)
			pf_push(&f, vp, s[vp], "x", 1);
		pf_run(&f, XK_SEC);
		if (answers && asked_at(everybody) + asked_at(peer) > seen) {
			seen = asked_at(everybody) + asked_at(peer);
			says_reply(n - 1, peer, THEM);
		}
	}
}

static void close_all(struct xk_sess **s, unsigned n)
{
	for (unsigned vp = 0; vp < n; vp++)
		pf_close(&f, vp, s[vp]);
	CU_ASSERT_EQUAL(pf_sessions(&f, "arp"), 0);
	pf_down(&f);
}

static void a_forged_reply_heals_within_a_minute(void)
{
	struct xk_sess *s[4];

	pf_up(&f, 4, graph_plain);
	all_stand_on(s, 4, other);                        /* the forger was the first to answer */
	says_reply(0, peer, THEM);
	pf_push(&f, 3, s[3], "x", 1);
	CU_ASSERT_EQUAL(memcmp(last_data()->bytes, other, 6), 0);
	talk(s, 4, LEAST, true);
	CU_ASSERT_EQUAL(asked_at(other) + asked_at(everybody), 0);
	talk(s, 4, MOST + 4 - LEAST, true);
	CU_ASSERT_EQUAL(asked_at(other), 3);              /* it is asked first, and silent */
	CU_ASSERT_EQUAL(asked_at(everybody), 1);
	for (unsigned vp = 0; vp < 4; vp++) {
		pf_push(&f, vp, s[vp], "x", 1);
		CU_ASSERT_EQUAL(memcmp(last_data()->bytes, peer, 6), 0);
	}
	CU_ASSERT_EQUAL(pf_count(&f, "arp", "changed"), 1);
	CU_ASSERT_EQUAL(pf_drops(&f, "arp", "unreachable"), 0);
	close_all(s, 4);
}

static void a_used_neighbour_is_asked_at_its_station_and_stays(void)
{
	struct xk_sess *s[2];

	pf_up(&f, 2, graph_plain);
	all_stand_on_peer(s, 2);
	talk(s, 2, 600, true);
	CU_ASSERT(asked_at(peer) >= 600 / (MOST + 2) && asked_at(peer) <= 600 / LEAST);
	CU_ASSERT_EQUAL(asked_at(everybody), 0);
	CU_ASSERT_EQUAL(data_frames(), 1200);
	close_all(s, 2);
}

static void a_neighbour_that_nobody_uses_is_not_asked(void)
{
	struct xk_sess *s[1];

	pf_up(&f, 1, graph_plain);
	all_stand_on_peer(s, 1);
	pf_run(&f, 3600 * XK_SEC);
	CU_ASSERT_EQUAL(pf_npushed(&f, "drv"), 0);
	close_all(s, 1);
}

static void a_neighbour_that_is_heard_of_is_not_asked(void)
{
	struct xk_sess *s[1];

	pf_up(&f, 1, graph_plain);
	all_stand_on_peer(s, 1);
	/* Now and then that is in the delay, which ends, too. */
	for (unsigned i = 0; i < 100; i++) {
		talk(s, 1, LEAST - 1, false);
		says_request(0, peer, THEM, US);
	}
	CU_ASSERT_EQUAL(pf_count(&f, "arp", "probes_out"), 0);
	CU_ASSERT_EQUAL(asked_at(peer) + asked_at(everybody), 0);
	close_all(s, 1);
}

/* What a protocol above says of what it sent. */
static void reached(struct xk_sess *s, unsigned vp)
{
	pf_enter(&f, vp);
	CU_ASSERT_EQUAL(xk_sess_control(s, XK_CTL_REACHED, NULL, 0), 0);
	pf_leave(&f, vp);
}

static void a_neighbour_through_which_progress_is_made_is_not_asked(void)
{
	struct xk_sess *s[2];

	pf_up(&f, 2, graph_plain);
	all_stand_on_peer(s, 2);
	for (unsigned t = 0; t < 600; t += 5) {
		talk(s, 2, 5, true);
		reached(s[t / 5 % 2], t / 5 % 2);
	}
	CU_ASSERT_EQUAL(asked_at(peer) + asked_at(everybody), 0);
	CU_ASSERT(pf_count(&f, "arp", "reached") >= 600 / 15 && pf_count(&f, "arp", "reached") <= 600 / 5);
	talk(s, 2, MOST + 1, true);                       /* and when it ends it is doubted as ever */
	CU_ASSERT_NOT_EQUAL(asked_at(peer), 0);
	close_all(s, 2);
}

/* What is told of progress may be older than the claim: the old station is asked all the same. */
static void progress_ends_no_suspicion(void)
{
	struct xk_sess *s[1];

	pf_up(&f, 1, graph_plain);
	all_stand_on_peer(s, 1);
	talk(s, 1, 20, true);
	says_reply(0, other, THEM);
	reached(s[0], 0);
	talk(s, 1, 4, false);
	CU_ASSERT_EQUAL(asked_at(peer), 3);
	CU_ASSERT_NOT_EQUAL(asked_at(everybody), 0);
	says_reply(0, other, THEM);
	pf_push(&f, 0, s[0], "x", 1);
	CU_ASSERT_EQUAL(memcmp(last_data()->bytes, other, 6), 0);
	CU_ASSERT_EQUAL(pf_count(&f, "arp", "changed"), 1);
	close_all(s, 1);
}

static void doubts(struct xk_sess *s, unsigned vp);

/* One connection's silence is nothing against what another gets through. */
static void progress_ends_a_doubt(void)
{
	struct xk_sess *s[1];

	pf_up(&f, 1, graph_plain);
	all_stand_on_peer(s, 1);
	pf_run(&f, 10 * XK_SEC);
	doubts(s[0], 0);
	CU_ASSERT_EQUAL(asked_at(peer), 1);
	reached(s[0], 0);
	talk(s, 1, 10, false);
	CU_ASSERT_EQUAL(asked_at(peer), 1);
	CU_ASSERT_EQUAL(asked_at(everybody), 0);
	CU_ASSERT_EQUAL(pf_count(&f, "arp", "failed"), 0);
	CU_ASSERT_EQUAL(memcmp(last_data()->bytes, peer, 6), 0);
	close_all(s, 1);
}

static void doubts(struct xk_sess *s, unsigned vp)
{
	pf_enter(&f, vp);
	CU_ASSERT_EQUAL(xk_sess_control(s, XK_CTL_DOUBT, NULL, 0), 0);
	pf_leave(&f, vp);
	pf_run(&f, XK_MS);
}

/* What a protocol above does not see arriving is asked for at once, though not by each that says so. */
static void a_neighbour_through_which_nothing_arrives_is_asked_at_once(void)
{
	struct xk_sess *s[2];

	pf_up(&f, 2, graph_plain);
	all_stand_on_peer(s, 2);
	doubts(s[0], 0);                                  /* it was confirmed just now */
	pf_run(&f, 6 * XK_SEC);
	CU_ASSERT_EQUAL(pf_npushed(&f, "drv"), 0);
	doubts(s[1], 1);
	doubts(s[0], 0);
	CU_ASSERT_EQUAL(asked_at(peer), 1);
	says_reply(0, peer, THEM);
	for (unsigned i = 0; i < 100; i++) {
		doubts(s[i % 2], i % 2);
		pf_run(&f, 40 * XK_MS);
	}
	CU_ASSERT_EQUAL(asked_at(peer), 1);
	CU_ASSERT_EQUAL(pf_count(&f, "arp", "doubted"), 1);
	/* In earnest: it is gone, and who sends hears of it in 6 s and not in a minute. */
	pf_run(&f, XK_SEC);
	doubts(s[0], 0);
	talk(s, 2, 7, false);
	CU_ASSERT_EQUAL(asked_at(peer), 1 + 3);
	CU_ASSERT_EQUAL(asked_at(everybody), 3);
	CU_ASSERT_EQUAL(pf_count(&f, "arp", "failed"), 1);
	doubts(s[0], 0);                                  /* it stands on nothing */
	CU_ASSERT_EQUAL(pf_count(&f, "arp", "doubted"), 2);
	close_all(s, 2);
}

/* Of many neighbours, confirmed at once and used all the time, each is asked at a time of its own. */
static void neighbours_are_not_doubted_together(void)
{
	enum { N = 64 };
	struct xk_sess *s[N];
	unsigned most = 0, all = 0;

	pf_up(&f, 1, graph_plain);
	for (unsigned i = 0; i < N; i++) {
		s[i] = pf_open_host(&f, "up", 0, HOST(10, 0, 5, i), NULL);
		pf_push(&f, 0, s[i], "x", 1);
		says_reply(0, peer, HOST(10, 0, 5, i));
	}
	for (unsigned t = 0, asked; t < MOST; t++) {
		for (unsigned i = 0; i < N; i++)
			pf_push(&f, 0, s[i], "x", 1);
		pf_forget(&f, "drv");
		pf_run(&f, XK_SEC);
		asked = asked_at(peer);
		for (unsigned i = 0; i < N; i++)
			if (requests_for(HOST(10, 0, 5, i)) != 0)
				says_reply(0, peer, HOST(10, 0, 5, i));
		CU_ASSERT(t >= LEAST - 1 || asked == 0);
		most = asked > most ? asked : most;
		all += asked;
	}
	CU_ASSERT(all >= N && most <= N / 4);
	for (unsigned i = 0; i < N; i++)
		pf_close(&f, 0, s[i]);
	pf_down(&f);
}

static void a_silent_neighbour_is_dropped_after_its_probes(void)
{
	struct xk_sess *s[4];
	unsigned t = 0;

	pf_up(&f, 4, graph_plain);
	all_stand_on_peer(s, 4);
	while (t < 2 * MOST && pf_count(&f, "arp", "failed") == 0) {
		CU_ASSERT_EQUAL(pf_drops(&f, "arp", "unreachable"), 0);
		talk(s, 4, 1, false);
		t++;
	}
	CU_ASSERT(t >= LEAST + 6 && t <= MOST + 6 + 1);
	CU_ASSERT_EQUAL(asked_at(peer), 3);
	CU_ASSERT_EQUAL(asked_at(everybody), 3);
	talk(s, 4, 2, false);
	CU_ASSERT(pf_drops(&f, "arp", "unreachable") >= 4);
	CU_ASSERT_EQUAL(pf_count(&f, "arp", "failed"), 1);
	CU_ASSERT_EQUAL(asked_at(peer) + asked_at(everybody), 6);
	close_all(s, 4);
}

/* Sessions that live for a message each have it confirmed together. */
static void short_sessions_probe_as_long_ones_do(void)
{
	struct xk_sess *s[1];

	pf_up(&f, 2, graph_plain);
	all_stand_on_peer(s, 1);
	pf_close(&f, 0, s[0]);
	for (unsigned t = 0; t < MOST + 3; t++) {
		s[0] = pf_open_host(&f, "up", t % 2, THEM, NULL);
		CU_ASSERT_PTR_NOT_NULL_FATAL(s[0]);
		pf_push(&f, t % 2, s[0], "x", 1);
		pf_close(&f, t % 2, s[0]);
		pf_run(&f, XK_SEC);
	}
	CU_ASSERT_EQUAL(data_frames(), MOST + 3);
	CU_ASSERT(asked_at(peer) >= 1);
	CU_ASSERT_EQUAL(pf_sessions(&f, "arp"), 0);
	pf_down(&f);
}

/* With `learn` off, too: a neighbour with a new station answers everybody's question. */
static void a_neighbour_that_moved_silently_is_found_again(void)
{
	struct xk_sess *s[1];

	pf_up(&f, 1, graph_cautious);
	all_stand_on_peer(s, 1);
	for (unsigned t = 0; t < 2 * MOST && asked_at(everybody) == 0; t++)
		talk(s, 1, 1, false);
	CU_ASSERT_EQUAL(asked_at(peer), 3);
	CU_ASSERT_EQUAL(asked_at(everybody), 1);
	says_reply(0, other, THEM);
	pf_push(&f, 0, s[0], "x", 1);
	CU_ASSERT_EQUAL(memcmp(last_data()->bytes, other, 6), 0);
	says_reply(0, peer, THEM);                        /* not asked for */
	pf_run(&f, 20 * XK_SEC);
	says_reply(0, peer, THEM);
	pf_push(&f, 0, s[0], "x", 1);
	CU_ASSERT_EQUAL(memcmp(last_data()->bytes, other, 6), 0);
	close_all(s, 1);
}

/* Lines of the log that a quarrel over THEM makes, a change every 2 s for a minute. */
static void changes_are_logged_but_not_each(void)
{
	int keep = dup(STDERR_FILENO), lines = 0;
	FILE *log = tmpfile();
	char line[256];

	CU_ASSERT_FATAL(keep >= 0 && log != NULL);
	pf_up(&f, 1, graph_plain);
	says_request(0, peer, THEM, US);
	fflush(stderr);
	CU_ASSERT_FATAL(dup2(fileno(log), STDERR_FILENO) >= 0);
	for (unsigned i = 0; i < 30; i++) {
		pf_run(&f, 2 * XK_SEC);
		says_request(0, i % 2 == 0 ? other : peer, THEM, US);
	}
	fflush(stderr);
	dup2(keep, STDERR_FILENO);
	close(keep);
	CU_ASSERT_EQUAL(pf_count(&f, "arp", "changed"), 30);
	rewind(log);
	while (fgets(line, sizeof line, log) != NULL) {
		lines += strstr(line, "neighbour 10.0.0.2 moved from 02:00:00:00:00:0") != NULL;
		if (lines == 2)
			CU_ASSERT_PTR_NOT_NULL(strstr(line, "(4 more changes"));
	}
	CU_ASSERT_EQUAL(lines, 6);
	fclose(log);
	pf_down(&f);
}

#define T(name) { #name, name }
static CU_TestInfo tests[] = {
	T(a_forged_reply_heals_within_a_minute),
	T(a_used_neighbour_is_asked_at_its_station_and_stays),
	T(a_neighbour_that_nobody_uses_is_not_asked),
	T(a_neighbour_that_is_heard_of_is_not_asked),
	T(a_neighbour_through_which_progress_is_made_is_not_asked),
	T(progress_ends_no_suspicion),
	T(progress_ends_a_doubt),
	T(a_neighbour_through_which_nothing_arrives_is_asked_at_once),
	T(neighbours_are_not_doubted_together),
	T(a_silent_neighbour_is_dropped_after_its_probes),
	T(short_sessions_probe_as_long_ones_do),
	T(a_neighbour_that_moved_silently_is_found_again),
	T(changes_are_logged_but_not_each),
	CU_TEST_INFO_NULL
};
static CU_SuiteInfo suites[] = {
	{ "arp_doubt", NULL, NULL, NULL, NULL, tests },
	CU_SUITE_INFO_NULL
};

int main(void)
{
	return xk_test_main(suites);
}
