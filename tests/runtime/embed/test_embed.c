/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * test_embed.c - graphs inside a program: described by files, run, stopped, read, freed; several at once; what is
 * wrong told.
 *
 * Promises: whatever state a graph is in it can be freed, and nothing is left; a waiting call on its sockets ends
 * with it; the program's signals stay as they are.
 */
#include "protocols/sock/xk_sock.h"
#include "runtime/embed/xk_embed.h"
#include "runtime/mem/xk_alloc.h"
#include "runtime/sync/xk_sync.h"
#include "tests/support/xk_test_graph.h"

#include <netinet/in.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define SERVER 0x0a000002u
#define NEVER  UINT64_MAX

static uint64_t live;

static struct xk_embed *fresh(void)
{
	struct xk_embed *g;

	live = xk_alloc_live();
	g = xk_embed_new(NULL);
	CU_ASSERT_PTR_NOT_NULL_FATAL(g);
	CU_ASSERT_STRING_EQUAL(xk_embed_errors(g), "");
	return g;
}

/* Nothing of it is left. */
static void gone(struct xk_embed *g)
{
	CU_ASSERT_EQUAL(xk_embed_free(g), 0);
	xk_rcu_barrier();
	CU_ASSERT_EQUAL(xk_alloc_live(), live);
}

static const char echo_text[] =
	"local a = args { count = uint { 50, min = 1, doc = 'of each' },\n"
	"  clock = enum { 'real', choices = { 'real', 'virtual' }, doc = 'time' } }\n"
	"local function host(addr)\n"
	"  return stack { ip { addr = addr }, arp {}, eth {}, eth_mem { wire = 'cable' } }\n"
	"end\n"
	"stack { echo { port = 7 }, udp { name = 'server', over = host '10.0.0.2/24' } }\n"
	"stack { load { to = '10.0.0.2', port = 7, conns = 2, count = a.count, window = 1 },\n"
	"  udp { name = 'client', over = host '10.0.0.1/24' } }\n"
	"return graph 'echo' { threading = vppc { vps = 2 }, clock = a.clock }\n";

static int loaded(struct xk_embed *g, const char *text, const char *const *args, unsigned nargs)
{
	return xk_embed_load_text(g, "t.lua", text, strlen(text), args, nargs);
}

static void started(struct xk_embed *g, const char *text, const char *const *args, unsigned nargs)
{
	CU_ASSERT_EQUAL(loaded(g, text, args, nargs), XK_OK);
	CU_ASSERT_EQUAL(xk_embed_start(g), XK_OK);
	CU_ASSERT_STRING_EQUAL_FATAL(xk_embed_errors(g), "");
}

static uint64_t count(const struct xk_embed *g, const char *node, const char *counter)
{
	uint64_t n = 0;

	CU_ASSERT_EQUAL(xk_embed_count(g, node, counter, &n), XK_OK);
	return n;
}

static bool is(const struct xk_embed *g, const char *node, const char *param, const char *want)
{
	char value[64];

	return xk_embed_get(g, node, param, value, sizeof value) == XK_OK && strcmp(value, want) == 0;
}

/* ---- one graph ---------------------------------------------------------------------------- */

static void ran_to_its_end(const char *clock)
{
	const char *args[] = { "count=20", clock };
	struct xk_embed *g = fresh();

	started(g, echo_text, args, 2);
	CU_ASSERT_EQUAL(xk_embed_wait(g, NEVER), XK_OK);
	CU_ASSERT_STRING_EQUAL(xk_embed_ended(g), "workload complete");
	CU_ASSERT_EQUAL(count(g, "load", "answers"), 40);
	CU_ASSERT_EQUAL(count(g, "echo", "messages"), 40);
	CU_ASSERT(count(g, "client", "push") >= 40);
	CU_ASSERT(count(g, "client", "pop") >= 40);
	CU_ASSERT_EQUAL(count(g, "load", "sessions"), 2);
	CU_ASSERT_EQUAL(count(g, "arp", "drops"), 0);
	CU_ASSERT(is(g, "load", "count", "20"));
	CU_ASSERT(is(g, "load", "to", "10.0.0.2"));
	CU_ASSERT(is(g, "ip", "addr", "10.0.0.2/24"));
	gone(g);
}

static void runs_to_its_end_and_is_read_by_name(void)
{
	ran_to_its_end("clock=real");
	ran_to_its_end("clock=virtual");
}

