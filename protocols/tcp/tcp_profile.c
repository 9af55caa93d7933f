/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * tcp_profile.c - policy: the parameters of a TCP node and the named sets of
 * them.
 *
 * Every field of struct tcp_tune is one row of TCP_FIELDS: its name in graph files,
 * its type there, its bounds, its words.  A node begins with its profile and
 * overrides what the graph file gives, so no code asks which profile it is: a
 * profile is nothing but values.
 * Invariant: a configuration that tcp_profile_check lets pass resolves.
 */
#include <stdio.h>

#include "protocols/tcp/sess/tcp_sess.h"
#include "runtime/base/xk_param_value.h"
#include "runtime/upi/xk_inline.h"

/* ---- the rows ----------------------------------------------------------------------- */

/*
 * X(group, field, type in graph files, lower bound, upper bound, words).  Times are whole
 * milliseconds in struct tcp_tune.  What a user of a connection chooses is public; what makes
 * it behave as another stack does, for wire scripts and comparisons, is a quirk.
 */
#define TCP_PUBLIC(X) \
	X(NULL, rcv_buf, SIZE, "1KiB", "1GiB", \
	  "receive buffer of a connection: what may wait here or be under way to us") \
	X(NULL, snd_buf, SIZE, "1KiB", "1GiB", \
	  "send buffer of a connection: what was pushed and is not acknowledged yet") \
	X(NULL, mss, UINT, "0", "65495", \
	  "largest segment we announce and send, bytes; 0: what the path takes") \
	X(NULL, timestamps, BOOL, NULL, NULL, "offer and accept timestamps (RFC 7323)") \
	X(NULL, ecn, BOOL, NULL, NULL, \
	  "offer and accept explicit congestion notification (RFC 3168)") \
	X(NULL, nagle, BOOL, NULL, NULL, \
	  "a small segment waits while another is unacknowledged (RFC 1122, Minshall's form)") \
	X(NULL, cc, ENUM, NULL, NULL, \
	  "congestion control: cubic (RFC 9438), reno (RFC 5681), none: the windows alone limit, for private links") \
	X(NULL, delack, TIME, "0s", "500ms", \
	  "delayed-ACK timeout; 0s: acknowledgements are never delayed") \
	X(NULL, user_timeout, TIME, "0s", "24h", \
	  "longest that data may stay unacknowledged or the window closed; 0s: as retries say (RFC 5482)") \
	X(NULL, keepalive, BOOL, NULL, NULL, \
	  "probe idle connections whose owner did not ask for it") \
	X(NULL, backlog, UINT, "1", "16777216", "of these, for one listening port") \
	X(NULL, sessions, UINT, "1", "16777216", "most connections of a VP")

