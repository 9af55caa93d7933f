/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * test_updates.c - the classifier changes all the time under full load.
 *
 * Promises, for each back end, on real workers and under the virtual clock: while connections
 * are closed and opened again on other virtual processors, more than a thousand times beside
 * more than a hundred thousand messages, no message is lost or misdirected.  The steady
 * connections get every answer, once and in order; of the changing ones every message is
 * answered or counted as dropped, for a port that is closed at the moment; and a program in the
 * kernel that follows the flow table knows every steady connection at any moment.
 */
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#ifdef XK_HAVE_LIBBPF
#include <bpf/bpf.h>
#endif

#include "runtime/classify/xk_ebpf.h"
#include "runtime/upi/xk_part.h"
#include "tests/graph/churner.h"
#include "tests/support/xk_test_graph.h"

#define ALL       (CHURN_STEADY + CHURN_SLOTS)
#define CLIENT    0x0a000001u
#define SERVER    0x0a000002u
#define EVERY     60u            /* answers of a VP for each change */
#define MOVES     (CHURN_STEADY * run.count / EVERY / 2)  /* at least; two updates each */

static const char text_fmt[] =
	"local macs = { ['10.0.0.1'] = '02:00:00:00:00:01', ['10.0.0.2'] = '02:00:00:00:00:02' }\n"
	"local function host(n, addr)\n"
	"  return udp { name = 'udp' .. n, over = ip { name = 'ip' .. n, addr = addr .. '/24',\n"
	"    over = arp { name = 'arp' .. n, neighbours = macs, over = eth { name = 'eth' .. n,\n"
	"      over = eth_mem { name = 'mem' .. n, wire = 'w', mac = macs[addr], queue = 65536 } } } } }\n"
	"end\n"
	"stack { echo { port = 7 }, host(2, '10.0.0.2') }\n"
	"stack { churner { to = '10.0.0.2', count = %lu, every = %u, moves = %lu }, host(1, '10.0.0.1') }\n"
	"return graph 'updates' { %s }\n";

static struct { struct xk_errs *e; struct xk_spec *s; struct xk_graph *g; unsigned long count; } run;

static void say_errors(void)
{
	if (xk_errs_count(run.e) != 0)
		xk_spec_print_errors(stdout, run.s, run.e, NULL);
	CU_ASSERT_EQUAL_FATAL(xk_errs_count(run.e), 0);
}

static void up(const char *fields)
{
	struct xk_compose_opts o = { .table = xk_test_table(&xk_proto_churner) };
	char text[2048];
	int len;

	memset(&run, 0, sizeof run);
	churn_reset();
	run.count = xk_test_rounds(2400);
	run.e = xk_errs_new();
	len = snprintf(text, sizeof text, text_fmt, run.count, EVERY, MOVES, fields);
	if (xk_spec_load_text(&run.s, "updates.lua", text, (size_t)len, &o, run.e) == XK_OK &&
	    xk_spec_check(run.s, run.e, NULL) == XK_OK && xk_spec_build(run.s, &run.g, run.e) == XK_OK)
		(void)xk_graph_up(run.g, run.e);
	say_errors();
}

static void down(void)
{
	CU_ASSERT_EQUAL(xk_graph_free(run.g), 0);        /* nor was any message on a wrong VP */
	xk_spec_free(run.s);
	xk_errs_free(run.e);
}

/* ---- counting ----------------------------------------------------------------------- */

static uint64_t drops(const char *only)
{
	uint64_t n = 0;

	for (unsigned i = 0; i < run.g->nnodes; i++)
		for (unsigned v = 0; v < run.g->vps->nvps; v++)
			for (unsigned k = 0; k < XK_DROPS_MAX; k++) {
				const struct xk_node *node = run.g->node[i];
				const char *word = k < XK_DROP_FIRST || node->proto->drops == NULL ? NULL :
						   node->proto->drops[k - XK_DROP_FIRST];

				if (only == NULL || (word != NULL && strcmp(word, only) == 0))
					n += xk_counter_read(node->rep[v]->drop[k]);
				if (k >= XK_DROP_FIRST && word == NULL)
					break;
			}
	for (unsigned v = 0; only == NULL && v < run.g->vps->nvps; v++)
		n += xk_counter_read(run.g->vps->vp[v]->inbox_drops);
	return n;
}

/* Has everything that was sent been answered or dropped, and every slot been opened again? */
static bool all_done(void)
{
	struct churn_sums a;
	uint64_t lost = drops(NULL);

	churn_sum(&a, 0, ALL);
	return a.got + lost + churn_astray == a.sent && a.sent >= (uint64_t)CHURN_STEADY * run.count &&
	       xk_load_relaxed(&churn_moves) >= MOVES && a.opened == a.closed + ALL - a.failed;
}

