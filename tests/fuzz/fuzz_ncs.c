/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * fuzz_ncs.c - fuzz target of ncs: what a peer says on control connections, on data connections and on streams.
 *
 * The input is pieces, a byte of kind and one of length before each: records for the control connection, datagrams
 * for the data connection, bytes of a stream (to a second ncs over TCP), or time that passes.  All of it goes to a
 * node whose peer has opened a connection of each kind before: to an echo, or to a program's thread, which waits
 * for messages and is told of others by notes.
 * Held to: a connection beside it brings its message back, sessions are as few as `connections` and `peers`
 * say, what is kept for the program is no more than `unexpected`, and at the end nothing is left (the fixture aborts
 * on a leak).
 */
#include <stdlib.h>
#include <string.h>

#include "protocols/ncs/ncs_hdr.h"
#include "protocols/ncs/xk_ncs.h"
#include "tests/protocols/ncs_fixture.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define PIECE 255u

static struct pf f;

static void must(bool good)
{
	if (!good)
		abort();
}

/* Of thread 0 of rank 1, to thread 0 of the program, or to the echo. */
static uint32_t open_record(uint8_t *b, uint8_t flow, uint8_t error, bool program)
{
	const struct ncs_rec rec = { .type = NCS_OPEN, .len = NCS_REC_LEN + NCS_OPEN_LEN + (program ? NCS_HELLO_LEN : 0),
				     .conn = 3, .epoch = 77 };
	const struct ncs_open o = {
		.service = program ? 8 : 7, .data = 5000, .flow = flow, .error = error,
		.a = { .flow_window = 8, .first = 2, .most = 8, .rate = 1000000, .sdu = 1000, .error_window = 8 },
	};

	ncs_rec_store(b, &rec);
	ncs_open_store(b + NCS_REC_LEN, &o);
	if (program) {
		memset(b + NCS_REC_LEN + NCS_OPEN_LEN, 0, NCS_HELLO_LEN);
		xk_put_be32(b + NCS_REC_LEN + NCS_OPEN_LEN, 1);
	}
	return rec.len;
}

/* Numbers that a peer may know are put where the input has the letters of an unlikely one. */
static void pieces(const uint8_t *data, size_t size, struct xk_sess *const s[2])
{
	uint8_t b[2 + PIECE + 1000];

	while (size >= 2) {
		unsigned kind = data[0] % 4;
		uint32_t n = data[1] < size - 2 ? data[1] : (uint32_t)(size - 2);

		memset(b, 0, sizeof b);
		memcpy(b, data + 2, n);
		if (kind == 3)
			pf_run(&f, (1 + data[1]) * XK_MS);
		else if (kind == 1)              /* short messages, and whole SDUs */
			pf_push(&f, 0, s[1], b, n + (data[0] & 4 ? 1000 : 0));
		else
			pf_push(&f, 0, s[0], b, n);
		data += 2 + n;
		size -= 2 + n;
	}
}

static void run(const uint8_t *data, size_t size, bool stream)
{
	const struct nf_how how = { .pair = NF_PAIRS - 1, .ncs = "sdu=1000; connections=20; give_up=5s", .stream = stream,
				    .job = "service=8; unexpected=20000; eager=100" };
	static uint8_t in[2][400];
	struct xk_ncs_thread *t;
	struct xk_ncs_req r[2];
	struct xk_sess *good, *s[2];
	uint8_t b[NCS_WORD + NCS_REC_LEN + NCS_OPEN_LEN + NCS_HELLO_LEN];
	uint32_t n;

	nf_up(&f, &how);
	good = nf_open(&f, "client", 0, 7, NULL);
	s[0] = nf_open(&f, "raw", 0, NF_CTL, NULL);
	s[1] = stream ? nf_open(&f, "raw", 0, NF_CTL, NULL) : nf_open_data(&f);
	must(good != NULL && s[0] != NULL && s[1] != NULL);
	must(xk_ncs_attach(pf_node(&f, "job"), 0, &t) == XK_OK);
	for (unsigned i = 0; i < 2; i++)
		must(xk_ncs_irecv_any(t, XK_NCS_ANY, i == 0 ? XK_NCS_ANY : 5, in[i], sizeof in[i], &r[i]) == XK_OK);
	n = open_record(b + NCS_WORD, data[0] % 4, data[0] / 4 % 3, data[0] >= 128);
	xk_put_be32(b, n | 0x80000000u);
	for (unsigned i = 0; i < 1u + stream; i++)
		pf_push(&f, 0, s[i], stream ? b : b + NCS_WORD, stream ? n + NCS_WORD : n);
	pf_run(&f, 10 * XK_MS);
	pieces(data + 1, size - 1, s);
	pf_run(&f, 10 * XK_MS);
	must(pf_sessions(&f, "nb") <= 2 * 22);
	must(xk_ncs_unexpected(pf_node(&f, "job")) <= 20000);
	pf_push(&f, 0, good, nf_bytes, 5000);
	pf_run(&f, XK_SEC);
	must(pf_ngot(&f, "client") == 1 && pf_got(&f, "client", 0)->len == 5000);
	pf_close(&f, 0, good);
	pf_close(&f, 0, s[0]);
	pf_close(&f, 0, s[1]);
	pf_run(&f, 20 * XK_SEC);
	xk_ncs_detach(t);
	xk_ncs_stop(pf_node(&f, "job"));
	pf_down(&f);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	if (size < 3 || size > 4096)
		return 0;
	run(data + 1, size - 1, data[0] & 1);
	return 0;
}