#define TCP_QUIRKS(X) \
	X("quirks", min_mss, UINT, "32", "536", \
	  "a peer's smaller segments are obeyed, and at most 256 of them wait or are under way") \
	X("quirks", min_pmtu, UINT, "68", "1500", \
	  "no ICMP message lowers a path's MTU below this (RFC 1191, 5927)") \
	X("quirks", wscale, UINT, "0", "255", \
	  "window scale we offer, a shift of 0..14; 255: the smallest that covers rcv_buf") \
	X("quirks", use_wscale, BOOL, NULL, NULL, \
	  "offer and accept the window scale option (RFC 7323)") \
	X("quirks", sack, BOOL, NULL, NULL, \
	  "offer and accept selective acknowledgements (RFC 2018)") \
	X("quirks", dsack, BOOL, NULL, NULL, "report duplicates as first block (RFC 2883)") \
	X("quirks", rack, BOOL, NULL, NULL, \
	  "time-based loss detection where there are selective acknowledgements (RFC 8985)") \
	X("quirks", prr, BOOL, NULL, NULL, "proportional rate reduction in recovery (RFC 6937)") \
	X("quirks", tlp, BOOL, NULL, NULL, "tail loss probes (RFC 8985)") \
	X("quirks", limited_transmit, BOOL, NULL, NULL, \
	  "new segments on the first two duplicate acknowledgements (RFC 3042)") \
	X("quirks", frto, BOOL, NULL, NULL, "tell a spurious timeout from a real one (RFC 5682)") \
	X("quirks", newreno, BOOL, NULL, NULL, \
	  "partial acknowledgements keep recovery going (RFC 6582)") \
	X("quirks", abc, BOOL, NULL, NULL, \
	  "the window grows by bytes acknowledged, not by acknowledgements (RFC 3465)") \
	X("quirks", abc_limit, UINT, "1", "255", \
	  "segments an acknowledgement counts for at most in slow start (L of RFC 3465)") \
	X("quirks", hystart, BOOL, NULL, NULL, \
	  "the first slow start ends when round trips grow, before something is lost (HyStart++, RFC 9406)") \
	X("quirks", hystart_min, TIME, "1ms", "1s", \
	  "growth of a round trip that never ends it (MIN_RTT_THRESH)") \
	X("quirks", hystart_max, TIME, "1ms", "1s", \
	  "growth that always does; between the two it is an eighth (MAX_RTT_THRESH)") \
	X("quirks", hystart_samples, UINT, "1", "255", \
	  "round trips measured in a window before it is judged (N_RTT_SAMPLE)") \
	X("quirks", hystart_rounds, UINT, "1", "255", \
	  "windows of conservative growth before slow start is over (CSS_ROUNDS)") \
	X("quirks", synopts, ENUM, NULL, NULL, \
	  "order and padding of the options of a SYN: linux, bsd") \
	X("quirks", initial_window, UINT, "0", "64", \
	  "segments sent before the first acknowledgement; 0: RFC 3390") \
	X("quirks", ack_every, UINT, "1", "64", "full segments per ACK") \
	X("quirks", quick_acks, UINT, "0", "64", \
	  "segments acknowledged one by one after the handshake, and after one came out of order") \
	X("quirks", ack_push, BOOL, NULL, NULL, "a segment with PSH is acknowledged at once") \
	X("quirks", window_exact, BOOL, NULL, NULL, \
	  "an acknowledgement offers all the room there is; else the window's edge moves by whole segments (RFC 1122 4.2.3.3)") \
	X("quirks", window_update, UINT, "0", "255", \
	  "the window is announced anew when 1/n of the buffer was read, or it had nearly closed; 0: after two segments") \
	X("quirks", ack_quiet, BOOL, NULL, NULL, \
	  "an acknowledgement of what was never sent is dropped; else answered (RFC 9293 3.10.7.4)") \
	X("quirks", tlp_min, TIME, "1ms", "1s", \
	  "shortest wait before a tail loss probe (RFC 8985 7.2)") \
	X("quirks", listen_quiet, BOOL, NULL, NULL, \
	  "a SYN-ACK to a listening port is dropped; else answered with RST (RFC 9293 3.10.7.2)") \
	X("quirks", whole_buffers, BOOL, NULL, NULL, \
	  "buffers are rounded up to whole segments once the handshake has told their size") \
	X("quirks", idle_restart, BOOL, NULL, NULL, \
	  "an idle connection begins with the initial window again (RFC 5681 4.1)") \
	X("quirks", rto_init, TIME, "10ms", "60s", \
	  "retransmission timeout before the first round trip was measured (RFC 6298)") \
	X("quirks", rto_min, TIME, "1ms", "60s", "shortest retransmission timeout") \
	X("quirks", rto_max, TIME, "1s", "1h", "longest retransmission timeout, backed off") \
	X("quirks", persist_min, TIME, "10ms", "60s", "first probe of a closed window") \
	X("quirks", persist_max, TIME, "1s", "1h", "longest between probes of a closed window") \
	X("quirks", syn_retries, UINT, "0", "100", "times that our SYN is sent again") \
	X("quirks", synack_retries, UINT, "0", "100", "times that our SYN-ACK is sent again") \
	X("quirks", retries, UINT, "1", "100", \
	  "times that a segment is sent again before the connection is given up") \
	X("quirks", keep_idle, TIME, "10ms", "576h", "silence before the first keepalive probe") \
	X("quirks", keep_interval, TIME, "10ms", "576h", "between keepalive probes") \
	X("quirks", keep_count, UINT, "1", "100", \
	  "unanswered keepalive probes that end a connection") \
	X("quirks", idle_compress, TIME, "0s", "1h", \
	  "silence after which an idle connection gives its working memory back; 0s: never") \
	X("quirks", msl, TIME, "1ms", "10m", \
	  "maximum segment lifetime; TIME-WAIT lasts twice that") \
	X("quirks", fin_wait2, TIME, "1ms", "1h", \
	  "longest that a connection nobody owns waits for the peer's FIN") \
	X("quirks", challenge_limit, UINT, "1", "1000000", \
	  "challenge acknowledgements of a connection per second (RFC 5961)") \
	X("quirks", ooo_bytes, SIZE, "0", "1GiB", \
	  "most bytes a connection keeps that came out of order") \
	X("quirks", ooo_segments, UINT, "0", "1000000", \
	  "most pieces a connection keeps that came out of order") \
	X("quirks", ooo_total, SIZE, "0", "1024GiB", \
	  "most bytes that a VP keeps that came out of order") \
	X("quirks", syncache, UINT, "1", "16777216", \
	  "SYN cache entries of a VP; at the cap the oldest is evicted, or cookies take over") \
	X("quirks", cookies, ENUM, NULL, NULL, \
	  "SYN cookies (RFC 4987): never, when the cache is full, always") \
	X("quirks", time_wait, UINT, "1", "16777216", \
	  "connections of a VP in TIME-WAIT; at the cap the oldest goes") \
	X("quirks", mem_pressure, UINT, "1", "95", \
	  "percent of the graph's memory in use above which no send queue grows beyond a window, and no offered window beyond four segments") \
	X("quirks", mem_high, UINT, "1", "95", \
	  "percent above which connections that do not drain what they hold are reset") \
	X("quirks", checksum, BOOL, NULL, NULL, "compute and verify checksums") \
	X("quirks", rfc6191, BOOL, NULL, NULL, \
	  "a SYN with a newer timestamp takes over a connection in TIME-WAIT")

