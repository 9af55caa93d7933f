/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * ping.c - asks a host whether it is there, and how long the answer takes.
 *
 * One session of ICMP on one VP.  A timer sends a request every `interval` and
 * gives up on those that are older than `timeout`; times are the VP's clock, as
 * of the round in which a message was sent or came.  Every request carries a
 * pattern that depends on its number, and the answer is compared with it.
 * Invariant: sent = received + lost + failed + outstanding.
 */
#include "protocols/icmp/icmp.h"
#include "runtime/base/xk_log.h"
#include "runtime/mem/xk_alloc.h"
#include "runtime/upi/xk_app.h"
#include "runtime/upi/xk_part.h"
#include "runtime/upi/xk_review.h"
#include "runtime/vp/xk_task.h"
#include "runtime/vp/xk_timer.h"

#include <string.h>

enum {
	N_SENT, N_RECEIVED, N_BYTES, N_LOST, N_FAILED, N_DAMAGED, N_DOUBLE, N_LATE,
	N_RTT_MIN, N_RTT_AVG, N_RTT_MAX
};

struct ping_conf {
	uint32_t to;
	uint64_t count, size, interval, timeout;
};

/* A request under way. */
struct ping_slot { xk_ns at; uint16_t seq; bool waiting; };

struct ping_rep {
	struct xk_rep    *r;
	struct xk_sess   *s;             /* NULL: this VP does not ping */
	struct ping_slot *slot;          /* ring of cap (a power of two) by sequence number */
	uint32_t          cap;
	uint64_t          sent, settled; /* requests; those older than `settled` are decided */
	uint64_t          rtt_sum;
	struct xk_timer   timer;
	xk_ns             next;          /* when the next one goes */
	bool              over;
};

static const struct ping_conf *conf_of(const struct xk_rep *r) { return r->conf; }

static struct ping_slot *slot_of(struct ping_rep *pr, uint64_t n)
{
	return &pr->slot[n & (pr->cap - 1)];
}

/* ---- requests ------------------------------------------------------------------- */

static void pattern(uint8_t *p, uint32_t off, uint32_t n, uint16_t seq)
{
	for (uint32_t i = 0; i < n; i++)
		p[i] = (uint8_t)(off + i + seq * 13u);
}

static void pattern_put(struct xk_msg *m, uint16_t seq)
{
	uint8_t piece[256];

	for (uint32_t off = 0; off < m->tot; off += sizeof piece) {
		uint32_t n = m->tot - off < sizeof piece ? m->tot - off : (uint32_t)sizeof piece;

		pattern(piece, off, n, seq);
		xk_msg_copy_in(m, off, piece, n);
	}
}

static bool pattern_is(const struct xk_msg *m, uint32_t size, uint16_t seq)
{
	uint8_t want[256], got[256];

	if (m->tot != size)
		return false;
	for (uint32_t off = 0; off < m->tot; off += sizeof want) {
		uint32_t n = m->tot - off < sizeof want ? m->tot - off : (uint32_t)sizeof want;

		pattern(want, off, n, seq);
		if (xk_msg_copy_out(m, off, got, n) != n || memcmp(want, got, n) != 0)
			return false;
	}
	return true;
}

static void ping_send(struct ping_rep *pr)
{
	struct xk_msg *m = xk_msg_new((uint32_t)conf_of(pr->r)->size);
	struct ping_slot *k = slot_of(pr, pr->sent);
	uint32_t seq;

	if (m == NULL) {                         /* tried again at the next interval */
		xk_dropped(pr->r, XK_DROP_NOMEM, 1);
		return;
	}
	if (xk_sess_control(pr->s, ICMP_CTL_NEXT_SEQ, &seq, sizeof seq) != sizeof seq)
		seq = (uint32_t)pr->sent;
	*k = (struct ping_slot){ xk_vp_clock(pr->r->vp), (uint16_t)seq, true };
	pr->sent++;
	xk_count(pr->r->count[N_SENT]);
	pattern_put(m, (uint16_t)seq);
	xk_push(pr->s, m);
}

/* ---- answers ------------------------------------------------------------------------ */

static void note(xk_counter *c, uint64_t v)
{
	xk_count_add(*c, v - *c);
}

static void note_rtt(struct ping_rep *pr, xk_ns rtt)
{
	xk_counter *c = pr->r->count;

	xk_count(c[N_RECEIVED]);
	pr->rtt_sum += rtt;
	if (c[N_RECEIVED] == 1 || rtt < c[N_RTT_MIN])
		note(&c[N_RTT_MIN], rtt);
	if (rtt > c[N_RTT_MAX])
		note(&c[N_RTT_MAX], rtt);
	note(&c[N_RTT_AVG], pr->rtt_sum / c[N_RECEIVED]);
}

