/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * pkt_match.c - the script's numbers and the wire's, and whether what was sent is
 * what had to be.
 *
 * Sequence numbers of a script begin where its author liked; ours at random.  The
 * peer's are moved by a constant that lets every connection pass the end of the
 * number space soon; our own by what our SYN shows.  The same holds for timestamps
 * of ours; those of the peer are sent as they stand.
 *
 * One expected segment may be a burst: it may leave as several segments, each
 * continuing the one before with the same acknowledgement, window and options, FIN
 * only on the last.  Where the PSH bits of a burst lie then says how a stack
 * cuts, not what it does, and is not compared (strict: nothing may be cut).
 * Invariant: segments are looked at in the order in which they were sent, each once.
 */
#include <stdlib.h>
#include <string.h>

#include "drivers/rawip/rawip.h"
#include "tools/pkt/pkt_priv.h"

/* ---- numbers -------------------------------------------------------------------------- */

/* Their timestamp -> ours: what one of ours became on the wire. */
static uint32_t ts_live(struct pkt_run *u, uint32_t script)
{
	for (struct pkt_tsmap *m = u->ts; m != NULL && u->tick == 0; m = m->next)
		if (m->script == script)
			return m->live;
	return script == 0 || !u->know_ts ? script : script + u->ts_off;
}

static void ts_learn(struct pkt_run *u, uint32_t script, uint32_t live)
{
	struct pkt_tsmap *m = pkt_get(&u->arena, sizeof *m);

	*m = (struct pkt_tsmap){ u->ts, script, live };
	u->ts = m;
}

static uint32_t offset_in(const struct pkt_run *u, const struct pkt_seg *s)
{
	return s->seq - u->remote_isn - (s->flags & PKT_SYN ? 0 : 1);
}

static void live_in(struct pkt_run *u, struct pkt_seg *s)
{
	s->seq += u->remote_off;
	s->ack = s->have_ack ? s->ack + u->local_off : 0;
	for (unsigned i = 0; i < s->nopts; i++) {
		struct pkt_opt *o = &s->opt[i];

		if (o->kind == PKT_O_TS && s->have_ack)
			o->b = ts_live(u, o->b);
		for (unsigned k = 0; o->kind == PKT_O_SACK && k < o->n; k++) {
			o->sack[k].l += u->local_off;
			o->sack[k].r += u->local_off;
		}
	}
	s->src = u->remote;
	s->dst = u->local;
	s->sport = u->rport;
	s->dport = u->lport;
}

void pkt_seg_script(struct pkt_run *u, struct pkt_seg *s)
{
	s->seq -= u->local_off;
	if (s->flags & PKT_ACK)
		s->ack -= u->remote_off;
	for (unsigned i = 0; i < s->nopts; i++)
		for (unsigned k = 0; s->opt[i].kind == PKT_O_SACK && k < s->opt[i].n; k++) {
			s->opt[i].sack[k].l -= u->remote_off;
			s->opt[i].sack[k].r -= u->remote_off;
		}
}

/* ---- in ---------------------------------------------------------------------------------- */

static void inject(struct pkt_run *u, const struct pkt_event *e, const uint8_t *p, size_t n)
{
	int err;

	if (n == 0) {
		pkt_bad(u, e, "its options are longer than 40 bytes, or no multiple of 4");
		return;
	}
	pkt_enter(u);
	err = rawip_inject(u->raw, p, (uint32_t)n);
	pkt_leave(u);
	if (err < 0)
		pkt_bad(u, e, "it could not be sent: %s", xk_strerror(err));
}

static void send_icmp(struct pkt_run *u, const struct pkt_event *e)
{
	struct pkt_seg s = *e->seg;
	uint8_t buf[128];

	s.seq += u->local_off;
	s.src = u->gateway;
	s.dst = u->local;
	s.sport = u->rport;
	s.dport = u->lport;
	/* The quoted datagram went to the peer; the message comes from a router. */
	inject(u, e, buf, pkt_icmp_store(&s, u->remote, buf, sizeof buf));
}

