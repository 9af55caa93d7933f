/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * test_cbpf.c - the classic BPF engine says what libpcap's bpf_filter says, in machine code
 * and in threaded code, of every valid program and frame; and takes no other program.
 */
#include <pcap/pcap.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "runtime/base/xk_base.h"
#include "runtime/classify/xk_cbpf.h"
#include "runtime/classify/xk_classify.h"
#include "runtime/mem/xk_mem.h"
#include "tests/runtime/classify/patterns.h"
#include "tests/support/xk_test.h"

#define ENGINES 2u
#define PROGRAM 64u

static struct sock_filter prog[BPF_MAXINSNS];
static struct xk_cbpf *engine[ENGINES];
static char why[200];

static uint32_t theirs(const uint8_t *frame, uint32_t len)
{
	return bpf_filter((const struct bpf_insn *)(const void *)prog, frame, len, len);
}

static void begin(unsigned n)
{
	for (unsigned i = 0; i < ENGINES; i++)
		CU_ASSERT_EQUAL_FATAL(xk_cbpf_new(&engine[i], prog, n, i == 0 ? XK_CBPF_BEST : XK_CBPF_THREADED, why,
						  sizeof why), XK_OK);
	CU_ASSERT_STRING_EQUAL(xk_cbpf_is(engine[1]), "threaded code");
}

static void end(void)
{
	for (unsigned i = 0; i < ENGINES; i++)
		xk_cbpf_free(engine[i]);
	CU_ASSERT_EQUAL(xk_alloc_live(), 0);
}

/* Of a copy that ends where the frame does. */
static void frame_agrees(const uint8_t *frame, uint32_t len)
{
	uint8_t *copy = malloc(len + 1);
	uint32_t want;

	memcpy(copy, frame, len);
	want = theirs(copy, len);
	for (unsigned i = 0; i < ENGINES; i++)
		CU_ASSERT_EQUAL(xk_cbpf_run(engine[i], copy, len), want);
	free(copy);
}

/* ---- random programs -------------------------------------------------------------------------------- */

static uint32_t odd_number(struct dice *d)
{
	static const uint32_t often[] = { 0, 1, 2, 4, 14, 20, 31, 63, 64, 255, 0x7fffffff, 0x7ffffffc, 0x80000000, UINT32_MAX };

	return roll(d, 3) ? roll(d, 70) : roll(d, 2) ? often[roll(d, XK_ARRAY_LEN(often))] : roll(d, 0);
}

/* `left` instructions behind it. */
static struct sock_filter random_one(struct dice *d, unsigned left)
{
	static const uint16_t code[] = {
		BPF_LD | BPF_IMM, BPF_LDX | BPF_IMM, BPF_LD | BPF_W | BPF_LEN, BPF_LDX | BPF_W | BPF_LEN,
		BPF_LD | BPF_W | BPF_ABS, BPF_LD | BPF_H | BPF_ABS, BPF_LD | BPF_B | BPF_ABS, BPF_LD | BPF_W | BPF_IND,
		BPF_LD | BPF_H | BPF_IND, BPF_LD | BPF_B | BPF_IND, BPF_LDX | BPF_MSH | BPF_B, BPF_LD | BPF_MEM,
		BPF_LDX | BPF_MEM, BPF_ST, BPF_STX, BPF_MISC | BPF_TAX, BPF_MISC | BPF_TXA, BPF_ALU | BPF_NEG,
		BPF_RET | BPF_K, BPF_RET | BPF_A, BPF_JMP | BPF_JA,
	};
	struct sock_filter f = { .k = odd_number(d) };
	unsigned kind = roll(d, 4);

	if (kind == 0) {
		f.code = (uint16_t)(BPF_ALU | roll(d, 11) << 4 | (roll(d, 2) ? BPF_X : BPF_K));
		if (BPF_OP(f.code) == BPF_NEG)
			f.code = BPF_ALU | BPF_NEG;
		f.k = BPF_OP(f.code) == BPF_LSH || BPF_OP(f.code) == BPF_RSH ? f.k & 31 : f.k | (f.k == 0);
	} else if (kind == 1 && left > 1) {
		f.code = (uint16_t)(BPF_JMP | (1 + roll(d, 4)) << 4 | (roll(d, 4) == 0 ? BPF_X : BPF_K));
		f.jt = (uint8_t)roll(d, left < 6 ? left : 6);
		f.jf = (uint8_t)roll(d, left < 6 ? left : 6);
	} else {
		f.code = code[roll(d, roll(d, 8) ? 18 : XK_ARRAY_LEN(code))];
		if (f.code == (BPF_JMP | BPF_JA))
			f.k = roll(d, left < 6 ? left : 6);
		if (BPF_CLASS(f.code) == BPF_ST || BPF_CLASS(f.code) == BPF_STX || f.code == (BPF_LD | BPF_MEM) ||
		    f.code == (BPF_LDX | BPF_MEM))
			f.k = roll(d, BPF_MEMWORDS);
	}
	return f;
}

