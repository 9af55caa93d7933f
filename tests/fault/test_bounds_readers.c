/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * test_bounds_readers.c - peers that do not read what they have asked for, against real
 * servers: memory stays within its limit, everybody else is served as before, and nothing
 * is left when they are gone.
 *
 * Each reader is a TCP of a few lines: it shakes hands, asks, takes what its buffer holds
 * at the pace that it has, and answers probes of its window.  What it costs is what the
 * server makes of it: http and chargen fill what room they are given.  Beside them the
 * client of storm.h exchanges bytes, ping asks, and a reader at full pace gets a page.
 * Invariant: every graph is freed with nothing leaked.
 */
#include <CUnit/CUnit.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tests/fault/storm.h"
#include "tests/protocols/tcp_fixture.h"
#include "tests/support/xk_test_graph.h"
#include "runtime/upi/xk_inline.h"

#define WEB     8080u
#define GEN     19u
#define READERS 16384u
#define FIRST   1000u                    /* a reader's sequence numbers */
#define FOREVER UINT32_MAX               /* takes what comes at once */

/* ---- readers --------------------------------------------------------------------------- */

struct reader {
	const char *ask;
	uint32_t    rate, buf;           /* bytes a second, at most 65535 */
	uint32_t    next, taken;         /* received and read, both as numbers of the server's stream */
	uint64_t    got, wrong;          /* bytes; of the body that were not the file's */
	uint32_t    head;                /* bytes before the body, 0: not seen */
	uint16_t    port;
	bool        silent;              /* acknowledges nothing after its question */
	bool        stands, ended, reset;
	unsigned    status;
	xk_ns       began, finished;
};
static struct reader reader[READERS];
static uint32_t nreaders;

#define HEARD 65536u
static struct heard { uint32_t who, seq, len, flags; uint8_t data[1500]; } heard[HEARD];
static unsigned nheard, overheard;

static void hear(const uint8_t *p, uint32_t n)
{
	const uint8_t *t = p + 20;
	uint32_t hlen = (t[12] >> 4) * 4u, len = xk_be16(p + 2) - 20u - hlen;
	struct heard *h = &heard[nheard];

	if (p[9] != 6 || p[16] != 0x0b)
		return;
	if (nheard == HEARD || len > sizeof h->data || 20 + hlen + len > n) {
		overheard++;
		return;
	}
	nheard++;
	h->who = xk_be32(p + 16) & 0xffffff;
	h->seq = xk_be32(t + 4);
	h->len = len;
	h->flags = xk_be16(t + 12) & 0x1ff;
	memcpy(h->data, t + hlen, len);
}

static void say(uint32_t who, uint16_t flags, uint32_t seq, const void *data, uint32_t len)
{
	const struct reader *r = &reader[who];
	uint32_t held = r->next - r->taken, n, addr = 0x0b000000u + who;
	uint8_t opt[40];
	static uint8_t d[2048];

	n = tf_datagram(d, &(struct tf_seg){ .src = addr, .dst = STORM_SERVER, .sport = (uint16_t)(2000 + who % 60000),
					     .dport = r->port, .seq = seq, .ack = flags & TCP_ACK ? r->next : 0,
					     .flags = flags, .opt = opt, .data = data, .len = len,
					     .nopt = flags & TCP_SYN ? tf_syn_opts(opt, 1460, true, NULL, -1) : 0 });
	/* The fixture takes no window for the usual one. */
	xk_put_be16(d + 34, (uint16_t)(r->buf > held ? r->buf - held : 0));
	xk_put_be16(d + 36, 0);
	xk_put_be16(d + 36, nf_sum(d + 20, n - 20, nf_pseudo(addr, STORM_SERVER, 6, n - 20)));
	storm_datagram(d, n);
}

static uint32_t asked(const struct reader *r)
{
	return r->ask != NULL ? (uint32_t)strlen(r->ask) : 0;
}

static uint32_t open_reader(struct reader r)
{
	uint32_t who = nreaders++;

	xk_assert(who < READERS);
	r.began = storm_now();
	reader[who] = r;
	say(who, TCP_SYN, FIRST - 1, NULL, 0);
	return who;
}

static uint8_t file_byte(uint64_t i)
{
	return (uint8_t)(i * 13 + (i >> 9));
}

static void read_bytes(struct reader *r, const uint8_t *p, uint32_t n)
{
	const char *end;

	if (r->got == 0 && n > 12)
		r->status = (unsigned)atoi((const char *)p + 9);
	if (r->got == 0 && r->ask != NULL && (end = memmem(p, n, "\r\n\r\n", 4)) != NULL)
		r->head = (uint32_t)((const uint8_t *)end + 4 - p);
	for (uint32_t i = 0; i < n; i++, r->got++)
		r->wrong += r->head != 0 && r->got >= r->head && p[i] != file_byte(r->got - r->head);
}

