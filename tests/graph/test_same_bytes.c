/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * test_same_bytes.c - one recording, played to a host under every threading architecture.
 *
 * Promises: what a host sends depends on what it receives and when, and on the graph's seed, not
 * on what runs it.  A conversation over a bad link is recorded once, on one virtual processor; then
 * the frames that one end got come from the recording, at their times, to that end alone, under each
 * architecture in turn.  It sends the frames that it sent when it was recorded: of each connection the
 * same, in the same order, in the same millisecond, byte for byte from the link's header on, with
 * sequence numbers, windows, timestamps and checksums.  Both ends of UDP and of TCP are played to.
 *
 * Nothing is masked but
 * - the identification of a datagram in fragments, and so the checksum of its header: each virtual
 *   processor counts by itself;
 * - the order of frames of different connections: none waits for another;
 * - with a thread for each layer (lp), where the application answers what it gets: when its thread runs,
 *   the acknowledgement that its answer could carry has gone alone, and the answer is cut into other segments.
 *   The recorded peer knows nothing of those.  There the handshake is the same, and each byte that is
 *   sent is the one with its number.  Where the application only sends or only receives, so is every frame.
 *
 * Frames come at least a millisecond apart: of those that are there at once an architecture takes as
 * many as its burst says, and answers them with fewer segments.
 */
#include <pcap/pcap.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "runtime/base/xk_csum.h"
#include "runtime/upi/xk_graph.h"
#include "runtime/upi/xk_inline.h"
#include "tests/graph/udp_checker.h"
#include "tests/support/xk_test_graph.h"

#define CONNS      5u
#define FRAMES     4096u
#define FRAME_MAX  1514u
#define LINK       14u                   /* length of the link's header */
#define LONG       (120 * XK_SEC)        /* until all timers but those of the dead have gone off */

/* The line takes more than a millisecond for the shortest frame. */
static const char text_fmt[] =
	"local PLAY, OUT, SEED = %1$s, '%2$s', %3$u\n"
	"local c = { addr = '10.0.0.1', mac = '02:00:00:00:00:01' }\n"
	"local s = { addr = '10.0.0.2', mac = '02:00:00:00:00:02' }\n"
	"function c.above(net) %4$s end\n"
	"function s.above(net) %5$s end\n"
	"local function host(own, peer, link, device)\n"
	"  own.above(ip { addr = own.addr .. '/24', reass_bytes = '64MiB', over = arp { neighbours = { [peer.addr] = peer.mac },\n"
	"    over = eth { name = link, over = device } } })\n"
	"end\n"
	"local function card(own) return eth_mem { wire = 'w', mac = own.mac, queue = 65536 } end\n"
	"local one, other = %6$s\n"
	"if PLAY then\n"
	"  host(one, other, 'link', pcap { file = PLAY, out = OUT, overwrite = true, mac = one.mac })\n"
	"else\n"
	"  host(one, other, 'link', card(one))\n"
	"  host(other, one, 'far', impair { loss = '4%%', dup = '4%%', reorder = '6%%', corrupt = '1%%', hold = '100ms',\n"
	"    rate = '400kbit/s', delay = '5ms', seed = SEED, over = card(other) })\n"
	"end\n"
	"return graph 'bytes' { %7$s, clock = 'virtual', seed = 37 }\n";

#define TCP_CLIENT "load { to = s.addr, port = 7, lport = 20000, conns = 5, count = 8, size = 4000, window = 2, " \
	"over = tcp { over = net } }"
#define TCP_SERVER "tcpecho { port = 7, over = tcp { over = net } }"
#define ONE_WAY_CLIENT "load { to = s.addr, port = 7, lport = 20000, conns = 5, count = 2, size = 40000, " \
	"over = tcp { over = net } }"
#define ONE_WAY_SERVER "sink { port = 7, over = tcp { over = net } }"
#define UDP_CLIENT(what) "checker { to = s.addr, conns = 5, " what ", over = udp { over = net } }"
#define UDP_SERVER "echo { port = 7, over = udp { over = net } }"

struct talk {
	const char *name, *client, *server;
	unsigned    seed;                /* of the faults */
	bool        active;              /* played to the client */
	bool        answers;             /* TCP: an application waits for what comes, and then sends */
};

/* ---- frames ---------------------------------------------------------------------- */

