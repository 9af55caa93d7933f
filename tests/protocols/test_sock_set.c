/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * test_sock_set.c - sets of sockets: a member is told of once when it becomes ready, and of nothing when it was
 * removed or closed.
 */
#include "tests/protocols/sock_fixture.h"
#include "runtime/mem/xk_alloc.h"

static struct xk_sock_set *a_set(void)
{
	struct xk_sock_set *s;

	CU_ASSERT_EQUAL_FATAL(xk_sock_set_new(node, &s), XK_OK);
	return s;
}

/* The next event is this one, or with 0 there is none. */
static bool told(struct xk_sock_set *s, uint64_t data, short events)
{
	struct xk_sock_ready r = { 0, -1, 0 };
	int n = xk_sock_set_wait(s, &r, 1, UINT64_MAX);  /* nothing waits here */

	return n == (data != 0) && r.data == data && r.events == events;
}

static void a_member_is_told_when_it_becomes_ready_and_no_more(void)
{
	struct xk_sock_set *s;
	int a, b;

	up();
	a = pair(&b);
	s = a_set();
	CU_ASSERT_EQUAL(xk_sock_set_add(s, b, POLLIN, 7), XK_OK);
	CU_ASSERT(told(s, 0, 0));
	for (unsigned i = 0; i < 3; i++) {
		CU_ASSERT_EQUAL(xk_sock_write(a, "one", 3), 3);
		pf_settle(&f);
		CU_ASSERT_EQUAL(xk_sock_write(a, "two", 3), 3);
		pf_settle(&f);
		CU_ASSERT(told(s, 7, POLLIN));
		CU_ASSERT(told(s, 0, 0));
		CU_ASSERT(reads(b, "onetwo"));
	}
	xk_sock_shutdown(a, XK_SHUT_WR);
	pf_settle(&f);
	CU_ASSERT(told(s, 7, POLLIN | POLLHUP));
	xk_sock_set_free(s);
	gone(a);
	gone(b);
	down();
}

static void what_is_ready_as_it_is_added_is_told(void)
{
	struct xk_sock_set *s;
	int a, b, l;

	up();
	l = listener(91, 4);
	a = pair(&b);
	s = a_set();
	CU_ASSERT_EQUAL(xk_sock_set_add(s, a, POLLIN | POLLOUT, 1), XK_OK);
	CU_ASSERT_EQUAL(xk_sock_set_add(s, b, POLLIN, 2), XK_OK);
	CU_ASSERT_EQUAL(xk_sock_set_add(s, l, POLLIN, UINT64_MAX), XK_OK);
	CU_ASSERT(told(s, 1, POLLOUT));
	CU_ASSERT(told(s, 0, 0));
	begin(91);
	pf_settle(&f);
	CU_ASSERT(told(s, UINT64_MAX, POLLIN));
	xk_sock_set_free(s);
	down();
}

static void the_oldest_event_comes_first(void)
{
	struct xk_sock_ready r[8];
	struct xk_sock_set *s;
	int fd[4], other[4];

	up();
	s = a_set();
	for (unsigned i = 0; i < 4; i++) {
		fd[i] = pair(&other[i]);
		CU_ASSERT_EQUAL(xk_sock_set_add(s, other[i], POLLIN, i), XK_OK);
	}
	for (unsigned i = 4; i-- > 0;) {
		CU_ASSERT_EQUAL(xk_sock_write(fd[i], "x", 1), 1);
		pf_settle(&f);
	}
	CU_ASSERT_EQUAL(xk_sock_set_wait(s, r, 1, 0), 1);
	CU_ASSERT_EQUAL(r[0].data, 3);
	CU_ASSERT_EQUAL(r[0].fd, other[3]);
	CU_ASSERT_EQUAL(xk_sock_write(fd[3], "y", 1), 1);        /* behind the others again */
	pf_settle(&f);
	CU_ASSERT_EQUAL(xk_sock_set_wait(s, r, 8, 0), 4);
	for (unsigned i = 0; i < 4; i++)
		CU_ASSERT_EQUAL(r[i].data, i < 3 ? 2 - i : 3);
	xk_sock_set_free(s);
	down();
}

static void a_socket_that_is_closed_leaves_its_sets(void)
{
	struct xk_sock_set *s, *t;
	int a, b;

	up();
	a = pair(&b);
	s = a_set();
	t = a_set();
	CU_ASSERT_EQUAL(xk_sock_set_add(s, b, POLLIN, 1), XK_OK);
	CU_ASSERT_EQUAL(xk_sock_set_add(t, b, POLLIN, 2), XK_OK);
	CU_ASSERT_EQUAL(xk_sock_write(a, "x", 1), 1);
	pf_settle(&f);
	CU_ASSERT(told(t, 2, POLLIN));
	gone(b);                                         /* told of by s already, by t not */
	CU_ASSERT(told(s, 0, 0));
	CU_ASSERT_EQUAL(xk_sock_set_add(s, b, POLLIN, 1), XK_E_BADF);
	CU_ASSERT_EQUAL(xk_sock_set_remove(t, b), XK_E_BADF);
	xk_sock_set_free(s);
	xk_sock_set_free(t);
	down();
}

