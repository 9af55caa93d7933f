/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * test_ebpf_gen.c - the assembler, the disassembler, and how much of a frame a program takes.
 *
 * Needs neither privilege nor libbpf.
 */
#include <stdlib.h>
#include <string.h>

#include "runtime/classify/classify_ebpf.h"
#include "runtime/mem/xk_mem.h"
#include "tests/runtime/classify/patterns.h"
#include "tests/support/xk_test.h"

static struct ebpf_asm *a;
static char why[256];

static void setup(void)
{
	a = xk_alloc(sizeof *a);
	CU_ASSERT_PTR_NOT_NULL_FATAL(a);
}

static void teardown(void)
{
	xk_free(a);
}

static void jumps_find_their_labels_forward_and_back(void)
{
	unsigned back = ebpf_label(a), on = ebpf_label(a);

	ebpf_here(a, back);
	ebpf_if_imm(a, BPF_JEQ, BPF_REG_1, 5, on);
	ebpf_imm64(a, BPF_REG_2, 1);
	ebpf_goto(a, back);
	ebpf_here(a, on);
	ebpf_exit(a);
	CU_ASSERT_TRUE(ebpf_finish(a));
	CU_ASSERT_EQUAL(a->n, 5);
	CU_ASSERT_EQUAL(a->insn[0].off, 3);
	CU_ASSERT_EQUAL(a->insn[3].off, -4);
}

static void a_jump_to_nowhere_is_no_program(void)
{
	ebpf_goto(a, ebpf_label(a));
	CU_ASSERT_FALSE(ebpf_finish(a));
	CU_ASSERT_STRING_EQUAL(a->lost, "a jump to nowhere");
}

static void what_does_not_fit_is_no_program(void)
{
	for (unsigned i = 0; i <= EBPF_INSNS; i++)
		ebpf_exit(a);
	CU_ASSERT_FALSE(ebpf_finish(a));
	CU_ASSERT_STRING_EQUAL(a->lost, "more instructions than a program may have");
	memset(a, 0, sizeof *a);
	for (unsigned i = 0; i <= EBPF_LABELS; i++)
		ebpf_here(a, ebpf_label(a));
	CU_ASSERT_FALSE(ebpf_finish(a));
	memset(a, 0, sizeof *a);
	ebpf_here(a, ebpf_label(a));
	for (unsigned i = 0; i <= EBPF_FIXES; i++)
		ebpf_goto(a, 0);
	CU_ASSERT_FALSE(ebpf_finish(a));
	memset(a, 0, sizeof *a);
	ebpf_load(a, 4, 0, 1, 40000);
	CU_ASSERT_FALSE(ebpf_finish(a));
}

static void says(const char *want)
{
	char text[96];

	CU_ASSERT_EQUAL(ebpf_text(a->insn, 7, a->n, text, sizeof text), a->n);
	CU_ASSERT_STRING_EQUAL(text, want);
	memset(a, 0, sizeof *a);
}

static void instructions_read_as_the_kernels_tools_write_them(void)
{
	ebpf_load(a, 2, 3, 6, -12);
	says("    7: (69) r3 = *(u16 *)(r6 -12)");
	ebpf_store(a, 8, 10, -16, 1);
	says("    7: (7b) *(u64 *)(r10 -16) = r1");
	ebpf_store_imm(a, 1, 8, 4, 9);
	says("    7: (72) *(u8 *)(r8 +4) = 9");
	ebpf_alu(a, BPF_ADD, 1, 2);
	says("    7: (0f) r1 += r2");
	ebpf_alu32_imm(a, BPF_RSH, 1, 15);
	says("    7: (74) w1 >>= 15");
	ebpf_swap(a, 4, 16, false);
	says("    7: (dc) r4 = be16 r4");
	ebpf_cast(a, 8);
	says("    7: (bf) r8 = addr_space_cast(r8, 0, 1)");
	ebpf_imm64(a, 2, 0x123456789abcull);
	says("    7: (18) r2 = 0x123456789abc");
	ebpf_map(a, 1, 5);
	says("    7: (18) r1 = map[5]");
	ebpf_map_value(a, 1, 5, 64);
	says("    7: (18) r1 = map[5][0]+64");
	ebpf_call(a, BPF_FUNC_map_lookup_elem);
	says("    7: (85) call bpf_map_lookup_elem#1");
	ebpf_may_goto(a, ebpf_label(a));
	says("    7: (e5) may_goto pc+0");
	ebpf_if_imm(a, BPF_JSET, 1, 0xff3f, ebpf_label(a));
	says("    7: (46) if w1 & 0xff3f goto pc+0");
	ebpf_if_ptr(a, BPF_JGT, 3, 8, ebpf_label(a));
	says("    7: (2d) if r3 > r8 goto pc+0");
	ebpf_exit(a);
	says("    7: (95) exit");
}

static void any_bytes_are_some_text_of_no_more_than_was_asked(void)
{
	struct dice d = { 77 };
	struct bpf_insn i[2];
	char text[40];

	for (unsigned k = 0; k < 20000; k++) {
		size_t n = 1 + roll(&d, sizeof text);

		for (unsigned b = 0; b < 2; b++)
			i[b] = (struct bpf_insn){ .code = (uint8_t)roll(&d, 256), .dst_reg = roll(&d, 16) & 15u,
				.src_reg = roll(&d, 16) & 15u, .off = (int16_t)roll(&d, 0), .imm = (int32_t)roll(&d, 0) };
		memset(text, '#', sizeof text);
		CU_ASSERT_FATAL(ebpf_text(i, k, 1 + k % 2, text, n) <= 1 + k % 2);
		CU_ASSERT_FATAL(memchr(text, '\0', n) != NULL);
	}
}