struct frame { unsigned conn; uint64_t ms; uint32_t len; uint8_t b[FRAME_MAX]; };
struct trace { unsigned n; uint16_t id[CONNS]; struct frame f[FRAMES]; };

static const uint8_t *ip_of(const struct frame *f) { return f->b + LINK; }
static bool is_ip(const struct frame *f)
{
	return f->len >= LINK + 28 && xk_be16(f->b + LINK - 2) == 0x0800 && ip_of(f)[0] == 0x45;
}
static unsigned offset_of(const struct frame *f) { return (xk_be16(ip_of(f) + 6) & 0x1fffu) * 8; }
static bool is_fragment(const struct frame *f) { return (xk_be16(ip_of(f) + 6) & 0x3fff) != 0; }

/* Of which connection; CONNS: of none.  The first fragment of a datagram has the ports, and goes first. */
static unsigned conn_of(struct trace *t, const struct frame *f)
{
	unsigned conn = CONNS;

	if (!is_ip(f))
		return CONNS;
	if (offset_of(f) != 0) {
		for (conn = 0; conn < CONNS && t->id[conn] != xk_be16(ip_of(f) + 4);)
			conn++;
		return conn;
	}
	for (unsigned at = 20; at < 24; at += 2)
		if (xk_be16(ip_of(f) + at) - CHK_PORT < CONNS)
			conn = xk_be16(ip_of(f) + at) - CHK_PORT;
	if (conn < CONNS)
		t->id[conn] = xk_be16(ip_of(f) + 4);
	return conn;
}

/* What was there when the trace is full would not be compared. */
static struct frame *frame_new(struct trace *t, uint32_t len, xk_ns at)
{
	struct frame *f = &t->f[t->n];

	CU_ASSERT_FATAL(t->n < FRAMES && len <= FRAME_MAX);
	f->ms = at / XK_MS;
	f->len = len;
	t->n++;
	return f;
}

/* First byte that differs, FRAME_MAX: none. */
static unsigned frame_differs(const struct frame *a, const struct frame *b)
{
	bool counted = is_ip(a) && is_ip(b) && is_fragment(a) && is_fragment(b);

	for (unsigned i = 0; i < a->len && i < b->len; i++) {
		unsigned at = i - LINK;

		if (counted && (at == 4 || at == 5 || at == 10 || at == 11))
			continue;        /* identification, checksum */
		if (a->b[i] != b->b[i])
			return i;
	}
	return a->len == b->len ? FRAME_MAX : a->len < b->len ? a->len : b->len;
}

static unsigned next_of(const struct trace *t, unsigned i, unsigned conn)
{
	while (i < t->n && t->f[i].conn != conn)
		i++;
	return i;
}

/* How many connections' frames differ; the first difference of each is told. */
static unsigned traces_differ(const struct trace *want, const struct trace *got)
{
	unsigned differ = 0;

	for (unsigned conn = 0; conn <= CONNS; conn++) {
		unsigned i = next_of(want, 0, conn), j = next_of(got, 0, conn), no = 0;

		for (; i < want->n && j < got->n; no++) {
			const struct frame *a = &want->f[i], *b = &got->f[j];

			if (a->ms != b->ms || frame_differs(a, b) != FRAME_MAX) {
				printf("# connection %u, frame %u: at byte %u of %u and %u, sent at %llu and %llu ms\n", conn, no,
				       frame_differs(a, b), a->len, b->len, (unsigned long long)a->ms, (unsigned long long)b->ms);
				break;
			}
			i = next_of(want, i + 1, conn);
			j = next_of(got, j + 1, conn);
		}
		if (i < want->n || j < got->n) {
			printf("# connection %u: %u frames are the same\n", conn, no);
			differ++;
		}
	}
	return differ;
}

/* ---- streams ----------------------------------------------------------------------- */

#define STREAM_MAX 65536u

struct stream { uint32_t isn, len; uint8_t b[STREAM_MAX]; };

