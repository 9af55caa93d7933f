/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * test_plugin.c - protocols of a user's own get eager demultiplexing from their declarations.
 *
 * "wonder" is a network over Ethernet with a header of variable length, numbers the wrong way
 * round and addresses of 3 bytes; "chat" is above it, with channels of 1 byte.  Neither has a
 * line in the runtime.  Messages of sessions spread over four VPs all arrive at VP 0.
 * Invariant: a chat counts a message on the session that its bytes name.
 */
#include "protocols/eth/eth.h"
#include "runtime/base/xk_bytes.h"
#include "runtime/upi/xk_graph.h"
#include "runtime/upi/xk_inline.h"
#include "runtime/upi/xk_input.h"
#include "runtime/upi/xk_part.h"
#include "tests/protocols/proto_fixture.h"
#include "tests/support/xk_test.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NVPS     4u
#define CHATS    48u
#define WONDER   0x88b5u         /* for experiments (IEEE 802) */
#define CHAT     0x0107u

/* ---- wonder ------------------------------------------------------------------------------ */

/* magic and version, length in pairs of bytes, who is above (little endian), source, destination */
#define WONDER_MIN 10u
static const struct xk_demux_field wonder_fields[] = {
	{ .role = XK_DX_GUARD, .width = 1, .off = 0, .mask = 0xf0, .value = 0xa0 },
	{ .role = XK_DX_HLEN, .width = 1, .off = 1, .mask = 0x3f, .value = 2 },
	{ .role = XK_DX_SELECT | XK_DX_LITTLE, .width = 2, .off = 2 },
	{ .role = XK_DX_REMOTE, .width = 3, .off = 4 },
	{ .role = XK_DX_LOCAL, .width = 3, .off = 7 },
	{ .role = XK_DX_END }
};
static const struct xk_demux wonder_decl = { .need = WONDER_MIN, .field = wonder_fields };
static const struct xk_number wonder_numbers[] = { { "link", WONDER }, { NULL, 0 } };

static struct xk_node *chat_node;

static int wonder_start(struct xk_node *n, struct xk_errs *e)
{
	struct xk_parts ps;

	(void)e;
	xk_parts_init(&ps, 0);
	return xk_open_enable(n, n, n->down[0], &ps);
}

static void wonder_stop(struct xk_node *n)
{
	xk_open_disable_all(n, n->down[0]);
}

/* Notes where the header began: chats have the addresses in their key. */
static void wonder_demux(struct xk_up *up, struct xk_sess *lls, struct xk_msg *m)
{
	struct xk_rep *above = chat_node->rep[up->rep->vp->no];
	uint8_t *h = xk_msg_peek(&m, WONDER_MIN);
	uint32_t len = h != NULL ? (h[1] & 0x3fu) * 2 : 0;

	if (h == NULL || h[0] >> 4 != 0xa || len < WONDER_MIN || len > m->len || (h[2] | h[3] << 8) != CHAT) {
		xk_drop(up->rep, XK_DROP_FIRST, m);
		return;
	}
	xk_msg_set_net(m, h);
	xk_msg_pop(m, len);
	above->up.demux(&above->up, lls, m);
}

static const char *const wonder_drops[] = { "bad_header", NULL };
static const struct xk_ops wonder_ops = { .start = wonder_start, .stop = wonder_stop, .demux = wonder_demux };
static const struct xk_proto wonder = {
	.abi = XK_ABI, .size = sizeof(struct xk_proto), .name = "wonder", .doc = "a network of a user's own",
	.ops = &wonder_ops, .offers = "wonders", .needs = { "link" }, .min_down = 1, .max_down = 1,
	.numbers = wonder_numbers, .drops = wonder_drops, .demux = &wonder_decl,
};

/* ---- chat ---------------------------------------------------------------------------------- */

