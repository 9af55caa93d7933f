/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * sim_run.c - one run of a case, and the verdict.
 *
 * The wire may be silent while streams are unfinished for at most twice the
 * largest retransmission timeout: a stack that has work and sends nothing for
 * longer is stuck.  Where hardly a frame is lost the streams themselves must move
 * in that time.  When all ends are done, every session must go by itself.
 * Invariant: whatever the verdict, the graph is freed and nothing leaks.
 */
#include "tests/sim/sim.h"

#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "protocols/tcp/sess/tcp_sess.h"
#include "runtime/base/xk_bytes.h"
#include "runtime/compose/xk_compose.h"
#include "runtime/upi/xk_capture.h"
#include "runtime/upi/xk_inline.h"
#include "runtime/upi/xk_part.h"

#define RTO_MAX    (60 * XK_SEC)
#define SILENCE    (2 * RTO_MAX)
#define LONGEST    (48 * 3600 * XK_SEC)
#define AFTERWARDS (4000 * XK_SEC)       /* FIN retransmissions, TIME-WAIT */
#define STEP       XK_SEC
#define MAX_TABLE  128u

/* Sees every frame that a link protocol sends or gets. */
struct wire {
	struct xk_capture c;
	struct run *run;
	unsigned side;
	uint64_t *hash, *frames;
	xk_ns    *last_sent;
};

struct run {
	struct xk_errs  *e;
	struct xk_spec  *s;
	struct xk_graph *g;
	struct wire      wire[2];
	uint64_t         hash, frames, live;
	xk_ns            last_sent;
};

static uint64_t mix(uint64_t h, uint64_t v)
{
	h = (h ^ v) * 0x9e3779b97f4a7c15u;
	return h ^ h >> 32;
}

FILE *sim_trace;

static void print_frame(const struct wire *w, xk_ns now, const struct xk_msg *m, bool down)
{
	static const char letters[] = "FSRPAUEC";
	uint8_t b[128] = { 0 };
	uint32_t n = xk_msg_copy_out(m, 0, b, sizeof b), ip = n > 18 && b[0] == 0x50 && b[19] == 8 ? 21 : 14, tcp;
	char flags[9] = "", *f = flags;

	tcp = ip + (b[ip] & 15u) * 4;
	if (tcp + 60 > sizeof b)
		tcp = ip + 20;
	for (unsigned i = 0; i < 8; i++)
		if (b[tcp + 13] >> i & 1)
			*f++ = letters[i];
	*f = '\0';
	fprintf(sim_trace, "%12.3f ms  %s %s  %u>%u %-5s seq %u len %d ack %u win %u\n", (double)now / 1e6,
		w->side ? "listener" : "opener  ", down ? "sends" : "gets ", xk_be16(b + tcp), xk_be16(b + tcp + 2), flags,
		xk_be32(b + tcp + 4), (int)xk_be16(b + ip + 2) - 20 - (b[tcp + 12] >> 4) * 4, xk_be32(b + tcp + 8),
		xk_be16(b + tcp + 14));
}

/* What a sender has in mind as a frame passes. */
static int print_sender(struct xk_mapnode *node, void *arg)
{
	static const char *const state[] = { "open", "disorder", "cwr", "recovery", "loss" };
	const struct tcp_sess *ts = tcp_sess(xk_container_of(node, struct xk_sess, map));
	const struct tcp_cb *cb = tcp_cb(ts);

	(void)arg;
	if (tcp_is_compressed(ts) || cb->snd_una == cb->snd_max)
		return XK_MAP_KEEP;
	fprintf(sim_trace, "%32s una %u max %u, cwnd %u ssthresh %u flight %u sacked %u lost %u again %u, %s%s, rto %u << %u\n", "",
		cb->snd_una, cb->snd_max, cb->cwnd, cb->ssthresh, tcp_pipe(cb), cb->sacked_out, cb->lost_out, cb->retrans_out,
		state[cb->ca_state], cb->tlp_out ? ", probing" : "", cb->rto, cb->backoff);
	return XK_MAP_KEEP;
}

static void print_senders(const struct wire *w)
{
	struct xk_graph *g = w->run->g;
	struct xk_node *n = xk_graph_find(g, w->side ? "tcp2" : "tcp1");

	for (unsigned i = 0; i < g->vps->nvps; i++)
		xk_map_foreach(&n->rep[i]->active, print_sender, NULL);
}

static void see(struct xk_capture *c, xk_ns now, const struct xk_msg *m, bool down)
{
	struct wire *w = xk_container_of(c, struct wire, c);
	uint64_t h = mix(mix(*w->hash, now), (uint64_t)m->tot << 2 | w->side << 1 | down);

	if (sim_trace != NULL) {
		print_frame(w, now, m, down);
		print_senders(w);
	}
	for (; m != NULL; m = m->next)
		for (uint32_t i = 0; i < m->len; i++)
			h = (h ^ m->data[i]) * 0x100000001b3u;
	*w->hash = h;
	++*w->frames;
	if (down)
		*w->last_sent = now;
}

/* ---- up and down ---------------------------------------------------------------- */