/* The undecided request with this number, or NULL. */
static struct ping_slot *find(struct ping_rep *pr, uint16_t seq)
{
	for (uint64_t i = pr->settled; i < pr->sent; i++)
		if (slot_of(pr, i)->seq == seq)
			return slot_of(pr, i);
	return NULL;
}

static void maybe_over(struct ping_rep *pr)
{
	const struct ping_conf *c = conf_of(pr->r);

	while (pr->settled < pr->sent && !slot_of(pr, pr->settled)->waiting)
		pr->settled++;
	if (pr->over || c->count == 0 || pr->settled < c->count)
		return;
	pr->over = true;
	xk_timer_cancel(pr->r->wheel, &pr->timer);
	if (pr->r->count[N_RECEIVED] == 0)
		xk_node_failed(pr->r->node, "none of its requests was answered");
	xk_app_finished(pr->r->node);
}

static void ping_demux(struct xk_up *up, struct xk_sess *lls, struct xk_msg *m)
{
	struct xk_rep *r = up->rep;
	struct ping_rep *pr = r->state;
	uint16_t seq = (uint16_t)m->aux;
	struct ping_slot *k = find(pr, seq);
	xk_ns rtt;

	(void)lls;
	xk_count(r->npop);
	if (k == NULL) {
		xk_count(r->count[N_LATE]);
	} else if (!k->waiting) {
		xk_count(r->count[N_DOUBLE]);
	} else if (!pattern_is(m, (uint32_t)conf_of(r)->size, seq)) {
		xk_count(r->count[N_DAMAGED]);   /* not an answer: the request is still open */
	} else {
		rtt = xk_vp_clock(r->vp) - k->at;
		k->waiting = false;
		xk_count_add(r->count[N_BYTES], m->tot);
		note_rtt(pr, rtt);
		XK_TRACE(xk_node_log(r->node), 3, "%u bytes: seq=%u time=%llu.%03llu us", m->tot, seq,
			 (unsigned long long)(rtt / XK_US), (unsigned long long)(rtt % XK_US));
		maybe_over(pr);
	}
	xk_msg_free(m);
}

/* Somebody says that it cannot arrive. */
static int ping_error(struct xk_rep *r, const struct icmp_error *e)
{
	struct ping_rep *pr = r->state;
	struct ping_slot *k = pr->s == e->s && pr->s != NULL ? find(pr, e->seq) : NULL;

	if (k == NULL || !k->waiting)
		return 0;
	k->waiting = false;
	xk_count(r->count[N_FAILED]);
	XK_TRACE(xk_node_log(r->node), 3, "seq=%u cannot arrive: type %u code %u", e->seq, e->type, e->code);
	maybe_over(pr);
	return 0;
}

/* ---- time ------------------------------------------------------------------------------ */

static void expire(struct ping_rep *pr, xk_ns now)
{
	for (; pr->settled < pr->sent; pr->settled++) {
		struct ping_slot *k = slot_of(pr, pr->settled);

		if (!k->waiting)
			continue;
		if (k->at + conf_of(pr->r)->timeout > now)
			return;
		k->waiting = false;
		xk_count(pr->r->count[N_LOST]);
		XK_TRACE(xk_node_log(pr->r->node), 3, "seq=%u lost", k->seq);
	}
}

static void ping_timer(struct xk_timer *t)
{
	struct ping_rep *pr = xk_container_of(t, struct ping_rep, timer);
	const struct ping_conf *c = conf_of(pr->r);
	xk_ns now = xk_vp_now(), wake = XK_NS_NEVER;
	bool more;

	expire(pr, now);
	more = c->count == 0 || pr->sent < c->count;
	if (more && now >= pr->next && pr->sent - pr->settled < pr->cap) {
		ping_send(pr);
		pr->next = now + c->interval;
		more = c->count == 0 || pr->sent < c->count;
	}
	if (more)
		wake = pr->next > now ? pr->next : now + XK_MS;
	if (pr->settled < pr->sent && slot_of(pr, pr->settled)->at + c->timeout < wake)
		wake = slot_of(pr, pr->settled)->at + c->timeout;
	if (wake != XK_NS_NEVER)
		xk_timer_set(pr->r->wheel, t, wake);
	maybe_over(pr);
}

/* ---- life ---------------------------------------------------------------------------------- */