void pkt_send_in(struct pkt_run *u, const struct pkt_event *e)
{
	static uint8_t buf[PKT_DATAGRAM_MAX];
	struct pkt_seg s = *e->seg;
	uint32_t offset;

	if (s.what == PKT_ICMP) {
		send_icmp(u, e);
		return;
	}
	if ((s.flags & (PKT_SYN | PKT_ACK)) == PKT_SYN && u->lport == u->bind_port)
		u->fresh = true;
	if (s.flags & PKT_SYN)
		u->remote_isn = s.seq;
	offset = offset_in(u, &s);
	live_in(u, &s);
	inject(u, e, buf, pkt_seg_store(&s, offset, buf, sizeof buf));
}

/* ---- what is wrong with a segment ----------------------------------------------------------- */

static bool same_ts(struct pkt_run *u, const struct pkt_opt *want, struct pkt_opt *is)
{
	int64_t late;

	if (!want->any_a && !u->know_ts) {
		u->know_ts = true;
		u->ts_off = is->a - want->a;
	}
	ts_learn(u, want->a, is->a);
	is->a -= u->ts_off;
	if (!want->any_b && want->b != is->b)
		return false;
	if (u->tick == 0) {
		is->a = want->a;
		return true;
	}
	late = (int64_t)(int32_t)(is->a - want->a) * u->tick;
	return want->any_a || (late <= u->tolerance && late >= -u->tolerance);
}

static bool same_option(struct pkt_run *u, const struct pkt_opt *want, struct pkt_opt *is)
{
	if (want->kind != is->kind)
		return false;
	switch (want->kind) {
	case PKT_O_MSS: case PKT_O_WSCALE:
		return want->any_a || want->a == is->a;
	case PKT_O_TS:
		return same_ts(u, want, is);
	case PKT_O_SACK:
		return want->n == is->n && memcmp(want->sack, is->sack, want->n * sizeof want->sack[0]) == 0;
	case PKT_O_FO: case PKT_O_RAW:
		return want->n == is->n && memcmp(want->byte, is->byte, want->n) == 0;
	default:
		return true;
	}
}

static bool same_options(struct pkt_run *u, const struct pkt_seg *want, struct pkt_seg *is)
{
	bool same = want->nopts == is->nopts;

	if (want->any_opts)
		return true;
	for (unsigned i = 0; i < want->nopts && i < is->nopts; i++)
		same &= same_option(u, &want->opt[i], &is->opt[i]);
	return same;
}

/* A burst being put together from pieces. */
struct burst {
	const struct pkt_seg *want;
	uint32_t got;                    /* payload bytes */
	unsigned pieces;
	bool     fin;
};

/* NULL: the piece fits. */
static const char *unlike(struct pkt_run *u, struct burst *b, struct pkt_seg *is)
{
	const struct pkt_seg *w = b->want;
	uint16_t flags = is->flags, want = w->flags;
	bool whole, cut;

	if (is->what != PKT_SEGMENT)
		return "kind";
	if (is->seq != w->seq + b->got)
		return "sequence number";
	whole = b->got + is->len == w->len && (!(want & PKT_FIN) || (flags & PKT_FIN));
	cut = !whole || b->pieces != 0;
	if (cut && (is->len == 0 || w->len == 0) && !(flags & PKT_FIN))
		return whole ? "flags" : is->len == 0 && w->len == 0 ? "flags" : "length";
	if (b->got + is->len > w->len || (cut && u->strict))
		return "length";
	if (cut)
		flags |= PKT_PSH, want |= PKT_PSH;
	if (!whole)
		want &= (uint16_t)~PKT_FIN;
	if (flags != want)
		return "flags";
	if (w->have_ack && is->ack != w->ack)
		return "acknowledgement";
	if (w->have_win && is->win != w->win)
		return "window";
	if (w->have_urp && is->urp != w->urp)
		return "urgent pointer";
	if (!same_options(u, w, is))
		return "options";
	if ((w->ecn >= 0 && is->ecn != w->ecn) || (w->tos >= 0 && is->tos != w->tos) || (w->ttl >= 0 && is->ttl != w->ttl))
		return "network header";
	return NULL;
}

/* The bytes must be the program's. */
static bool payload_good(const struct pkt_run *u, const struct pkt_seg *live)
{
	uint32_t o = live->seq - u->live_isn - (live->flags & PKT_SYN ? 0 : 1);

	for (uint32_t i = 0; i < live->len; i++)
		if (live->payload[i] != pkt_byte(o + i, PKT_SALT_OUT))
			return false;
	return true;
}

