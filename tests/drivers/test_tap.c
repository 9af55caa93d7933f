/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * test_tap.c - the TAP driver against a packet socket on the kernel's side.
 *
 * Promises: frames pass both ways whole, in chains or not; the host's side is
 * set up as asked and gone afterwards; every way in which it cannot be had is
 * one clear sentence; a device that is removed is counted and harms nothing.
 * Runs in a network namespace of its own; without root only the sentences are
 * tested.
 */
#include "runtime/base/xk_param_value.h"
#include "runtime/upi/xk_graph.h"
#include "runtime/upi/xk_inline.h"
#include "runtime/upi/xk_part.h"

#include <arpa/inet.h>
#include <linux/if_packet.h>
#include <net/if.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/protocols/proto_fixture.h"
#include "tests/support/xk_test.h"

extern const struct xk_proto xk_proto_tap;

#define OUR_TYPE 0x88b5          /* for local experiments */

static struct pf f;
static struct xk_sess *s[2];
static bool privileged;

static void up(unsigned nvps, const char *params)
{
	const struct pf_spec g[] = {
		{ &xk_proto_tap, "d", NULL, params }, { &pf_upper, "u", "d", "enable=false" },
		{ NULL, NULL, NULL, NULL } };
	struct xk_parts ps;

	pf_up(&f, nvps, g);
	xk_log_set(&pf_node(&f, "d")->log, 0);
	xk_parts_init(&ps, 0);
	for (unsigned vp = 0; vp < nvps; vp++)
		s[vp] = pf_open(&f, "u", vp, &ps, NULL);
}

static void down(void)
{
	for (unsigned vp = 0; vp < f.g->vps->nvps; vp++)
		pf_close(&f, vp, s[vp]);
	pf_down(&f);
}

/* A socket that sees frames of OUR_TYPE on xkt0. */
static int packet_socket(void)
{
	struct sockaddr_ll a = { .sll_family = AF_PACKET, .sll_protocol = htons(OUR_TYPE) };
	struct timeval wait = { .tv_sec = 5 };
	int fd = socket(AF_PACKET, SOCK_RAW, htons(OUR_TYPE));

	a.sll_ifindex = (int)if_nametoindex("xkt0");
	CU_ASSERT_FATAL(fd >= 0 && a.sll_ifindex != 0);
	CU_ASSERT_EQUAL_FATAL(bind(fd, (struct sockaddr *)&a, sizeof a), 0);
	setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &wait, sizeof wait);
	return fd;
}

static void fill(uint8_t *b, uint32_t n, uint32_t seed)
{
	for (uint32_t i = 14; i < n; i++)
		b[i] = (uint8_t)(i * 3 + seed);
	memcpy(b, ((uint8_t[]){ 2, 0, 0, 0, 0, 1, 2, 0, 0, 0, 0, 9, OUR_TYPE >> 8, OUR_TYPE & 255 }), 14);
}

static bool is_ours(const struct pf_rec *g)
{
	return g->len > 14 && g->bytes[12] == OUR_TYPE >> 8 && g->bytes[13] == (OUR_TYPE & 255);
}

/* Frames of our type that the graph got; the kernel says other things, too. */
static unsigned ours(void)
{
	unsigned n = 0;

	for (unsigned i = 0; i < pf_ngot(&f, "u"); i++)
		n += is_ours(pf_got(&f, "u", i));
	return n;
}

static const struct pf_rec *last_of_ours(void)
{
	unsigned i = pf_ngot(&f, "u");

	while (--i > 0 && !is_ours(pf_got(&f, "u", i)))
		;
	return pf_got(&f, "u", i);
}

static bool skip(void)
{
	if (!privileged)
		xk_test_skip("needs root and /dev/net/tun");
	return !privileged;
}

/* ---- frames ------------------------------------------------------------------------ */

static void frames_reach_the_kernel_whole(void)
{
	uint8_t b[1600], got[1600];
	int fd;

	if (skip())
		return;
	up(2, "ifname=xkt0; addr=10.99.0.1/24");
	fd = packet_socket();
	for (uint32_t len = 60; len <= 1514; len += 103) {
		unsigned vp = len & 1;

		fill(b, len, len);
		pf_push(&f, vp, s[vp], b, len);
		CU_ASSERT_EQUAL_FATAL(recv(fd, got, sizeof got, 0), (ssize_t)len);
		CU_ASSERT_EQUAL(memcmp(got, b, len), 0);
	}
	CU_ASSERT_EQUAL(pf_drops(&f, "d", NULL), 0);
	close(fd);
	down();
}

