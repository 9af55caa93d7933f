/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * xdp_run.c - the kernel's eBPF asked from user space about one packet at a
 * time: BPF_PROG_TEST_RUN of an XDP program that looks for one connection.
 *
 * The program is assembled here, so that no compiler is needed for it; it loads
 * what the filter of frames.h compares and passes what agrees.  Needs the right
 * to load programs.  Usage: xdp-run one MILLISECONDS
 */
#define _GNU_SOURCE
#include "frames.h"
#include "peer.h"

#include <bpf/bpf.h>
#include <errno.h>
#include <linux/bpf.h>
#include <arpa/inet.h>

#define ROUND 64

#define OP(c, d, s, o, i) ((struct bpf_insn){ .code = (c), .dst_reg = (d), .src_reg = (s), .off = (short)(o), .imm = (int)(i) })
#define MOV(d, s)         OP(BPF_ALU64 | BPF_MOV | BPF_X, d, s, 0, 0)
#define SET(d, i)         OP(BPF_ALU64 | BPF_MOV | BPF_K, d, 0, 0, i)
#define ADD(d, i)         OP(BPF_ALU64 | BPF_ADD | BPF_K, d, 0, 0, i)
#define AND(d, i)         OP(BPF_ALU64 | BPF_AND | BPF_K, d, 0, 0, i)
#define LOAD(size, d, s, o) OP(BPF_LDX | BPF_MEM | (size), d, s, o, 0)
#define UNLESS_EQ(d, i, o)  OP(BPF_JMP32 | BPF_JNE | BPF_K, d, 0, o, i)
#define ABOVE(d, s, o)      OP(BPF_JMP | BPF_JGT | BPF_X, d, s, o, 0)
#define LEAVE               OP(BPF_JMP | BPF_EXIT, 0, 0, 0, 0)

static void die(const char *what, const char *log)
{
	fprintf(stderr, "xdp-run: %s: %s%s%s\n", what, strerror(errno), *log ? ": " : "", log);
	exit(1);
}

static int program(void)
{
	static char log[8192];
	LIBBPF_OPTS(bpf_prog_load_opts, opts, .log_buf = log, .log_size = sizeof log, .log_level = 1);
	/* r2: the frame, r3: its end, r4: what is compared; UNLESS_EQ leads to the last two. */
	const struct bpf_insn prog[] = {
		LOAD(BPF_W, 2, 1, offsetof(struct xdp_md, data)),
		LOAD(BPF_W, 3, 1, offsetof(struct xdp_md, data_end)),
		SET(0, XDP_DROP),
		MOV(4, 2),
		ADD(4, 38),
		ABOVE(4, 3, 18),
		LOAD(BPF_H, 4, 2, 12), UNLESS_EQ(4, htons(0x0800), 16),
		LOAD(BPF_B, 4, 2, 14), UNLESS_EQ(4, 0x45, 14),
		LOAD(BPF_H, 4, 2, 20), AND(4, htons(0x3fff)), UNLESS_EQ(4, 0, 11),
		LOAD(BPF_B, 4, 2, 23), UNLESS_EQ(4, 17, 9),
		LOAD(BPF_W, 4, 2, 26), UNLESS_EQ(4, htonl(FRAMES_SRC), 7),
		LOAD(BPF_W, 4, 2, 30), UNLESS_EQ(4, htonl(FRAMES_DST), 5),
		LOAD(BPF_H, 4, 2, 34), UNLESS_EQ(4, htons(FRAMES_SPORT), 3),
		LOAD(BPF_H, 4, 2, 36), UNLESS_EQ(4, htons(FRAMES_DPORT), 1),
		SET(0, XDP_PASS),
		LEAVE,
	};
	int fd = bpf_prog_load(BPF_PROG_TYPE_XDP, "xdp_run", "BSD", prog, sizeof prog / sizeof *prog, &opts);

	if (fd < 0)
		die("the kernel refuses the program (it takes CAP_BPF and CAP_NET_ADMIN)", log);
	return fd;
}

static unsigned verdict(int fd, const uint8_t *frame)
{
	LIBBPF_OPTS(bpf_test_run_opts, opts, .data_in = frame, .data_size_in = FRAMES_LEN, .repeat = 1);

	if (bpf_prog_test_run_opts(fd, &opts) != 0)
		die("BPF_PROG_TEST_RUN", "");
	return opts.retval;
}

static double run(int fd, uint8_t (*frame)[FRAMES_PLACE], double ms)
{
	double t0 = peer_now(), t, n = 0;

	do {
		for (unsigned i = 0; i < ROUND; i++)
			for (unsigned j = 0; j < FRAMES_BURST; j++)
				if (verdict(fd, frame[j]) != XDP_PASS)
					die("a frame was not passed", "");
		n += ROUND * FRAMES_BURST;
		t = peer_now() - t0;
	} while (t < ms * 1e6);
	return t / n;
}

int main(int argc, char **argv)
{
	static uint8_t frame[FRAMES_BURST][FRAMES_PLACE];
	double ms = argc > 2 ? atof(argv[2]) : 200;
	int fd = program();

	frames_make(frame[0], 1);
	if (verdict(fd, frame[0]) != XDP_DROP)
		die("a frame of another connection was passed", "");
	for (unsigned j = 0; j < FRAMES_BURST; j++)
		frames_make(frame[j], 0);
	run(fd, frame, ms / 4);
	peer_report("xdp", "test_run", run(fd, frame, ms));
	return 0;
}
