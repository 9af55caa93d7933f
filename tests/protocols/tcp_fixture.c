/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * tcp_fixture.c - builds the host and its segments.  See tcp_fixture.h.
 */
#include "tests/protocols/tcp_fixture.h"
#include "runtime/upi/xk_graph.h"
#include "runtime/upi/xk_inline.h"
#include "runtime/upi/xk_part.h"

#include <CUnit/CUnit.h>
#include <stdio.h>
#include <string.h>

extern const struct xk_proto xk_proto_ip, xk_proto_icmp, xk_proto_tcp;

struct tf_app tf_app;

/* ---- the double above --------------------------------------------------------------- */

static void app_greet(struct xk_sess *lls)
{
	struct tf_app *a = &tf_app;
	struct xk_msg *m = a->greet != NULL ? pf_msg(a->greet, (uint32_t)strlen(a->greet)) : NULL;

	if (m != NULL)
		xk_push(lls, m);
	if (m != NULL && a->greet_all)
		xk_sess_control(lls, XK_STREAM_SHUTDOWN, NULL, 0);
}

static int app_control(struct xk_rep *r, unsigned op, void *buf, unsigned len)
{
	const struct xk_stream_event *e = buf;
	struct tf_app *a = &tf_app;

	(void)r;
	if (op != XK_CTL_STREAM_EVENT || len < sizeof *e)
		return XK_E_NOTSUP;
	if (a->nevents < TF_EVENTS) {
		a->event[a->nevents].what = e->what;
		a->event[a->nevents].err = e->err;
		a->event[a->nevents++].s = e->s;
	}
	if (e->what == XK_STREAM_OPENED)
		app_greet(e->s);
	if (a->close_in_event)
		xk_close(e->s);
	return 0;
}

static int app_open_done(struct xk_rep *r, struct xk_sess *lls, struct xk_node *type)
{
	struct tf_app *a = &tf_app;

	(void)r;
	(void)type;
	a->open_dones++;
	if (a->answer < 0)
		return a->answer;
	if (a->keep && a->nkept < a->keep_most)
		a->kept[a->nkept++] = xk_dup(lls);
	app_greet(lls);
	return 0;
}

static void app_close_done(struct xk_rep *r, struct xk_sess *lls)
{
	(void)r;
	tf_app.close_dones++;
	if (tf_app.close_at_end)
		xk_close(lls);
}

static void app_demux(struct xk_up *up, struct xk_sess *lls, struct xk_msg *m)
{
	(void)up;
	(void)lls;
	if (tf_app.ngot + m->tot <= sizeof tf_app.got)
		xk_msg_copy_out(m, 0, tf_app.got + tf_app.ngot, m->tot);
	tf_app.ngot += m->tot;
	xk_msg_free(m);
}

static const struct xk_proto *app(void)
{
	static const struct xk_ops ops = {
		.open_done = app_open_done, .close_done = app_close_done, .demux = app_demux, .control = app_control,
	};
	static struct xk_proto p;

	p = pf_upper;
	p.ops = &ops;
	return &p;
}

unsigned tf_events(uint32_t what)
{
	unsigned n = 0;

	for (unsigned i = 0; i < tf_app.nevents; i++)
		n += tf_app.event[i].what == what;
	return n;
}

/* ---- the graph ------------------------------------------------------------------------- */

bool tf_up_try(struct pf *f, const struct tf_conf *c)
{
	char ip[256];
	const struct pf_spec specs[] = {
		{ &pf_hostlink, "hl", NULL, c->hl },
		{ &xk_proto_ip, "ip", "hl", ip },
		{ &xk_proto_icmp, "icmp", "ip", NULL },
		{ &xk_proto_tcp, "tcp", "ip", c->tcp },
		{ app(), "app", "tcp", "enable=false" },
		{ NULL, NULL, NULL, NULL },
	};

	snprintf(ip, sizeof ip, "addr=10.0.0.1/8; %s", c->ip ? c->ip : "");
	memset(&tf_app, 0, sizeof tf_app);
	tf_app.keep = true;
	tf_app.keep_most = 4;
	if (!pf_up_try(f, c->nvps ? c->nvps : 1, specs))
		return false;
	pf_settle(f);
	return true;
}

void tf_up(struct pf *f, const struct tf_conf *c)
{
	if (tf_up_try(f, c))
		return;
	for (unsigned i = 0; i < xk_errs_count(f->errs); i++)
		fprintf(stderr, "# %s\n", xk_errs_text(f->errs, i, NULL, NULL, NULL));
	xk_panic(__FILE__, __LINE__, "the host does not come up");
}

void tf_up1(struct pf *f, const char *tcp)
{
	tf_up(f, &(struct tf_conf){ .tcp = tcp });
}

void tf_listen(struct pf *f)
{
	xk_assert(nf_enable(f, "app", true, TF_PORT, 0) == XK_OK);
}