/* Their counters are on replicas that are elsewhere each time. */
static void runs_under_every_architecture(void)
{
	const char *const *row = xk_test_presets(2, XK_TEST_ROWS);
	const char *cut = strstr(echo_text, "threading");
	char text[2048];

	for (unsigned i = 0; row[i] != NULL; i++) {
		struct xk_embed *g = fresh();

		snprintf(text, sizeof text, "%.*s%s }\n", (int)(cut - echo_text), echo_text, row[i]);
		started(g, text, (const char *[]){ "count=10" }, 1);
		CU_ASSERT_EQUAL(xk_embed_wait(g, NEVER), XK_OK);
		if (count(g, "load", "answers") != 20 || count(g, "echo", "messages") != 20)
			printf("# %s\n", row[i]);
		CU_ASSERT_EQUAL(count(g, "load", "answers"), 20);
		CU_ASSERT_EQUAL(count(g, "echo", "messages"), 20);
		CU_ASSERT_EQUAL(count(g, "load", "sessions"), 2);
		gone(g);
	}
}

static void what_is_not_there_is_not_read(void)
{
	const char *args[] = { "clock=virtual" };
	struct xk_embed *g = fresh();
	uint64_t n = 7;
	char value[8] = "as was";

	CU_ASSERT_EQUAL(loaded(g, echo_text, args, 1), XK_OK);
	CU_ASSERT_EQUAL(xk_embed_count(g, "load", "answers", &n), XK_E_INVAL);
	CU_ASSERT_EQUAL(xk_embed_get(g, "load", "count", value, sizeof value), XK_E_INVAL);
	CU_ASSERT_PTR_NULL(xk_embed_node(g, 0));
	CU_ASSERT_PTR_NULL(xk_embed_find(g, "load"));
	CU_ASSERT_EQUAL(xk_embed_start(g), XK_OK);
	CU_ASSERT_EQUAL(xk_embed_count(g, "lode", "answers", &n), XK_E_NOENT);
	CU_ASSERT_EQUAL(xk_embed_count(g, "load", "answer", &n), XK_E_NOENT);
	CU_ASSERT_EQUAL(xk_embed_count(g, "load", "drops.nothing", &n), XK_E_NOENT);
	CU_ASSERT_EQUAL(xk_embed_get(g, "load", "counts", value, sizeof value), XK_E_NOENT);
	CU_ASSERT_EQUAL(n, 7);
	CU_ASSERT_STRING_EQUAL(value, "as was");
	CU_ASSERT_PTR_NULL(xk_embed_find(g, "load"));    /* virtual time is its own thread's */
	CU_ASSERT_STRING_EQUAL(xk_embed_node(g, 0), "eth_mem");
	CU_ASSERT_PTR_NULL(xk_embed_node(g, 12));
	CU_ASSERT_PTR_NOT_NULL(xk_embed_node(g, 11));
	gone(g);
}

static void a_drop_is_read_by_its_reason(void)
{
	static const char text[] =
		"local function host(addr)\n"
		"  return stack { ip { addr = addr }, arp {}, eth {}, eth_mem { wire = 'w' } }\n"
		"end\n"
		"stack { echo { port = 9 }, udp { name = 'server', over = host '10.0.0.2/24' } }\n"
		"stack { load { to = '10.0.0.2', port = 7, conns = 1, count = 3 },\n"
		"  udp { name = 'client', over = host '10.0.0.1/24' } }\n"
		"return graph 'deaf' { threading = up {}, clock = 'virtual', duration = '1s' }\n";
	struct xk_embed *g = fresh();

	started(g, text, NULL, 0);
	CU_ASSERT_EQUAL(xk_embed_wait(g, NEVER), XK_OK);
	CU_ASSERT(count(g, "server", "drops") > 0);
	CU_ASSERT_EQUAL(count(g, "server", "drops.port_unreachable"), count(g, "server", "drops"));
	gone(g);
}

/* ---- what is wrong ---------------------------------------------------------------------------- */

