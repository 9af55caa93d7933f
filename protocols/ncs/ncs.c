/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * ncs.c - message passing with a choice of flow and error control per connection: opening and
 * closing from above, control, and the descriptor (Park, Lee, Hariri 1998; docs/ncs.md).
 *
 * It lies over a port or a stream and offers a port: a connection of ncs is a session, known by the peer's host and
 * a service's port there.  Control connections, and streams, go to `port`, data connections to the next one.
 * Invariant: sessions are peers, bound under what is below them, or connections, under their number.
 */
#include "protocols/ncs/ncs_priv.h"

#include "runtime/base/xk_errs.h"
#include "runtime/mem/xk_alloc.h"
#include "runtime/upi/xk_enable.h"
#include "runtime/upi/xk_gives.h"
#include "runtime/upi/xk_part.h"
#include "runtime/upi/xk_review.h"
#include "runtime/upi/xk_secret.h"
#include "runtime/upi/xk_stream.h"
#include "runtime/upi/xk_thread.h"
#include "runtime/vp/xk_task.h"

#include <stdio.h>
#include <string.h>

/* ---- opening ------------------------------------------------------------------------------------- */

/* What is left to each connection. */
static int choose(struct xk_rep *r, struct xk_sess *lls, const struct ncs_peer *p, struct ncs_choice *c)
{
	uint32_t most, head = NCS_HDR_LEN + (p->needs_sum ? NCS_SUM_LEN : 0);

	c->agreed.start = (uint32_t)xk_vp_secret(r->vp);
	if (p->stream) {
		c->agreed.sdu = ncs_conf(r)->sdu != 0 ? (uint32_t)ncs_conf(r)->sdu : NCS_STREAM_SDU;
		return XK_OK;
	}
	if (xk_sess_control(lls, XK_CTL_GETOPTPACKET, &most, sizeof most) != (int)sizeof most || most <= head)
		return XK_E_MSGSIZE;
	c->agreed.sdu = ncs_conf(r)->sdu != 0 ? (uint32_t)ncs_conf(r)->sdu : most - head;
	if (c->agreed.sdu < NCS_SDU_LEAST)       /* of an interface with short frames */
		c->agreed.sdu = NCS_SDU_LEAST;
	if (xk_sess_control(lls, XK_CTL_GETMAXPACKET, &most, sizeof most) != (int)sizeof most ||
	    c->agreed.sdu > most - head)
		return XK_E_MSGSIZE;
	return XK_OK;
}

static struct xk_sess *ncs_open(struct xk_rep *r, struct xk_rep *rcv, struct xk_node *type, struct xk_parts *ps,
				int *err)
{
	struct ncs_pick pick = { 0, 0, 0 };
	uint8_t hello[NCS_HELLO_LEN] = { 0 };
	bool has_hello;
	struct ncs_choice choice;
	struct ncs_sess *peer, *s;
	struct xk_sess *lls;
	struct xk_rep *over;
	uint32_t host;
	uint16_t service;

	*err = XK_E_INVAL;
	if (ps->n > XK_LOCAL)
		(void)xk_part_pop(&ps->p[XK_LOCAL], &pick, sizeof pick);
	has_hello = ps->n > XK_LOCAL && xk_part_pop(&ps->p[XK_LOCAL], hello, sizeof hello) == XK_OK;
	over = ncs_picked(r, &pick, &choice);
	if (over == NULL || ps->n == 0 || xk_part_pop_port(&ps->p[XK_REMOTE], &service) != XK_OK || service == 0 ||
	    xk_part_pop_host(&ps->p[XK_REMOTE], &host) != XK_OK)
		return NULL;
	peer = ncs_peer_to(r, over, host, err);
	if (peer == NULL)
		return NULL;
	ncs_peer_enter(peer);
	s = NULL;
	lls = peer->peer.stream ? xk_dup(peer->s.down) :
	      ncs_open_below(r, over, host, (uint16_t)(ncs_peer_port(r) + 1), 0, err);
	if (lls != NULL)
		*err = choose(r, lls, &peer->peer, &choice);
	if (lls != NULL && *err == XK_OK)
		s = ncs_conn_new(r, &rcv->up, type, peer, lls, &choice, err);
	else if (lls != NULL)
		xk_close(lls);
	if (s != NULL) {
		s->conn.service = service;
		s->conn.sums = peer->peer.needs_sum;
		s->conn.has_hello = has_hello;
		memcpy(s->conn.hello, hello, sizeof hello);
		ncs_conn_ask(&s->conn);
	} else {
		peer->peer.done = true;
	}
	ncs_peer_leave(peer);
	return s != NULL ? &s->s : NULL;
}

