/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * test_base.c - result codes, panics, traces, time and random numbers.
 *
 * What a program prints when it breaks is read from a child that breaks.
 */
#include "runtime/base/xk_base.h"
#include "runtime/base/xk_bytes.h"
#include "runtime/base/xk_clock.h"
#include "runtime/base/xk_log.h"
#include "runtime/base/xk_rand.h"
#include "runtime/base/xk_tls.h"
#include "tests/support/xk_test.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

/* Runs fn in a child; its stderr into out, its wait status returned. */
static int child(void (*fn)(void), char *out, size_t n)
{
	const struct rlimit no_core = { 0, 0 };
	size_t got = 0;
	ssize_t r;
	int p[2], status = 0;
	pid_t pid;

	CU_ASSERT_EQUAL_FATAL(pipe(p), 0);
	fflush(NULL);
	pid = fork();
	CU_ASSERT_FATAL(pid >= 0);
	if (pid == 0) {
		setrlimit(RLIMIT_CORE, &no_core);
		dup2(p[1], STDERR_FILENO);
		fn();
		_exit(0);
	}
	close(p[1]);
	while (got < n - 1 && (r = read(p[0], out + got, n - 1 - got)) > 0)
		got += (size_t)r;
	out[got] = '\0';
	close(p[0]);
	waitpid(pid, &status, 0);
	return status;
}

/* ---- result codes and panics ------------------------------------------------ */

static void every_code_has_a_text_and_strangers_too(void)
{
	CU_ASSERT_STRING_EQUAL(xk_strerror(XK_OK), "success");
	CU_ASSERT_STRING_EQUAL(xk_strerror(XK_E_NOMEM), "out of memory");
	CU_ASSERT_STRING_EQUAL(xk_strerror(XK_E_UNREACH), "no route to its address");
	CU_ASSERT_STRING_EQUAL(xk_strerror(-ENOTBLK), strerror(ENOTBLK));
	CU_ASSERT_PTR_NOT_NULL(xk_strerror(-1000000));
	CU_ASSERT_PTR_NOT_NULL(xk_strerror(12345));
	CU_ASSERT_PTR_NOT_NULL(xk_strerror(-2147483647 - 1));
}

static void codes_are_those_of_errno(void)
{
	CU_ASSERT_EQUAL(XK_E_AGAIN, -EAGAIN);
	CU_ASSERT_EQUAL(XK_E_ADDRINUSE, -EADDRINUSE);
	CU_ASSERT_EQUAL(XK_E_ADDRNOTAVAIL, -EADDRNOTAVAIL);
	CU_ASSERT_EQUAL(XK_E_UNREACH, -EHOSTUNREACH);
	CU_ASSERT_EQUAL(XK_E_NOTSUP, -EOPNOTSUPP);
	CU_ASSERT_EQUAL(XK_E_RANGE, -ERANGE);
}

static void break_an_assertion(void)
{
	int two = 2;

	xk_assert(two + two == 5);
}

static void a_failed_assertion_tells_where_and_aborts(void)
{
	char out[8192];
	int status = child(break_an_assertion, out, sizeof out);

	CU_ASSERT(WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT);
	CU_ASSERT_PTR_NOT_NULL(strstr(out, "test_base.c:"));
	CU_ASSERT_PTR_NOT_NULL(strstr(out, "panic: assertion failed: two + two == 5\n"));
	/* And a backtrace behind it. */
	CU_ASSERT_PTR_NOT_NULL(strstr(strchr(out, '\n'), "["));
}

static void panic_at_length(void)
{
	char text[5000];

	memset(text, 'y', sizeof text - 1);
	text[sizeof text - 1] = '\0';
	xk_panic("f.c", 1, "%s", text);
}

static void a_long_panic_is_cut(void)
{
	char out[16384];
	int status = child(panic_at_length, out, sizeof out);

	CU_ASSERT(WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT);
	CU_ASSERT_EQUAL(strncmp(out, "f.c:1: panic: yyy", 17), 0);
	CU_ASSERT(strcspn(out, "\n") < 1024);
}

/* ---- bytes -------------------------------------------------------------------- */

