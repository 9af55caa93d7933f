/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * test_ip_self.c - datagrams to ourselves (RFC 1122 3.2.1.3): they arrive, by no link, after the push; and who claims
 * on a link to be us still finds nobody.
 */
#include "protocols/ip/ip.h"
#include "protocols/udp/udp.h"
#include "runtime/upi/xk_inline.h"
#include "runtime/upi/xk_part.h"
#include "tests/protocols/net_fixture.h"
#include "tests/support/xk_test.h"

#include <string.h>

#define LO      0x7f000001u
#define LO_FAR  0x7fc80903u
#define US_TOO  0xc0a80001u     /* a second address */
#define NO_PORT 9

static struct pf f;
static uint8_t d[70000], pay[70000];
static const uint32_t ours[] = { NF_US, US_TOO, LO, LO_FAR };

static void arrives_whatever_address_of_ours_it_is_for(void)
{
	nf_up1(&f, "addrs=192.168.0.1/24");
	nf_fill(pay, 300, 1);
	for (unsigned i = 0; i < XK_ARRAY_LEN(ours); i++) {
		int err = 0;
		struct xk_sess *s = pf_open_host(&f, "raw", 0, ours[i], &err);

		CU_ASSERT_PTR_NOT_NULL_FATAL(s);
		pf_push(&f, 0, s, pay, 300);
		CU_ASSERT_EQUAL_FATAL(nf_ngot(&f, "raw"), 1);
		CU_ASSERT(nf_got(&f, "raw", 0)->len == 300 && memcmp(nf_got(&f, "raw", 0)->bytes, pay, 300) == 0);
		nf_forget(&f, "raw");
		pf_close(&f, 0, s);
	}
	CU_ASSERT_EQUAL(nf_nsent(&f), 0);
	CU_ASSERT_EQUAL(pf_sessions(&f, "hl"), 0);
	CU_ASSERT_EQUAL(nf_drops(&f), 0);
	nf_down(&f);
}

static unsigned rounds, inside;
/* Each that comes is answered, where it came from. */
static void answer(struct xk_rep *r, struct xk_sess *lls, struct xk_msg *m)
{
	struct xk_msg *n;

	(void)r;
	(void)m;
	CU_ASSERT_EQUAL(inside, 0);
	inside++;
	if (rounds-- > 1 && (n = pf_msg(pay, 40)) != NULL)
		xk_push(lls, n);
	inside--;
}

static void nobody_is_called_back_from_a_push(void)
{
	struct xk_sess *s;
	int err;

	nf_up1(&f, NULL);
	pf_upper_of(&f, "raw")->on_msg = answer;
	rounds = 10000;
	s = pf_open_host(&f, "raw", 0, LO, &err);
	pf_push(&f, 0, s, pay, 40);
	CU_ASSERT_EQUAL(rounds, 0);
	CU_ASSERT_EQUAL(nf_ngot(&f, "raw"), 10000);
	pf_close(&f, 0, s);
	nf_down(&f);
}

/* Sessions to ourselves are there; a frame that has their addresses must not find them. */
static void who_claims_to_be_us_on_a_link_is_dropped(void)
{
	nf_up1(&f, "addrs=192.168.0.1/24");
	for (unsigned i = 0; i < XK_ARRAY_LEN(ours); i++) {
		int err;
		uint32_t local = ours[i] >> 24 == 127 ? LO : ours[i];
		struct xk_sess *s = pf_open_host(&f, "raw", 0, ours[i], &err);

		pf_push(&f, 0, s, pay, 10);
		nf_forget(&f, "raw");
		nf_in(&f, 0, d, nf_ip(d, &(struct nf_ip){ .src = ours[i], .dst = local }, pay, 10));
		nf_only_drop(&f, "ip", "bad_source");
		nf_in(&f, 0, d, nf_ip(d, &(struct nf_ip){ .src = ours[i], .dst = local, .frag = 0x2000 }, pay, 16));
		nf_only_drop(&f, "ip", "bad_source");
		nf_in(&f, 0, d, nf_ip(d, &(struct nf_ip){ .dst = ours[i] }, pay, 10));
		if (ours[i] >> 24 == 127)
			nf_only_drop(&f, "ip", "not_ours");
		CU_ASSERT_EQUAL(nf_ngot(&f, "raw"), ours[i] >> 24 != 127);
		nf_forget(&f, "raw");
		pf_close(&f, 0, s);
	}
	nf_down(&f);
}

/* lhost towards rhost: refused with that, or from `local`. */
static void from(uint32_t rhost, uint32_t lhost, int want, uint32_t local)
{
	uint32_t v = 0;
	int err = XK_OK;
	struct xk_sess *s = nf_open(&f, "raw", 0, rhost, 0, lhost, 0, &err);

	CU_ASSERT_EQUAL(err, want);
	CU_ASSERT_EQUAL(s != NULL, want == XK_OK);
	if (s == NULL)
		return;
	pf_enter(&f, 0);
	CU_ASSERT(xk_sess_control(s, XK_CTL_GETMYHOST, &v, sizeof v) == 4 && v == local);
	CU_ASSERT(xk_sess_control(s, XK_CTL_GETPEERHOST, &v, sizeof v) == 4 && v == rhost);
	CU_ASSERT_EQUAL(xk_sess_control(s, IP_CTL_SELF, NULL, 0), rhost != NF_PEER);
	pf_leave(&f, 0);
	pf_close(&f, 0, s);
}

