/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * test_hooks.c - hooks between nodes: nobody pays for none, messages meet them in the order of
 * their places, and they come and go while sessions live.
 */
#include <CUnit/CUnit.h>
#include <string.h>

#include "runtime/upi/upi_priv.h"
#include "runtime/upi/xk_capture.h"
#include "tests/runtime/upi/toy.h"
#include "tests/support/xk_test.h"

static char seen[64];

static void note(char c)
{
	size_t n = strlen(seen);

	if (n < sizeof seen - 1)
		seen[n] = c;
}

/* ---- two hooks that say their letter before and after ------------------------------- */

#define HOOK(letter, after) \
	static void push_##letter(const struct upi_link *l, struct xk_sess *s, struct xk_msg *m) \
	{ \
		note(#letter[0]); \
		upi_next_push(l, s, m); \
		note(after); \
	} \
	static void demux_##letter(const struct upi_link *l, struct xk_up *up, struct xk_sess *lls, struct xk_msg *m) \
	{ \
		note(#letter[0]); \
		upi_next_demux(l, up, lls, m); \
		note(after); \
	} \
	static const struct xk_hook hook_##letter = { .name = #letter, .push = push_##letter, .demux = demux_##letter }

HOOK(a, 'A');
HOOK(b, 'B');

static struct { struct xk_capture c; unsigned ups, downs; } look;
static void look_fn(struct xk_capture *c, xk_ns now, const struct xk_msg *m, bool goes_down)
{
	(void)c;
	(void)now;
	(void)m;
	note('c');
	look.ups += !goes_down;
	look.downs += goes_down;
}

static void begin(void)
{
	memset(seen, 0, sizeof seen);
	memset(&look, 0, sizeof look);
	look.c.fn = look_fn;
	CU_ASSERT_EQUAL_FATAL(toy_up(1), XK_OK);
}

static void finish(void)
{
	CU_ASSERT_EQUAL(toy_down(), 0);
}

static struct xk_sess *open_one(void)
{
	struct xk_sess *s;
	int err;

	toy_enter();
	s = toy_open(2, &err);
	toy_leave();
	CU_ASSERT_PTR_NOT_NULL_FATAL(s);
	return s;
}

static void close_one(struct xk_sess *s)
{
	toy_enter();
	xk_close(s);
	toy_leave();
}

static void push_one(struct xk_sess *s)
{
	toy_enter();
	xk_push(s, xk_msg_new(4));
	toy_leave();
}

/* ---- tests ---------------------------------------------------------------------------- */

/* The later place first: the order of attaching says nothing. */
static void attach_both(struct xk_node *n, enum upi_side side)
{
	upi_hook_attach(n, side, UPI_AT_METER, &hook_b);
	upi_hook_attach(n, side, UPI_AT_CAPTURE, &hook_a);
	upi_hook_resolve(n);
}

static void without_hooks_pointers_are_the_protocols_own(void)
{
	struct xk_sess *s;

	begin();
	s = open_one();
	CU_ASSERT_PTR_EQUAL(s->push, toy.mux->proto->ops->push);
	CU_ASSERT_PTR_EQUAL(toy.mux_r->up.demux, toy.mux->proto->ops->demux);
	CU_ASSERT_PTR_EQUAL(toy.app_r->up.demux, toy.app->proto->ops->demux);
	CU_ASSERT_PTR_EQUAL(s->self.demux, toy.mux->proto->ops->demux);
	CU_ASSERT_FALSE(toy.mux->hooked[UPI_ABOVE] || toy.mux->hooked[UPI_BELOW]);
	close_one(s);
	finish();
}

static void hooks_of_a_side_are_met_in_the_order_of_their_places(void)
{
	struct xk_sess *s;

	begin();
	s = open_one();
	attach_both(toy.mux, UPI_ABOVE);
	push_one(s);
	CU_ASSERT_STRING_EQUAL(seen, "abBA");
	CU_ASSERT_EQUAL(toy.sent, 1);
	attach_both(toy.app, UPI_BELOW);
	memset(seen, 0, sizeof seen);
	toy_inject("\002x", 2);
	CU_ASSERT_STRING_EQUAL(seen, "abBA");
	CU_ASSERT_STRING_EQUAL(toy.events, "P");
	close_one(s);
	finish();
}

static void a_detached_hook_leaves_the_other_and_the_last_one_nothing(void)
{
	struct xk_sess *s;

	begin();
	s = open_one();
	attach_both(toy.mux, UPI_ABOVE);
	upi_hook_detach(toy.mux, UPI_ABOVE, UPI_AT_CAPTURE);
	upi_hook_resolve(toy.mux);
	push_one(s);
	CU_ASSERT_STRING_EQUAL(seen, "bB");
	upi_hook_detach(toy.mux, UPI_ABOVE, UPI_AT_METER);
	upi_hook_resolve(toy.mux);
	push_one(s);
	CU_ASSERT_STRING_EQUAL(seen, "bB");
	CU_ASSERT_PTR_EQUAL(s->push, xk_sess_own_push(s));
	CU_ASSERT_EQUAL(toy.sent, 2);
	close_one(s);
	finish();
}

static void a_session_made_while_a_hook_stands_is_hooked(void)
{
	struct xk_sess *s;

	begin();
	upi_hook_attach(toy.mux, UPI_ABOVE, UPI_AT_METER, &hook_b);
	upi_hook_resolve(toy.mux);
	s = open_one();
	CU_ASSERT_PTR_EQUAL(s->push, upi_hooked_push);
	push_one(s);
	CU_ASSERT_STRING_EQUAL(seen, "bB");
	close_one(s);
	finish();
}

/* What the protocol pushes with changes under the hook. */
static void counted_push(struct xk_sess *s, struct xk_msg *m)
{
	note('o');
	xk_push(s->down, m);
}

static void a_new_push_of_the_protocol_stays_behind_the_hook(void)
{
	struct xk_sess *s;

	begin();
	s = open_one();
	upi_hook_attach(toy.mux, UPI_ABOVE, UPI_AT_METER, &hook_b);
	upi_hook_resolve(toy.mux);
	xk_sess_set_push(s, counted_push);
	push_one(s);
	CU_ASSERT_STRING_EQUAL(seen, "boB");
	upi_hook_detach(toy.mux, UPI_ABOVE, UPI_AT_METER);
	upi_hook_resolve(toy.mux);
	CU_ASSERT_PTR_EQUAL(s->push, counted_push);
	close_one(s);
	finish();
}

/* A session's own demux, as virtual protocols have; and one who keeps something else there. */
static void own_self(struct xk_up *up, struct xk_sess *lls, struct xk_msg *m)
{
	(void)up;
	(void)lls;
	note('s');
	xk_msg_free(m);
}

static void self_is_hooked_live_and_what_is_none_is_left_alone(void)
{
	struct xk_sess *s;
	uint64_t own[2];

	begin();
	s = open_one();
	s->self.demux = xk_self_demux(toy.mux, own_self);
	upi_hook_attach(toy.mux, UPI_BELOW, UPI_AT_METER, &hook_b);
	upi_hook_resolve(toy.mux);
	toy_enter();
	s->self.demux(&s->self, s, xk_msg_new(1));
	CU_ASSERT_STRING_EQUAL(seen, "bsB");
	own[0] = s->own[0] = 4711;
	own[1] = s->own[1] = 4712;
	toy_leave();
	upi_hook_detach(toy.mux, UPI_BELOW, UPI_AT_METER);
	upi_hook_resolve(toy.mux);
	CU_ASSERT_EQUAL(memcmp(own, s->own, sizeof own), 0);
	close_one(s);
	finish();
}

static void a_capture_beside_a_hook_sees_both_ways_once(void)
{
	struct xk_sess *s;

	begin();
	upi_hook_attach(toy.mux, UPI_ABOVE, UPI_AT_METER, &hook_b);
	upi_hook_attach(toy.app, UPI_BELOW, UPI_AT_METER, &hook_b);
	upi_hook_resolve(toy.mux);
	upi_hook_resolve(toy.app);
	s = open_one();
	xk_capture_attach(toy.app, &look.c);
	push_one(s);
	toy_inject("\002x", 2);
	CU_ASSERT_STRING_EQUAL(seen, "cbBcbB");
	CU_ASSERT_TRUE(look.ups == 1 && look.downs == 1);
	xk_capture_detach(toy.app, &look.c);
	push_one(s);
	toy_inject("\002x", 2);
	CU_ASSERT_STRING_EQUAL(seen, "cbBcbBbBbB");
	close_one(s);
	finish();
}

static void the_last_of_two_captures_takes_the_hook_away(void)
{
	struct xk_capture other = { .fn = look_fn };
	struct xk_sess *s;

	begin();
	s = open_one();
	xk_capture_attach(toy.app, &look.c);
	xk_capture_attach(toy.app, &other);
	push_one(s);
	CU_ASSERT_STRING_EQUAL(seen, "cc");
	xk_capture_detach(toy.app, &look.c);
	push_one(s);
	CU_ASSERT_STRING_EQUAL(seen, "ccc");
	xk_capture_detach(toy.app, &other);
	CU_ASSERT_PTR_EQUAL(s->push, xk_sess_own_push(s));
	CU_ASSERT_PTR_EQUAL(toy.app_r->up.demux, toy.app->proto->ops->demux);
	close_one(s);
	finish();
}

/* ---- around calls ------------------------------------------------------------------------- */

static int refusal;

static const void *call_in(const struct upi_call *c)
{
	note(c->what == UPI_OPEN ? '(' : c->what == UPI_CLOSE ? '[' : '{');
	return seen;
}
static void call_out(const struct upi_call *c, const void *was)
{
	note(was == seen ? c->what == UPI_OPEN ? ')' : c->what == UPI_CLOSE ? ']' : '}' : '?');
}
static void changes(const struct xk_node *n) { note(n == toy.mux ? '~' : '?'); }
static void holds(const struct xk_sess *s) { (void)s; note('h'); }
static int  binds(const struct xk_sess *s) { note(s->map.bound ? 'b' : '?'); return XK_OK; }
static int  refuses(const struct xk_sess *s) { (void)s; note('r'); return refusal; }
static void unbinds(const struct xk_sess *s) { (void)s; note('u'); }
static void ends(const struct xk_sess *s) { note(s->rep != NULL ? 'e' : '?'); }
static const struct xk_hook tells = {
	.name = "tells", .call = call_in, .back = call_out, .change = changes, .hold = holds, .bind = binds,
	.unbind = unbinds, .end = ends,
};
static const struct xk_hook refuser = { .name = "refuser", .bind = refuses };

static void a_session_is_told_of_from_its_making_to_its_end(void)
{
	struct xk_sess *s;

	begin();
	upi_hook_attach(toy.mux, UPI_CALLS, UPI_AT_LOCKS, &tells);
	s = open_one();
	CU_ASSERT_STRING_EQUAL(seen, "(~b)");
	CU_ASSERT_TRUE(s->flags & XK_SESS_HOOKED);
	CU_ASSERT_PTR_EQUAL(s->push, xk_sess_own_push(s));       /* of messages nobody wants to hear */
	memset(seen, 0, sizeof seen);
	toy_enter();
	xk_dup(s);
	xk_close(s);
	toy_leave();
	CU_ASSERT_STRING_EQUAL(seen, "h[]");
	memset(seen, 0, sizeof seen);
	close_one(s);
	CU_ASSERT_STRING_EQUAL(seen, "[~eu]");
	finish();
}

static void controls_are_told_of_and_answered(void)
{
	uint32_t x = 0;

	begin();
	upi_hook_attach(toy.drv, UPI_CALLS, UPI_AT_LOCKS, &tells);
	toy_enter();
	CU_ASSERT_EQUAL(xk_control(toy.mux_r, TOY_CTL_DRIVER, &x, sizeof x), 4);
	toy_leave();
	CU_ASSERT_EQUAL(x, 4711);
	CU_ASSERT_STRING_EQUAL(seen, "{}");
	finish();
}

static void what_a_hook_refuses_to_bind_is_unbound_by_those_before_it(void)
{
	int err;

	begin();
	upi_hook_attach(toy.mux, UPI_CALLS, UPI_AT_LOCKS, &tells);
	upi_hook_attach(toy.mux, UPI_CALLS, UPI_AT_METER, &refuser);
	refusal = XK_E_NOMEM;
	toy_enter();
	CU_ASSERT_PTR_NULL(toy_open(2, &err));
	CU_ASSERT_STRING_EQUAL(seen, "(~bru" "e)");
	refusal = XK_OK;
	toy_leave();
	close_one(open_one());
	finish();
}

static void without_hooks_sessions_are_told_to_nobody(void)
{
	struct xk_sess *s;

	begin();
	s = open_one();
	CU_ASSERT_FALSE(s->flags & XK_SESS_HOOKED);
	upi_hook_attach(toy.mux, UPI_ABOVE, UPI_AT_METER, &hook_b);
	upi_hook_resolve(toy.mux);
	close_one(s);
	s = open_one();
	CU_ASSERT_FALSE(s->flags & XK_SESS_HOOKED);
	close_one(s);
	CU_ASSERT_STRING_EQUAL(seen, "");
	finish();
}

static CU_TestInfo tests[] = {
	{ "without hooks pointers are the protocols own",
	  without_hooks_pointers_are_the_protocols_own },
	{ "hooks of a side are met in the order of their places",
	  hooks_of_a_side_are_met_in_the_order_of_their_places },
	{ "a detached hook leaves the other and the last one nothing",
	  a_detached_hook_leaves_the_other_and_the_last_one_nothing },
	{ "a session made while a hook stands is hooked",
	  a_session_made_while_a_hook_stands_is_hooked },
	{ "a new push of the protocol stays behind the hook",
	  a_new_push_of_the_protocol_stays_behind_the_hook },
	{ "self is hooked live and what is none is left alone",
	  self_is_hooked_live_and_what_is_none_is_left_alone },
	{ "a capture beside a hook sees both ways once", a_capture_beside_a_hook_sees_both_ways_once },
	{ "the last of two captures takes the hook away",
	  the_last_of_two_captures_takes_the_hook_away },
	{ "a session is told of from its making to its end",
	  a_session_is_told_of_from_its_making_to_its_end },
	{ "controls are told of and answered", controls_are_told_of_and_answered },
	{ "what a hook refuses to bind is unbound by those before it",
	  what_a_hook_refuses_to_bind_is_unbound_by_those_before_it },
	{ "without hooks sessions are told to nobody", without_hooks_sessions_are_told_to_nobody },
	CU_TEST_INFO_NULL
};

static CU_SuiteInfo suites[] = {
	{ "hooks", NULL, NULL, NULL, NULL, tests },
	CU_SUITE_INFO_NULL
};

int main(void)
{
	xk_rcu_register();
	return xk_test_main(suites);
}