static void hears_data(uint32_t who, const struct heard *h)
{
	struct reader *r = &reader[who];
	uint32_t room = r->buf - (r->next - r->taken);

	if (h->seq == r->next && h->len <= room) {
		read_bytes(r, h->data, h->len);
		r->next += h->len + !!(h->flags & TCP_FIN);
		if (r->rate == FOREVER)
			r->taken = r->next;
		if (h->flags & TCP_FIN) {
			r->ended = true;
			r->finished = storm_now();
			say(who, TCP_FIN | TCP_ACK, FIRST + asked(r), NULL, 0);
			return;
		}
	}
	say(who, TCP_ACK, FIRST + asked(r), NULL, 0);
}

static void answer(void)
{
	unsigned n = nheard;
	static struct heard now[HEARD];

	memcpy(now, heard, n * sizeof now[0]);
	nheard = 0;
	for (unsigned i = 0; i < n; i++) {
		const struct heard *h = &now[i];
		struct reader *r = &reader[h->who];

		if (h->flags & TCP_RST) {
			if (!r->reset)
				r->finished = storm_now();
			r->reset = true;
		} else if (h->flags & TCP_SYN) {
			r->stands = true;
			r->next = r->taken = h->seq + 1;
			say(h->who, TCP_ACK | TCP_PSH, FIRST, r->ask, asked(r));
		} else if (!r->silent && !r->ended && !r->reset) {
			hears_data(h->who, h);
		}
	}
}

/* Those that read slowly do so once a second. */
static void read_on(void)
{
	for (uint32_t i = 0; i < nreaders; i++) {
		struct reader *r = &reader[i];
		uint32_t held = r->next - r->taken, n = held < r->rate ? held : r->rate;

		if (!r->stands || r->silent || r->rate == FOREVER || n == 0 || r->ended || r->reset)
			continue;
		r->taken += n;
		say(i, TCP_ACK, FIRST + asked(r), NULL, 0);
	}
}

static void pass(xk_ns dt)
{
	for (xk_ns until = storm_now() + dt; storm_now() < until;) {
		xk_ns before = storm_now() / XK_SEC;

		answer();
		storm_run(XK_MS);
		if (storm_now() / XK_SEC != before)
			read_on();
	}
}

/* ---- the host ------------------------------------------------------------------------------ */

/* More than a send buffer holds, so that for most of the time there is no room for more. */
#define SLOW 700000u
static char root[64];

static void write_file(const char *name, uint64_t n)
{
	char path[128];
	FILE *f;

	snprintf(path, sizeof path, "%s/%s", root, name);
	f = fopen(path, "w");
	CU_ASSERT_FATAL(f != NULL);
	for (uint64_t i = 0; i < n; i++)
		fputc(file_byte(i), f);
	CU_ASSERT_FATAL(fclose(f) == 0);
}

static void remove_file(const char *name)
{
	char path[128];

	snprintf(path, sizeof path, "%s/%s", root, name);
	unlink(path);
}

#define MEMORY (64u << 20)

static void host_up(const char *tcp2)
{
	static char more[512];

	strcpy(root, "/tmp/xk-readers-XXXXXX");
	CU_ASSERT_FATAL(mkdtemp(root) != NULL);
	write_file("big", 2u << 20);
	write_file("slow", SLOW);
	write_file("page", 1000);
	snprintf(more, sizeof more,
		 "http { name = 'web', root = '%s', port = %u, over = hosts[2].tcp }\n"
		 "chargen { name = 'gen', sessions = 65536, over = hosts[2].tcp }\n"
		 "ping { name = 'ping', to = '10.0.0.2', interval = '50ms', count = 0, over = hosts[1].icmp }\n", root, WEB);
	storm_up(&(struct storm_conf){ .client = "every = '20ms', size = '20KiB'", .server = "size = '20KiB'", .tcp2 = tcp2, .more = more,
				       .graph = "memory = '64MiB', threading = up {}" });
	memset(reader, 0, sizeof reader);
	nreaders = nheard = overheard = 0;
	storm_sent = hear;
}

static void host_down(void)
{
	storm_down();
	remove_file("big");
	remove_file("slow");
	remove_file("page");
	rmdir(root);
	CU_ASSERT_EQUAL(overheard, 0);
}

/* ---- those who ask and do not read ------------------------------------------------------------ */

#define GET(file) "GET /" file " HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n"

struct crowd { const char *name; struct reader like; unsigned n, each_ms; bool high; const char *tcp2; };

static struct { uint64_t done, failed, sent, received; unsigned pages, asked; xk_ns slowest; } was;

