/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * vp_background.c - what an idle worker does beside protocols: it walks memory and code, a line at a
 * time, in slices of 2 us with a look for protocol work between.
 *
 * The processors of Salehi, Kurose and Towsley (1995, 2) have other work whenever there is none of the
 * protocols', and give it up at once when there is; what it touches displaces what the protocols
 * had cached.  Half of its references are to data and half to instructions, as there.  A line of
 * data is read and written, so each page is one of memory and not the system's page of zeros; a line
 * of code is a function that returns, made here.  A share v of the slices walks: by turns, without
 * chance, so v of any number of slices has walked, to one.
 */
#include "runtime/vp/vp_background.h"

#include <string.h>
#include <sys/mman.h>

#define CHUNK 8u                 /* references between two looks at the clock */

/* A function that takes and gives nothing, at an aligned line; NULL: not known for this processor. */
#if defined(__x86_64__)
static const uint8_t leave[] = { 0xf3, 0x0f, 0x1e, 0xfa, 0xc3 };                     /* endbr64; ret */
#elif defined(__aarch64__) && __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
static const uint8_t leave[] = { 0x5f, 0x24, 0x03, 0xd5, 0xc0, 0x03, 0x5f, 0xd6 };   /* bti c; ret */
#else
static const uint8_t leave[] = { 0 };
#endif
#define CAN_MAKE_CODE (sizeof leave > 1)

static uint8_t *lines_new(uint32_t n)
{
	void *p = mmap(NULL, (size_t)n * VP_BACKGROUND_LINE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	return p == MAP_FAILED ? NULL : p;
}

static void lines_free(uint8_t *p, uint32_t n)
{
	if (p != NULL)
		munmap(p, (size_t)n * VP_BACKGROUND_LINE);
}

static int make_code(struct vp_background *b)
{
	size_t bytes = (size_t)b->ncode * VP_BACKGROUND_LINE;

	if (!CAN_MAKE_CODE)
		return XK_E_NOTSUP;
	b->code = lines_new(b->ncode);
	if (b->code == NULL)
		return XK_E_NOMEM;
	for (uint32_t i = 0; i < b->ncode; i++)
		memcpy(b->code + (size_t)i * VP_BACKGROUND_LINE, leave, sizeof leave);
	if (mprotect(b->code, bytes, PROT_READ | PROT_EXEC) != 0)
		return XK_E_NOTSUP;
	__builtin___clear_cache((char *)b->code, (char *)b->code + bytes);
	return XK_OK;
}

static uint32_t lines_of(uint64_t bytes) { return (uint32_t)((bytes + VP_BACKGROUND_LINE - 1) / VP_BACKGROUND_LINE); }

int vp_background_init(struct vp_background *b, const struct xk_background *conf)
{
	*b = (struct vp_background){
		.ndata = lines_of(conf->data), .ncode = lines_of(conf->code),
		.share = (uint32_t)(conf->v * VP_BACKGROUND_WHOLE + 0.5),
	};
	if (b->ndata != 0) {
		b->data = lines_new(b->ndata);
		if (b->data == NULL)
			return XK_E_NOMEM;
		memset(b->data, 1, (size_t)b->ndata * VP_BACKGROUND_LINE);
	}
	return b->ncode != 0 ? make_code(b) : XK_OK;
}

void vp_background_fini(struct vp_background *b)
{
	lines_free(b->data, b->ndata);
	lines_free(b->code, b->ncode);
	b->data = b->code = NULL;
}

static void walk_data(struct vp_background *b, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++) {
		volatile uint8_t *line = b->data + (size_t)b->at_data * VP_BACKGROUND_LINE;

		*line = (uint8_t)(*line + 1);
		if (++b->at_data == b->ndata)
			b->at_data = 0;
	}
	xk_count_add(b->data_refs, n);
}

static void walk_code(struct vp_background *b, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++) {
		const void *line = b->code + (size_t)b->at_code * VP_BACKGROUND_LINE;
		void (*fn)(void);

		memcpy(&fn, &line, sizeof fn);
		fn();
		if (++b->at_code == b->ncode)
			b->at_code = 0;
	}
	xk_count_add(b->code_refs, n);
}

void vp_background_walk(struct vp_background *b, uint32_t n)
{
	if (b->ndata != 0)
		walk_data(b, n);
	if (b->ncode != 0)
		walk_code(b, n);
}

void vp_background_slice(struct vp_background *b, const struct xk_clock *clock)
{
	xk_ns until = xk_clock_read(clock) + VP_BACKGROUND_SLICE;

	b->owed += b->share;
	if (b->owed < VP_BACKGROUND_WHOLE) {
		xk_count(b->rests);
		while (xk_clock_read(clock) < until)
			xk_cpu_relax();
		return;
	}
	b->owed -= VP_BACKGROUND_WHOLE;
	xk_count(b->slices);
	do
		vp_background_walk(b, CHUNK);
	while (xk_clock_read(clock) < until);
}