void tf_down(struct pf *f)
{
	if (f->g != NULL)
		xk_open_disable_all(pf_node(f, "app"), pf_node(f, "tcp"));
	pf_down(f);
}

/* ---- segments in --------------------------------------------------------------------------- */

uint32_t tf_datagram(uint8_t *out, const struct tf_seg *s)
{
	struct nf_ip h = { .src = s->src ? s->src : NF_PEER, .dst = s->dst ? s->dst : NF_US, .proto = 6 };
	uint32_t hlen = 20 + s->nopt, n = hlen + s->len;
	uint8_t *t = out + 20;

	memset(t, 0, 20);
	xk_put_be16(t, s->sport ? s->sport : TF_PEER_PORT);
	xk_put_be16(t + 2, s->dport ? s->dport : TF_PORT);
	xk_put_be32(t + 4, s->seq);
	xk_put_be32(t + 8, s->ack);
	xk_put_be16(t + 12, (uint16_t)(hlen / 4 << 12 | s->flags));
	xk_put_be16(t + 14, s->wnd ? s->wnd : 65535);
	xk_put_be16(t + 18, s->urp);
	if (s->nopt != 0)
		memcpy(t + 20, s->opt, s->nopt);
	if (s->len != 0)
		memcpy(t + hlen, s->data, s->len);
	xk_put_be16(t + 16, nf_sum(t, n, nf_pseudo(h.src, h.dst, 6, n)));
	return nf_ip(out, &h, t, n);
}

void tf_in_vp(struct pf *f, unsigned vp, const struct tf_seg *s)
{
	static uint8_t d[70000];

	nf_in(f, vp, d, tf_datagram(d, s));
}

void tf_in(struct pf *f, const struct tf_seg *s)
{
	tf_in_vp(f, 0, s);
}

uint32_t tf_ts_opts(uint8_t *p, uint32_t tsval, uint32_t tsecr)
{
	static const uint8_t head[4] = { 1, 1, 8, 10 };

	memcpy(p, head, 4);
	xk_put_be32(p + 4, tsval);
	xk_put_be32(p + 8, tsecr);
	return 12;
}

uint32_t tf_syn_opts(uint8_t *p, unsigned mss, bool sackok, const uint32_t *tsval, int wscale)
{
	uint32_t n = 0;

	p[n++] = 2;
	p[n++] = 4;
	p[n++] = (uint8_t)(mss >> 8);
	p[n++] = (uint8_t)mss;
	if (tsval != NULL)
		n += tf_ts_opts(p + n, *tsval, 0);
	if (wscale >= 0) {
		p[n++] = 1;
		p[n++] = 3;
		p[n++] = 3;
		p[n++] = (uint8_t)wscale;
	}
	if (sackok) {
		p[n++] = 1;
		p[n++] = 1;
		p[n++] = 4;
		p[n++] = 2;
	}
	return n;
}

/* ---- segments out ---------------------------------------------------------------------------- */

unsigned tf_nout(struct pf *f)
{
	return nf_nsent(f);
}

static void read_options(struct tf_out *o, const uint8_t *p, uint32_t n)
{
	for (uint32_t i = 0; i < n && p[i] != 0;) {
		if (p[i] == 1) {
			i++;
			continue;
		}
		CU_ASSERT_FATAL(i + 1 < n && p[i + 1] >= 2 && i + p[i + 1] <= n);
		switch (p[i]) {
		case 2: o->mss = xk_be16(p + i + 2); break;
		case 3: o->wscale = p[i + 2]; break;
		case 4: o->sackok = true; break;
		case 8:
			o->ts = true;
			o->tsval = xk_be32(p + i + 2);
			o->tsecr = xk_be32(p + i + 6);
			break;
		}
		i += p[i + 1];
	}
}

struct tf_out tf_out(struct pf *f, int i)
{
	struct tf_out o = { .mss = -1, .wscale = -1 };
	const uint8_t *t, *ip;
	uint32_t n, hlen;

	CU_ASSERT_FATAL(tf_nout(f) > (i < 0 ? 0 : (unsigned)i));
	t = nf_sent(f, i < 0 ? tf_nout(f) - 1 : (unsigned)i, &n);
	ip = t - 20;
	CU_ASSERT_EQUAL_FATAL(ip[9], 6);
	o.src = xk_be32(ip + 12);
	o.dst = xk_be32(ip + 16);
	CU_ASSERT_EQUAL(nf_sum(t, n, nf_pseudo(o.src, o.dst, 6, n)), 0);
	o.sport = xk_be16(t);
	o.dport = xk_be16(t + 2);
	o.seq = xk_be32(t + 4);
	o.ack = xk_be32(t + 8);
	hlen = (uint32_t)(t[12] >> 4) * 4;
	CU_ASSERT_FATAL(hlen >= 20 && hlen <= n);
	o.flags = xk_be16(t + 12) & 0x1ff;
	o.wnd = xk_be16(t + 14);
	o.urp = xk_be16(t + 18);
	o.nopt = hlen - 20;
	read_options(&o, t + 20, o.nopt);
	o.data = t + hlen;
	o.len = n - hlen;
	return o;
}