/* from channel, to channel */
static const struct xk_demux_field chat_fields[] = {
	{ .role = XK_DX_REMOTE, .width = 1, .off = 0 }, { .role = XK_DX_LOCAL, .width = 1, .off = 1 }, { .role = XK_DX_END }
};
static const struct xk_demux chat_decl = { .need = 2, .field = chat_fields };
static const struct xk_number chat_numbers[] = { { "wonders", CHAT }, { NULL, 0 } };

struct chat_sess { struct xk_sess s; unsigned got; };
struct chat_rep { unsigned strangers; };
enum { CHAT_REROUTED };

/* Both ends' bytes in the order in which the headers have them, as one key. */
static struct xk_key chat_key(const uint8_t remote[4], const uint8_t local[4])
{
	return (struct xk_key){ { xk_raw32(remote) | (uint64_t)xk_raw32(local) << 32, 0 } };
}

static void chat_ends(const struct xk_msg *m, uint8_t remote[4], uint8_t local[4])
{
	const uint8_t *net = xk_msg_net(m);

	memcpy(remote, net + 4, 3);
	memcpy(local, net + 7, 3);
	remote[3] = m->data[0];
	local[3] = m->data[1];
}

static void chat_input(struct xk_rep *r, struct xk_sess *lls, struct xk_msg *m, bool entered)
{
	uint8_t remote[4], local[4];
	struct xk_flowkey f;
	struct xk_sess *s;
	struct xk_key k;

	chat_ends(m, remote, local);
	k = chat_key(remote, local);
	s = xk_find(r, m, &k);
	if (s != NULL) {
		xk_pop(s, lls, m, NULL);
		return;
	}
	/* Where no device decides about chats, they live where they arrive. */
	if (!entered && xk_node_flowkey(r->node, remote, 4, local, 4, &f) == XK_OK && xk_reroute(r, &f, m)) {
		xk_count(r->count[CHAT_REROUTED]);
		return;
	}
	((struct chat_rep *)r->state)->strangers++;
	xk_msg_free(m);
}

static void chat_demux(struct xk_up *up, struct xk_sess *lls, struct xk_msg *m)
{
	if (m->len < 2)
		xk_drop(up->rep, XK_DROP_FIRST, m);
	else
		chat_input(up->rep, lls, m, false);
}

static void chat_enter(struct xk_rep *r, struct xk_msg *m)
{
	chat_input(r, NULL, m, true);
}

static void chat_pop(struct xk_sess *s, struct xk_sess *lls, struct xk_msg *m, void *hdr)
{
	(void)lls;
	(void)hdr;
	((struct chat_sess *)s)->got++;
	xk_msg_free(m);
}

static void chat_close(struct xk_sess *s)
{
	xk_sess_destroy(s);
}

static const char *const chat_drops[] = { "short", NULL };
static const char *const chat_counts[] = { "rerouted", NULL };
static const struct xk_ops chat_ops = { .demux = chat_demux, .enter = chat_enter, .pop = chat_pop, .close = chat_close };
static const struct xk_proto chat = {
	.abi = XK_ABI, .size = sizeof(struct xk_proto), .name = "chat", .doc = "channels over a network of a user's own",
	.ops = &chat_ops, .needs = { "wonders" }, .min_down = 1, .max_down = 1, .numbers = chat_numbers,
	.rep_size = sizeof(struct chat_rep), .sess_size = sizeof(struct chat_sess),
	.drops = chat_drops, .counts = chat_counts, .demux = &chat_decl,
};

/* ---- the graph --------------------------------------------------------------------------------- */

static struct pf f;
static struct chat_sess *session[CHATS];

static void up(const char *kind)
{
	char conf[64];
	const struct pf_spec g[] = {
		{ &pf_driver, "d", NULL, conf }, { &xk_proto_eth, "e", "d", NULL }, { &wonder, "w", "e", NULL },
		{ &chat, "c", "w", NULL }, { NULL, NULL, NULL, NULL } };

	snprintf(conf, sizeof conf, "link=eth; classifier=%s", kind);
	pf_up(&f, NVPS, g);
	chat_node = pf_node(&f, "c");
}