/* libpcap leaves scratch as it comes, so it is written first. */
static unsigned random_program(struct dice *d)
{
	unsigned n = 0, all = BPF_MEMWORDS + 2 + roll(d, PROGRAM - BPF_MEMWORDS - 2);

	for (; n < BPF_MEMWORDS; n++)
		prog[n] = (struct sock_filter)BPF_STMT(BPF_ST, n);
	for (; n + 1 < all; n++)
		prog[n] = random_one(d, all - 1 - n);
	prog[n++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_A, 0);
	return n;
}

static void random_programs_agree(void)
{
	struct dice d = { 0xbadcafe };
	uint8_t frame[PATTERN_FRAME];

	for (unsigned long i = xk_test_rounds(40000); i > 0; i--) {
		begin(random_program(&d));
		for (unsigned k = 0; k < 16; k++) {
			uint32_t len = roll(&d, 2) ? roll(&d, 80) : roll(&d, PATTERN_FRAME);

			for (uint32_t b = 0; b < len; b++)
				frame[b] = (uint8_t)(roll(&d, 3) ? roll(&d, 0) : 0);
			frame_agrees(frame, len);
		}
		end();
	}
}

/* ---- programs of users ------------------------------------------------------------------------------- */

static const char *const expressions[] = {
	"udp", "tcp port 80", "host 10.0.0.1", "src host 10.0.0.1 and udp dst port 53", "not arp and not icmp",
	"ip[6:2] & 0x1fff = 0 and udp[4:2] > 8", "tcp[tcpflags] & (tcp-syn|tcp-ack) = tcp-syn", "less 60", "greater 100",
	"ether proto 0x88b5 or vlan 7", "ip6 and udp", "net 10.0.0.0/8 and portrange 1000-2000", "ip[0] & 0xf > 5",
	"ether[len - 1] = 7 or ip[ip[8]] / ip[9] > 3",
};

static unsigned compiled(const char *text)
{
	pcap_t *p = pcap_open_dead(DLT_EN10MB, 65535);
	struct bpf_program b;
	unsigned n;

	CU_ASSERT_EQUAL_FATAL(pcap_compile(p, &b, text, 1, PCAP_NETMASK_UNKNOWN), 0);
	n = b.bf_len;
	memcpy(prog, b.bf_insns, n * sizeof(*prog));
	pcap_freecode(&b);
	pcap_close(p);
	return n;
}

static void expressions_agree(void)
{
	uint8_t frame[PATTERN_FRAME];
	struct dice d = { 31 };
	struct xk_pattern pat;

	pattern_make(&pat, "eth");
	for (unsigned i = 0; i < XK_ARRAY_LEN(expressions); i++) {
		begin(compiled(expressions[i]));
		for (unsigned long k = xk_test_rounds(6000); k > 0; k--)
			frame_agrees(frame, pattern_frame(&pat, &d, frame));
		end();
	}
}

/* ---- programs of patterns ------------------------------------------------------------------------------ */

static bool pattern_agrees(const struct xk_pattern *p, const struct xk_cbpf *c, const uint8_t *frame, uint32_t len)
{
	uint8_t *copy = malloc(len + 1);
	uint32_t mem[BPF_MEMWORDS] = { 0 }, said;
	struct xk_pat_verdict v;

	memcpy(copy, frame, len);
	xk_pattern_match(p, copy, len, &v);
	said = xk_cbpf_run_mem(c, copy, len, mem);
	free(copy);
	return said == ((uint32_t)v.kind << 16 | v.cell) && (v.kind == XK_PAT_NONE ||
		(mem[XK_CBPF_HASH] == v.hash && htobe32(mem[XK_CBPF_RADDR]) == v.key.raddr &&
		 htobe32(mem[XK_CBPF_LADDR]) == v.key.laddr && htobe16(mem[XK_CBPF_RPORT]) == v.key.rport &&
		 htobe16(mem[XK_CBPF_LPORT]) == v.key.lport));
}

static void full_agrees(const struct xk_pattern *p, struct dice *d, unsigned long frames)
{
	uint8_t frame[PATTERN_FRAME];
	int n = xk_pattern_cbpf_full(p, prog, BPF_MAXINSNS);

	CU_ASSERT_TRUE_FATAL(n > 0);
	begin((unsigned)n);
	for (; frames > 0; frames--) {
		uint32_t len = pattern_frame(p, d, frame);

		for (unsigned i = 0; i < ENGINES; i++)
			CU_ASSERT_TRUE(pattern_agrees(p, engine[i], frame, len));
	}
	end();
}

