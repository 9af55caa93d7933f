/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * vp_exec.c - runs unmodified programs on the sockets of a graph: main.
 *
 * The graph is brought up, then programs are begun, then one loop serves them until the last has ended.
 * Invariant: whatever is begun is ended before main returns, programs before the graph.
 */
#include "tools/vp-exec/vpx.h"

#include "runtime/embed/xk_embed.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

struct vpx vpx = { .epoll = -1, .signals = -1, .keeper = -1, .look = true };

static void stack_new(const char *name, struct xk_node *n)
{
	struct vpx_stack *st = &vpx.stack[vpx.nstacks];

	if (vpx.nstacks == VPX_STACKS || xk_sock_set_new(n, &st->set) != XK_OK)
		return;
	st->name = name;
	st->node = n;
	vpx.nstacks++;
}

/* Every node of sockets; what is none refuses a set. */
static bool find_stacks(const struct xk_embed *g)
{
	const char *name;

	for (unsigned i = 0; (name = xk_embed_node(g, i)) != NULL; i++) {
		struct xk_node *n = xk_embed_find(g, name);

		if (n == NULL) {
			fprintf(stderr, "vp-exec: %s: its clock is virtual, and programs live in real time\n", vpx.file);
			return false;
		}
		stack_new(name, n);
	}
	if (vpx.nstacks == 0)
		fprintf(stderr, "vp-exec: %s has no node of sockets: sock { over = { tcp, udp } }\n", vpx.file);
	return vpx.nstacks != 0;
}

static struct vpx_stack *stack_named(const char *name)
{
	for (unsigned i = 0; i < vpx.nstacks; i++)
		if (strcmp(vpx.stack[i].name, name) == 0)
			return &vpx.stack[i];
	fprintf(stderr, "vp-exec: %s has no node of sockets named %s, but", vpx.file, name);
	for (unsigned i = 0; i < vpx.nstacks; i++)
		fprintf(stderr, " %s", vpx.stack[i].name);
	fputc('\n', stderr);
	return NULL;
}

static bool place_programs(void)
{
	for (unsigned i = 0; i < vpx.nprograms; i++) {
		struct vpx_program *p = &vpx.program[i];

		if (p->at == NULL && vpx.nstacks > 1) {
			fprintf(stderr, "vp-exec: %s has several nodes of sockets: --at NODE PROGRAM says which one is meant\n",
				vpx.file);
			return false;
		}
		p->stack = p->at != NULL ? stack_named(p->at) : &vpx.stack[0];
		p->wait_stack = p->stack != NULL && p->wait_at != NULL ? stack_named(p->wait_at) : NULL;
		if (p->stack == NULL || (p->wait_at != NULL && p->wait_stack == NULL))
			return false;
	}
	return true;
}

static bool name_hosts(const struct xk_embed *g)
{
	vpx_hosts_servers();
	if (!vpx_hosts_graph(g)) {
		fputs("vp-exec: out of memory\n", stderr);
		return false;
	}
	return (vpx.hosts == NULL || vpx_hosts_file(vpx.hosts)) && (!vpx.isolate || vpx_isolate_init());
}

static void serve(void)
{
	vpx_programs_begin();
	while (!vpx.over)
		vpx_loop_step(-1);
	vpx_programs_end();
	vpx_socks_closed();
	if (vpx.stats)
		fprintf(stderr, "vp-exec: %llu calls answered, %llu left to the kernel, %llu answers lost to signals, "
			"woken %llu times\n", (unsigned long long)vpx.answered, (unsigned long long)vpx.native,
			(unsigned long long)vpx.lost, (unsigned long long)vpx.woken);
}

static bool prepare(void)
{
	int err = vpx_filter_new(&vpx.filter);

	if (err == 0)
		err = vpx_signals();
	if (err == 0)
		err = vpx_loop_init();
	if (err != 0) {
		fprintf(stderr, "vp-exec: %s\n", strerror(-err));
		return false;
	}
	(void)xk_embed_plugins("vp-exec");       /* says by itself what cannot be used */
	return true;
}

static bool run(struct xk_embed *g)
{
	if (xk_embed_load(g, vpx.file, vpx.args, vpx.nargs) != XK_OK || xk_embed_start(g) != XK_OK) {
		fputs(xk_embed_errors(g), stderr);
		return false;
	}
	fputs(xk_embed_warnings(g), stderr);
	if (find_stacks(g) && name_hosts(g) && place_programs()) {
		serve();
		vpx_socks_free();
	} else {
		vpx.broken = true;
	}
	for (unsigned i = 0; i < vpx.nstacks; i++)
		xk_sock_set_free(vpx.stack[i].set);
	return !vpx.broken;
}

/* As the program ended: whoever waits for vp-exec sees the same signal. */
static int end_as(int status)
{
	static const struct rlimit none = { 0, 0 };
	sigset_t all;

	if (!WIFSIGNALED(status))
		return WEXITSTATUS(status);
	setrlimit(RLIMIT_CORE, &none);
	signal(WTERMSIG(status), SIG_DFL);
	sigfillset(&all);
	sigprocmask(SIG_UNBLOCK, &all, NULL);
	raise(WTERMSIG(status));
	return 128 + WTERMSIG(status);
}

/* The supervisor: true, programs have run. */
static bool supervise(void)
{
	struct xk_embed *g;
	bool ok = false;

	if (prepare()) {
		g = xk_embed_new("vp-exec");
		if (g != NULL)
			ok = run(g);
		(void)xk_embed_free(g);
	}
	vpx_loop_fini();
	vpx_filter_free(&vpx.filter);
	vpx_hosts_free();
	vpx_isolate_fini();
	return ok;
}

int main(int argc, char **argv)
{
	int status = 0, kept;
	bool ok;

	vpx_options(argc, argv);
	kept = vpx_keeper(&status);
	if (kept < 0)
		fprintf(stderr, "vp-exec: %s\n", strerror(-kept));
	ok = kept == 0 ? supervise() : kept > 0;
	if (kept == 0)
		status = vpx_programs_status();
	for (unsigned i = 0; i < vpx.nprograms; i++)
		free(vpx.program[i].argv);
	free(vpx.args);
	return ok ? end_as(status) : VPX_FAILED;
}