static int enable_key(struct xk_parts *ps, struct xk_key *k)
{
	uint16_t port;

	if (ps->n == 0 || xk_part_pop_port(&ps->p[0], &port) != XK_OK || port == 0)
		return XK_E_INVAL;
	*k = (struct xk_key){ { port, 0 } };
	return XK_OK;
}

static int ncs_open_enable(struct xk_node *n, struct xk_node *rcv, struct xk_node *type, struct xk_parts *ps)
{
	struct xk_key k;
	int err = enable_key(ps, &k);

	return err == XK_OK ? xk_enable_bind(n, &k, rcv, type) : err;
}

static int ncs_open_disable(struct xk_node *n, struct xk_node *rcv, struct xk_node *type, struct xk_parts *ps)
{
	struct xk_key k;
	int err = enable_key(ps, &k);

	return err == XK_OK ? xk_enable_unbind(n, &k, rcv, type) : err;
}

/* A peer's control connection. */
static int ncs_open_done(struct xk_rep *r, struct xk_sess *lls, struct xk_node *type)
{
	(void)type;
	return ncs_peer_over(r, lls);
}

static void ncs_close(struct xk_sess *s)
{
	if (!ncs_sess(s)->is_peer)
		ncs_conn_let_go(&ncs_sess(s)->conn);
}

/* What is below a session of ours comes up to that.  A peer that was idle and made room comes again. */
static void ncs_demux(struct xk_up *up, struct xk_sess *lls, struct xk_msg *m)
{
	struct xk_rep *r = up->rep;
	uint16_t port;

	if (!ncs_is_stream(lls->rep) && xk_sess_control(lls, XK_CTL_GETMYPORT, &port, sizeof port) == (int)sizeof port &&
	    port == ncs_conf(r)->port && ncs_peer_over(r, lls) == XK_OK)
		ncs_self_demux(lls->up, lls, m);
	else
		xk_drop(r, NCS_DROP_STRAY, m);
}

/* ---- control --------------------------------------------------------------------------------------- */

static int ncs_sess_control(struct xk_sess *s, unsigned op, void *buf, unsigned len)
{
	const struct ncs_sess *ns = ncs_sess(s);
	struct ncs_about about;
	struct ncs_room room;

	switch (op) {
	case XK_CTL_GETMAXPACKET:
		return xk_answer32(buf, len, ncs_longest(&ns->conn));
	case XK_CTL_GETOPTPACKET:
		return xk_answer32(buf, len, ns->conn.choice.agreed.sdu);
	case XK_CTL_GETPEERPORT:
	case XK_CTL_GETMYPORT:
		return xk_answer(buf, len, ns->conn.passive == (op == XK_CTL_GETMYPORT) ? &ns->conn.service :
				 &(uint16_t){ 0 }, sizeof(uint16_t));
	case XK_CTL_GETPEERHOST:
	case XK_CTL_GETMYHOST:
		return xk_sess_control(s->down, op, buf, len);
	case NCS_CTL_AGREED:
		return xk_answer(buf, len, &ns->conn.choice, sizeof ns->conn.choice);
	case NCS_CTL_HELLO:
		return ns->conn.has_hello ? xk_answer(buf, len, ns->conn.hello, NCS_HELLO_LEN) : 0;
	case NCS_CTL_ROOM:
		room = (struct ncs_room){ ns->conn.queued, ncs_conf(s->rep)->queue, ns->conn.out.n,
					  ncs_notes_pending(&ns->conn.notes), ns->conn.choice.agreed.sdu,
					  ncs_longest(&ns->conn), ns->conn.unsent };
		return xk_answer(buf, len, &room, sizeof room);
	case NCS_CTL_NOTE:
		return len != NCS_NOTE_LEN ? XK_E_INVAL : ncs_conn_note(&ncs_sess(s)->conn, buf);
	case NCS_CTL_LONG:
		return len != sizeof(uint32_t) ? XK_E_INVAL : ncs_data_long(&ncs_sess(s)->conn, *(const uint32_t *)buf);
	case NCS_CTL_SDUS:
		ncs_sess(s)->conn.pieces = true;
		return xk_answer32(buf, len, NCS_SDU_BEFORE + (ns->conn.sums ? NCS_SUM_LEN : 0));
	case NCS_CTL_ABOUT:
		ncs_about(&ns->conn, &about);
		return xk_answer(buf, len, &about, sizeof about);
	case NCS_CTL_WATCH:
		ncs_sess(s)->conn.watched = true;
		return XK_OK;
	case NCS_CTL_ENDED:
		return xk_answer(buf, len, &ns->conn.ended, sizeof ns->conn.ended);
	case XK_CTL_HEADER_SUM:
		return XK_E_INVAL;               /* the sum of a message is of no use below */
	default:
		return XK_E_NOTSUP;
	}
}