static void a_chain_reaches_the_kernel_as_one_frame(void)
{
	uint8_t b[1000], got[1600];
	struct xk_msg *m, *tail;
	int fd;

	if (skip())
		return;
	up(1, "ifname=xkt0; addr=10.99.0.1/24");
	fd = packet_socket();
	fill(b, sizeof b, 1);
	pf_enter(&f, 0);
	m = pf_msg(b, sizeof b);
	tail = xk_msg_split(m, 400);
	xk_msg_join(m, tail);
	tail = xk_msg_share(m);                          /* shared, too */
	xk_push(s[0], m);
	xk_msg_free(tail);
	pf_leave(&f, 0);
	CU_ASSERT_EQUAL_FATAL(recv(fd, got, sizeof got, 0), (ssize_t)sizeof b);
	CU_ASSERT_EQUAL(memcmp(got, b, sizeof b), 0);
	close(fd);
	down();
}

static void frames_from_the_kernel_reach_the_graph_whole(void)
{
	static const char *const params[] = {
		"ifname=xkt0; addr=10.99.0.1/24", "ifname=xkt0; addr=10.99.0.1/24; mtu=9000" };
	static uint8_t b[9014];
	int fd;

	if (skip())
		return;
	for (unsigned k = 0; k < 2; k++) {
		uint32_t most = k ? 9014 : 1514;

		up(2, params[k]);
		fd = packet_socket();
		for (uint32_t len = 60, n = 1; len <= most; len += k ? 995 : 97, n++) {
			fill(b, len, len);
			CU_ASSERT_EQUAL(send(fd, b, len, 0), (ssize_t)len);
			pf_settle(&f);
			CU_ASSERT_EQUAL_FATAL(ours(), n);
			CU_ASSERT_EQUAL_FATAL(last_of_ours()->len, len);
			CU_ASSERT_EQUAL(memcmp(last_of_ours()->bytes, b, len), 0);
		}
		close(fd);
		down();
	}
}

static void a_burst_larger_than_a_unit_arrives_in_order(void)
{
	uint8_t b[100];
	int fd;

	if (skip())
		return;
	up(1, "ifname=xkt0; addr=10.99.0.1/24");
	fd = packet_socket();
	for (unsigned i = 0; i < 200; i++) {
		fill(b, sizeof b, i);
		CU_ASSERT_EQUAL(send(fd, b, sizeof b, 0), (ssize_t)sizeof b);
	}
	pf_settle(&f);
	CU_ASSERT_EQUAL_FATAL(ours(), 200);
	for (unsigned i = 0, n = 0; i < pf_ngot(&f, "u"); i++)
		if (is_ours(pf_got(&f, "u", i)))
			CU_ASSERT_EQUAL(pf_got(&f, "u", i)->bytes[14], (uint8_t)(14 * 3 + n++));
	close(fd);
	down();
}

/* ---- the host's side ---------------------------------------------------------------------- */

static bool if_get(unsigned long op, struct ifreq *r)
{
	int fd = socket(AF_INET, SOCK_DGRAM, 0);
	bool ok;

	memset(r, 0, sizeof *r);
	strcpy(r->ifr_name, "xkt0");
	ok = ioctl(fd, op, r) == 0;
	close(fd);
	return ok;
}

static void the_interface_is_as_asked_for_and_goes_with_the_graph(void)
{
	struct sockaddr_in in;
	struct ifreq r;

	if (skip())
		return;
	up(1, "ifname=xkt0; addr=10.99.7.1/20; mtu=1000");
	CU_ASSERT(if_get(SIOCGIFADDR, &r));
	memcpy(&in, &r.ifr_addr, sizeof in);
	CU_ASSERT_EQUAL(ntohl(in.sin_addr.s_addr), 0x0a630701u);
	CU_ASSERT(if_get(SIOCGIFNETMASK, &r));
	memcpy(&in, &r.ifr_addr, sizeof in);
	CU_ASSERT_EQUAL(ntohl(in.sin_addr.s_addr), 0xfffff000u);
	CU_ASSERT(if_get(SIOCGIFMTU, &r));
	CU_ASSERT_EQUAL(r.ifr_mtu, 1000);
	CU_ASSERT(if_get(SIOCGIFFLAGS, &r) && (r.ifr_flags & IFF_UP));
	down();
	CU_ASSERT_FALSE(if_get(SIOCGIFMTU, &r));
}

static void frames_for_an_interface_that_is_down_are_counted(void)
{
	uint8_t b[60];

	if (skip())
		return;
	up(1, "ifname=xkt0");
	fill(b, sizeof b, 1);
	pf_push(&f, 0, s[0], b, sizeof b);
	CU_ASSERT_EQUAL(pf_drops(&f, "d", "interface_down"), 1);
	CU_ASSERT_EQUAL(pf_count(&f, "d", "device_errors"), 0);
	down();
}

static void drops_what_is_longer_than_the_link_takes(void)
{
	static uint8_t b[1515];

	if (skip())
		return;
	up(1, "ifname=xkt0; addr=10.99.0.1/24");
	fill(b, sizeof b, 1);
	pf_push(&f, 0, s[0], b, sizeof b);
	CU_ASSERT_EQUAL(pf_drops(&f, "d", "too_long"), 1);
	down();
}