static void note_service(void)
{
	was.done = storm_stats("client").done;
	was.failed = storm_stats("client").failed;
	was.sent = storm_count("ping", "sent");
	was.received = storm_count("ping", "received");
}

/* Everybody else, since note_service, in dt. */
static void check_service(const char *when, xk_ns dt)
{
	uint64_t done = storm_stats("client").done - was.done, received = storm_count("ping", "received") - was.received;

	printf("# %s: %llu exchanges, %llu failed; %llu pings of %llu; %u pages, slowest %llu ms\n", when,
	       (unsigned long long)done, (unsigned long long)(storm_stats("client").failed - was.failed),
	       (unsigned long long)received, (unsigned long long)(storm_count("ping", "sent") - was.sent), was.pages,
	       (unsigned long long)(was.slowest / XK_MS));
	CU_ASSERT(done >= dt / (20 * XK_MS) * 95 / 100);
	CU_ASSERT_EQUAL(storm_stats("client").failed, was.failed);
	CU_ASSERT(received + 2 >= dt / (50 * XK_MS));
}

/* A page in a second or it does not count. */
static void get_page(void)
{
	uint32_t who = open_reader((struct reader){ .ask = GET("page"), .rate = FOREVER, .buf = 20000, .port = WEB });
	const struct reader *r = &reader[who];

	pass(XK_SEC);
	CU_ASSERT(r->ended && !r->reset && r->status == 200 && r->got == r->head + 1000u && r->wrong == 0);
	was.asked++;
	was.pages += r->ended;
	if (r->ended && r->finished - r->began > was.slowest)
		was.slowest = r->finished - r->began;
}

static void endure(const struct crowd *c)
{
	xk_ns from;

	host_up(c->tcp2);
	memset(&was, 0, sizeof was);
	pass(2 * XK_SEC);
	note_service();
	from = storm_now();
	for (unsigned i = 0; i < c->n; i++) {
		open_reader(c->like);
		pass(c->each_ms * XK_MS);
		if (i % 200 == 199)
			get_page();
	}
	check_service("while they come", storm_now() - from);
	CU_ASSERT(storm_buffer_bytes() <= MEMORY);
	note_service();
	from = storm_now();
	for (unsigned i = 0; i < 20; i++)
		get_page();
	check_service(c->name, storm_now() - from);
	CU_ASSERT(storm_buffer_bytes() <= MEMORY);
	printf("# %s: %u readers; %llu KiB of buffers, %llu out; pressure %llu, given up %llu, no memory %llu and %llu\n", c->name, c->n,
	       (unsigned long long)storm_buffer_bytes() >> 10, (unsigned long long)storm_buffers(),
	       (unsigned long long)storm_count("tcp2", "memory_pressure"),
	       (unsigned long long)storm_count("tcp2", "given_up_for_memory"),
	       (unsigned long long)storm_rep("web")->drop[XK_DROP_NOMEM], (unsigned long long)storm_rep("gen")->drop[XK_DROP_NOMEM]);
	CU_ASSERT(storm_count("tcp2", "memory_pressure") > 0);
	CU_ASSERT(c->high == (storm_count("tcp2", "given_up_for_memory") > 0));
	/* Nobody is asked again and again for memory that is not there. */
	CU_ASSERT(storm_rep("web")->drop[XK_DROP_NOMEM] + storm_rep("gen")->drop[XK_DROP_NOMEM] <= 2 * c->n);
	/* They go; a host that hears nothing more gives them up. */
	storm_sent = NULL;
	nheard = 0;
	storm_pace(0);
	for (unsigned i = 0; i < 60; i++)
		storm_run(60 * XK_SEC);
	CU_ASSERT_EQUAL(storm_live("web") + storm_live("gen"), 0);
	CU_ASSERT(storm_buffers() <= 16);
	host_down();
}

/* A kernel's smallest buffer, and a window that stays closed. */
static void web_readers_that_stop(void)
{
	endure(&(struct crowd){ "closed windows of http", { .ask = GET("big"), .buf = 2304, .port = WEB },
				(unsigned)xk_test_rounds(1500), 8, false, NULL });
}

static void chargen_readers_that_stop(void)
{
	endure(&(struct crowd){ "closed windows of chargen", { .buf = 2304, .port = GEN }, (unsigned)xk_test_rounds(1500), 8,
				false, NULL });
}

/* Their windows are open, but they acknowledge nothing: each holds what slow start begins with. */
static void readers_that_vanish(void)
{
	endure(&(struct crowd){ "vanished readers of chargen", { .buf = 65535, .port = GEN, .silent = true }, 3000, 4, true, NULL });
}

/* They read, but what they hold would take them an hour. */
static void readers_that_crawl(void)
{
	endure(&(struct crowd){ "crawling readers of chargen", { .buf = 65535, .rate = 100, .port = GEN }, 1500, 8, true,
				"quirks = { mem_pressure = 40, mem_high = 40 }" });
}

