/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * mem_fixture.c - builds and checks the pool under test.
 *
 * Invariant: between tests no VP is entered and nothing is allocated.
 */
#include "tests/runtime/mem/mem_fixture.h"

#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

struct fx fx;

void fx_enter(unsigned no)
{
	xk_mem_self = &fx.vp[no];
	xk_vp_no = (uint16_t)no;
}

void fx_leave(void)
{
	xk_mem_self = NULL;
	xk_vp_no = XK_VP_NONE;
}

void fx_begin(uint64_t limit, bool huge, unsigned nvps)
{
	struct xk_mem_conf c = { .limit = limit, .huge = huge };

	memset(&fx, 0, sizeof(fx));
	fx.live = xk_alloc_live();
	CU_ASSERT_EQUAL(fx.live, 0);
	fx.nvps = nvps;
	CU_ASSERT_EQUAL_FATAL(xk_mempool_new(&fx.pool, &c, nvps), XK_OK);
	for (unsigned i = 0; i < nvps; i++)
		CU_ASSERT_EQUAL_FATAL(xk_memvp_init(&fx.vp[i], fx.pool, (uint16_t)i), XK_OK);
	CU_ASSERT_EQUAL(fx_out(), 0);
}

void fx_end(void)
{
	xk_mem_fail_after(0);
	CU_ASSERT_EQUAL(fx_out(), 0);
	for (unsigned i = 0; i < fx.nvps; i++) {
		fx_enter(i);
		xk_memvp_fini(&fx.vp[i]);
	}
	fx_leave();
	CU_ASSERT_EQUAL(xk_mempool_free(fx.pool), 0);
	CU_ASSERT_EQUAL(xk_alloc_live(), fx.live);
}

void fx_setup(void)
{
	fx_begin((uint64_t)64 << 20, false, FX_VPS);
	fx_enter(0);
}

void fx_teardown(void)
{
	fx_end();
}

uint64_t fx_out(void)
{
	struct xk_mem_stats s[XK_MEM_CLASSES];
	uint64_t n = 0;

	xk_mempool_stats(fx.pool, s);
	for (unsigned c = 0; c < XK_MEM_CLASSES; c++) {
		CU_ASSERT(s[c].free <= s[c].carved);
		CU_ASSERT_EQUAL(s[c].bytes, s[c].carved * xk_mem_size[c]);
		n += s[c].outstanding;
	}
	return n;
}

bool fx_aborts(void (*fn)(void *), void *arg)
{
	struct rlimit none = { 0, 0 };
	int status = 0;
	pid_t pid = fork();

	if (pid == 0) {
		int null = open("/dev/null", O_WRONLY);

		dup2(null, 2);
		setrlimit(RLIMIT_CORE, &none);
		signal(SIGABRT, SIG_DFL);
		fn(arg);
		_exit(0);
	}
	waitpid(pid, &status, 0);
	return WIFSIGNALED(status) || (WIFEXITED(status) && WEXITSTATUS(status) != 0);
}