static int ncs_control(struct xk_rep *r, unsigned op, void *buf, unsigned len)
{
	if (op == XK_CTL_STREAM_EVENT && len >= sizeof(struct xk_stream_event)) {
		ncs_stream_event(r, buf);
		return 0;
	}
	if (op == XK_CTL_GETMAXPACKET)
		return xk_answer32(buf, len, (uint32_t)ncs_conf(r)->message);
	if (op == NCS_CTL_JOB && len >= sizeof(struct ncs_job)) {
		ncs_job_is(r, buf);
		return 0;
	}
	if (op == NCS_CTL_PICK)
		return len < sizeof(struct ncs_names) ? XK_E_INVAL : ncs_pick_of(r, buf);
	return XK_E_NOTSUP;
}

/* ---- life --------------------------------------------------------------------------------------------- */

static int ncs_rep_start(struct xk_rep *r, struct xk_errs *e)
{
	struct ncs_rep *nr = ncs_rep(r);
	int whose = ncs_conf(r)->stages == NCS_STAGES_THREAD ? xk_own_threads(r->node, e) : XK_OWN_LAYER, err;

	if (whose < 0)
		return whose;
	nr->seams = whose == XK_OWN_USER ? &ncs_thread_seams : NULL;
	err = ncs_paths_start(r, e);
	if (err != XK_OK)
		return err;
	for (unsigned i = 0; nr->seams != NULL && i < xk_node_ndown(r->node); i++)
		if (ncs_is_stream(nr->path[i].over)) {
			xk_node_error(r->node, e, "stages have no threads over a stream ('%s'): SDUs and records share its "
				      "one queue", xk_node_name(nr->path[i].over->node));
			return XK_E_NOTSUP;
		}
	nr->epoch = (uint16_t)xk_vp_secret(r->vp);
	return ncs_key_start(r, e);
}

static int ncs_rep_init(struct xk_rep *r)
{
	ncs_rep(r)->r = r;
	ncs_rep(r)->log = xk_node_log(r->node);
	ncs_rep(r)->rank = NCS_NO_RANK;
	ncs_rep(r)->demux = ncs_self_demux;
	ncs_along_init(r);
	return XK_OK;
}

static int take_down(struct xk_mapnode *n, void *arg)
{
	struct ncs_sess *s = ncs_sess(xk_container_of(n, struct xk_sess, map));

	if (s->is_peer != *(bool *)arg)
		return XK_MAP_KEEP;
	if (s->is_peer)
		ncs_peer_free(s);
	else
		ncs_conn_destroy(&s->conn);
	return XK_MAP_KEEP;
}

static void ncs_rep_stop(struct xk_rep *r)
{
	bool peers = false;

	ncs_along_stop(r);
	xk_map_foreach(&r->active, take_down, &peers);
	peers = true;
	xk_map_foreach(&r->active, take_down, &peers);
}

static void ncs_rep_fini(struct xk_rep *r)
{
	xk_free(ncs_rep(r)->conn);
}

static int ncs_start(struct xk_node *n, struct xk_errs *e)
{
	const struct ncs_conf *c = xk_node_conf(n);
	struct xk_parts ps;
	int err = XK_OK;

	for (unsigned i = 0; i < xk_node_ndown(n) && err == XK_OK; i++) {
		xk_parts_init(&ps, 1);
		xk_part_push_port(&ps.p[0], c->port);
		err = xk_open_enable(n, n, xk_node_down(n, i), &ps);
		if (err != XK_OK)
			xk_node_error(n, e, "cannot wait on port %u of '%s': %s", c->port,
				      xk_node_name(xk_node_down(n, i)), xk_strerror(err));
	}
	return err;
}