/* ---- those who read slowly ---------------------------------------------------------------------- */

static void a_slow_reader_gets_all_of_it(void)
{
	static const uint32_t buf[] = { 4096, 65535 };

	for (unsigned i = 0; i < XK_ARRAY_LEN(buf); i++) {
		const struct reader *r;
		xk_ns took;

		host_up(NULL);
		storm_pace(0);
		r = &reader[open_reader((struct reader){ .ask = GET("slow"), .rate = 1024, .buf = buf[i], .port = WEB })];
		for (unsigned s = 0; s < 900 && !r->ended && !r->reset; s++)
			pass(XK_SEC);
		took = r->finished - r->began;
		printf("# %llu bytes of a body of %u in %llu s\n", (unsigned long long)r->got, SLOW, (unsigned long long)(took / XK_SEC));
		CU_ASSERT(r->ended && !r->reset);
		CU_ASSERT_EQUAL(r->got, r->head + SLOW);
		CU_ASSERT_EQUAL(r->wrong, 0);
		CU_ASSERT(took > 600 * XK_SEC);
		host_down();
	}
}

static void one_that_takes_nothing_is_reset(void)
{
	const struct reader *r;
	xk_ns took;

	host_up(NULL);
	storm_pace(0);
	r = &reader[open_reader((struct reader){ .ask = GET("big"), .buf = 4096, .port = WEB })];
	for (unsigned s = 0; s < 200 && !r->ended && !r->reset; s++)
		pass(XK_SEC);
	took = r->finished - r->began;
	printf("# reset after %llu ms\n", (unsigned long long)(took / XK_MS));
	CU_ASSERT(r->reset && !r->ended);
	CU_ASSERT(took >= 60 * XK_SEC && took <= 80 * XK_SEC);
	CU_ASSERT_EQUAL(storm_count("web", "timed_out"), 1);
	host_down();
}

/* ---- those who send, and memory is out ------------------------------------------------------------- */

/* A sender that was told of room finds no buffer: it asks again, is told of none, and waits. */
static void a_sender_without_memory_waits_to_be_woken(void)
{
	static void *b[65536];
	struct xk_vp *vp;
	uint64_t had, drops, pressed;
	unsigned n = 0;

	storm_up(&(struct storm_conf){ .client = "every = '0ms'", .graph = "memory = '64MiB', threading = up {}",
				       .more = "discard { name = 'sink', over = hosts[2].tcp }\n"
					       "load { name = 'send', to = '10.0.0.2', conns = 8, size = 1000, rate = 1000, "
					       "over = hosts[1].tcp }\n" });
	storm_run(XK_SEC);
	had = storm_count("sink", "bytes");
	CU_ASSERT(had > 1000000);
	pressed = storm_count("tcp1", "memory_pressure");
	vp = storm_rep("d2")->vp;
	xk_vp_enter_idle(vp);
	while (n < XK_ARRAY_LEN(b) && (b[n] = xk_mem_get(&vp->mem, XK_MEM_MEDIUM)) != NULL)
		n++;
	xk_vp_leave_idle(vp);
	CU_ASSERT(n > 20000);
	storm_run(XK_SEC);
	drops = storm_rep("send")->drop[XK_DROP_NOMEM];
	printf("# %llu messages without a buffer in a second\n", (unsigned long long)drops);
	/* It is told by the stream, which takes nothing, rather than by a buffer that is not there. */
	CU_ASSERT(storm_count("tcp1", "memory_pressure") > pressed);
	CU_ASSERT(storm_count("sink", "bytes") < had + 1000000 / 2);
	CU_ASSERT(drops <= 8 * 2);
	xk_vp_enter_idle(vp);
	while (n > 0)
		xk_mem_put(&vp->mem, XK_MEM_MEDIUM, b[--n]);
	xk_vp_leave_idle(vp);
	had = storm_count("sink", "bytes");
	storm_run(XK_SEC);
	CU_ASSERT(storm_count("sink", "bytes") > had + 1000000);
	storm_down();
}

#define T(fn) { #fn, fn }
static CU_TestInfo tests[] = {
	T(web_readers_that_stop), T(chargen_readers_that_stop), T(readers_that_vanish), T(readers_that_crawl),
	T(a_slow_reader_gets_all_of_it), T(one_that_takes_nothing_is_reset),
	T(a_sender_without_memory_waits_to_be_woken), CU_TEST_INFO_NULL
};
static CU_SuiteInfo suites[] = {
	{ "readers", NULL, NULL, NULL, NULL, tests },
	CU_SUITE_INFO_NULL
};

int main(void) { return xk_test_main_rcu(suites); }