static int ping_open(struct ping_rep *pr)
{
	const struct ping_conf *c = conf_of(pr->r);
	struct xk_parts ps;
	int err;

	for (pr->cap = 2; pr->cap <= c->timeout / c->interval + 1;)
		pr->cap *= 2;
	pr->slot = xk_alloc(pr->cap * sizeof *pr->slot);
	if (pr->slot == NULL)
		return XK_E_NOMEM;
	xk_parts_init(&ps, 1);
	xk_part_push_host(&ps.p[XK_REMOTE], c->to);
	pr->s = xk_open(pr->r, pr->r->node, pr->r->down[0], &ps, &err);
	return pr->s != NULL ? XK_OK : err;
}

static int ping_rep_start(struct xk_rep *r, struct xk_errs *e)
{
	struct ping_rep *pr = r->state;
	int err;

	if (!xk_app_is_here(r, 0))
		return XK_OK;
	err = ping_open(pr);
	if (err != XK_OK) {
		uint32_t to = conf_of(r)->to;

		xk_node_error(r->node, e, "cannot ping %u.%u.%u.%u: %s", to >> 24, to >> 16 & 255, to >> 8 & 255,
			      to & 255, xk_strerror(err));
		return err;
	}
	pr->next = xk_vp_now();
	xk_timer_set(r->wheel, &pr->timer, pr->next);
	return XK_OK;
}

static void ping_rep_stop(struct xk_rep *r)
{
	struct ping_rep *pr = r->state;
	struct xk_sess *s = pr->s;

	xk_timer_cancel(r->wheel, &pr->timer);
	pr->s = NULL;
	if (s != NULL)
		xk_close(s);
}

static int ping_rep_init(struct xk_rep *r)
{
	struct ping_rep *pr = r->state;

	pr->r = r;
	xk_timer_init(&pr->timer, ping_timer);
	return XK_OK;
}

static void ping_rep_fini(struct xk_rep *r)
{
	xk_free(((struct ping_rep *)r->state)->slot);
}

static int ping_init(struct xk_node *n, struct xk_errs *e)
{
	(void)e;
	if (((const struct ping_conf *)xk_node_conf(n))->count != 0)
		xk_app_will_finish(n);
	return XK_OK;
}

static int ping_control(struct xk_rep *r, unsigned op, void *buf, unsigned len)
{
	const struct ping_rep *pr = r->state;
	struct xk_app_counts c = { pr->s != NULL, &r->count[N_RECEIVED], &r->count[N_BYTES], NULL, NULL, NULL };

	if (op == ICMP_CTL_ERROR && len >= sizeof(struct icmp_error))
		return ping_error(r, buf);
	return xk_app_answer(op, &c, buf, len);
}

static void ping_review(const struct xk_view *v, struct xk_review *r)
{
	const struct ping_conf *c = v->conf;

	xk_review_reach(r, v, "to", c->to);
}

static const struct xk_ops ping_ops = {
	.init = ping_init, .rep_init = ping_rep_init, .rep_fini = ping_rep_fini,
	.rep_start = ping_rep_start, .rep_stop = ping_rep_stop,
	.demux = ping_demux, .control = ping_control,
};

#define P(field, t, d, text, ...) \
	{ .name = #field, .type = t, .def = d, .doc = text, .offset = offsetof(struct ping_conf, field), ##__VA_ARGS__ }

static const struct xk_param ping_params[] = {
	P(to, XK_P_IPV4, NULL, "host to ask", .flags = XK_PF_REQUIRED),
	P(count, XK_P_UINT, "4", "requests; the graph may end when all are decided; 0: endless"),
	P(size, XK_P_SIZE, "56", "payload bytes of a request", .max = "65507"),
	P(interval, XK_P_TIME, "1s", "between two requests", .min = "1ms", .max = "1h"),
	P(timeout, XK_P_TIME, "2s", "an answer that takes longer is lost", .min = "1ms", .max = "1h"),
	XK_PARAM_END
};

static const char *const ping_counts[] = {
	"sent", "received", "bytes", "lost", "failed", "damaged", "duplicates", "late",
	"rtt_min_ns", "rtt_avg_ns", "rtt_max_ns", NULL
};

const struct xk_proto xk_proto_ping = {
	.abi = XK_ABI, .size = sizeof(struct xk_proto), .name = "ping",
	.doc = "asks a host for echoes and measures the time they take", .ops = &ping_ops,
	.needs = { "echo" }, .min_down = 1, .max_down = 1,
	.params = ping_params, .conf_size = sizeof(struct ping_conf),
	.rep_size = sizeof(struct ping_rep), .counts = ping_counts,
	.review = ping_review,
};