static void ends_of(unsigned i, uint8_t remote[4], uint8_t local[4])
{
	const uint8_t r[4] = { 10, (uint8_t)(i / 7), (uint8_t)(i * 37), (uint8_t)(i * 3) }, l[4] = { 1, 2, 3, (uint8_t)(i & 3) };

	memcpy(remote, r, 4);
	memcpy(local, l, 4);
}

static void open_one(unsigned i)
{
	struct xk_rep *r = pf_rep(&f, "c", i % NVPS);
	uint8_t remote[4], local[4];
	struct xk_flowkey k;
	struct xk_key key;

	ends_of(i, remote, local);
	key = chat_key(remote, local);
	pf_enter(&f, i % NVPS);
	session[i] = (struct chat_sess *)xk_sess_create(r, &r->up, r->node, NULL);
	CU_ASSERT_PTR_NOT_NULL_FATAL(session[i]);
	xk_dup(&session[i]->s);
	CU_ASSERT_EQUAL(xk_sess_bind(&session[i]->s, &key), XK_OK);
	CU_ASSERT_EQUAL(xk_node_flowkey(r->node, remote, 4, local, 4, &k), XK_OK);
	CU_ASSERT_EQUAL(xk_sess_announce(&session[i]->s, &k), XK_OK);
	CU_ASSERT(xk_sess_reply_comes_home(&session[i]->s));
	pf_leave(&f, i % NVPS);
}

static void close_all(void)
{
	for (unsigned i = 0; i < CHATS; i++) {
		pf_enter(&f, i % NVPS);
		xk_close(&session[i]->s);
		pf_leave(&f, i % NVPS);
	}
}

/* A frame of conversation i with `more` pairs of bytes of options, and 20 of text; returns its length. */
static unsigned frame_of(unsigned i, unsigned more, uint8_t *b)
{
	static const uint8_t ends[12] = { 2, 0, 0, 0, 0, 1, 2, 0, 0, 0, 0, 9 };
	unsigned len = WONDER_MIN + 2 * more;
	uint8_t remote[4], local[4], *h = b + 14;

	memset(b, 0, 14 + len + 20);
	memcpy(b, ends, sizeof ends);
	ends_of(i, remote, local);
	xk_put_be16(b + 12, WONDER);
	h[0] = 0xa0 | (i & 15);
	h[1] = (uint8_t)(0x40 | len / 2);
	h[2] = CHAT & 0xff;
	h[3] = CHAT >> 8;
	memcpy(h + 4, remote, 3);
	memcpy(h + 7, local, 3);
	h[len] = remote[3];
	h[len + 1] = local[3];
	return 14 + len + 20;
}

static void say(unsigned i, unsigned more)
{
	uint8_t b[128];

	pf_inject(&f, "d", 0, b, frame_of(i, more, b));
}

static unsigned strangers(void)
{
	unsigned n = 0;

	for (unsigned vp = 0; vp < NVPS; vp++)
		n += ((struct chat_rep *)pf_rep(&f, "c", vp)->state)->strangers;
	return n;
}

static uint64_t wrong_vps(void)
{
	uint64_t n = 0;

	for (unsigned vp = 0; vp < NVPS; vp++)
		n += f.g->vps->vp[vp]->wrong_vp;
	return n;
}

/* ---- tests ------------------------------------------------------------------------------------- */

static void talk(const char *kind)
{
	for (unsigned i = 0; i < CHATS; i++)
		open_one(i);
	for (unsigned more = 0; more < 6; more++)
		for (unsigned i = 0; i < CHATS; i++)
			say(i, more);
	for (unsigned i = 0; i < CHATS; i++)
		CU_ASSERT_EQUAL(session[i]->got, 6);
	CU_ASSERT_EQUAL(strangers(), 0);
	CU_ASSERT_EQUAL(wrong_vps(), 0);
	printf("# %s: %u messages, %llu handed over late\n", kind, 6 * CHATS,
	       (unsigned long long)pf_count(&f, "c", "rerouted"));
}