/* Of a connection's segments: each byte where its number says, whatever segment it came in. */
static void stream_of(const struct trace *t, unsigned conn, struct stream *s)
{
	memset(s, 0, sizeof *s);
	for (unsigned i = next_of(t, 0, conn); i < t->n; i = next_of(t, i + 1, conn)) {
		const uint8_t *tcp = ip_of(&t->f[i]) + 20;
		uint32_t hlen = (tcp[12] >> 4) * 4u, len = xk_be16(ip_of(&t->f[i]) + 2) - 20u - hlen, at;

		if (tcp[13] & 2)
			s->isn = xk_be32(tcp + 4) + 1;
		at = xk_be32(tcp + 4) - s->isn;
		if (len != 0) {
			CU_ASSERT_FATAL(at < STREAM_MAX && at + len <= STREAM_MAX);
			memcpy(s->b + at, tcp + hlen, len);
			s->len = at + len > s->len ? at + len : s->len;
		}
	}
}

static unsigned streams_differ(const struct trace *want, const struct trace *got)
{
	static struct stream a, b;
	unsigned differ = 0;

	for (unsigned conn = 0; conn < CONNS; conn++) {
		stream_of(want, conn, &a);
		stream_of(got, conn, &b);
		differ += b.len == 0 || a.len < b.len || memcmp(a.b, b.b, b.len) != 0 ||
			  frame_differs(&want->f[next_of(want, 0, conn)], &got->f[next_of(got, 0, conn)]) != FRAME_MAX;
	}
	return differ + (next_of(got, 0, CONNS) < got->n);
}

/* ---- what is in a recording --------------------------------------------------------- */

/* Frames of a kind; the kinds are not exclusive. */
struct kinds { unsigned syn, fin, data, twice, ahead, again; };

static bool came_before(const struct trace *t, unsigned i)
{
	for (unsigned k = 0; k < i; k++)
		if (t->f[k].len == t->f[i].len && memcmp(t->f[k].b, t->f[i].b, t->f[i].len) == 0)
			return true;
	return false;
}

/* Did the link leave the segment as it was? */
static bool is_sound(const struct frame *f)
{
	uint32_t n = f->len - LINK - 20;

	return is_ip(f) && ip_of(f)[9] == 6 && xk_csum_valid(xk_csum(ip_of(f) + 12, 8 + n, htobe16(6) + (uint32_t)htobe16((uint16_t)n)));
}

/* Data ahead of what is next, or of what was there before, by their numbers. */
static void look_at_data(const struct frame *f, uint32_t *next, struct kinds *k)
{
	const uint8_t *tcp = ip_of(f) + 20;
	uint32_t seq = xk_be32(tcp + 4), len = xk_be16(ip_of(f) + 2) - 20u - (tcp[12] >> 4) * 4u;

	k->syn += tcp[13] >> 1 & 1;
	k->fin += tcp[13] & 1;
	k->data += len != 0;
	len += (tcp[13] & 3) != 0;
	if (*next != 0 && len != 0) {
		k->ahead += (int32_t)(seq - *next) > 0;
		k->again += (int32_t)(seq - *next) < 0;
	}
	if (*next == 0 || (int32_t)(seq + len - *next) > 0)
		*next = seq + len;
}

static struct kinds look(const struct trace *t)
{
	uint32_t next[CONNS + 1] = { 0 };
	struct kinds k = { 0 };

	for (unsigned i = 0; i < t->n; i++) {
		k.twice += came_before(t, i);
		if (is_sound(&t->f[i]))
			look_at_data(&t->f[i], &next[t->f[i].conn], &k);
	}
	return k;
}

/* ---- graphs ---------------------------------------------------------------------------- */

static char dir[] = "/tmp/xk-bytes-XXXXXX", in[64], out[64];

static struct run { struct xk_spec *s; struct xk_graph *g; } run;

static void begin(const struct talk *t, const char *file, const char *fields)
{
	char text[4096], quoted[80];

	chk_reset();
	snprintf(quoted, sizeof quoted, "'%s'", file);
	snprintf(text, sizeof text, text_fmt, file[0] != '\0' ? quoted : "nil", out, t->seed, t->client, t->server,
		 t->active ? "c, s" : "s, c", fields);
	xk_test_build(&run.s, &run.g, "bytes.lua", text, &xk_proto_checker);
}

static void go(void)
{
	struct xk_errs *e = xk_errs_new();

	if (xk_graph_up(run.g, e) != XK_OK)
		xk_spec_print_errors(stdout, run.s, e, NULL);
	CU_ASSERT_EQUAL_FATAL(xk_errs_count(e), 0);
	(void)xk_vpset_run_virtual(run.g->vps, LONG);
	xk_errs_free(e);
}