static void fields_are_read_at_any_alignment(void)
{
	uint8_t b[16] = { 0, 1, 2, 3, 4, 5, 6, 7, 8, 9 };

	CU_ASSERT_EQUAL(xk_be16(b + 1), 0x0102);
	CU_ASSERT_EQUAL(xk_be32(b + 1), 0x01020304);
	CU_ASSERT_EQUAL(xk_be64(b + 1), 0x0102030405060708u);
	xk_put_be32(b + 3, 0xa1a2a3a4);
	CU_ASSERT_EQUAL(memcmp(b, "\0\1\2\xa1\xa2\xa3\xa4\7", 8), 0);
}

/* ---- time ---------------------------------------------------------------------- */

static void a_virtual_clock_stands_until_it_is_moved(void)
{
	struct xk_clock c;

	xk_clock_init(&c, true);
	CU_ASSERT_EQUAL(xk_clock_read(&c), 0);
	xk_clock_advance(&c, 5 * XK_MS);
	CU_ASSERT_EQUAL(xk_clock_read(&c), 5 * XK_MS);
	xk_clock_advance(&c, 5 * XK_MS);
	CU_ASSERT_EQUAL(xk_clock_read(&c), 5 * XK_MS);
}

static void turn_back_time(void)
{
	struct xk_clock c;

	xk_clock_init(&c, true);
	xk_clock_advance(&c, 2);
	xk_clock_advance(&c, 1);
}

static void move_a_real_clock(void)
{
	struct xk_clock c;

	xk_clock_init(&c, false);
	xk_clock_advance(&c, XK_SEC);
}

static void only_forward_and_only_virtual_time_can_be_moved(void)
{
	char out[8192];

	CU_ASSERT(WIFSIGNALED(child(turn_back_time, out, sizeof out)));
	CU_ASSERT(WIFSIGNALED(child(move_a_real_clock, out, sizeof out)));
}

static void a_real_clock_starts_at_zero_and_never_runs_backwards(void)
{
	struct xk_clock c;
	xk_ns before = xk_clock_host(), last, now;
	unsigned i;

	xk_clock_init(&c, false);
	last = xk_clock_read(&c);
	for (i = 0; i < 10000; i++, last = now) {
		now = xk_clock_read(&c);
		CU_ASSERT(now >= last);
	}
	CU_ASSERT(last <= xk_clock_host() - before);
}

/* ---- random numbers --------------------------------------------------------------- */

static void the_same_seed_gives_the_same_numbers_everywhere(void)
{
	/* Fixed for ever, or the seeds in old reports are worthless. */
	static const uint64_t known[] = {
		0x24bfb39aeb008c15u, 0xd858489e7fc02496u, 0x3deebe24036964f3u,
	};
	/* The generator's published numbers for the state 1, 2, 3, 4. */
	static const uint64_t published[] = { 11520, 0, 1509978240, 1215971899390074240u };
	struct xk_rand r;
	unsigned i;

	xk_rand_init(&r, 42, 7);
	for (i = 0; i < XK_ARRAY_LEN(known); i++)
		CU_ASSERT_EQUAL(xk_rand_u64(&r), known[i]);
	r = (struct xk_rand){ { 1, 2, 3, 4 } };
	for (i = 0; i < XK_ARRAY_LEN(published); i++)
		CU_ASSERT_EQUAL(xk_rand_u64(&r), published[i]);
}

static void streams_and_seeds_do_not_share_numbers(void)
{
	struct xk_rand r;
	uint64_t first[64];
	unsigned seed, stream, i, n = 0;

	for (seed = 0; seed < 8; seed++)
		for (stream = 0; stream < 8; stream++) {
			xk_rand_init(&r, seed, stream);
			first[n] = xk_rand_u64(&r);
			for (i = 0; i < n; i++)
				CU_ASSERT_NOT_EQUAL(first[i], first[n]);
			n++;
		}
}

static void below_is_in_range_and_even(void)
{
	struct xk_rand r;
	unsigned hit[10] = { 0 }, i;

	xk_rand_init(&r, 1, 1);
	for (i = 0; i < 100000; i++)
		hit[xk_rand_below(&r, 10)]++;
	for (i = 0; i < 10; i++)
		CU_ASSERT(hit[i] > 9500 && hit[i] < 10500);
	for (i = 0; i < 1000; i++) {
		CU_ASSERT_EQUAL(xk_rand_below(&r, 1), 0);
		CU_ASSERT(xk_rand_below(&r, UINT64_C(3) << 62) < UINT64_C(3) << 62);
	}
}