/* No clock decides but patience, which is for as long as anything goes on. */
static bool wait_for_all(void)
{
	const struct timespec nap = { .tv_nsec = 1000000 };
	struct churn_sums a;
	uint64_t was = 0;

	for (unsigned still = 0; still < 60000; still++) {
		if (all_done())
			return true;
		churn_sum(&a, 0, ALL);
		if (a.got + a.sent + a.opened != was)
			still = 0;
		was = a.got + a.sent + a.opened;
		nanosleep(&nap, NULL);
	}
	printf("# nothing went on for a minute, at %llu of %llu answers\n", (unsigned long long)a.got, (unsigned long long)a.sent);
	return false;
}

/* A slot may just have been given away, or its greeting be under way, when the workers stop:
 * what they have begun ends here. */
static void finish(void)
{
	unsigned idle = 0;

	xk_vpset_stop(run.g->vps);
	/* A VP's tasks take turns: all have had theirs before it is said that nothing is left. */
	while (idle < ALL + 16)
		idle = xk_vpset_step(run.g->vps) != 0 ? 0 : idle + 1;
}

static void check_all(const char *kind)
{
	struct churn_sums s, c;
	uint64_t lost = drops(NULL);

	churn_sum(&s, 0, CHURN_STEADY);
	churn_sum(&c, CHURN_STEADY, ALL);
	printf("# %s: %llu messages and %llu on changing connections, of which %llu came late, %llu updates\n", kind,
	       (unsigned long long)s.sent, (unsigned long long)c.sent, (unsigned long long)lost,
	       (unsigned long long)(c.opened + c.closed));
	CU_ASSERT_EQUAL(s.sent, CHURN_STEADY * run.count);
	CU_ASSERT_EQUAL(s.got, s.sent);
	CU_ASSERT_EQUAL(s.wrong + c.wrong, 0);
	CU_ASSERT_EQUAL(churn_astray, 0);
	CU_ASSERT_EQUAL(s.failed + c.failed, 0);
	CU_ASSERT_EQUAL(c.got + lost, c.sent);
	CU_ASSERT_EQUAL(drops("port_unreachable"), lost);
	CU_ASSERT(c.closed >= MOVES);
	CU_ASSERT_EQUAL(c.opened, c.closed + CHURN_SLOTS);
}

/* ---- with real workers ---------------------------------------------------------------- */

static bool begin(const char *kind, const char *fields)
{
	setenv("VP_CLASSIFIER", kind, 1);
	up(fields);
	if (strcmp(xk_graph_find(run.g, "mem1")->classifier->ops->name, kind) == 0)
		return true;
	xk_test_skip(xk_graph_find(run.g, "mem1")->classifier->why);
	down();
	return false;
}

/* ---- no home on an I/O thread --------------------------------------------------------------- */

struct opening { int err; bool opened; };

static void open_inside(struct xk_vp *vp, void *arg)
{
	struct xk_node *app = xk_graph_find(run.g, "churner");
	struct xk_rep *r = app->rep[vp->no];
	struct opening *o = arg;
	struct xk_parts ps;
	struct xk_sess *s;

	xk_parts_init(&ps, 2);
	xk_part_push_host(&ps.p[XK_REMOTE], SERVER);
	xk_part_push_port(&ps.p[XK_REMOTE], 7);
	xk_part_push_any(&ps.p[XK_LOCAL]);
	s = xk_open(r, app, r->down[0], &ps, &o->err);
	o->opened = s != NULL;
	if (s != NULL)
		xk_close(s);
}

static struct opening open_on(unsigned vp)
{
	struct opening o = { 0 };

	xk_vp_do(run.g->vps->vp[vp], open_inside, &o);
	return o;
}

#ifdef XK_DEBUG
/* The assertion's words are not this test's. */
static bool dies_on(unsigned vp)
{
	pid_t pid = fork();
	int status = 0;

	if (pid == 0) {
		(void)!freopen("/dev/null", "w", stderr);
		(void)open_on(vp);
		_exit(0);
	}
	waitpid(pid, &status, 0);
	return WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT;
}
#endif