static void verdicts_keys_and_hashes_of_patterns_agree(void)
{
	struct dice d = { 0xabcdef };
	struct xk_pattern pat;

	for (unsigned i = 0; pattern_names[i] != NULL; i++) {
		pattern_make(&pat, pattern_names[i]);
		full_agrees(&pat, &d, xk_test_rounds(40000));
	}
	for (unsigned long i = xk_test_rounds(2000); i > 0; i--) {
		pattern_random(&pat, &d);
		full_agrees(&pat, &d, 60);
	}
}

/* ---- what is no program ---------------------------------------------------------------------------------- */

static bool refused(const struct sock_filter *f, unsigned n)
{
	struct xk_cbpf *c;
	int err;

	why[0] = '\0';
	err = xk_cbpf_new(&c, f, n, XK_CBPF_BEST, why, sizeof why);
	xk_cbpf_free(c);
	return err == XK_E_INVAL && c == NULL && why[0] != '\0';
}

static void what_is_no_program_is_refused(void)
{
	static const struct sock_filter bad[] = {
		BPF_STMT(BPF_LD | BPF_MEM, 16), BPF_STMT(BPF_STX, 16), BPF_STMT(BPF_ALU | BPF_DIV, 0),
		BPF_STMT(BPF_ALU | BPF_MOD, 0), BPF_STMT(BPF_ALU | BPF_LSH, 32), BPF_STMT(BPF_JMP | BPF_JA, 1),
		BPF_STMT(BPF_JMP | BPF_JA, UINT32_MAX), BPF_JUMP(BPF_JMP | BPF_JEQ, 0, 1, 0),
		BPF_JUMP(BPF_JMP | BPF_JEQ, 0, 0, 1), BPF_STMT(0xff, 0), BPF_STMT(BPF_RET | BPF_X, 0), BPF_STMT(0x100, 0),
		BPF_STMT(BPF_ALU | 0xb0, 0), BPF_STMT(BPF_JMP | 0x50, 0), BPF_STMT(BPF_LD | BPF_MSH | BPF_B, 0),
	};
	struct sock_filter f[2] = { BPF_STMT(BPF_RET | BPF_A, 0), BPF_STMT(BPF_RET | BPF_A, 0) };

	CU_ASSERT_FALSE(refused(f, 1) || refused(f, 2));
	for (unsigned i = 0; i < XK_ARRAY_LEN(bad); i++) {
		f[0] = bad[i];
		CU_ASSERT_TRUE(refused(f, 2));
	}
	f[1] = (struct sock_filter)BPF_STMT(BPF_LD | BPF_IMM, 1);
	f[0] = f[1];
	CU_ASSERT_TRUE(refused(f, 2) && refused(f, 0) && refused(prog, BPF_MAXINSNS + 1));
}

static void a_loop_is_refused_and_the_sentence_says_so(void)
{
	const struct sock_filter loop[] = {
		BPF_STMT(BPF_LD | BPF_IMM, 1), BPF_STMT(BPF_JMP | BPF_JA, (uint32_t)-2), BPF_STMT(BPF_RET | BPF_A, 0),
	};
	const struct sock_filter out[] = { BPF_STMT(BPF_JMP | BPF_JA, 5), BPF_STMT(BPF_RET | BPF_A, 0) };

	CU_ASSERT_TRUE(refused(loop, 3));
	CU_ASSERT_PTR_NOT_NULL(strstr(why, "jumps backwards: a filter that loops over headers (protochain) is refused"));
	CU_ASSERT_TRUE(refused(out, 2));
	CU_ASSERT_PTR_NOT_NULL(strstr(why, "leads out of the program"));
}

/* Whatever is in memory: refused, or run like libpcap's. */
static void noise_is_refused_or_agrees(void)
{
	struct dice d = { 99 };
	uint8_t frame[64];

	for (unsigned long i = xk_test_rounds(100000); i > 0; i--) {
		struct xk_cbpf *c;
		unsigned n = 1 + roll(&d, 4);

		for (unsigned k = 0; k < n; k++)
			prog[k] = (struct sock_filter){ (uint16_t)roll(&d, 256), (uint8_t)roll(&d, 4), (uint8_t)roll(&d, 4),
				roll(&d, 20) };
		prog[n] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_A, 0);
		if (xk_cbpf_new(&c, prog, n + 1, XK_CBPF_BEST, why, sizeof why) != XK_OK)
			continue;
		CU_ASSERT_TRUE(bpf_validate((const struct bpf_insn *)(const void *)prog, (int)n + 1));
		memset(frame, (int)i, sizeof frame);
		(void)xk_cbpf_run(c, frame, roll(&d, sizeof frame));
		xk_cbpf_free(c);
	}
}