static void every_message_comes_to_its_sessions_vp(void)
{
	for (unsigned b = 0; xk_classifier_table[b] != NULL; b++) {
		const char *kind = xk_classifier_table[b]->name;

		up(kind);
		talk(kind);
		/* Eager: nothing is left to the protocol.  Late: all that is not VP 0's. */
		CU_ASSERT_EQUAL(pf_count(&f, "c", "rerouted"), strcmp(kind, "none") == 0 ? 6 * CHATS * (NVPS - 1) / NVPS : 0);
		close_all();
		CU_ASSERT_EQUAL(xk_flowtab_count(f.g->flows), 0);
		pf_down(&f);
	}
}

/* What no driver does: a message of a connection of VP 1 with its handle, at VP 0.  It is counted, and
 * finds its way by its bytes. */
static void a_message_at_a_wrong_vp_is_counted_and_comes_home(void)
{
	struct xk_msg *m;

	up("native");
	open_one(0);
	open_one(1);
	pf_enter(&f, 0);
	m = xk_msg_new(14 + WONDER_MIN + 20);
	CU_ASSERT_PTR_NOT_NULL_FATAL(m);
	frame_of(1, 0, m->data);
	m->vp = 0;
	m->u.v.flow = session[1]->s.flow;
	m->u.v.gen = ((struct xk_flow *)xk_slab_ptr(session[1]->s.flow))->gen;
	xk_input_enter(pf_rep(&f, "d", 0), m);
	pf_leave(&f, 0);
	pf_run(&f, XK_MS);
	CU_ASSERT_EQUAL(f.g->vps->vp[0]->wrong_vp, 1);
	CU_ASSERT_EQUAL(wrong_vps(), 1);
	CU_ASSERT_EQUAL(session[1]->got, 1);
	CU_ASSERT_EQUAL(session[0]->got, 0);
	say(1, 0);
	CU_ASSERT_EQUAL(wrong_vps(), 1);
	f.g->vps->vp[0]->wrong_vp = 0;           /* the end of a graph complains of any */
	CU_ASSERT_EQUAL(session[1]->got, 2);
	for (unsigned i = 0; i < 2; i++) {
		pf_enter(&f, i);
		xk_close(&session[i]->s);
		pf_leave(&f, i);
	}
	pf_down(&f);
}

static void what_nobody_announced_is_spread_by_its_hash(void)
{
	unsigned used = 0;

	up("native");
	for (unsigned i = 0; i < 200; i++)
		say(i, 1);
	CU_ASSERT_EQUAL(strangers(), 200);
	CU_ASSERT_EQUAL(pf_count(&f, "c", "rerouted"), 0);
	for (unsigned vp = 0; vp < NVPS; vp++)
		used += ((struct chat_rep *)pf_rep(&f, "c", vp)->state)->strangers > 20;
	CU_ASSERT_EQUAL(used, NVPS);
	pf_down(&f);
}

static void a_key_needs_the_bytes_that_were_declared(void)
{
	struct xk_flowkey k;

	up("native");
	CU_ASSERT_EQUAL(xk_node_flowkey(chat_node, "abcd", 4, "efg", 3, &k), XK_E_INVAL);
	CU_ASSERT_EQUAL(xk_node_flowkey(chat_node, "abcdefg", 7, "efgh", 4, &k), XK_E_INVAL);
	CU_ASSERT_EQUAL(xk_node_flowkey(pf_node(&f, "d"), "abcd", 4, "efgh", 4, &k), XK_E_NOENT);
	CU_ASSERT_EQUAL(xk_node_flowkey(chat_node, "abcd", 4, "efgh", 4, &k), XK_OK);
	CU_ASSERT_EQUAL(memcmp(&k, "abcdefgh", 8), 0);
	pf_down(&f);
}