/* ---- out ------------------------------------------------------------------------------------- */

static void report(struct pkt_run *u, const struct pkt_event *e, const char *what, const struct pkt_seg *is,
		   int64_t at, int64_t from, int64_t to)
{
	if (u->differs)
		return;
	pkt_differs(u, e, "%s", what);
	fprintf(u->out, "  expected: ");
	pkt_seg_show(u->out, e->seg, true);
	if (e->t.kind == PKT_WHENEVER)
		fprintf(u->out, "   whenever\n");
	else if (to != from)
		fprintf(u->out, "   at %.6f to %.6f\n", (double)from / 1e9, (double)to / 1e9);
	else
		fprintf(u->out, "   at %.6f\n", (double)from / 1e9);
	if (is == NULL) {
		fprintf(u->out, "  sent:     nothing until %.6f\n", (double)at / 1e9);
		return;
	}
	fprintf(u->out, "  sent:     ");
	pkt_seg_show(u->out, is, true);
	fprintf(u->out, "   at %.6f\n", (double)at / 1e9);
}

static struct pkt_sent *next_sent(struct pkt_run *u, int64_t until)
{
	struct pkt_sent *p;

	if (u->first == NULL)
		pkt_pass(u, until, true);
	p = u->first;
	if (p != NULL) {
		u->first = p->next;
		if (u->first == NULL)
			u->last = NULL;
	}
	return p;
}

/* Our SYN shows where our numbers and ports begin. */
static void learn(struct pkt_run *u, const struct pkt_seg *want, const struct pkt_seg *live)
{
	if (live->what != PKT_SEGMENT || !(live->flags & PKT_SYN) || !(want->flags & PKT_SYN) ||
	    (u->know_local && !u->fresh))
		return;
	u->know_local = true;
	u->fresh = false;
	u->know_ts = false;
	u->local_off = live->seq - want->seq;
	u->live_isn = live->seq;
	u->lport = live->sport;
	u->rport = live->dport;
}

/* Of one segment: false ends the matching of e. */
static bool take_piece(struct pkt_run *u, const struct pkt_event *e, struct burst *b, struct pkt_sent *p,
		       int64_t from, int64_t to)
{
	struct pkt_seg is, live;
	const char *why = pkt_seg_load(p->bytes, p->n, &live);

	if (why != NULL) {
		pkt_differs(u, e, "what was sent is no segment: %s", why);
		return false;
	}
	learn(u, b->want, &live);
	is = live;
	pkt_seg_script(u, &is);
	why = live.src != u->local || live.dst != u->remote ? "addresses" :
	      live.what == PKT_SEGMENT && (live.sport != u->lport || live.dport != u->rport) ? "ports" :
	      unlike(u, b, &is);
	if (why == NULL && !payload_good(u, &live))
		why = "payload";
	if (why != NULL) {
		char text[64];

		snprintf(text, sizeof text, "another %s", why);
		report(u, e, text, &is, p->at, from, to);
		return false;
	}
	if (e->t.kind != PKT_WHENEVER && (p->at < from - u->tolerance || p->at > to + u->tolerance)) {
		report(u, e, p->at < from ? "too early" : "too late", &is, p->at, from, to);
		return false;
	}
	b->got += is.len;
	b->fin |= (is.flags & PKT_FIN) != 0;
	b->pieces++;
	return true;
}

void pkt_expect_out(struct pkt_run *u, const struct pkt_event *e, int64_t from, int64_t to)
{
	struct burst b = { .want = e->seg };
	int64_t limit = e->t.kind == PKT_WHENEVER ? pkt_now(u) + 3600 * (int64_t)XK_SEC : to + u->tolerance;
	bool good = true;

	while (good && !u->bad && (b.pieces == 0 || b.got < e->seg->len || ((e->seg->flags & PKT_FIN) && !b.fin))) {
		struct pkt_sent *p = next_sent(u, limit);

		if (p == NULL) {
			report(u, e, b.pieces ? "only a part of it is sent" : "it is not sent", NULL, pkt_now(u), from, to);
			return;
		}
		good = take_piece(u, e, &b, p, from, to);
		free(p);
	}
}