static void end(void)
{
	CU_ASSERT_EQUAL(xk_graph_free(run.g), 0);
	xk_spec_free(run.s);
}

/* ---- recording -------------------------------------------------------------------------- */

static struct tap { struct xk_capture c; struct trace received, sent; } tap;

static void tap_fn(struct xk_capture *c, xk_ns now, const struct xk_msg *m, bool down)
{
	struct trace *t = down ? &tap.sent : &tap.received;
	struct frame *f = frame_new(t, m->tot, now);

	(void)c;
	xk_msg_copy_out(m, 0, f->b, m->tot);
	f->conn = conn_of(t, f);
}

static void put_frame(pcap_dumper_t *to, xk_ns at, const uint8_t *b, uint32_t len)
{
	struct pcap_pkthdr h = { .len = len, .caplen = len };

	h.ts.tv_sec = (time_t)(at / XK_SEC);
	h.ts.tv_usec = (suseconds_t)(at % XK_SEC);
	pcap_dump((u_char *)to, &h, b);
}

/*
 * The driver counts time from the first frame on, so one for another station comes first, when the graph
 * begins.  The others are due within the millisecond before theirs: timers go off at its end.
 */
static void write_received(void)
{
	static const uint8_t foreign[60] = { 2, 0, 0, 0, 0, 9, 2, 0, 0, 0, 0, 8, 0x88, 0xb5 };
	pcap_t *dead = pcap_open_dead_with_tstamp_precision(DLT_EN10MB, 65535, PCAP_TSTAMP_PRECISION_NANO);
	pcap_dumper_t *to = pcap_dump_open(dead, in);

	CU_ASSERT_PTR_NOT_NULL_FATAL(to);
	put_frame(to, 0, foreign, sizeof foreign);
	for (unsigned i = 0; i < tap.received.n; i++)
		put_frame(to, tap.received.f[i].ms * XK_MS - XK_MS / 2, tap.received.f[i].b, tap.received.f[i].len);
	pcap_dump_close(to);
	pcap_close(dead);
}

static void record(const struct talk *t)
{
	tap.received.n = tap.sent.n = 0;
	tap.c.fn = tap_fn;
	begin(t, "", "threading = up {}");
	xk_capture_attach(xk_graph_find(run.g, "link"), &tap.c);
	go();
	end();
	for (unsigned i = 1; i < tap.received.n; i++)
		CU_ASSERT_NOT_EQUAL(tap.received.f[i].ms, tap.received.f[i - 1].ms);
	write_received();
}

/* ---- playing ------------------------------------------------------------------------------ */

static struct trace played;

static void read_sent(void)
{
	char why[PCAP_ERRBUF_SIZE];
	pcap_t *from = pcap_open_offline_with_tstamp_precision(out, PCAP_TSTAMP_PRECISION_NANO, why);
	struct pcap_pkthdr *h;
	const u_char *b;

	played.n = 0;
	CU_ASSERT_PTR_NOT_NULL_FATAL(from);
	while (pcap_next_ex(from, &h, &b) == 1) {
		struct frame *f = frame_new(&played, h->caplen, (xk_ns)h->ts.tv_sec * XK_SEC + (xk_ns)h->ts.tv_usec);

		memcpy(f->b, b, f->len);
		f->conn = conn_of(&played, f);
	}
	pcap_close(from);
}

static void play(const struct talk *t, const char *fields)
{
	bool layers = strstr(fields, "= lp") != NULL;
	unsigned differ;

	begin(t, in, fields);
	go();
	end();
	read_sent();
	differ = layers && t->answers ? streams_differ(&tap.sent, &played) : traces_differ(&tap.sent, &played);
	if (differ != 0)
		printf("# %s, %s\n", t->name, fields);
	CU_ASSERT_EQUAL(differ, 0);
}

/* Under the simulated clock there is one schedule. */
static void play_all(const struct talk *t)
{
	const char *const *p = xk_test_presets(CONNS, XK_TEST_ROWS | XK_TEST_CHANGED);

	for (; *p != NULL; p++)
		if (strstr(*p, "schedule") == NULL)
			play(t, *p);
}