static void ncs_stop(struct xk_node *n)
{
	for (unsigned i = 0; i < xk_node_ndown(n); i++)
		xk_open_disable_all(n, xk_node_down(n, i));
}

static int ncs_check(const void *conf, char *why, size_t n)
{
	const struct ncs_conf *c = conf;

	if (c->port == 65535 || c->peer_port == 65535)
		snprintf(why, n, "port 65535 leaves none for data, which is the next one");
	else if (c->sdu != 0 && c->sdu < NCS_SDU_LEAST)
		snprintf(why, n, "an SDU has at least %u bytes, got %llu", NCS_SDU_LEAST, (unsigned long long)c->sdu);
	else if (c->key != NULL && strlen(c->key) > NCS_KEY_LEN)
		snprintf(why, n, "a key has %u bytes at most, not %zu", NCS_KEY_LEN, strlen(c->key));
	else if (c->message > c->queue)
		snprintf(why, n, "a message of %llu bytes does not fit a queue of %llu", (unsigned long long)c->message,
			 (unsigned long long)c->queue);
	else
		return XK_OK;
	return XK_E_INVAL;
}

/* Does an SDU fit what `below` takes, where that is known? */
static void review_sdu(const struct xk_view *v, const struct xk_view *below, struct xk_review *r)
{
	const struct ncs_conf *c = v->conf;
	uint64_t sdu = c->sdu != 0 ? c->sdu : NCS_SDU_LEAST;
	uint32_t most;

	if (xk_view_ask(below, XK_CTL_GETMAXPACKET, &most, sizeof most) == (int)sizeof most && sdu + NCS_HDR_LEN > most)
		xk_review_fault(r, v, "sdu", "an SDU of %llu bytes and a header of %u do not fit %s, which takes %u",
				(unsigned long long)sdu, NCS_HDR_LEN, below->name, most);
}

static void ncs_review(const struct xk_view *v, struct xk_review *r)
{
	const struct ncs_conf *c = v->conf;

	for (unsigned i = 0, k; i < v->ndown; i++) {
		struct xk_claim claim = { .param = "port", .of = xk_view_base(v->down[i]), .what = "port",
					  .first = c->port };
		uint32_t gives = XK_GIVES_ALL;

		(void)xk_view_ask(v->down[i], XK_CTL_GIVES, &gives, sizeof gives);
		claim.n = gives & XK_GIVES_BOUNDARIES ? 2 : 1;
		for (k = 0; xk_view_base(v->down[k]) != claim.of; k++)
			;
		if (k != i)                      /* paths may share an interface */
			continue;
		xk_review_claim(r, v, &claim);
		review_sdu(v, claim.of, r);
	}
}

static const char *const ncs_congestion_words[] = {
	[NCS_CONGESTION_NONE] = "none", [NCS_CONGESTION_NEWRENO] = "newreno", NULL
};
static const char *const ncs_answers_words[] = { [NCS_ANSWERS_ALONG] = "along", [NCS_ANSWERS_APART] = "apart", NULL };
static const char *const ncs_check_words[] = { [NCS_CHECK_NONE] = "none", [NCS_CHECK_CRC32C] = "crc32c", NULL };
static const char *const ncs_accept_words[] = { [NCS_ACCEPT_ANY] = "any", [NCS_ACCEPT_OWN] = "own", NULL };
static const char *const stages[] = { "call", "thread", NULL };