static void errors_have_line_and_caret(void)
{
	static const char bad[] = "stack { udp { no = 1 }, ip { addr = '10.0.0.1/8', mut = 3 } }\nreturn graph 'g' {}\n";
	struct xk_embed *g = fresh();
	const char *told;

	CU_ASSERT_EQUAL(loaded(g, bad, NULL, 0), XK_E_INVAL);
	told = xk_embed_errors(g);
	CU_ASSERT_PTR_NOT_NULL(strstr(told, "t.lua:1: ip: unknown parameter 'mut'"));
	CU_ASSERT_PTR_NOT_NULL(strstr(told, "^\n"));
	CU_ASSERT_EQUAL(xk_embed_start(g), XK_E_INVAL);
	CU_ASSERT_STRING_EQUAL(xk_embed_errors(g), told);
	gone(g);
	g = fresh();
	CU_ASSERT_EQUAL(xk_embed_load(g, "nowhere/f.lua", NULL, 0), XK_E_NOENT);
	CU_ASSERT_STRING_EQUAL(xk_embed_errors(g), "nowhere/f.lua: no such file\n");
	gone(g);
	g = fresh();
	CU_ASSERT_EQUAL(loaded(g, echo_text, (const char *[]){ "cuont=1" }, 1), XK_E_INVAL);
	CU_ASSERT_PTR_NOT_NULL(strstr(xk_embed_errors(g), "did you mean 'count'?"));
	gone(g);
	g = fresh();
	CU_ASSERT_EQUAL(xk_embed_start(g), XK_E_INVAL);
	CU_ASSERT_PTR_NOT_NULL(strstr(xk_embed_errors(g), "the graph is not described"));
	gone(g);
}

static void a_file_is_loaded_by_its_name(void)
{
	const char *args[] = { "clock=virtual" };
	struct xk_embed *g = fresh();
	char path[32];

	xk_test_file(path, echo_text);
	CU_ASSERT_EQUAL(xk_embed_load(g, path, args, 1), XK_OK);
	CU_ASSERT_EQUAL(xk_embed_check(g), XK_OK);
	CU_ASSERT_EQUAL(xk_embed_start(g), XK_OK);
	CU_ASSERT_EQUAL(xk_embed_wait(g, NEVER), XK_OK);
	gone(g);
	unlink(path);
}