static void unit_and_exponential_have_their_means(void)
{
	struct xk_rand r;
	double u, sum = 0, squares = 0, e = 0, over = 0;
	unsigned i;

	xk_rand_init(&r, 2, 2);
	for (i = 0; i < 200000; i++) {
		u = xk_rand_unit(&r);
		CU_ASSERT(u >= 0 && u < 1);
		sum += u;
		u = xk_rand_exp(&r, 5);
		CU_ASSERT(u >= 0);
		e += u;
		squares += u * u;
		over += u > 5;
	}
	CU_ASSERT_DOUBLE_EQUAL(sum / 200000, 0.5, 0.005);
	CU_ASSERT_DOUBLE_EQUAL(e / 200000, 5, 0.05);
	/* The second moment is twice the mean squared, and e^-1 lies above the mean. */
	CU_ASSERT_DOUBLE_EQUAL(squares / 200000, 50, 1);
	CU_ASSERT_DOUBLE_EQUAL(over / 200000, 0.36788, 0.005);
}

/* The system's call stands in for itself: -1 always, or so many times. */
static int random_fails, random_errno;
ssize_t getrandom(void *p, size_t n, unsigned flags)
{
	if (random_fails != 0) {
		random_fails -= random_fails > 0;
		errno = random_errno;
		return -1;
	}
	return syscall(SYS_getrandom, p, n, flags);
}

static void entropy_differs_from_call_to_call(void)
{
	CU_ASSERT_NOT_EQUAL(xk_rand_entropy(), xk_rand_entropy());
	random_fails = 3;
	random_errno = EINTR;
	CU_ASSERT_NOT_EQUAL(xk_rand_entropy(), xk_rand_entropy());
	CU_ASSERT_EQUAL(random_fails, 0);
}

static void *ten_thousand(void *arg)
{
	uint64_t *v = arg;

	for (unsigned i = 0; i < 10000; i++)
		v[i] = xk_rand_entropy();
	return NULL;
}

static int by_value(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return x < y ? -1 : x > y;
}

/* 20 000 of two threads: none twice, and each bit as often set as not. */
static void where_the_system_has_no_call_for_it_entropy_is_entropy_all_the_same(void)
{
	static uint64_t v[20000];
	unsigned ones[64] = { 0 };
	pthread_t other;

	random_fails = -1;
	random_errno = ENOSYS;
	CU_ASSERT_EQUAL_FATAL(pthread_create(&other, NULL, ten_thousand, v), 0);
	ten_thousand(v + 10000);
	pthread_join(other, NULL);
	random_fails = 0;
	qsort(v, 20000, sizeof v[0], by_value);
	for (unsigned i = 0; i < 20000; i++) {
		CU_ASSERT(i == 0 || v[i] != v[i - 1]);
		for (unsigned b = 0; b < 64; b++)
			ones[b] += v[i] >> b & 1;
	}
	for (unsigned b = 0; b < 64; b++)
		CU_ASSERT(ones[b] > 9400 && ones[b] < 10600);      /* 8.5 deviations */
}

/* ---- traces ------------------------------------------------------------------------ */

static void log_some(void)
{
	struct xk_log l = { "udp", XK_LOG_DEFAULT };
	char text[3000];

	XK_TRACE(&l, 3, "not shown");
	XK_TRACE(&l, 1, "port %d", 7);
	XK_TRACE(&l, 2, "odd");
	xk_log_set(&l, 5);
	XK_TRACE(&l, 5, "own newline\n");
	xk_vp_no = 12;
	XK_TRACE(&l, 3, "inside");
	memset(text, 'z', sizeof text - 1);
	text[sizeof text - 1] = '\0';
	XK_TRACE(&l, 3, "%s", text);
	xk_log_set(&l, 0);
	XK_TRACE(&l, 1, "silence");
}

static void a_trace_is_one_line_when_its_level_is_on(void)
{
	static const char want[] = "udp: error: port 7\nudp: warning: odd\nudp: own newline\n"
				   "udp vp12: inside\nudp vp12: zzz";
	char out[8192];

	child(log_some, out, sizeof out);
	CU_ASSERT_EQUAL(strncmp(out, want, sizeof want - 1), 0);
	CU_ASSERT_PTR_NULL(strstr(out, "silence"));
	CU_ASSERT_EQUAL(out[strlen(out) - 1], '\n');
	CU_ASSERT(strlen(strrchr(out, 'u')) <= 1024);
}