#define AT(f) .offset = offsetof(struct ncs_conf, f)
static const struct xk_param ncs_params[] = {
	{ .name = "port", .type = XK_P_PORT, .def = "7700", .min = "1", AT(port),
	  .doc = "of control connections, here and at peers; the next one is for data" },
	{ .name = "peer_port", .type = XK_P_PORT, .def = "0", AT(peer_port),
	  .doc = "the same at peers; 0: as here" },
	{ .name = "sdu", .type = XK_P_SIZE, .def = "0", .max = "65483", AT(sdu),
	  .doc = "bytes of a message in one datagram, 512 at least; 0: as many as need no fragmentation" },
	{ .name = "message", .type = XK_P_SIZE, .def = "16MiB", .min = "1", .max = "1GiB", AT(message),
	  .doc = "longest message" },
	{ .name = "queue", .type = XK_P_SIZE, .def = "64MiB", .min = "1", .max = "4GiB", AT(queue),
	  .doc = "bytes of a connection that are pushed and not yet acknowledged; more is dropped" },
	{ .name = "give_up", .type = XK_P_TIME, .def = "10s", .min = "10ms", .max = "1h", AT(give_up),
	  .doc = "a peer that says nothing of use for so long although it should is lost" },
	{ .name = "connections", .type = XK_P_UINT, .def = "65536", .min = "1", .max = "1048576", AT(connections),
	  .doc = "most connections of a virtual processor" },
	{ .name = "peers", .type = XK_P_UINT, .def = "1024", .min = "1", .max = "65536", AT(peers),
	  .doc = "most control connections of a virtual processor that peers begin" },
	{ .name = "pool", .type = XK_P_SIZE, .def = "0", .max = "64GiB", AT(pool),
	  .doc = "bytes of receive buffers that a virtual processor's connections under credit share; 0: each grows alone" },
	{ .name = "congestion", .type = XK_P_ENUM, .choices = ncs_congestion_words, .def = "newreno", AT(congestion),
	  .doc = "window of error control over networks that others use; over others, and to 127/8, there is none" },
	{ .name = "answers", .type = XK_P_ENUM, .choices = ncs_answers_words, .def = "along", AT(answers),
	  .doc = "acknowledgements and credit: along with SDUs that leave anyway, where both ends have that, or apart from data" },
	{ .name = "check", .type = XK_P_ENUM, .choices = ncs_check_words, .def = "none", AT(check),
	  .doc = "sum of each SDU and of records, over interfaces that vouch for no byte" },
	{ .name = "accept", .type = XK_P_ENUM, .choices = ncs_accept_words, .def = "any", AT(accept),
	  .doc = "flow and error controls that peers may ask for: any there is, or those of this node's own paths" },
	{ .name = "key", .type = XK_P_TEXT, .def = "", AT(key),
	  .doc = "of the job, at most 32 bytes: who has not the same is not listened to; empty: VP_KEY of the environment, if any" },
	{ .name = "stages", .type = XK_P_ENUM, .def = "call", .choices = stages, AT(stages),
	  .doc = "error control, flow control, sending and receiving, and those of control connections: procedures that call "
		 "one another, or threads with queues between them" },
	{ .name = "times", .type = XK_P_BOOL, .def = "false", AT(times),
	  .doc = "threads of stages without flow and error control: read the clock at each step of a message that is sent; "
		 "counters *_ns, less what reading it takes" },
	XK_PARAM_END
};

#define NCS_TEXT(n, s) s,
static const char *const ncs_drops[] = { NCS_DROPS(NCS_TEXT) NULL };
/* ORDER ncs_state */
#define NCS_WHICH ", connection {n}, {n} of the peer"
static const char *const ncs_events[] = {
	"opening" NCS_WHICH, "established" NCS_WHICH, "draining" NCS_WHICH, "closing" NCS_WHICH, "gone" NCS_WHICH, NULL
};
static const char *const ncs_counts[] = { NCS_COUNTS(NCS_TEXT) NULL };

static const struct xk_ops ncs_ops = {
	.rep_init = ncs_rep_init, .rep_fini = ncs_rep_fini, .start = ncs_start, .stop = ncs_stop,
	.rep_start = ncs_rep_start, .rep_stop = ncs_rep_stop,
	.open = ncs_open, .open_enable = ncs_open_enable, .open_disable = ncs_open_disable,
	.open_disable_all = xk_enable_unbind_all, .open_done = ncs_open_done, .close_done = ncs_close_done,
	.demux = ncs_demux, .control = ncs_control,
	.push = ncs_push, .pop = ncs_pop, .close = ncs_close, .sess_control = ncs_sess_control,
};

const struct xk_proto xk_proto_ncs = {
	.abi = XK_ABI, .size = sizeof(struct xk_proto),
	.name = "ncs", .doc = "messages of any size, with flow and error control as each graph chooses",
	.ops = &ncs_ops, .offers = "port|messages", .needs = { "port|stream" }, .min_down = 1, .max_down = XK_DOWN_MAX,
	.params = ncs_params, .conf_size = sizeof(struct ncs_conf),
	.rep_size = sizeof(struct ncs_rep), .sess_size = sizeof(struct ncs_sess),
	.drops = ncs_drops, .counts = ncs_counts, .events = ncs_events, .check = ncs_check, .review = ncs_review,
};
