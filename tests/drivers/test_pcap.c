/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * test_pcap.c - capture files as a device, and captures at a node.
 *
 * Promises: what is written is read again byte for byte, chains flattened; the
 * pauses of a recording are kept; every way in which a file can be missing,
 * foreign or broken is told or counted, and breaks nothing; equal runs under
 * virtual time write equal files.
 */
#include "drivers/pcap/xk_pcap.h"

#include <pcap/pcap.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "runtime/base/xk_bytes.h"
#include "runtime/base/xk_param_value.h"
#include "runtime/classify/xk_classify.h"
#include "runtime/upi/xk_graph.h"
#include "runtime/upi/xk_inline.h"
#include "runtime/upi/xk_part.h"
#include "tests/protocols/proto_fixture.h"
#include "tests/support/xk_test.h"

static struct pf f;
static struct xk_sess *s[4];
static char dir[64], path[96], path2[96];
static char params[512];

static const char *with(const char *fmt, const char *p)
{
	snprintf(params, sizeof params, fmt, p);
	return params;
}

static void up(unsigned nvps, const char *conf)
{
	const struct pf_spec g[] = {
		{ &xk_proto_pcap, "d", NULL, conf }, { &pf_flat, "u", "d", "enable=false" },
		{ NULL, NULL, NULL, NULL } };
	bool ok = pf_up_try(&f, nvps, g);
	struct xk_parts ps;

	CU_ASSERT_TRUE_FATAL(ok);
	xk_log_set(&pf_node(&f, "d")->log, 0);           /* broken files are what we ask for */
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

static void fill(uint8_t *b, uint32_t n, uint32_t seed)
{
	for (uint32_t i = 0; i < n; i++)
		b[i] = (uint8_t)(i * 5 + seed);
	if (n > 0)
		b[0] = 2;                                /* no group address */
}

/* A file of n frames of `len` bytes, `gap` apart, written by libpcap alone. */
static void write_file(int dlt, unsigned n, uint32_t len, uint32_t caplen, xk_ns gap)
{
	pcap_t *dead = pcap_open_dead_with_tstamp_precision(dlt, 65535, PCAP_TSTAMP_PRECISION_NANO);
	pcap_dumper_t *out = pcap_dump_open(dead, path);
	static uint8_t b[65536];

	CU_ASSERT_PTR_NOT_NULL_FATAL(out);
	for (unsigned i = 0; i < n; i++) {
		struct pcap_pkthdr h = { .len = len, .caplen = caplen };
		xk_ns t = 1700000000 * XK_SEC + i * gap;

		h.ts.tv_sec = (time_t)(t / XK_SEC);
		h.ts.tv_usec = (suseconds_t)(t % XK_SEC);
		fill(b, len, i);
		pcap_dump((u_char *)out, &h, b);
	}
	pcap_dump_close(out);
	pcap_close(dead);
}

static long file_size(const char *p)
{
	FILE *file = fopen(p, "rb");
	long n;

	if (file == NULL)
		return -1;
	fseek(file, 0, SEEK_END);
	n = ftell(file);
	fclose(file);
	return n;
}

static void cut_file(long n)
{
	CU_ASSERT_EQUAL_FATAL(truncate(path, n), 0);
}

static void put_file(const void *bytes, size_t n)
{
	FILE *file = fopen(path, "wb");

	CU_ASSERT_PTR_NOT_NULL_FATAL(file);
	fwrite(bytes, 1, n, file);
	fclose(file);
}

/* ---- round trip ---------------------------------------------------------------- */

static void round_trip(const char *link, uint32_t largest)
{
	static uint8_t b[5000];
	char conf[256];
	unsigned n = 0;

	snprintf(conf, sizeof conf, "out=%s; link=%s; mtu=4352", path, link);
	up(3, conf);
	for (uint32_t len = 0; len <= largest; len += len < 64 ? 1 : 331, n++) {
		fill(b, len, len);
		pf_push(&f, n % 3, s[n % 3], b, len);
		pf_run(&f, XK_MS);
	}
	CU_ASSERT_EQUAL(pf_count(&f, "d", "written"), n);
	down();
	up(1, with("file=%s; rate=fast; mtu=4352", path));
	pf_run(&f, XK_SEC);
	CU_ASSERT_EQUAL_FATAL(pf_ngot(&f, "u"), n);
	n = 0;
	for (uint32_t len = 0; len <= largest; len += len < 64 ? 1 : 331, n++) {
		fill(b, len, len);
		CU_ASSERT_EQUAL_FATAL(pf_got(&f, "u", n)->len, len);
		CU_ASSERT_EQUAL(memcmp(pf_got(&f, "u", n)->bytes, b, len), 0);
	}
	down();
}

static void what_is_written_is_read_again_byte_for_byte(void)
{
	round_trip("eth", 4366);
	round_trip("fddi", 4373);
}

static void a_capture_flattens_chains_and_keeps_the_time(void)
{
	static uint8_t b[20000];
	const u_char *bytes;
	struct pcap_pkthdr *h;
	struct xk_capture *c;
	struct xk_msg *m;
	char why[256], text[PCAP_ERRBUF_SIZE];
	pcap_t *in;

	c = xk_pcap_capture_new(path, XK_LINK_RAWIP, why, sizeof why);
	CU_ASSERT_PTR_NOT_NULL_FATAL(c);
	up(1, with("out=%s", path2));
	fill(b, sizeof b, 3);
	pf_enter(&f, 0);
	m = pf_msg(b, sizeof b);                         /* several segments */
	CU_ASSERT(m->flags & XK_MSG_CHAIN);
	c->fn(c, 1234567890123, m, true);
	xk_msg_truncate(m, 40);
	c->fn(c, 1234567890124, m, false);
	xk_msg_free(m);
	pf_leave(&f, 0);
	down();
	CU_ASSERT_EQUAL(xk_pcap_capture_count(c), 2);
	CU_ASSERT_TRUE(xk_pcap_capture_free(c));
	in = pcap_open_offline_with_tstamp_precision(path, PCAP_TSTAMP_PRECISION_NANO, text);
	CU_ASSERT_PTR_NOT_NULL_FATAL(in);
	CU_ASSERT_EQUAL(pcap_datalink(in), DLT_RAW);
	CU_ASSERT_EQUAL_FATAL(pcap_next_ex(in, &h, &bytes), 1);
	CU_ASSERT_EQUAL(h->caplen, sizeof b);
	CU_ASSERT_EQUAL(memcmp(bytes, b, sizeof b), 0);
	CU_ASSERT_EQUAL(h->ts.tv_sec, 1234);
	CU_ASSERT_EQUAL(h->ts.tv_usec, 567890123);
	CU_ASSERT_EQUAL_FATAL(pcap_next_ex(in, &h, &bytes), 1);
	CU_ASSERT_EQUAL(h->len, 40);
	pcap_close(in);
}

static void equal_runs_write_equal_files(void)
{
	char *a, *b;
	FILE *file;
	long n;

	for (unsigned k = 0; k < 2; k++) {
		up(1, with("out=%s", k ? path2 : path));
		for (unsigned i = 0; i < 50; i++) {
			uint8_t x[60];

			fill(x, sizeof x, i);
			pf_push(&f, 0, s[0], x, sizeof x);
			pf_run(&f, 777777);
		}
		down();
	}
	n = file_size(path);
	CU_ASSERT_EQUAL_FATAL(n, file_size(path2));
	a = malloc((size_t)n);
	b = malloc((size_t)n);
	file = fopen(path, "rb");
	CU_ASSERT_EQUAL(fread(a, 1, (size_t)n, file), (size_t)n);
	fclose(file);
	file = fopen(path2, "rb");
	CU_ASSERT_EQUAL(fread(b, 1, (size_t)n, file), (size_t)n);
	fclose(file);
	CU_ASSERT_EQUAL(memcmp(a, b, (size_t)n), 0);
	free(a);
	free(b);
}

/* ---- playing -------------------------------------------------------------------------- */

static void keeps_the_pauses_of_the_recording(void)
{
	write_file(DLT_EN10MB, 10, 60, 60, 25 * XK_MS);
	up(1, with("file=%s", path));
	for (unsigned i = 0; i < 10; i++) {
		CU_ASSERT_EQUAL(pf_ngot(&f, "u"), i);
		pf_run(&f, i == 0 ? 2 * XK_MS : 25 * XK_MS);
		CU_ASSERT_EQUAL(pf_ngot(&f, "u"), i + 1);
	}
	down();
}

static void fast_does_not_wait(void)
{
	write_file(DLT_EN10MB, 1000, 60, 60, XK_SEC);
	up(1, with("file=%s; rate=fast", path));
	pf_run(&f, XK_MS);
	CU_ASSERT_EQUAL(pf_ngot(&f, "u"), 1000);
	down();
}

static void plays_again_and_stops_at_the_count(void)
{
	write_file(DLT_FDDI, 4, 60, 60, XK_MS);
	up(1, with("file=%s; rate=fast; loop=3", path));
	pf_run(&f, XK_SEC);
	CU_ASSERT_EQUAL(pf_ngot(&f, "u"), 12);
	CU_ASSERT_EQUAL(pf_count(&f, "d", "passes"), 3);
	down();
	up(1, with("file=%s; loop=0; count=10", path));
	pf_run(&f, XK_SEC);
	CU_ASSERT_EQUAL(pf_ngot(&f, "u"), 10);
	down();
	up(1, with("file=%s; loop=2", path));            /* pauses in each pass */
	pf_run(&f, 4 * XK_MS);
	CU_ASSERT(pf_ngot(&f, "u") < 8);
	pf_run(&f, 10 * XK_MS);
	CU_ASSERT_EQUAL(pf_ngot(&f, "u"), 8);
	down();
}

static void the_graph_may_end_when_all_is_played_and_time_was_left(void)
{
	write_file(DLT_EN10MB, 3, 60, 60, XK_MS);
	up(2, with("file=%s; linger=50ms", path));
	CU_ASSERT_EQUAL(f.g->napps, 1);
	pf_run(&f, 40 * XK_MS);
	CU_ASSERT_EQUAL(f.g->ndone, 0);
	pf_run(&f, 40 * XK_MS);
	CU_ASSERT_EQUAL(f.g->ndone, 1);
	down();
	up(1, with("file=%s; finish=false", path));
	CU_ASSERT_EQUAL(f.g->napps, 0);
	down();
	up(1, with("file=%s; loop=0", path));
	CU_ASSERT_EQUAL(f.g->napps, 0);
	down();
}

static void frames_go_to_the_vp_of_their_flow(void)
{
	uint8_t b[64] = { 2, 0, 0, 0, 0, 1, 2, 0, 0, 0, 0, 2, 8, 0, 0x45, 0, 0, 50 };
	struct xk_flowkey k = { .raddr = htobe32(0x0a000002), .laddr = htobe32(0x0a000001),
				.lport = htobe16(7) };

	b[22] = 64;
	b[23] = 17;
	xk_put_be32(b + 26, 0x0a000002);
	xk_put_be32(b + 30, 0x0a000001);
	xk_put_be16(b + 36, 7);
	xk_put_be16(b + 38, 30);
	up(1, with("out=%s", path));
	for (uint16_t port = 1; port <= 32; port++) {
		xk_put_be16(b + 34, port);
		pf_push(&f, 0, s[0], b, sizeof b);
	}
	down();
	up(4, with("file=%s; rate=fast", path));
	pf_run(&f, XK_MS);
	CU_ASSERT_EQUAL_FATAL(pf_ngot(&f, "u"), 32);
	for (unsigned i = 0; i < 32; i++) {
		memcpy(&k.rport, pf_got(&f, "u", i)->bytes + 34, 2);
		CU_ASSERT_EQUAL(pf_got(&f, "u", i)->vp, xk_flow_home(f.g->flows, &k));
	}
	down();
}

/* ---- odd and broken files ------------------------------------------------------------------- */

static void counts_frames_cut_short_and_frames_too_long(void)
{
	write_file(DLT_EN10MB, 5, 1000, 100, XK_US);
	up(1, with("file=%s; rate=fast", path));
	pf_run(&f, XK_MS);
	CU_ASSERT_EQUAL(pf_count(&f, "d", "cut_short"), 5);
	CU_ASSERT_EQUAL_FATAL(pf_ngot(&f, "u"), 5);
	CU_ASSERT_EQUAL(pf_got(&f, "u", 4)->len, 100);
	down();
	write_file(DLT_EN10MB, 5, 1515, 1515, XK_US);
	up(1, with("file=%s; rate=fast", path));
	pf_run(&f, XK_MS);
	CU_ASSERT_EQUAL(pf_count(&f, "d", "longer_than_mtu"), 5);
	CU_ASSERT_EQUAL(pf_ngot(&f, "u"), 0);
	down();
}

static void a_file_cut_anywhere_plays_up_to_there(void)
{
	write_file(DLT_EN10MB, 4, 60, 60, XK_US);
	CU_ASSERT_EQUAL_FATAL(file_size(path), 24 + 4 * 76);
	for (long n = 24 + 4 * 76; n >= 24; n--) {
		bool broken = (n - 24) % 76 != 0;

		cut_file(n);
		up(1, with("file=%s; rate=fast", path));
		pf_run(&f, XK_MS);
		CU_ASSERT_EQUAL(pf_ngot(&f, "u"), (unsigned)(n - 24) / 76);
		CU_ASSERT_EQUAL(pf_count(&f, "d", "file_errors"), broken);
		down();
	}
}

static void a_lying_record_ends_the_play_and_no_more(void)
{
	FILE *file;

	write_file(DLT_EN10MB, 4, 60, 60, XK_US);
	file = fopen(path, "r+b");
	fseek(file, 24 + 76 + 8, SEEK_SET);              /* length of the second record */
	fwrite("\xff\xff\xff\x7f", 1, 4, file);
	fclose(file);
	up(1, with("file=%s; rate=fast; loop=5", path));
	pf_run(&f, XK_MS);
	CU_ASSERT_EQUAL(pf_ngot(&f, "u"), 5);            /* the first one, five times */
	CU_ASSERT_EQUAL(pf_count(&f, "d", "file_errors"), 5);
	down();
}

static void an_empty_capture_ends_even_an_endless_play(void)
{
	write_file(DLT_EN10MB, 0, 0, 0, 0);
	up(1, with("file=%s; loop=0", path));
	pf_run(&f, XK_SEC);
	CU_ASSERT_EQUAL(pf_ngot(&f, "u"), 0);
	CU_ASSERT_EQUAL(pf_count(&f, "d", "passes"), 1);
	down();
}

static void refused(const char *conf, const char *a, const char *b)
{
	const struct pf_spec g[] = { { &xk_proto_pcap, "d", NULL, conf }, { NULL, NULL, NULL, NULL } };
	const char *file, *text;
	int line, col;

	CU_ASSERT_FALSE_FATAL(pf_up_try(&f, 1, g));
	CU_ASSERT_FATAL(xk_errs_count(f.errs) == 1);
	text = xk_errs_text(f.errs, 0, &file, &line, &col);
	CU_ASSERT_PTR_NOT_NULL(strstr(text, a));
	CU_ASSERT_PTR_NOT_NULL(strstr(text, b));
	if (strstr(text, a) == NULL || strstr(text, b) == NULL)
		fprintf(stderr, "# %s\n", text);
	pf_down(&f);
}

static void tells_why_a_file_cannot_be_played_or_written(void)
{
	refused("file=/nonexistent/x.pcap", "/nonexistent/x.pcap", "No such file");
	refused("out=/nonexistent/x.pcap", "/nonexistent/x.pcap", "No such file");
	put_file("", 0);
	refused(with("file=%s", path), path, "truncated");
	put_file("this is no capture, is it? No.", 30);
	refused(with("file=%s", path), path, "format");
	write_file(DLT_EN10MB, 1, 60, 60, 0);
	cut_file(20);
	refused(with("file=%s", path), path, "truncated");
	write_file(DLT_RAW, 1, 60, 60, 0);
	refused(with("file=%s", path), "RAW", "EN10MB");
	write_file(DLT_IEEE802_11, 1, 60, 60, 0);
	refused(with("file=%s", path), "IEEE802_11", "FDDI");
	refused(with("file=%s", dir), dir, "");
}

static void a_capture_of_an_unknown_link_is_refused(void)
{
	char why[256];

	CU_ASSERT_PTR_NULL(xk_pcap_capture_new(path, 77, why, sizeof why));
	CU_ASSERT_PTR_NOT_NULL(strstr(why, "link type"));
	CU_ASSERT_PTR_NULL(xk_pcap_capture_new("/nonexistent/x", XK_LINK_ETH, why, sizeof why));
	CU_ASSERT_PTR_NOT_NULL(strstr(why, "No such file"));
	CU_ASSERT_TRUE(xk_pcap_capture_free(NULL));
}

static void a_full_disk_is_counted(void)
{
	uint8_t b[1000];

	if (access("/dev/full", W_OK) != 0) {
		xk_test_skip("no /dev/full");
		return;
	}
	up(1, "out=/dev/full");
	fill(b, sizeof b, 1);
	for (unsigned i = 0; i < 100; i++)
		pf_push(&f, 0, s[0], b, sizeof b);
	CU_ASSERT(pf_drops(&f, "d", "not_written") > 50);
	down();
}

static void drops_what_is_longer_than_the_link_takes(void)
{
	static uint8_t b[1600];

	up(1, with("out=%s", path));
	pf_push(&f, 0, s[0], b, 1515);
	pf_push(&f, 0, s[0], b, 1514);
	CU_ASSERT_EQUAL(pf_drops(&f, "d", "too_long"), 1);
	CU_ASSERT_EQUAL(pf_count(&f, "d", "written"), 1);
	down();
}

static void checks_rules_between_parameters(void)
{
	unsigned char conf[512] = { 0 };
	char why[256];

	CU_ASSERT_FATAL(xk_proto_pcap.conf_size <= sizeof conf);
	xk_param_defaults(xk_proto_pcap.params, conf, why, sizeof why);
	CU_ASSERT(xk_proto_pcap.check(conf, why, sizeof why) < 0);
	CU_ASSERT_PTR_NOT_NULL(strstr(why, "'file'"));
	xk_param_set(xk_param_find(xk_proto_pcap.params, "file"), conf, "a", false, why, sizeof why);
	CU_ASSERT_EQUAL(xk_proto_pcap.check(conf, why, sizeof why), XK_OK);
	xk_param_set(xk_param_find(xk_proto_pcap.params, "out"), conf, "a", false, why, sizeof why);
	CU_ASSERT(xk_proto_pcap.check(conf, why, sizeof why) < 0);
	xk_param_release(xk_proto_pcap.params, conf);
}

static void survives_the_failure_of_every_allocation(void)
{
	struct pf_spec g[] = {
		{ &xk_proto_pcap, "d", NULL, NULL }, { &pf_upper, "u", "d", "enable=false" },
		{ NULL, NULL, NULL, NULL } };
	char conf[256];

	write_file(DLT_EN10MB, 3, 60, 60, XK_US);
	snprintf(conf, sizeof conf, "file=%s; out=%s; rate=fast", path, path2);
	g[0].params = conf;
	for (uint64_t k = 1; k < 500; k++) {
		bool ok;

		xk_mem_fail_after(k);
		ok = pf_up_try(&f, 1, g);
		xk_mem_fail_after(0);
		if (ok)
			pf_run(&f, 10 * XK_MS);
		pf_down(&f);
		if (ok)
			return;
	}
	CU_FAIL("never came up");
}

static CU_TestInfo tests[] = {
	{ "what is written is read again byte for byte", what_is_written_is_read_again_byte_for_byte },
	{ "a capture flattens chains and keeps the time", a_capture_flattens_chains_and_keeps_the_time },
	{ "equal runs write equal files", equal_runs_write_equal_files },
	{ "keeps the pauses of the recording", keeps_the_pauses_of_the_recording },
	{ "fast does not wait", fast_does_not_wait },
	{ "plays again and stops at the count", plays_again_and_stops_at_the_count },
	{ "the graph may end when all is played and time was left", the_graph_may_end_when_all_is_played_and_time_was_left },
	{ "frames go to the VP of their flow", frames_go_to_the_vp_of_their_flow },
	{ "counts frames cut short and frames too long", counts_frames_cut_short_and_frames_too_long },
	{ "a file cut anywhere plays up to there", a_file_cut_anywhere_plays_up_to_there },
	{ "a lying record ends the play and no more", a_lying_record_ends_the_play_and_no_more },
	{ "an empty capture ends even an endless play", an_empty_capture_ends_even_an_endless_play },
	{ "tells why a file cannot be played or written", tells_why_a_file_cannot_be_played_or_written },
	{ "a capture of an unknown link is refused", a_capture_of_an_unknown_link_is_refused },
	{ "a full disk is counted", a_full_disk_is_counted },
	{ "drops what is longer than the link takes", drops_what_is_longer_than_the_link_takes },
	{ "checks rules between parameters", checks_rules_between_parameters },
	{ "survives the failure of every allocation", survives_the_failure_of_every_allocation },
	CU_TEST_INFO_NULL
};
static CU_SuiteInfo suites[] = { { .pName = "pcap", .pTests = tests }, CU_SUITE_INFO_NULL };

int main(void)
{
	int res;

	snprintf(dir, sizeof dir, "/tmp/xk-pcap-XXXXXX");
	if (mkdtemp(dir) == NULL)
		xk_test_skip_all("no room in /tmp");
	snprintf(path, sizeof path, "%s/a.pcap", dir);
	snprintf(path2, sizeof path2, "%s/b.pcap", dir);
	res = xk_test_main(suites);
	unlink(path);
	unlink(path2);
	rmdir(dir);
	return res;
}