static void errors_to_why(struct run *u)
{
	xk_errs_sort(u->e);
	sim_fail("the graph is refused: %s", xk_errs_count(u->e) ? xk_errs_text(u->e, 0, NULL, NULL, NULL) : "no reason given");
}

static bool build(struct run *u, const struct sim_case *c)
{
	static const struct xk_proto *table[MAX_TABLE];
	struct xk_compose_opts o = { .table = table };
	static char text[8192];
	unsigned n = 0, len = sim_case_graph(c, text, sizeof text);

	for (; xk_proto_table[n] != NULL && n < MAX_TABLE - 2; n++)
		table[n] = xk_proto_table[n];
	table[n] = &xk_proto_simapp;
	table[n + 1] = NULL;
	return xk_spec_load_text(&u->s, "sim.lua", text, len, &o, u->e) == XK_OK &&
	       xk_spec_check(u->s, u->e, NULL) == XK_OK && xk_spec_build(u->s, &u->g, u->e) == XK_OK;
}

static bool bring_up(struct run *u, const struct sim_case *c)
{
	memset(u, 0, sizeof *u);
	u->live = xk_alloc_live();
	u->e = xk_errs_new();
	sim_world_begin(c);
	if (!build(u, c)) {
		errors_to_why(u);
		return false;
	}
	for (unsigned i = 0; i < 2; i++) {
		u->wire[i] = (struct wire){ { .fn = see }, u, i, &u->hash, &u->frames, &u->last_sent };
		xk_capture_attach(xk_graph_find(u->g, i ? "link2" : "link1"), &u->wire[i].c);
	}
	if (xk_graph_up(u->g, u->e) == XK_OK)
		return true;
	errors_to_why(u);
	return false;
}

static void take_down(struct run *u)
{
	uint64_t leaked = u->g != NULL ? xk_graph_free(u->g) : 0;

	if (leaked != 0)
		sim_fail("%llu buffers and sessions leaked", (unsigned long long)leaked);
	xk_spec_free(u->s);
	xk_errs_free(u->e);
	if (xk_alloc_live() != u->live)
		sim_fail("%lld blocks of memory leaked", (long long)(xk_alloc_live() - u->live));
}

/* ---- time passes --------------------------------------------------------------------- */

static xk_ns now_of(const struct run *u) { return xk_clock_read(&u->g->vps->clock); }

/* Fraction of frames lost between the given times. */
static void set_loss(struct run *u, uint32_t per_10000)
{
	struct xk_node *n = xk_graph_find(u->g, "bad");
	const struct xk_param *p = n->proto->params;

	while (strcmp(p->name, "loss") != 0)
		p++;
	*(double *)(void *)((char *)n->conf + p->offset) = per_10000 / 10000.0;
}

static void weather(struct run *u, const struct sim_case *c)
{
	xk_ns now = now_of(u);

	if (c->outage != 0)
		set_loss(u, now >= XK_SEC && now < (1 + (xk_ns)c->outage) * XK_SEC ? 10000 : c->loss);
}

static void judge_silence(struct run *u, const struct sim_case *c)
{
	xk_ns moved_at = sim_world.moved_at;
	xk_ns now = now_of(u), outage = c->outage * XK_SEC;

	if (now - u->last_sent > SILENCE)
		sim_fail("the wire is silent since %llu ms, %u ends are not done", (unsigned long long)(u->last_sent / XK_MS),
			 sim_world.undone);
	else if (c->loss <= 200 && now - moved_at > SILENCE + outage)
		sim_fail("nothing has moved since %llu ms, %u ends are not done", (unsigned long long)(moved_at / XK_MS),
			 sim_world.undone);
	else if (now > LONGEST)
		sim_fail("not done after %llu s, %u ends are not done", (unsigned long long)(now / XK_SEC), sim_world.undone);
}

static void exchange(struct run *u, const struct sim_case *c, struct sim_result *r)
{
	while (sim_world.undone != 0 && sim_world.why[0] == '\0') {
		xk_ns t = now_of(u);
		bool more;

		weather(u, c);
		more = xk_vpset_run_virtual(u->g->vps, t + STEP);
		if (!more && sim_world.undone != 0)
			sim_fail("nothing is left to happen at %llu ms, %u ends are not done",
				 (unsigned long long)(t / XK_MS), sim_world.undone);
		judge_silence(u, c);
	}
	r->took = sim_world.moved_at;
}