/* ---- what is refused ------------------------------------------------------------------------------ */

static void refused_with(const struct xk_proto *p, const char *want)
{
	const struct pf_spec g[] = {
		{ &pf_driver, "d", NULL, "link=eth" }, { &xk_proto_eth, "e", "d", NULL }, { p, "w", "e", NULL },
		{ NULL, NULL, NULL, NULL } };
	const char *file;
	int line, col;

	CU_ASSERT_FALSE(pf_up_try(&f, 2, g));
	CU_ASSERT_EQUAL_FATAL(xk_errs_count(f.errs), 1);
	CU_ASSERT_STRING_EQUAL(xk_errs_text(f.errs, 0, &file, &line, &col), want);
	pf_down(&f);
}

static void contradictions_are_errors_at_their_node(void)
{
	static const struct xk_demux_field twice[] = {
		{ .role = XK_DX_GUARD, .width = 1, .off = 0, .value = 1 }, { .role = XK_DX_GUARD, .width = 1, .off = 0, .value = 2 },
		{ .role = XK_DX_END } };
	static const struct xk_demux twice_decl = { .need = 4, .field = twice };
	static const struct xk_demux_field behind[] = { { .role = XK_DX_SELECT, .width = 2, .off = 3 }, { .role = XK_DX_END } };
	static const struct xk_demux behind_decl = { .need = 4, .field = behind };
	struct xk_proto p = wonder;

	p.demux = &twice_decl;
	refused_with(&p, "w (wonder): two guards at byte 0 that can't both hold");
	p.demux = &behind_decl;
	refused_with(&p, "w (wonder): a field at byte 3 ends behind the 4 bytes that must be there");
}

static void what_cannot_be_composed_runs_all_the_same(void)
{
	static const struct xk_demux_field wide[] = {
		{ .role = XK_DX_REMOTE, .width = 6, .off = 0 }, { .role = XK_DX_REMOTE, .width = 2, .off = 6 },
		{ .role = XK_DX_END } };
	static const struct xk_demux wide_decl = { .need = 8, .field = wide };
	struct xk_proto p = wonder;
	const struct pf_spec g[] = {
		{ &pf_driver, "d", NULL, "link=eth" }, { &xk_proto_eth, "e", "d", NULL }, { &p, "w", "e", NULL },
		{ &chat, "c", "w", NULL }, { NULL, NULL, NULL, NULL } };

	p.demux = &wide_decl;
	pf_up(&f, NVPS, g);              /* a warning says so */
	chat_node = pf_node(&f, "c");
	CU_ASSERT_EQUAL(pf_node(&f, "d")->pattern->ncell, 1);
	for (unsigned i = 0; i < 20; i++)
		say(i, 0);
	CU_ASSERT_EQUAL(((struct chat_rep *)pf_rep(&f, "c", 0)->state)->strangers, 20);
	pf_down(&f);
}

static CU_TestInfo tests[] = {
	{ "every message comes to its session's VP", every_message_comes_to_its_sessions_vp },
	{ "a message at a wrong VP is counted and comes home", a_message_at_a_wrong_vp_is_counted_and_comes_home },
	{ "what nobody announced is spread by its hash", what_nobody_announced_is_spread_by_its_hash },
	{ "a key needs the bytes that were declared", a_key_needs_the_bytes_that_were_declared },
	{ "contradictions are errors at their node", contradictions_are_errors_at_their_node },
	{ "what cannot be composed runs all the same", what_cannot_be_composed_runs_all_the_same },
	CU_TEST_INFO_NULL,
};

static CU_SuiteInfo suites[] = {
	{ "plugin", NULL, NULL, NULL, NULL, tests },
	CU_SUITE_INFO_NULL,
};

int main(void)
{
	return xk_test_main(suites);
}