/* Two I/O threads would wait for each other, one of them with the lock on the table. */
static void no_connection_is_opened_on_an_io_thread(void)
{
	static const char *const presets[] = { "mp", "msgp", "locking", NULL };
	char fields[100];

	for (unsigned i = 0; presets[i] != NULL; i++) {
		unsigned nconn;

		snprintf(fields, sizeof fields, "threading = %s { vps = 4 }, clock = 'virtual'", presets[i]);
		up(fields);
		nconn = run.g->vps->nconn;
		CU_ASSERT_FATAL(run.g->vps->nvps > nconn);
		CU_ASSERT_TRUE(open_on(nconn - 1).opened);
#ifdef XK_DEBUG
		CU_ASSERT_TRUE(dies_on(nconn));
#else
		CU_ASSERT_FALSE(open_on(nconn).opened);
		CU_ASSERT_EQUAL(open_on(nconn).err, XK_E_NOTSUP);
#endif
		down();
	}
}

static bool is_any_of(const char *fields, const char *const *names)
{
	while (*names != NULL && strstr(fields, *names) == NULL)
		names++;
	return *names != NULL;
}

/* One back end meets every architecture whose connections have homes; those that carry messages have
 * only "none"; the other back ends meet two that differ in who enters.  `locking` keeps no order, which
 * is asked for here, and layers have no connections' virtual processors: test_udp_presets has both. */
static bool chosen(const char *kind, const char *fields)
{
	static const char *const carried[] = { "= mp ", "= msgp ", NULL };
	static const char *const never[] = { "= locking ", "= lp ", NULL };
	static const char *const two[] = { "= vppc ", "= connp_l ", NULL };

	if (is_any_of(fields, never))
		return false;
	if (is_any_of(fields, carried))
		return strcmp(kind, "none") == 0;
	return strcmp(kind, "native") == 0 || is_any_of(fields, two);
}

/* `mp` with the order that is asked for here, and with an owner for what the echo gets. */
static const char *ordered(const char *fields)
{
	return strstr(fields, "= mp ") == NULL ? fields : "threading = mp { vps = 4, order = 'arrival', datagrams = 'owned' }";
}

static void no_message_goes_astray_with(const char *kind)
{
	/* Few virtual processors: each makes a change every so many answers of its own. */
	for (const char *const *p = xk_test_presets_of(4, 4, XK_TEST_ROWS); *p != NULL; p++) {
		if (!chosen(kind, *p))
			continue;
		printf("# %s\n", ordered(*p));
		if (!begin(kind, ordered(*p)))
			return;
		CU_ASSERT_EQUAL_FATAL(xk_graph_run(run.g, run.e), XK_OK);
		CU_ASSERT(wait_for_all());
		finish();
		check_all(kind);
		down();
	}
}

static void no_message_goes_astray_with_native(void) { no_message_goes_astray_with("native"); }
static void no_message_goes_astray_with_cbpf(void) { no_message_goes_astray_with("cbpf"); }
static void no_message_goes_astray_with_ebpf(void) { no_message_goes_astray_with("ebpf"); }
static void no_message_goes_astray_with_none(void) { no_message_goes_astray_with("none"); }

/* ---- with a simulated clock ------------------------------------------------------------- */

static void a_thousand_updates_a_second_of_virtual_time(void)
{
	static const char *const kinds[] = { "native", "cbpf", "none" };

	for (unsigned i = 0; i < XK_ARRAY_LEN(kinds); i++) {
		struct churn_sums c;

		if (!begin(kinds[i], "threading = vppc { vps = 5 }, clock = 'virtual', seed = 3"))
			return;
		for (xk_ns until = 0; !all_done() && until < 10 * XK_SEC;)
			(void)xk_vpset_run_virtual(run.g->vps, until += XK_MS);
		CU_ASSERT(all_done());
		check_all(kinds[i]);
		churn_sum(&c, CHURN_STEADY, ALL);
		CU_ASSERT((c.opened + c.closed) * XK_SEC / 1000 > xk_clock_read(&run.g->vps->clock));
		down();
	}
}

/* ---- a map in the kernel that follows ------------------------------------------------------ */

#ifdef XK_HAVE_LIBBPF
struct follower {
	struct xk_ebpf_flows flows;
	int      prog;
	uint8_t  frame[ALL][128];
	uint32_t len[ALL];
	uint32_t over;
	uint64_t looked, wrong;
};

static struct xk_flowkey key_of(unsigned no)
{
	return (struct xk_flowkey){ .raddr = htobe32(SERVER), .laddr = htobe32(CLIENT), .rport = htobe16(7),
				    .lport = htobe16((uint16_t)(CHURN_PORT + no)), .proto = 17 };
}