void tf_forget(struct pf *f)
{
	pf_forget(f, "hl");
}

/* ---- as the application ------------------------------------------------------------------------- */

struct xk_sess *tf_open(struct pf *f, uint16_t rport, uint16_t lport, int *err)
{
	return nf_open(f, "app", 0, NF_PEER, rport, 0, lport, err);
}

struct xk_sess *tf_accept(struct pf *f, uint16_t sport, struct tf_out *synack)
{
	unsigned had = tf_app.nkept;
	struct tf_out o;

	tf_in(f, &(struct tf_seg){ .sport = sport, .seq = 1000, .flags = TCP_SYN });
	o = tf_out(f, -1);
	CU_ASSERT_EQUAL_FATAL(o.flags & (TCP_SYN | TCP_ACK), TCP_SYN | TCP_ACK);
	CU_ASSERT_EQUAL(o.ack, 1001);
	tf_in(f, &(struct tf_seg){ .sport = sport, .seq = 1001, .ack = o.seq + 1, .flags = TCP_ACK });
	CU_ASSERT_EQUAL_FATAL(tf_app.nkept, had + 1);
	if (synack != NULL)
		*synack = o;
	return tf_app.kept[had];
}

struct xk_sess *tf_up_accepted(struct pf *f, const char *tcp, struct tf_out *synack)
{
	struct xk_sess *s;

	tf_up1(f, tcp);
	tf_listen(f);
	s = tf_accept(f, TF_PEER_PORT, synack);
	CU_ASSERT_PTR_NOT_NULL_FATAL(s);
	tf_forget(f);
	return s;
}

struct xk_sess *tf_connect(struct pf *f, struct tf_out *syn)
{
	int err = 0;
	struct xk_sess *s = tf_open(f, TF_PEER_PORT, 0, &err);
	struct tf_out o;
	uint8_t opt[4];

	CU_ASSERT_PTR_NOT_NULL_FATAL(s);
	pf_settle(f);
	o = tf_out(f, -1);
	CU_ASSERT_EQUAL(o.flags & (TCP_SYN | TCP_ACK), TCP_SYN);
	tf_in(f, &(struct tf_seg){ .dport = o.sport, .sport = TF_PEER_PORT, .seq = 5000, .ack = o.seq + 1,
				   .flags = TCP_SYN | TCP_ACK, .opt = opt, .nopt = tf_syn_opts(opt, 1460, false, NULL, -1) });
	CU_ASSERT_EQUAL_FATAL(tf_state(s), TCP_S_ESTABLISHED);
	if (syn != NULL)
		*syn = o;
	return s;
}

void tf_push(struct pf *f, struct xk_sess *s, const void *bytes, uint32_t n)
{
	pf_push(f, 0, s, bytes, n);
}

int tf_control(struct pf *f, struct xk_sess *s, unsigned op, void *buf, unsigned len)
{
	int res;

	pf_enter(f, 0);
	res = xk_sess_control(s, op, buf, len);
	pf_leave(f, 0);
	pf_settle(f);
	return res;
}

void tf_close(struct pf *f, struct xk_sess *s)
{
	for (unsigned i = 0; i < tf_app.nkept; i++)
		if (tf_app.kept[i] == s)
			tf_app.kept[i] = tf_app.kept[--tf_app.nkept];
	pf_close(f, 0, s);
	pf_settle(f);
}

void tf_down_reset(struct pf *f, struct xk_sess *s)
{
	tf_control(f, s, XK_STREAM_ABORT, NULL, 0);
	tf_close(f, s);
	tf_down(f);
}

unsigned tf_state(const struct xk_sess *s)
{
	const struct tcp_sess *ts = (const struct tcp_sess *)(const void *)s;

	return tcp_is_compressed(ts) ? TCP_S_ESTABLISHED : tcp_cb(ts)->state;
}

uint32_t tf_states(struct pf *f, unsigned state)
{
	uint32_t n[TCP_S_COUNT] = { 0 };

	pf_enter(f, 0);
	CU_ASSERT_EQUAL(xk_control(pf_rep(f, "tcp", 0), TCP_CTL_STATES, n, sizeof n), (int)sizeof n);
	pf_leave(f, 0);
	return n[state];
}

void tf_only_drop(struct pf *f, const char *reason)
{
	if (pf_drops(f, "tcp", NULL) != 1 || pf_drops(f, "tcp", reason) != 1) {
		printf("# expected one drop '%s' of tcp, got %llu drops, %llu of them so\n", reason,
		       (unsigned long long)pf_drops(f, "tcp", NULL), (unsigned long long)pf_drops(f, "tcp", reason));
		CU_FAIL("another drop than expected");
	}
	for (unsigned vp = 0; vp < f->g->vps->nvps; vp++)
		memset(pf_rep(f, "tcp", vp)->drop, 0, sizeof pf_rep(f, "tcp", vp)->drop);
}