/* A port of the kernel's that somebody has: only a start can tell. */
static void what_cannot_come_up_says_why(void)
{
	struct sockaddr_in me = { .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	socklen_t n = sizeof me;
	int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	struct xk_embed *g;
	char text[256];

	if (fd < 0 || bind(fd, (struct sockaddr *)&me, sizeof me) != 0 ||
	    getsockname(fd, (struct sockaddr *)&me, &n) != 0) {
		xk_test_skip("there is no port of this host to be had");
		return;
	}
	snprintf(text, sizeof text, "stack {\n  echo { port = %u }, hostudp {} }\n"
		 "return graph 'taken' { threading = up {} }\n", ntohs(me.sin_port));
	g = fresh();
	CU_ASSERT_EQUAL(loaded(g, text, NULL, 0), XK_OK);
	CU_ASSERT_EQUAL(xk_embed_start(g), XK_E_ADDRINUSE);
	CU_ASSERT_PTR_NOT_NULL(strstr(xk_embed_errors(g), "t.lua:2: "));
	CU_ASSERT_EQUAL(xk_embed_wait(g, 0), XK_E_INVAL);
	CU_ASSERT_EQUAL(xk_embed_start(g), XK_E_INVAL);
	CU_ASSERT_PTR_NULL(xk_embed_ended(g));
	CU_ASSERT_PTR_NULL(xk_embed_node(g, 0));
	gone(g);
	close(fd);
}

static void a_node_that_failed_is_told_at_the_end(void)
{
	static const char text[] =
		"stack {\n"
		"  ping { to = '10.0.0.9', count = 2, interval = '10ms' },\n"
		"  icmp {}, ip { addr = '10.0.0.1/8' }, arp {}, eth {}, eth_mem { wire = 'w' } }\n"
		"return graph 'alone' { clock = 'virtual' }\n";
	struct xk_embed *g = fresh();

	CU_ASSERT_EQUAL(loaded(g, text, NULL, 0), XK_OK);
	CU_ASSERT_EQUAL(xk_embed_start(g), XK_OK);
	CU_ASSERT_EQUAL(xk_embed_wait(g, NEVER), XK_E_IO);
	CU_ASSERT_PTR_NOT_NULL(strstr(xk_embed_errors(g), "t.lua:2: ping: none of its requests was answered"));
	CU_ASSERT_PTR_NOT_NULL(xk_embed_ended(g));
	gone(g);
}

static void each_step_is_taken_once(void)
{
	const char *args[] = { "clock=virtual" };
	struct xk_embed *g = fresh();

	CU_ASSERT_EQUAL(xk_embed_wait(g, 0), XK_E_INVAL);
	xk_embed_stop(g);
	started(g, echo_text, args, 1);
	CU_ASSERT_EQUAL(xk_embed_start(g), XK_E_ALREADY);
	CU_ASSERT_EQUAL(loaded(g, echo_text, args, 1), XK_E_ALREADY);
	CU_ASSERT_EQUAL(xk_embed_load(g, "f.lua", NULL, 0), XK_E_ALREADY);
	CU_ASSERT_EQUAL(xk_embed_add(g, "udp", NULL), XK_E_ALREADY);
	CU_ASSERT_STRING_EQUAL(xk_embed_errors(g), "");
	gone(g);
	CU_ASSERT_EQUAL(xk_embed_free(NULL), 0);
}

/* ---- stopping ------------------------------------------------------------------------------------ */

static const char hosts_text[] =
	"local function host(addr)\n"
	"  return stack { tcp {}, ip { addr = addr }, arp {}, eth {}, eth_mem { wire = 'w' } }\n"
	"end\n"
	"sock { name = 'client', over = host '10.0.0.1/24' }\n"
	"sock { name = 'server', over = host '10.0.0.2/24' }\n"
	"return graph 'hosts' { threading = vppc { vps = 2 } }\n";

static struct xk_embed *to_stop;
static void on_signal(int sig) { (void)sig; xk_embed_stop(to_stop); }

static void ends_when_it_is_stopped(void)
{
	struct sigaction mine = { .sa_handler = on_signal }, old, now;
	struct xk_embed *g = to_stop = fresh();
	sigset_t before, after;

	CU_ASSERT_EQUAL(sigaction(SIGUSR2, &mine, &old), 0);
	pthread_sigmask(SIG_SETMASK, NULL, &before);
	started(g, hosts_text, NULL, 0);
	pthread_sigmask(SIG_SETMASK, NULL, &after);
	for (int sig = 1; sig < 32; sig++)
		CU_ASSERT_EQUAL(sigismember(&before, sig), sigismember(&after, sig));
	CU_ASSERT_EQUAL(sigaction(SIGUSR2, NULL, &now), 0);
	CU_ASSERT(now.sa_handler == on_signal);
	CU_ASSERT_EQUAL(xk_embed_wait(g, 1000000), XK_E_AGAIN);
	CU_ASSERT_EQUAL(xk_embed_wait(g, 0), XK_E_AGAIN);
	CU_ASSERT_PTR_NULL(xk_embed_ended(g));
	raise(SIGUSR2);
	raise(SIGUSR2);
	CU_ASSERT_EQUAL(xk_embed_wait(g, NEVER), XK_OK);
	CU_ASSERT_EQUAL(xk_embed_wait(g, 0), XK_OK);
	CU_ASSERT_STRING_EQUAL(xk_embed_ended(g), "stopped");
	gone(g);
	sigaction(SIGUSR2, &old, NULL);
}

struct waiter { pthread_t thread; int fd; int64_t result; };

static void *wait_for_a_connection(void *arg)
{
	struct waiter *w = arg;

	w->result = xk_sock_accept(w->fd, NULL, 0);
	return NULL;
}

static int listening(struct xk_embed *g)
{
	struct xk_sock_addr a = { XK_SOCK_ANY, 7 };
	int fd = xk_sock_socket(xk_embed_find(g, "server"), XK_SOCK_STREAM);

	CU_ASSERT_FATAL(fd >= 0);
	CU_ASSERT_EQUAL(xk_sock_bind(fd, &a), XK_OK);
	CU_ASSERT_EQUAL(xk_sock_listen(fd, 4), XK_OK);
	return fd;
}

/* It may come before or after the thread has begun to wait: the end is the same. */
static void who_waits_on_a_socket_is_let_go(void)
{
	struct xk_embed *g = fresh();
	struct waiter w = { .result = 1 };

	started(g, hosts_text, NULL, 0);
	w.fd = listening(g);
	CU_ASSERT_EQUAL_FATAL(pthread_create(&w.thread, NULL, wait_for_a_connection, &w), 0);
	gone(g);
	pthread_join(w.thread, NULL);
	CU_ASSERT(w.result == XK_E_SHUTDOWN || w.result == XK_E_BADF);
	CU_ASSERT_EQUAL(xk_sock_read(w.fd, &w, 1), XK_E_BADF);
}

/* Calls of every kind until there is no such descriptor; the last one gives it back where that is still possible. */
static void *call_and_close(void *arg)
{
	struct waiter *w = arg;
	struct xk_sock_addr a;
	struct pollfd p = { .fd = w->fd, .events = POLLIN };
	size_t len = sizeof(int);
	int res = XK_OK, v;

	while (res == XK_OK) {
		w->result++;
		res = xk_sock_getsockname(w->fd, &a);
		if (xk_sock_poll(&p, 1, 0) != 0 || xk_sock_getopt(w->fd, XK_SO_ERROR, &v, &len) != XK_OK)
			break;
	}
	do
		res = xk_sock_close(w->fd);
	while (res == XK_E_SHUTDOWN);
	CU_ASSERT(res == XK_OK || res == XK_E_BADF);
	return NULL;
}

/* A call comes at any point of the graph's end, and after it. */
static void calls_go_on_while_a_graph_goes_down(const char *threading)
{
	struct xk_embed *g = fresh();
	struct waiter w[3] = { { .result = 0 } };
	char text[1024];

	snprintf(text, sizeof text, "%.*sthreading = %s }\n", (int)(strstr(hosts_text, "threading") - hosts_text), hosts_text,
		 threading);
	started(g, text, NULL, 0);
	for (unsigned i = 0; i < XK_ARRAY_LEN(w); i++) {
		w[i].fd = i == 0 ? listening(g) : xk_sock_socket(xk_embed_find(g, "server"), XK_SOCK_STREAM);
		CU_ASSERT_EQUAL_FATAL(pthread_create(&w[i].thread, NULL, call_and_close, &w[i]), 0);
	}
	gone(g);
	for (unsigned i = 0; i < XK_ARRAY_LEN(w); i++)
		pthread_join(w[i].thread, NULL);
}

static void who_calls_while_a_graph_goes_down_is_told(void)
{
	for (uint64_t i = xk_test_rounds(40); i > 0; i--) {
		calls_go_on_while_a_graph_goes_down("vppc { vps = 2 }");
		calls_go_on_while_a_graph_goes_down("connp_l { workers = 2 }");
	}
}

/* ---- several --------------------------------------------------------------------------------------- */

static void *serve_one(void *arg)
{
	struct waiter *w = arg;
	int fd = xk_sock_accept(w->fd, NULL, 0);
	char c;

	w->result = fd;
	while (fd >= 0 && (w->result = xk_sock_read(fd, &c, 1)) == 1)
		w->result = xk_sock_write(fd, &(char){ (char)(c + 1) }, 1);
	xk_sock_close(fd);
	return NULL;
}

/* A byte goes and comes back as the next one. */
static void talk(struct xk_embed *g, char c)
{
	struct xk_sock_addr there = { SERVER, 7 };
	struct waiter w = { .fd = listening(g) };
	int fd = xk_sock_socket(xk_embed_find(g, "client"), XK_SOCK_STREAM);
	char back = 0;

	CU_ASSERT_EQUAL_FATAL(pthread_create(&w.thread, NULL, serve_one, &w), 0);
	CU_ASSERT_EQUAL(xk_sock_connect(fd, &there), XK_OK);
	CU_ASSERT_EQUAL(xk_sock_write(fd, &c, 1), 1);
	CU_ASSERT_EQUAL(xk_sock_read(fd, &back, 1), 1);
	CU_ASSERT_EQUAL(back, c + 1);
	xk_sock_close(fd);
	pthread_join(w.thread, NULL);
	CU_ASSERT_EQUAL(w.result, 0);
	xk_sock_close(w.fd);
}

/* The same addresses, ports and names of wires: each graph is a world of its own. */
static void graphs_at_the_same_time_are_apart(void)
{
	const char *args[] = { "count=20" };
	struct xk_embed *a = fresh(), *b = xk_embed_new(NULL), *c = xk_embed_new(NULL);
	uint64_t before = live;

	CU_ASSERT_PTR_NOT_NULL_FATAL(b);
	CU_ASSERT_PTR_NOT_NULL_FATAL(c);
	started(a, hosts_text, NULL, 0);
	started(b, hosts_text, NULL, 0);
	started(c, echo_text, args, 1);
	talk(a, 'a');
	talk(b, 'b');
	CU_ASSERT_EQUAL(count(a, "server", "accepted"), 1);
	CU_ASSERT_EQUAL(count(b, "server", "accepted"), 1);
	CU_ASSERT_EQUAL(xk_embed_wait(c, NEVER), XK_OK);
	CU_ASSERT_EQUAL(count(c, "load", "answers"), 40);
	CU_ASSERT_EQUAL(xk_embed_free(a), 0);
	talk(b, 'c');
	CU_ASSERT_EQUAL(xk_embed_free(c), 0);
	live = before;
	gone(b);
}

static void graphs_one_after_the_other_leave_nothing(void)
{
	const char *args[] = { "count=5" };
	unsigned long n = xk_test_rounds(20);

	for (unsigned long i = 0; i < n; i++) {
		struct xk_embed *g = fresh();

		started(g, echo_text, args, 1);
		if (i % 2 == 0)
			CU_ASSERT_EQUAL(xk_embed_wait(g, NEVER), XK_OK);
		gone(g);
	}
}

/* ---- plug-ins, memory ---------------------------------------------------------------------------------- */

static void plugins_come_before_graphs(void)
{
	struct xk_embed *g = fresh();
	char why[256] = "";

	CU_ASSERT_EQUAL(xk_embed_plugin("nowhere.so", why, sizeof why), XK_E_BUSY);
	CU_ASSERT_PTR_NOT_NULL(strstr(why, "before the first one"));
	CU_ASSERT_EQUAL(xk_embed_plugins("test"), XK_E_BUSY);
	gone(g);
	CU_ASSERT_EQUAL(xk_embed_plugin("nowhere.so", why, sizeof why), XK_E_NOENT);
	CU_ASSERT_PTR_NOT_NULL(strstr(why, "cannot be read"));
}

/* With the k-th allocation failing, and all that follow it. */
static bool fails_in_order(uint64_t k)
{
	const char *args[] = { "count=2", "clock=virtual" };
	struct xk_embed *g;
	bool failed;
	int err;

	live = xk_alloc_live();
	xk_mem_fail_from(k);
	g = xk_embed_new(NULL);
	err = g != NULL ? loaded(g, echo_text, args, 2) : XK_E_NOMEM;
	err = err == XK_OK ? xk_embed_start(g) : err;
	err = err == XK_OK ? xk_embed_wait(g, 0) : err;
	failed = xk_mem_tries() >= k;
	xk_mem_fail_after(0);
	CU_ASSERT(failed || err == XK_OK || err == XK_E_AGAIN);
	if (g != NULL && err < 0 && err != XK_E_AGAIN)
		CU_ASSERT(strlen(xk_embed_errors(g)) > 5);
	gone(g);
	return failed;
}

static void no_memory_is_an_error_like_others(void)
{
	/* All of what a new one asks for; then of loading and starting by steps, since each is many. */
	for (uint64_t k = 1; fails_in_order(k) && k < 100000; k += k < 30 ? 1 : k / 12)
		;
}

static CU_TestInfo tests[] = {
	{ "a graph runs to its end and is read by name", runs_to_its_end_and_is_read_by_name },
	{ "a graph runs under every architecture", runs_under_every_architecture },
	{ "what is not there is not read", what_is_not_there_is_not_read },
	{ "a drop is read by its reason", a_drop_is_read_by_its_reason },
	{ "errors have line and caret", errors_have_line_and_caret },
	{ "a file is loaded by its name", a_file_is_loaded_by_its_name },
	{ "what cannot come up says why", what_cannot_come_up_says_why },
	{ "a node that failed is told at the end", a_node_that_failed_is_told_at_the_end },
	{ "each step is taken once", each_step_is_taken_once },
	{ "a graph ends when it is stopped, by a signal handler, too", ends_when_it_is_stopped },
	{ "who waits on a socket is let go", who_waits_on_a_socket_is_let_go },
	{ "who calls while a graph goes down is told", who_calls_while_a_graph_goes_down_is_told },
	{ "graphs at the same time are apart", graphs_at_the_same_time_are_apart },
	{ "graphs one after the other leave nothing", graphs_one_after_the_other_leave_nothing },
	{ "plug-ins come before graphs", plugins_come_before_graphs },
	{ "no memory is an error like others", no_memory_is_an_error_like_others },
	CU_TEST_INFO_NULL
};
static CU_SuiteInfo suites[] = {
	{ "embed", NULL, NULL, NULL, NULL, tests },
	CU_SUITE_INFO_NULL
};

/* The program's thread is no reader of RCU: it need not be. */
int main(void) { return xk_test_main(suites); }