static int vp_in_kernel(const struct follower *w, unsigned no)
{
	LIBBPF_OPTS(bpf_test_run_opts, o, .data_in = w->frame[no], .data_size_in = w->len[no], .repeat = 1);

	return bpf_prog_test_run_opts(w->prog, &o) == 0 ? (int)o.retval : -1;
}

/* Answers of steady connections, again and again, until the others have stopped changing. */
static void *look(void *arg)
{
	struct follower *w = arg;

	do
		for (unsigned i = 0; i < CHURN_STEADY; i++, w->looked++)
			w->wrong += vp_in_kernel(w, i) != xk_graph_vp_of(run.g, i)->no;
	while (!xk_load_acquire(&w->over));
	return NULL;
}

static unsigned cell_of(const struct xk_pattern *p, const char *name)
{
	unsigned i = 0;

	while (i < p->ncell && strcmp(p->cell[i].name, name) != 0)
		i++;
	CU_ASSERT_FATAL(i < p->ncell);
	return i;
}

static bool follow(struct follower *w)
{
	const struct xk_pattern *p = xk_graph_find(run.g, "mem1")->pattern;
	char why[512];

	memset(w, 0, sizeof *w);
	w->prog = xk_ebpf_follow(&w->flows, run.g->flows, 4096, why, sizeof why);
	if (w->prog >= 0)
		w->prog = xk_pattern_xdp(p, run.g->vps->nvps, -1, w->flows.fd, why, sizeof why);
	if (w->prog < 0) {
		xk_test_skip(why);
		xk_ebpf_unfollow(&w->flows);
		return false;
	}
	for (unsigned i = 0; i < ALL; i++) {
		struct xk_flowkey k = key_of(i);

		w->len[i] = xk_pattern_frame(p, cell_of(p, "udp1"), &k, w->frame[i], sizeof w->frame[i]);
		CU_ASSERT_FATAL(w->len[i] != 0);
	}
	return true;
}

static unsigned entries(int map)
{
	struct xk_flowkey k, next;
	unsigned n = 0;

	for (void *at = NULL; bpf_map_get_next_key(map, at, &next) == 0; at = &k, n++)
		k = next;
	return n;
}
#endif

static void the_kernels_map_follows_every_update(void)
{
#ifdef XK_HAVE_LIBBPF
	static struct follower w;
	pthread_t t;
	unsigned wrong = 0;

	if (!begin("native", "threading = vppc { vps = 4, workers = 2 }"))
		return;
	if (follow(&w)) {
		CU_ASSERT_EQUAL_FATAL(pthread_create(&t, NULL, look, &w), 0);
		CU_ASSERT_EQUAL_FATAL(xk_graph_run(run.g, run.e), XK_OK);
		CU_ASSERT(wait_for_all());
		finish();
		xk_store_release(&w.over, 1u);
		CU_ASSERT_EQUAL(pthread_join(t, NULL), 0);
		check_all("native, followed");
		CU_ASSERT_EQUAL(w.wrong, 0);
		CU_ASSERT(w.looked >= CHURN_STEADY);
		for (unsigned i = 0; i < ALL; i++)
			wrong += vp_in_kernel(&w, i) != churn_conn[i].r->vp->no;
		CU_ASSERT_EQUAL(wrong, 0);
		CU_ASSERT_EQUAL(w.flows.refused, 0);
		CU_ASSERT_EQUAL(w.flows.set - w.flows.dropped, entries(w.flows.fd));
		printf("# %llu entries made, %llu taken away, %llu looks meanwhile\n", (unsigned long long)w.flows.set,
		       (unsigned long long)w.flows.dropped, (unsigned long long)w.looked);
		xk_ebpf_unfollow(&w.flows);
		close(w.prog);
	}
	down();
#else
	xk_test_skip("needs libbpf-dev");
#endif
}

static CU_TestInfo tests[] = {
	{ "no message goes astray with native", no_message_goes_astray_with_native },
	{ "no message goes astray with cbpf", no_message_goes_astray_with_cbpf },
	{ "no message goes astray with ebpf", no_message_goes_astray_with_ebpf },
	{ "no message goes astray with none", no_message_goes_astray_with_none },
	{ "a thousand updates a second of virtual time", a_thousand_updates_a_second_of_virtual_time },
	{ "the kernel's map follows every update", the_kernels_map_follows_every_update },
	{ "no connection is opened on an I/O thread", no_connection_is_opened_on_an_io_thread },
	CU_TEST_INFO_NULL
};
static CU_SuiteInfo suites[] = { { "updates", NULL, NULL, NULL, NULL, tests }, CU_SUITE_INFO_NULL };

int main(void) { return xk_test_main_rcu(suites); }