/* What the connections of a stack think, where frames are printed. */
static int print_session(struct xk_mapnode *node, void *arg)
{
	const struct tcp_sess *ts = tcp_sess(xk_container_of(node, struct xk_sess, map));
	const struct tcp_cb *cb = tcp_cb(ts);
	uint32_t now = tcp_ms(ts->s.rep->vp->now);

	if (tcp_is_compressed(ts))
		return XK_MAP_KEEP;
	fprintf(sim_trace, "%s: %s una %u nxt %u max %u end %u, wnd %u cwnd %u, queued %u unsent %u, rcv_nxt %u, flags %08x, "
		"ca %u, sacked %u lost %u retrans %u retries %u, rcnt %d, deadlines in ms:", (const char *)arg,
		tcp_state_name(cb->state), cb->snd_una, cb->snd_nxt, cb->snd_max, cb->snd_end, cb->snd_wnd, cb->cwnd,
		cb->sq.bytes, cb->sq.unsent_bytes, cb->rcv_nxt, cb->flags, cb->ca_state, cb->sacked_out, cb->lost_out,
		cb->retrans_out, cb->retries, ts->s.rcnt);
	for (unsigned i = 0; i < TCP_T_COUNT; i++)
		if (cb->at[i] != 0)
			fprintf(sim_trace, " %u:%d", i, (int32_t)(cb->at[i] - now));
	fprintf(sim_trace, "%s\n", xk_timer_armed(&tcp_live(ts)->timer) ? ", armed" : "");
	return XK_MAP_KEEP;
}

static void print_sessions(struct run *u, const char *name)
{
	struct xk_node *n = xk_graph_find(u->g, name);

	for (unsigned i = 0; sim_trace != NULL && i < u->g->vps->nvps; i++)
		xk_map_foreach(&n->rep[i]->active, print_session, (void *)(uintptr_t)name);
}

static uint64_t sessions(struct run *u, const char *name)
{
	struct xk_node *n = xk_graph_find(u->g, name);
	uint64_t sum = 0;

	for (unsigned i = 0; i < u->g->vps->nvps; i++)
		sum += n->rep[i]->nsess_made - n->rep[i]->nsess_gone;
	return sum;
}

/* Nobody holds a connection any more: all of them end by themselves. */
static void quiet_down(struct run *u, const struct sim_case *c)
{
	xk_ns until = now_of(u) + AFTERWARDS;

	while (sessions(u, "tcp1") + sessions(u, "tcp2") != 0 && now_of(u) < until && sim_world.why[0] == '\0') {
		weather(u, c);
		if (!xk_vpset_run_virtual(u->g->vps, now_of(u) + STEP))
			break;
	}
	if (sim_world.why[0] == '\0' && sessions(u, "tcp1") + sessions(u, "tcp2") != 0)
		sim_fail("%llu and %llu sessions are left %llu s after the last close", (unsigned long long)sessions(u, "tcp1"),
			 (unsigned long long)sessions(u, "tcp2"), (unsigned long long)(AFTERWARDS / XK_SEC));
}

static uint64_t counted(struct run *u, const char *name, const char *what)
{
	struct xk_node *n = xk_graph_find(u->g, name);
	uint64_t sum = 0;

	for (unsigned k = 0; n->proto->counts != NULL && n->proto->counts[k] != NULL; k++)
		for (unsigned i = 0; strcmp(n->proto->counts[k], what) == 0 && i < u->g->vps->nvps; i++)
			sum += n->rep[i]->count[k];
	return sum;
}

static void print_counts(struct run *u, const char *name)
{
	const char *const *what = xk_graph_find(u->g, name)->proto->counts;

	if (sim_trace == NULL)
		return;
	fprintf(sim_trace, "%s:", name);
	for (; what != NULL && *what != NULL; what++)
		if (counted(u, name, *what) != 0)
			fprintf(sim_trace, " %s %llu", *what, (unsigned long long)counted(u, name, *what));
	fprintf(sim_trace, "\n");
}

bool sim_run(const struct sim_case *c, struct sim_result *r)
{
	struct run u;

	memset(r, 0, sizeof *r);
	xk_rcu_register();
	if (bring_up(&u, c)) {
		exchange(&u, c, r);
		quiet_down(&u, c);
		print_sessions(&u, "tcp1");
		print_sessions(&u, "tcp2");
		print_counts(&u, "tcp1");
		print_counts(&u, "tcp2");
		r->retransmits = counted(&u, "tcp1", "retransmitted") + counted(&u, "tcp2", "retransmitted");
	}
	r->hash = u.hash;
	r->frames = u.frames;
	take_down(&u);
	xk_rcu_unregister();
	r->ok = sim_world.why[0] == '\0';
	memcpy(r->why, sim_world.why, sizeof r->why);
	return r->ok;
}

/* ---- apart ------------------------------------------------------------------------------ */

bool sim_run_apart(const struct sim_case *c, struct sim_result *r)
{
	int fd[2], status;
	bool whole;
	pid_t pid;

	memset(r, 0, sizeof *r);
	xk_assert(pipe(fd) == 0);
	fflush(NULL);
	pid = fork();
	xk_assert(pid >= 0);
	if (pid == 0) {
		close(fd[0]);
		alarm(300);
		sim_run(c, r);
		fflush(NULL);
		_exit(write(fd[1], r, sizeof *r) != sizeof *r);
	}
	close(fd[1]);
	whole = read(fd[0], r, sizeof *r) == sizeof *r;
	close(fd[0]);
	waitpid(pid, &status, 0);
	if (!whole || !WIFEXITED(status) || WEXITSTATUS(status) != 0) {
		r->ok = false;
		snprintf(r->why, sizeof r->why, WIFSIGNALED(status) ? "ended by signal %d" : "ended with code %d",
			 WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status));
	}
	return r->ok;
}