/* ---- what cannot be had --------------------------------------------------------------------- */

static bool refused(const char *params, const char *word)
{
	const struct pf_spec g[] = { { &xk_proto_tap, "d", NULL, params }, { NULL, NULL, NULL, NULL } };
	const char *file, *text;
	bool said = false;
	int line, col;

	if (!pf_up_try(&f, 1, g) && xk_errs_count(f.errs) == 1) {
		text = xk_errs_text(f.errs, 0, &file, &line, &col);
		said = strstr(text, word) != NULL;
		if (!said)
			fprintf(stderr, "# %s\n", text);
	}
	pf_down(&f);
	return said;
}

static void a_device_in_use_and_one_that_is_no_tap_are_refused(void)
{
	const struct pf_spec g[] = {
		{ &xk_proto_tap, "d", NULL, "ifname=xkt0" }, { &xk_proto_tap, "e", NULL, "ifname=xkt0" },
		{ NULL, NULL, NULL, NULL } };
	const char *file;
	int line, col;

	if (skip())
		return;
	CU_ASSERT_FALSE(pf_up_try(&f, 1, g));
	CU_ASSERT_EQUAL_FATAL(xk_errs_count(f.errs), 1);
	CU_ASSERT_PTR_NOT_NULL(strstr(xk_errs_text(f.errs, 0, &file, &line, &col), "in use"));
	pf_down(&f);
	CU_ASSERT(refused("ifname=lo", "not a TAP device"));
	CU_ASSERT(refused("ifname=xkt0; netns=nowhere", "no network namespace nowhere"));
}

static void without_privilege_it_says_what_is_needed(void)
{
	int status = 0;
	pid_t pid;

	fflush(stdout);
	pid = fork();
	if (pid == 0) {
		if (geteuid() == 0 && setresuid(65534, 65534, 65534) != 0)
			_exit(3);
		_exit(refused("ifname=xkt9", "needs CAP_NET_ADMIN (run as root) and /dev/net/tun") ? 0 : 1);
	}
	CU_ASSERT_FATAL(pid > 0);
	CU_ASSERT_EQUAL(waitpid(pid, &status, 0), pid);
	CU_ASSERT(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

static void checks_rules_between_parameters(void)
{
	static const char *const bad[][2] = {
		{ "ifname", "a-name-of-17-char" }, { "mac", "01:00:00:00:00:01" } };
	char why[256];

	for (unsigned i = 0; i < 2; i++) {
		_Alignas(16) unsigned char conf[256] = { 0 };

		CU_ASSERT_FATAL(xk_proto_tap.conf_size <= sizeof conf);
		xk_param_defaults(xk_proto_tap.params, conf, why, sizeof why);
		CU_ASSERT_EQUAL(xk_proto_tap.check(conf, why, sizeof why), XK_OK);
		xk_param_set(xk_param_find(xk_proto_tap.params, bad[i][0]), conf, bad[i][1], false, why, sizeof why);
		CU_ASSERT(xk_proto_tap.check(conf, why, sizeof why) < 0);
		CU_ASSERT_PTR_NOT_NULL(strstr(why, bad[i][0]));
		xk_param_release(xk_proto_tap.params, conf);
	}
}

static CU_TestInfo tests[] = {
	{ "frames reach the kernel whole", frames_reach_the_kernel_whole },
	{ "a chain reaches the kernel as one frame", a_chain_reaches_the_kernel_as_one_frame },
	{ "frames from the kernel reach the graph whole", frames_from_the_kernel_reach_the_graph_whole },
	{ "a burst larger than a unit arrives in order", a_burst_larger_than_a_unit_arrives_in_order },
	{ "the interface is as asked for and goes with the graph", the_interface_is_as_asked_for_and_goes_with_the_graph },
	{ "frames for an interface that is down are counted", frames_for_an_interface_that_is_down_are_counted },
	{ "drops what is longer than the link takes", drops_what_is_longer_than_the_link_takes },
	{ "a device in use and one that is no TAP are refused", a_device_in_use_and_one_that_is_no_tap_are_refused },
	{ "without privilege it says what is needed", without_privilege_it_says_what_is_needed },
	{ "checks rules between parameters", checks_rules_between_parameters },
	CU_TEST_INFO_NULL
};
static CU_SuiteInfo suites[] = { { .pName = "tap", .pTests = tests }, CU_SUITE_INFO_NULL };

/* IPv6 sends by itself when an interface comes up, at a moment of its own. */
static void without_ipv6(void)
{
	FILE *p = fopen("/proc/sys/net/ipv6/conf/default/disable_ipv6", "w");

	if (p != NULL) {
		fputs("1\n", p);
		fclose(p);
	}
}

int main(void)
{
	privileged = geteuid() == 0 && access("/dev/net/tun", R_OK | W_OK) == 0 && unshare(CLONE_NEWNET) == 0;
	if (privileged)
		without_ipv6();
	return xk_test_main(suites);
}