static void levels_are_read_from_a_list(void)
{
	const char *bad = NULL;
	int level = -1;

	CU_ASSERT_EQUAL(xk_log_parse("", "udp", &level, &bad), XK_OK);
	CU_ASSERT_EQUAL(level, XK_LOG_DEFAULT);
	CU_ASSERT_EQUAL(xk_log_parse("udp:5", "udp", &level, &bad), XK_OK);
	CU_ASSERT_EQUAL(level, 5);
	CU_ASSERT_EQUAL(xk_log_parse("udp:5", "ip", &level, &bad), XK_OK);
	CU_ASSERT_EQUAL(level, XK_LOG_DEFAULT);
	CU_ASSERT_EQUAL(xk_log_parse("udp:5,*:1", "udp", &level, &bad), XK_OK);
	CU_ASSERT_EQUAL(level, 1);
	CU_ASSERT_EQUAL(xk_log_parse("*:0,udp:3,udp2:4", "udp", &level, &bad), XK_OK);
	CU_ASSERT_EQUAL(level, 3);
}

static void a_faulty_list_of_levels_is_shown_where(void)
{
	static const char *const faulty[] = { "udp", "udp:", "udp:6", "udp:x", ":3", "udp:12", ",", "udp:3,",
					      "ip:2,udp:-1" };
	const char *bad;
	int level;
	size_t i;

	for (i = 0; i < XK_ARRAY_LEN(faulty); i++) {
		bad = NULL;
		CU_ASSERT_EQUAL(xk_log_parse(faulty[i], "udp", &level, &bad), XK_E_INVAL);
		CU_ASSERT_PTR_NOT_NULL(bad);
	}
	CU_ASSERT_EQUAL(xk_log_parse("ip:2,udp:-1", "udp", &level, &bad), XK_E_INVAL);
	CU_ASSERT_STRING_EQUAL(bad, "udp:-1");
}

static CU_TestInfo tests[] = {
	{ "every_code_has_a_text_and_strangers_too", every_code_has_a_text_and_strangers_too },
	{ "codes_are_those_of_errno", codes_are_those_of_errno },
	{ "a_failed_assertion_tells_where_and_aborts", a_failed_assertion_tells_where_and_aborts },
	{ "a_long_panic_is_cut", a_long_panic_is_cut },
	{ "fields_are_read_at_any_alignment", fields_are_read_at_any_alignment },
	{ "a_virtual_clock_stands_until_it_is_moved", a_virtual_clock_stands_until_it_is_moved },
	{ "only_forward_and_only_virtual_time_can_be_moved", only_forward_and_only_virtual_time_can_be_moved },
	{ "a_real_clock_starts_at_zero_and_never_runs_backwards",
	  a_real_clock_starts_at_zero_and_never_runs_backwards },
	{ "the_same_seed_gives_the_same_numbers_everywhere", the_same_seed_gives_the_same_numbers_everywhere },
	{ "streams_and_seeds_do_not_share_numbers", streams_and_seeds_do_not_share_numbers },
	{ "below_is_in_range_and_even", below_is_in_range_and_even },
	{ "unit_and_exponential_have_their_means", unit_and_exponential_have_their_means },
	{ "entropy_differs_from_call_to_call", entropy_differs_from_call_to_call },
	{ "where_the_system_has_no_call_for_it_entropy_is_entropy_all_the_same",
	  where_the_system_has_no_call_for_it_entropy_is_entropy_all_the_same },
	{ "a_trace_is_one_line_when_its_level_is_on", a_trace_is_one_line_when_its_level_is_on },
	{ "levels_are_read_from_a_list", levels_are_read_from_a_list },
	{ "a_faulty_list_of_levels_is_shown_where", a_faulty_list_of_levels_is_shown_where },
	CU_TEST_INFO_NULL
};

static CU_SuiteInfo suites[] = {
	{ "base", NULL, NULL, NULL, NULL, tests },
	CU_SUITE_INFO_NULL
};

int main(void)
{
	return xk_test_main(suites);
}