static void scratch_begins_as_nothing_and_bursts_are_many(void)
{
	static const struct sock_filter f[] = { BPF_STMT(BPF_LD | BPF_MEM, 3), BPF_STMT(BPF_LDX | BPF_W | BPF_LEN, 0),
		BPF_STMT(BPF_STX, 3), BPF_STMT(BPF_ALU | BPF_ADD | BPF_X, 0), BPF_STMT(BPF_RET | BPF_A, 0) };
	const uint8_t *frame[3] = { (const uint8_t *)"a", (const uint8_t *)"bc", (const uint8_t *)"def" };
	uint32_t len[3] = { 1, 2, 3 }, said[3];

	memcpy(prog, f, sizeof f);
	begin(XK_ARRAY_LEN(f));
	for (unsigned i = 0; i < ENGINES; i++) {
		xk_cbpf_burst(engine[i], frame, len, 3, said);
		CU_ASSERT_TRUE(said[0] == 1 && said[1] == 2 && said[2] == 3);
	}
	end();
}

static void memory_may_run_out(void)
{
	struct xk_cbpf *c;

	prog[0] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_A, 0);
	for (unsigned i = 1; i < 6; i++) {
		xk_mem_fail_after(i);
		CU_ASSERT_EQUAL(xk_cbpf_new(&c, prog, 1, XK_CBPF_THREADED, why, sizeof why), XK_E_NOMEM);
		CU_ASSERT_STRING_EQUAL(why, "out of memory");
		CU_ASSERT_PTR_NULL(c);
	}
	xk_mem_fail_after(0);
	CU_ASSERT_EQUAL(xk_alloc_live(), 0);
}

#ifndef PR_SET_MDWE
#define PR_SET_MDWE 65
#endif
#define MDWE_REFUSE_EXEC_GAIN 1ul
enum { CHILD_GOOD, CHILD_BAD, CHILD_CANNOT };

/* In a process where nothing written to can become code. */
static int without_code(void)
{
	struct xk_cbpf *c;
	bool good;

	if (prctl(PR_SET_MDWE, MDWE_REFUSE_EXEC_GAIN, 0ul, 0ul, 0ul) != 0)
		return CHILD_CANNOT;
	prog[0] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, 7);
	if (xk_cbpf_new(&c, prog, 1, XK_CBPF_BEST, why, sizeof why) != XK_OK)
		return CHILD_BAD;
	good = strcmp(xk_cbpf_is(c), "threaded code") == 0 && xk_cbpf_run(c, (const uint8_t *)"", 0) == 7;
	xk_cbpf_free(c);
	return good ? CHILD_GOOD : CHILD_BAD;
}

static void where_no_code_may_be_made_it_is_threaded(void)
{
	int status = 0;
	pid_t child;

	if (getenv("XK_TEST_SLOW") != NULL) {
		xk_test_skip("valgrind makes code itself");
		return;
	}
	child = fork();
	if (child == 0)
		_exit(without_code());
	CU_ASSERT_EQUAL_FATAL(waitpid(child, &status, 0), child);
	if (WIFEXITED(status) && WEXITSTATUS(status) == CHILD_CANNOT) {
		xk_test_skip("this kernel cannot forbid memory to become code");
		return;
	}
	CU_ASSERT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == CHILD_GOOD);
}

static CU_TestInfo tests[] = {
	{ "random programs agree", random_programs_agree },
	{ "expressions agree", expressions_agree },
	{ "verdicts, keys and hashes of patterns agree", verdicts_keys_and_hashes_of_patterns_agree },
	{ "what is no program is refused", what_is_no_program_is_refused },
	{ "a loop is refused and the sentence says so", a_loop_is_refused_and_the_sentence_says_so },
	{ "noise is refused or agrees", noise_is_refused_or_agrees },
	{ "scratch begins as nothing, and bursts are many", scratch_begins_as_nothing_and_bursts_are_many },
	{ "memory may run out", memory_may_run_out },
	{ "where no code may be made it is threaded", where_no_code_may_be_made_it_is_threaded },
	CU_TEST_INFO_NULL,
};

static CU_SuiteInfo suites[] = {
	{ "classic BPF engine", NULL, NULL, NULL, NULL, tests },
	CU_SUITE_INFO_NULL,
};

int main(void)
{
	return xk_test_main(suites);
}