static void our_address_is_the_same_or_what_was_asked_for(void)
{
	nf_up1(&f, "addrs=192.168.0.1/24");
	from(NF_US, 0, XK_OK, NF_US);
	from(US_TOO, 0, XK_OK, US_TOO);
	from(LO, 0, XK_OK, LO);
	from(LO_FAR, 0, XK_OK, LO);
	from(LO, LO_FAR, XK_OK, LO_FAR);
	from(LO, NF_US, XK_OK, NF_US);
	from(NF_US, LO, XK_OK, LO);
	from(NF_US, NF_PEER, XK_E_ADDRNOTAVAIL, 0);
	from(NF_PEER, LO, XK_E_INVAL, 0);       /* 127.0.0.0/8 leaves no host */
	from(NF_PEER, US_TOO, XK_OK, US_TOO);
	nf_down(&f);
}

static void it_is_never_cut(void)
{
	struct xk_sess *s;
	uint32_t v;
	int err;

	nf_up(&f, &(struct nf_conf){ .hl = "mtu=576" });
	nf_fill(pay, 65515, 3);
	s = pf_open_host(&f, "raw", 0, LO, &err);
	pf_enter(&f, 0);
	CU_ASSERT(xk_sess_control(s, XK_CTL_GETOPTPACKET, &v, sizeof v) == 4 && v == 65515);
	CU_ASSERT_EQUAL(xk_sess_control(s, XK_CTL_GETMAXSUPER, &v, sizeof v), XK_E_NOTSUP);
	CU_ASSERT_EQUAL(xk_sess_control(s, IP_CTL_NEAR, &v, sizeof v), XK_E_UNREACH);
	pf_leave(&f, 0);
	pf_push(&f, 0, s, pay, 65515);
	CU_ASSERT_EQUAL_FATAL(nf_ngot(&f, "raw"), 1);
	CU_ASSERT(nf_got(&f, "raw", 0)->len == 65515 && memcmp(nf_got(&f, "raw", 0)->bytes, pay, 65515) == 0);
	pf_push(&f, 0, s, pay, 65516);
	nf_only_drop(&f, "ip", "too_long");
	pf_close(&f, 0, s);
	nf_down(&f);
}

/* Of many ports some connections live on the other VP. */
static void it_comes_in_where_its_connection_lives(void)
{
	struct pf_upper_state *app;

	nf_up(&f, &(struct nf_conf){ .nvps = 4 });
	app = pf_upper_of(&f, "app");
	for (uint16_t port = 5000; port < 5064; port++) {
		int err;
		struct xk_sess *s = nf_open(&f, "app", port % 4, LO, NF_PORT, 0, port, &err);

		CU_ASSERT_PTR_NOT_NULL_FATAL(s);
		pf_push(&f, port % 4, s, pay, 10);
		pf_close(&f, port % 4, s);
	}
	CU_ASSERT_EQUAL(nf_ngot(&f, "app"), 64);
	CU_ASSERT_EQUAL(app->open_dones, 64);
	CU_ASSERT_EQUAL(nf_drops(&f), 0);
	nf_down(&f);
}

static void a_port_of_nobody_is_told(void)
{
	nf_up1(&f, NULL);
	for (unsigned i = 0; i < 2; i++) {
		int err;
		struct xk_sess *s = nf_open(&f, "app", 0, i == 0 ? NF_US : LO, NO_PORT, 0, 5000, &err);

		pf_push(&f, 0, s, pay, 10);
		CU_ASSERT_EQUAL(nf_told.n, i + 1);
		CU_ASSERT(nf_told.op == UDP_CTL_ERROR && nf_told.type == 3 && nf_told.code == 3);
		pf_close(&f, 0, s);
	}
	nf_down(&f);
}

static void to_ourselves_without_memory(void)
{
	struct xk_sess *s;
	int err;

	if (nf_up_try(&f, &(struct nf_conf){ .nvps = 2 })) {
		s = nf_open(&f, "app", 0, LO, NO_PORT, 0, 5000, &err);
		if (s != NULL) {
			pf_push(&f, 0, s, pay, 3000);
			pf_close(&f, 0, s);
		}
		nf_down(&f);
	} else {
		pf_down(&f);
	}
}

static void no_failed_allocation_leaks(void)
{
	nf_torture(to_ourselves_without_memory);
}

#define T(fn) { #fn, fn }
static CU_TestInfo self_tests[] = {
	T(arrives_whatever_address_of_ours_it_is_for), T(nobody_is_called_back_from_a_push),
	T(who_claims_to_be_us_on_a_link_is_dropped), T(our_address_is_the_same_or_what_was_asked_for),
	T(it_is_never_cut), T(it_comes_in_where_its_connection_lives), T(a_port_of_nobody_is_told),
	T(no_failed_allocation_leaks), CU_TEST_INFO_NULL
};
static CU_SuiteInfo suites[] = {
	{ "ip to itself", NULL, NULL, NULL, NULL, self_tests },
	CU_SUITE_INFO_NULL
};

int main(void)
{
	return xk_test_main(suites);
}
