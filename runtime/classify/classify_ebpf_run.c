/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * classify_ebpf_run.c - batches of frames decided by a program in the kernel: memory, one call,
 * verdicts.
 *
 * The arena's map is mapped before the program is loaded, so that the kernel chooses an address
 * which does for both, and every page is touched, as a program can't wait for one.  The array
 * of the context buffer is the program's alone.  Where a frame's headers go on behind its slot
 * the reference matcher decides.
 * Invariant: a batch belongs to one thread at a time; nothing in it is shared with another.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <bpf/bpf.h>

#include "runtime/classify/classify_ebpf.h"
#include "runtime/mem/xk_mem.h"

/* ---- making one -------------------------------------------------------------------------------- */

static int no_map(const char *what, char *why, size_t n)
{
	int err = errno;

	if (err == EPERM || err == EACCES) {
		snprintf(why, n, "no permission for %s: it takes CAP_BPF and CAP_PERFMON, or root", what);
		return XK_E_PERM;
	}
	snprintf(why, n, "this kernel has no %s (%s)", what, strerror(err));
	return XK_E_NOTSUP;
}

/* With room for the slots that the program may take besides in its last round. */
static int arena_memory(struct xk_ebpf *e, const struct ebpf_layout *l, char *why, size_t n)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	LIBBPF_OPTS(bpf_map_create_opts, o, .map_flags = BPF_F_MMAPABLE);

	e->bytes = (l->size + (EBPF_LANES - 1) * l->stride + page - 1) & ~(page - 1);
	e->map_fd = bpf_map_create((enum bpf_map_type)EBPF_MAP_ARENA, "xk_arena", 0, 0, (uint32_t)(e->bytes / page), &o);
	if (e->map_fd < 0)
		return no_map("BPF arena (they came with Linux 6.9)", why, n);
	e->mem = mmap(NULL, e->bytes, PROT_READ | PROT_WRITE, MAP_SHARED, e->map_fd, 0);
	if (e->mem == MAP_FAILED) {
		e->mem = NULL;
		return no_map("address for a BPF arena", why, n);
	}
	memset(e->mem, 0, e->bytes);
	return XK_OK;
}

static int context_memory(struct xk_ebpf *e, const struct ebpf_layout *l, char *why, size_t n)
{
	e->bytes = l->size;
	e->map_fd = bpf_map_create(BPF_MAP_TYPE_ARRAY, "xk_batch", 4, l->size, 1, NULL);
	if (e->map_fd < 0)
		return no_map("BPF array", why, n);
	e->mem = xk_alloc(l->size);
	return e->mem != NULL ? XK_OK : XK_E_NOMEM;
}

static int load_batch(struct xk_ebpf *e, struct ebpf_gen *g, char *why, size_t n)
{
	if (g == NULL)
		return XK_E_NOTSUP;
	e->insns = g->a.n;
	e->prog_fd = ebpf_load_prog(BPF_PROG_TYPE_SYSCALL, e->kind == XK_EBPF_ARENA ? "xk_arena" : "xk_context", g->a.insn,
				    g->a.n, why, n);
	xk_free(g);
	return e->prog_fd >= 0 ? XK_OK : e->prog_fd;
}

/* Memory of layout l, and where its slots are. */
static int batch_memory(struct xk_ebpf *e, const struct ebpf_layout *l, char *why, size_t n)
{
	int err;

	if (l->slots == 0)                       /* the generator says why */
		return XK_OK;
	err = e->kind == XK_EBPF_ARENA ? arena_memory(e, l, why, n) : context_memory(e, l, why, n);
	if (err != XK_OK)
		return err;
	e->slot = e->mem + sizeof(struct ebpf_batch);
	e->stride = l->stride;
	e->skip = l->window.skip;
	e->window = l->window.bytes;
	e->slots = l->slots;
	return XK_OK;
}

static int open_arena(struct xk_ebpf *e, unsigned slots, char *why, size_t n)
{
	struct ebpf_layout l = ebpf_layout(e->p, slots, EBPF_ARENA_MOST);
	int err = batch_memory(e, &l, why, n);

	return err != XK_OK ? err : load_batch(e, ebpf_gen_arena(e->p, &l, e->map_fd, (uintptr_t)e->mem, why, n), why, n);
}

static int open_context(struct xk_ebpf *e, unsigned slots, char *why, size_t n)
{
	struct ebpf_layout l = ebpf_layout(e->p, slots < EBPF_CONTEXT_SLOTS ? slots : EBPF_CONTEXT_SLOTS, EBPF_CONTEXT_MOST);
	int err = batch_memory(e, &l, why, n);

	return err != XK_OK ? err : load_batch(e, ebpf_gen_context(e->p, &l, e->map_fd, why, n), why, n);
}

static bool call(const struct xk_ebpf *e)
{
	LIBBPF_OPTS(bpf_test_run_opts, o, .ctx_in = e->kind == XK_EBPF_CONTEXT ? e->mem : NULL,
		    .ctx_size_in = e->kind == XK_EBPF_CONTEXT ? (uint32_t)e->bytes : 0);

	return bpf_prog_test_run_opts(e->prog_fd, &o) == 0 && o.retval == 0;
}

int xk_ebpf_open(struct xk_ebpf **out, const struct xk_pattern *p, enum xk_ebpf_kind kind, unsigned slots, char *why,
		 size_t n)
{
	struct xk_ebpf *e = xk_alloc(sizeof(*e));
	int err;

	*out = NULL;
	snprintf(why, n, "out of memory");
	if (e == NULL)
		return XK_E_NOMEM;
	*e = (struct xk_ebpf){ .p = p, .kind = kind, .map_fd = -1, .prog_fd = -1 };
	err = kind == XK_EBPF_CONTEXT ? open_context(e, slots, why, n) : open_arena(e, slots, why, n);
	if (err == XK_OK && !call(e)) {
		snprintf(why, n, "the kernel does not run the program (%s)", strerror(errno));
		err = XK_E_NOTSUP;
	}
	if (err != XK_OK) {
		xk_ebpf_close(e);
		return err;
	}
	*out = e;
	return XK_OK;
}

void xk_ebpf_close(struct xk_ebpf *e)
{
	if (e == NULL)
		return;
	if (e->prog_fd >= 0)
		close(e->prog_fd);
	if (e->kind == XK_EBPF_ARENA && e->mem != NULL)
		munmap(e->mem, e->bytes);
	else
		xk_free(e->mem);
	if (e->map_fd >= 0)
		close(e->map_fd);
	xk_free(e);
}

unsigned xk_ebpf_slots(const struct xk_ebpf *e)
{
	return e->slots;
}

/* ---- running it ----------------------------------------------------------------------------------- */

bool xk_ebpf_call(struct xk_ebpf *e, unsigned n)
{
	((struct ebpf_batch *)(void *)e->mem)->n = n;
	return call(e);
}