static void nothing_comes_of_what_was_removed(void)
{
	struct xk_sock_set *s;
	int a, b;

	up();
	a = pair(&b);
	s = a_set();
	for (unsigned i = 0; i < 4; i++) {
		CU_ASSERT_EQUAL(xk_sock_set_add(s, b, POLLIN, i + 1), XK_OK);
		CU_ASSERT_EQUAL(xk_sock_set_add(s, b, POLLIN, 9), XK_E_EXIST);
		CU_ASSERT_EQUAL(xk_sock_write(a, "x", i % 2), i % 2);
		pf_settle(&f);
		CU_ASSERT_EQUAL(xk_sock_set_remove(s, b), XK_OK);
		CU_ASSERT_EQUAL(xk_sock_set_remove(s, b), XK_E_NOENT);
		CU_ASSERT(i == 3 || told(s, 0, 0));      /* the last one goes with the set */
		CU_ASSERT(i % 2 == 0 || reads(b, "x"));
	}
	CU_ASSERT_EQUAL(xk_sock_set_add(s, a, POLLOUT, 5), XK_OK);
	xk_sock_set_free(s);
	CU_ASSERT_EQUAL(xk_sock_set_new(pf_node(&f, "peer"), &s), XK_E_INVAL);
	xk_sock_set_free(s);
	down();
}

static void a_stopped_node_tells_its_sets(void)
{
	struct xk_sock_set *s, *none;
	int a, b;

	up();
	a = pair(&b);
	s = a_set();
	none = a_set();
	CU_ASSERT_EQUAL(xk_sock_set_add(s, a, POLLIN, 1), XK_OK);
	xk_sock_stop(node);
	CU_ASSERT(told(s, 1, POLLIN | POLLNVAL));
	CU_ASSERT_EQUAL(xk_sock_set_wait(s, NULL, 0, 0), XK_E_SHUTDOWN);
	CU_ASSERT_EQUAL(xk_sock_set_wait(none, NULL, 0, UINT64_MAX), XK_E_SHUTDOWN);
	CU_ASSERT_EQUAL(xk_sock_set_remove(s, a), XK_OK);
	xk_sock_set_free(s);
	xk_sock_set_free(none);
	down();
}

static bool readable(int fd)
{
	struct pollfd p = { .fd = fd, .events = POLLIN };

	return poll(&p, 1, 0) == 1;
}

static void a_set_has_a_descriptor_for_other_loops(void)
{
	struct xk_sock_set *s;
	int a, b, fd;

	up();
	a = pair(&b);
	s = a_set();
	CU_ASSERT_EQUAL(xk_sock_set_add(s, b, POLLIN, 7), XK_OK);
	for (unsigned i = 0; i < 3; i++) {
		fd = xk_sock_set_arm(s);
		CU_ASSERT_FATAL(fd >= 0);
		CU_ASSERT(!readable(fd));
		CU_ASSERT_EQUAL(xk_sock_write(a, "one", 3), 3);
		pf_settle(&f);
		CU_ASSERT(readable(fd));
		CU_ASSERT_EQUAL(xk_sock_set_arm(s), XK_E_AGAIN);      /* not before it was taken */
		CU_ASSERT(!readable(fd));
		CU_ASSERT(told(s, 7, POLLIN));
		CU_ASSERT(reads(b, "one"));
	}
	CU_ASSERT_EQUAL(xk_sock_set_arm(s), fd);
	xk_sock_stop(node);
	CU_ASSERT(readable(fd));
	xk_sock_set_free(s);
	down();
}

static void a_set_without_memory_says_so(void)
{
	bool through = false;

	for (uint64_t k = 1; !through; k++) {
		struct xk_sock_set *s = NULL;
		int a, b, made, added = XK_E_NOMEM;

		up();
		a = pair(&b);
		xk_mem_fail_after(k);
		made = xk_sock_set_new(node, &s);
		if (made == XK_OK)
			added = xk_sock_set_add(s, a, POLLOUT, 3);
		xk_mem_fail_after(0);
		CU_ASSERT((made == XK_OK) == (s != NULL));
		CU_ASSERT(made == XK_OK || made == XK_E_NOMEM);
		CU_ASSERT(added == XK_OK || added == XK_E_NOMEM);
		through = added == XK_OK;
		CU_ASSERT(s == NULL || told(s, through ? 3 : 0, through ? POLLOUT : 0));
		xk_sock_set_free(s);
		down();
	}
}

#define T(x) { #x, x }
static CU_TestInfo set_tests[] = {
	T(a_member_is_told_when_it_becomes_ready_and_no_more), T(what_is_ready_as_it_is_added_is_told),
	T(the_oldest_event_comes_first), T(a_socket_that_is_closed_leaves_its_sets),
	T(nothing_comes_of_what_was_removed), T(a_stopped_node_tells_its_sets),
	T(a_set_has_a_descriptor_for_other_loops), T(a_set_without_memory_says_so),
	CU_TEST_INFO_NULL
};
static CU_SuiteInfo suites[] = {
	{ "sets", NULL, NULL, NULL, NULL, set_tests }, CU_SUITE_INFO_NULL
};

int main(void)
{
	return xk_test_main(suites);
}