#define TCP_FIELDS(X) TCP_PUBLIC(X) TCP_QUIRKS(X)

#define TCP_FIELD_NO(g, f, t, lo, hi, d) FIELD_##f,
enum { TCP_FIELDS(TCP_FIELD_NO) FIELDS };

struct tcp_conf {
	unsigned        profile;
	struct xk_plist syn_times;
	uint64_t        given[FIELDS];   /* as parsed, or unset */
};
_Static_assert(sizeof(struct tcp_conf) <= TCP_CONF_SIZE, "the descriptor's size is a constant");

static const struct { enum xk_ptype type; uint16_t at, size; } fields[FIELDS] = {
#define TCP_FIELD_ROW(g, f, t, lo, hi, d) \
	{ XK_P_##t, offsetof(struct tcp_tune, f), sizeof((struct tcp_tune *)NULL)->f },
	TCP_FIELDS(TCP_FIELD_ROW)
};

/* ---- profiles ------------------------------------------------------------------------- */

/* What no stack does otherwise. */
#define COMMON \
	.min_mss = 64, .min_pmtu = 552, .checksum = true, .challenge_limit = 100, \
	.ooo_total = 256u << 20, .syncache = 16384, .backlog = 4096, .time_wait = 65536, .sessions = 1u << 20, \
	.mem_pressure = 50, .mem_high = 75, \
	.nagle = true, .keep_idle = 7200000, .keep_interval = 75000, .fin_wait2 = 60000, .idle_compress = 1000, \
	.hystart_min = 4, .hystart_max = 16, .hystart_samples = 8, .hystart_rounds = 5

static const struct tcp_tune modern = {
	COMMON, .newreno = true,
	.rcv_buf = 1u << 20, .snd_buf = 512u << 10, .wscale = 255,
	.use_wscale = true, .timestamps = true, .sack = true, .dsack = true, .ecn = true,
	.rack = true, .prr = true, .tlp = true, .limited_transmit = true, .frto = true,
	.abc = true, .abc_limit = 2, .cc = TCP_CC_CUBIC, .hystart = true, .synopts = TCP_SYNOPTS_LINUX,
	.initial_window = 10, .ack_every = 2, .quick_acks = 8, .ack_push = false, .tlp_min = 10, .window_update = 4, .idle_restart = true,
	.delack = 40, .rto_init = 1000, .rto_min = 200, .rto_max = 60000,
	.persist_min = 200, .persist_max = 60000,
	.syn_retries = 6, .synack_retries = 5, .retries = 15, .user_timeout = 0,
	.keep_count = 9, .msl = 30000,
	.ooo_bytes = 1u << 20, .ooo_segments = 1024,
	.cookies = 1, .rfc6191 = true,
};

/* As tcp(7) and Documentation/networking/ip-sysctl describe it. */
static const struct tcp_tune linux_like = {
	COMMON, .newreno = true,
	.rcv_buf = 4u << 20, .snd_buf = 4u << 20, .wscale = 8,
	.use_wscale = true, .timestamps = true, .sack = true, .dsack = true, .ecn = false,
	.rack = true, .prr = true, .tlp = true, .limited_transmit = true, .frto = true,
	.abc = true, .abc_limit = 2, .cc = TCP_CC_CUBIC, .synopts = TCP_SYNOPTS_LINUX,
	.initial_window = 10, .ack_every = 2, .quick_acks = 16, .ack_push = false, .window_update = 4,
	.ack_quiet = true, .tlp_min = 2, .idle_restart = true,
	.delack = 40, .rto_init = 1000, .rto_min = 200, .rto_max = 120000,
	.persist_min = 200, .persist_max = 120000,
	.syn_retries = 6, .synack_retries = 5, .retries = 15, .user_timeout = 0,
	.keep_count = 9, .msl = 30000,
	.ooo_bytes = 4u << 20, .ooo_segments = 4096,
	.cookies = 1, .rfc6191 = true,
};

/* As tcp(4) of FreeBSD 14 describes it, with the buffers that its test suite sets. */
static const struct tcp_tune freebsd_like = {
	COMMON, .newreno = true,
	.rcv_buf = 65536, .snd_buf = 32768, .wscale = 6,
	.use_wscale = true, .timestamps = true, .sack = true, .dsack = true, .ecn = false,
	.rack = false, .prr = true, .tlp = false, .limited_transmit = true, .frto = false,
	.abc = true, .abc_limit = 2, .cc = TCP_CC_CUBIC, .synopts = TCP_SYNOPTS_BSD,
	.initial_window = 10, .ack_every = 2, .quick_acks = 0, .ack_push = false, .tlp_min = 10, .window_exact = true, .window_update = 4,
	.whole_buffers = true, .listen_quiet = true, .idle_restart = true,
	.delack = 40, .rto_init = 1000, .rto_min = 30, .rto_max = 64000,
	.persist_min = 5000, .persist_max = 60000,
	.syn_retries = 8, .synack_retries = 3, .retries = 12, .user_timeout = 0,
	.keep_count = 8, .msl = 30000,
	.ooo_bytes = 65536, .ooo_segments = 100,
	.cookies = 1, .rfc6191 = true,
};

/* Net/2: slow start, congestion avoidance, fast retransmit and recovery, header
 * prediction; no option but the segment size. */
static const struct tcp_tune reno43 = {
	COMMON,
	.rcv_buf = 16384, .snd_buf = 16384, .wscale = 0,
	.abc = false, .abc_limit = 1, .cc = TCP_CC_RENO, .synopts = TCP_SYNOPTS_BSD,
	.initial_window = 1, .ack_every = 2, .quick_acks = 0, .ack_push = false, .tlp_min = 10, .window_exact = true, .idle_restart = true,
	.delack = 200, .rto_init = 6000, .rto_min = 1000, .rto_max = 64000,
	.persist_min = 5000, .persist_max = 60000,
	.syn_retries = 12, .synack_retries = 12, .retries = 12, .user_timeout = 0,
	.keep_count = 8, .msl = 30000,
	.ooo_bytes = 16384, .ooo_segments = 256,
	.cookies = 0, .rfc6191 = false,
};

/* 4.4BSD-Lite with its RFC 1323 switched off: larger buffers, the rest as before. */
static const struct tcp_tune lite44 = {
	COMMON,
	.rcv_buf = 57344, .snd_buf = 57344, .wscale = 0,
	.abc = false, .abc_limit = 1, .cc = TCP_CC_RENO, .synopts = TCP_SYNOPTS_BSD,
	.initial_window = 1, .ack_every = 2, .quick_acks = 0, .ack_push = false, .tlp_min = 10, .window_exact = true, .idle_restart = true,
	.delack = 200, .rto_init = 6000, .rto_min = 1000, .rto_max = 64000,
	.persist_min = 5000, .persist_max = 60000,
	.syn_retries = 12, .synack_retries = 12, .retries = 12, .user_timeout = 0,
	.keep_count = 8, .msl = 30000,
	.ooo_bytes = 57344, .ooo_segments = 512,
	.cookies = 0, .rfc6191 = false,
};

static const char *const profile_names[] = { "modern", "linux", "freebsd", "reno43", "lite44", NULL };
static const struct tcp_tune *const profiles[] = { &modern, &linux_like, &freebsd_like, &reno43, &lite44 };
_Static_assert(XK_ARRAY_LEN(profile_names) == XK_ARRAY_LEN(profiles) + 1, "a name each");

/* ---- the schema ------------------------------------------------------------------------ */

static const char *const cc_names[] = { "cubic", "reno", "none", NULL };
static const char *const synopts_names[] = { "linux", "bsd", NULL };
static const char *const cookies_names[] = { "never", "full", "always", NULL };
#define CHOICES_cc cc_names
#define CHOICES_synopts synopts_names
#define CHOICES_cookies cookies_names
/* Only enumerations have choices: the third macro picks by type. */
#define CHOICES_BOOL(f) NULL
#define CHOICES_UINT(f) NULL
#define CHOICES_SIZE(f) NULL
#define CHOICES_TIME(f) NULL
#define CHOICES_ENUM(f) CHOICES_##f

#define TCP_FIELD_PARAM(g, f, t, lo, hi, d) \
	{ .name = #f, .group = g, .type = XK_P_##t, .min = lo, .max = hi, .choices = CHOICES_##t(f), .doc = d, \
	  .flags = XK_PF_UNSET, .offset = offsetof(struct tcp_conf, given[FIELD_##f]) },

const struct xk_param tcp_params[] = {
	{ .name = "profile", .type = XK_P_ENUM, .def = "modern", .choices = profile_names,
	  .doc = "where parameters that are not given come from", .offset = offsetof(struct tcp_conf, profile) },
	{ .name = "syn_times", .group = "quirks", .type = XK_P_LIST, .elem = XK_P_TIME,
	  .doc = "between one SYN of ours and the next; without it rto_init, doubling, or as the profile has it",
	  .offset = offsetof(struct tcp_conf, syn_times) },
	TCP_FIELDS(TCP_FIELD_PARAM)
	XK_PARAM_END
};

/* ---- from what was given to what holds ---------------------------------------------------- */

static bool is_given(const struct tcp_conf *c, unsigned i)
{
	/* The fields follow the two that are no fields. */
	return !xk_param_is_unset(&tcp_params[2 + i], c);
}

static uint64_t given_value(const struct tcp_conf *c, unsigned i)
{
	const uint64_t *v = &c->given[i];

	switch (fields[i].type) {
	case XK_P_BOOL: return *(const uint8_t *)v;
	case XK_P_ENUM: return *(const uint32_t *)v;
	case XK_P_TIME: return *v / XK_MS;
	default: return *v;
	}
}

static void set_field(struct tcp_tune *t, unsigned i, uint64_t v)
{
	/* Every field is an unsigned number of 1, 4 or 8 bytes, least byte first. */
	memcpy((char *)t + fields[i].at, &v, fields[i].size);
}

/* A profile's value gives way to what was given and contradicts it. */
static void imply(const struct tcp_conf *c, struct tcp_tune *t)
{
	if (!t->sack) {
		t->dsack &= is_given(c, FIELD_dsack);
		t->rack &= is_given(c, FIELD_rack);
		t->tlp &= is_given(c, FIELD_tlp);
	}
	if (t->backlog > t->syncache && !is_given(c, FIELD_backlog))
		t->backlog = t->syncache;
	if (t->rto_init > t->rto_max && !is_given(c, FIELD_rto_init))
		t->rto_init = t->rto_max;
	if (t->mem_pressure > t->mem_high && !is_given(c, FIELD_mem_pressure))
		t->mem_pressure = t->mem_high;
	if (t->mem_pressure > t->mem_high && !is_given(c, FIELD_mem_high))
		t->mem_high = t->mem_pressure;
	if (t->persist_min > t->persist_max && !is_given(c, FIELD_persist_min))
		t->persist_min = t->persist_max;
}

int tcp_profile_resolve(const void *conf, struct tcp_tune *t)
{
	const struct tcp_conf *c = conf;

	*t = *profiles[c->profile];
	for (unsigned i = 0; i < FIELDS; i++)
		if (is_given(c, i))
			set_field(t, i, given_value(c, i));
	imply(c, t);
	return XK_OK;
}

/* tcp_tune's value of field i as the configuration has it. */
static uint64_t conf_value(const struct tcp_tune *t, unsigned i)
{
	uint64_t v = 0;

	memcpy(&v, (const char *)t + fields[i].at, fields[i].size);
	return fields[i].type == XK_P_TIME ? v * XK_MS : v;
}

void tcp_profile_fill(void *conf)
{
	struct tcp_conf *c = conf;
	struct tcp_tune t;

	tcp_profile_resolve(conf, &t);
	for (unsigned i = 0; i < FIELDS; i++) {
		uint64_t is = conf_value(&t, i);
		union xk_pval v = { .u = is };

		if (is_given(c, i))
			continue;
		if (fields[i].type == XK_P_BOOL)
			v.b = is != 0;
		else if (fields[i].type == XK_P_ENUM)
			v.e = (unsigned)is;
		xk_param_store(&tcp_params[2 + i], conf, &v);
	}
}

unsigned tcp_profile_syn_times(const void *conf, uint32_t *ms, unsigned max)
{
	const struct tcp_conf *c = conf;
	unsigned n;

	for (n = 0; n < c->syn_times.n && n + 1 < max; n++)
		ms[n] = (uint32_t)(c->syn_times.v[n].u / XK_MS);
	ms[n] = 0;
	return n;
}

/* ---- rules ---------------------------------------------------------------------------------- */

#define RULE(bad, ...) \
	do { \
		if (bad) { \
			snprintf(why, n, __VA_ARGS__); \
			return XK_E_INVAL; \
		} \
	} while (0)

static int check_times(const struct tcp_conf *c, char *why, size_t n)
{
	for (unsigned i = 0; i < FIELDS; i++)
		RULE(fields[i].type == XK_P_TIME && is_given(c, i) && c->given[i] % XK_MS != 0,
		     "parameter '%s' needs whole milliseconds: timers run at that rate", tcp_params[2 + i].name);
	RULE(c->syn_times.n > TCP_SYN_TIMES, "parameter 'syn_times' has %u entries, at most %u are of use",
	     c->syn_times.n, TCP_SYN_TIMES);
	for (unsigned i = 0; i < c->syn_times.n; i++)
		RULE(c->syn_times.v[i].u < 10 * XK_MS || c->syn_times.v[i].u > 3600 * XK_SEC,
		     "parameter 'syn_times' needs times from 10ms to 1h");
	return XK_OK;
}

static int check_tune(const struct tcp_tune *t, char *why, size_t n)
{
	RULE(t->wscale > 14 && t->wscale != 255,
	     "parameter 'wscale' is a shift of 0 to 14, or 255 for the smallest that covers rcv_buf, got %u", t->wscale);
	RULE(t->mss != 0 && t->mss < t->min_mss, "parameter 'mss' (%u) is below 'min_mss' (%u)", t->mss, t->min_mss);
	RULE(t->rto_min > t->rto_max, "parameter 'rto_min' (%ums) is above 'rto_max' (%ums)", t->rto_min, t->rto_max);
	RULE(t->rto_init > t->rto_max, "parameter 'rto_init' (%ums) is above 'rto_max' (%ums)", t->rto_init, t->rto_max);
	RULE(t->persist_min > t->persist_max, "parameter 'persist_min' (%ums) is above 'persist_max' (%ums)",
	     t->persist_min, t->persist_max);
	RULE(t->hystart_min > t->hystart_max, "parameter 'hystart_min' (%ums) is above 'hystart_max' (%ums)",
	     t->hystart_min, t->hystart_max);
	RULE(t->mem_pressure > t->mem_high, "parameter 'mem_pressure' (%u) is above 'mem_high' (%u)", t->mem_pressure, t->mem_high);
	RULE(t->dsack && !t->sack, "parameter 'dsack' needs 'sack'");
	RULE(t->rack && !t->sack, "parameter 'rack' needs 'sack'");
	RULE(t->tlp && !t->sack, "parameter 'tlp' needs 'sack'");
	RULE(t->backlog > t->syncache, "parameter 'backlog' (%u) is above 'syncache' (%u), of which it is a part",
	     t->backlog, t->syncache);
	return XK_OK;
}

int tcp_profile_check(const void *conf, char *why, size_t n)
{
	struct tcp_tune t;
	int err = check_times(conf, why, n);

	if (err == XK_OK)
		err = tcp_profile_resolve(conf, &t);
	return err == XK_OK ? check_tune(&t, why, n) : err;
}