/* Everything that the tests shall meet is in what they play: handshakes, ends, data, frames that came twice, early,
 * and again after they were lost. */
static void check_tcp(const struct talk *t)
{
	struct kinds in_it = look(&tap.received), sent = look(&tap.sent);

	CU_ASSERT(in_it.syn >= CONNS && in_it.fin >= CONNS && sent.syn >= CONNS && sent.fin >= CONNS);
	CU_ASSERT(in_it.twice >= 5);
	if (t->answers || !t->active)
		CU_ASSERT(in_it.data > 100 && in_it.ahead >= 5 && in_it.again >= 5);
	if (t->answers || t->active)
		CU_ASSERT(sent.data > 100 && sent.again >= 5);
}

static void check_udp(bool fragments)
{
	unsigned pieces = 0;

	for (unsigned i = 0; i < tap.sent.n; i++)
		pieces += is_fragment(&tap.sent.f[i]);
	CU_ASSERT(look(&tap.received).twice >= 2 && tap.sent.n > CONNS * 20);
	CU_ASSERT_EQUAL(pieces, fragments ? tap.sent.n : 0);
}

/* In the first a segment comes on the tick of a timer that sends. */
static void tcp(bool active, bool answers)
{
	static const unsigned seeds[] = { 5, 11 };

	for (unsigned i = 0; i < XK_ARRAY_LEN(seeds); i++) {
		const struct talk t = { "tcp", answers ? TCP_CLIENT : ONE_WAY_CLIENT,
					answers ? TCP_SERVER : ONE_WAY_SERVER, seeds[i], active, answers };

		record(&t);
		check_tcp(&t);
		play_all(&t);
	}
}

static void udp(bool active, bool fragments)
{
	/* Between milliseconds: a unit's cost more or less does not make it another one. */
	static const char whole[] = UDP_CLIENT("count = 40, size = 300, resend = '499900us'");
	static const char pieces[] = UDP_CLIENT("count = 10, size = 4000, resend = '4999900us'");
	const struct talk t = { "udp", fragments ? pieces : whole, UDP_SERVER, 11, active, false };

	record(&t);
	check_udp(fragments);
	play_all(&t);
}

static void a_server_of_tcp_sends_the_same_bytes(void) { tcp(false, true); }
static void a_client_of_tcp_sends_the_same_bytes(void) { tcp(true, true); }
static void who_only_receives_sends_the_same_bytes(void) { tcp(false, false); }
static void who_only_sends_sends_the_same_bytes(void) { tcp(true, false); }
static void a_server_of_udp_sends_the_same_bytes(void) { udp(false, false); }
static void a_client_of_udp_sends_the_same_bytes(void) { udp(true, false); }
static void a_server_of_udp_sends_the_same_fragments(void) { udp(false, true); }
static void a_client_of_udp_sends_the_same_fragments(void) { udp(true, true); }

static CU_TestInfo tests[] = {
	{ "a server of TCP sends the same bytes", a_server_of_tcp_sends_the_same_bytes },
	{ "a client of TCP sends the same bytes", a_client_of_tcp_sends_the_same_bytes },
	{ "who only receives sends the same bytes", who_only_receives_sends_the_same_bytes },
	{ "who only sends sends the same bytes", who_only_sends_sends_the_same_bytes },
	{ "a server of UDP sends the same bytes", a_server_of_udp_sends_the_same_bytes },
	{ "a client of UDP sends the same bytes", a_client_of_udp_sends_the_same_bytes },
	{ "a server of UDP sends the same fragments", a_server_of_udp_sends_the_same_fragments },
	{ "a client of UDP sends the same fragments", a_client_of_udp_sends_the_same_fragments },
	CU_TEST_INFO_NULL
};
static CU_SuiteInfo suites[] = {
	{ "every architecture", NULL, NULL, NULL, NULL, tests },
	CU_SUITE_INFO_NULL
};

int main(void)
{
	int code;

	if (mkdtemp(dir) == NULL)
		xk_test_skip_all("no room in /tmp");
	snprintf(in, sizeof in, "%s/in.pcap", dir);
	snprintf(out, sizeof out, "%s/out.pcap", dir);
	code = xk_test_main_rcu(suites);
	unlink(in);
	unlink(out);
	rmdir(dir);
	return code;
}