/* ---- layouts and whole programs ------------------------------------------------------------------ */

static void a_slot_holds_what_least_headers_need_in_whole_lines(void)
{
	struct ebpf_window w;
	struct xk_pattern p;
	struct ebpf_layout l;

	pattern_make(&p, "fddi");
	w = ebpf_window(&p);
	CU_ASSERT_EQUAL(w.skip, 0);
	CU_ASSERT_EQUAL(w.bytes, 96);            /* 21, 20 and 4 are more than half a line */
	CU_ASSERT_FALSE(w.bounded);              /* 21, 60 with options, 4 */
	pattern_make(&p, "eth");
	w = ebpf_window(&p);
	CU_ASSERT_EQUAL(w.skip, 12);
	CU_ASSERT_EQUAL(w.bytes, 32);            /* to 14, 20, 4 of ports */
	CU_ASSERT_TRUE(w.bounded);
	l = ebpf_layout(&p, 1024, EBPF_ARENA_MOST);
	CU_ASSERT_EQUAL(l.slots, 1024);
	CU_ASSERT_EQUAL(l.stride, 64);
	CU_ASSERT_EQUAL(l.size, 64 + 1024 * 64);
	l = ebpf_layout(&p, 1024, 64 + 10 * 64 + 63);
	CU_ASSERT_EQUAL(l.slots, 10);
	CU_ASSERT_EQUAL(ebpf_layout(&p, 1024, 100).slots, 0);
}

/* ---- frames of least headers ------------------------------------------------------------------------ */

static unsigned leaves_of(const struct xk_pattern *p)
{
	struct ebpf_window w = ebpf_window(p);

	return ebpf_plain_leaves(p, &w);
}

static void plain_frames_are_told_by_what_their_cells_ask_together(void)
{
	struct ebpf_window near = { .bytes = 20 };
	struct xk_pattern p;

	memset(&p, 0, sizeof p);
	CU_ASSERT_EQUAL(leaves_of(&p), 0);
	pattern_make(&p, "eth");
	CU_ASSERT_EQUAL(leaves_of(&p), 3);       /* ICMP, TCP, UDP */
	CU_ASSERT_EQUAL(ebpf_plain_leaves(&p, &near), 0);
	p.cell[1].guard[0].value ^= 0x01;        /* IP: a version that its mask leaves no room for */
	CU_ASSERT_EQUAL(leaves_of(&p), 0);
	pattern_make(&p, "eth");
	p.cell[1].need += 1;                     /* no length in fours */
	CU_ASSERT_EQUAL(leaves_of(&p), 0);
}

static void a_program_is_printed_one_instruction_a_line(void)
{
	struct xk_pattern p;
	char *text = NULL;
	size_t size;

	for (unsigned k = XK_EBPF_XDP; k <= XK_EBPF_CONTEXT; k++) {
		FILE *f = open_memstream(&text, &size);
		unsigned lines = 0, wide = 0;
		int n;

		CU_ASSERT_PTR_NOT_NULL_FATAL(f);
		pattern_make(&p, "user");
		n = xk_ebpf_print(&p, (enum xk_ebpf_kind)k, 4, f, why, sizeof why);
		fclose(f);
		for (char *s = text; (s = strchr(s, '\n')) != NULL; s++)
			lines++;
		for (char *s = text; (s = strstr(s, ": (18) ")) != NULL; s++)
			wide++;
		CU_ASSERT_EQUAL(n, (int)(lines - 1 + wide));
		CU_ASSERT_PTR_NOT_NULL(strstr(text, "(95) exit"));
		CU_ASSERT_PTR_NULL(strchr(text, '?'));
		free(text);
	}
	CU_ASSERT_EQUAL(xk_ebpf_print(&p, XK_EBPF_XDP, 0, stdout, why, sizeof why), XK_E_NOTSUP);
}

static CU_TestInfo tests[] = {
	{ "jumps find their labels forward and back", jumps_find_their_labels_forward_and_back },
	{ "a jump to nowhere is no program", a_jump_to_nowhere_is_no_program },
	{ "what does not fit is no program", what_does_not_fit_is_no_program },
	{ "instructions read as the kernels tools write them", instructions_read_as_the_kernels_tools_write_them },
	{ "any bytes are some text of no more than was asked", any_bytes_are_some_text_of_no_more_than_was_asked },
	{ "a slot holds what least headers need in whole lines", a_slot_holds_what_least_headers_need_in_whole_lines },
	{ "plain frames are told by what their cells ask together", plain_frames_are_told_by_what_their_cells_ask_together },
	{ "a program is printed one instruction a line", a_program_is_printed_one_instruction_a_line },
	CU_TEST_INFO_NULL
};

int main(void)
{
	static const CU_SuiteInfo suites[] = { { "ebpf programs", NULL, NULL, setup, teardown, tests }, CU_SUITE_INFO_NULL };

	return xk_test_main(suites);
}
