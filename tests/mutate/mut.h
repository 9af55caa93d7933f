/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * mut.h - systematic mutation: a whole host, brought to every state of TCP, gets
 * frames in which a field or two say what they should not.
 *
 *      app (streams)        echo
 *       |                    |
 *      tcp        icmp      udp
 *         \        |       /
 *                 ip     10.0.0.1/8
 *                arp
 *              eth | fddi
 *                drv    pf_driver
 *
 *   mut_world.c    the graph, the application above, frames in, segments out
 *   mut_conn.c     connections brought to a state; the 64 KiB that show health
 *   mut_frame.c    a message as a list of choices, and its bytes
 *   mut_fields.c   fields of the headers and the values they are given
 *   mut_check.c    what holds after every message whatever it said
 *   mut_run.c      cases by number: run, judge, print how to run one again
 *   mut_oracle.c   what RFC 9293 and RFC 5961 answer, written from their text
 *   test_mutate.c  every field, every state, pairs
 *   test_flags.c   every combination of flags, every state, against the oracle
 *
 * The test is everything else on the link, time stands still unless mut_pass_time
 * is called, and all choices come from a case's number: it is the same on every
 * run.  Bytes of streams are a function of their sequence numbers, so whatever a
 * mutated segment does to the numbers, the application knows which byte is right.
 */
#ifndef TESTS_MUT_H
#define TESTS_MUT_H

#include "protocols/tcp/sess/tcp_sess.h"
#include "tests/protocols/proto_fixture.h"

#define MUT_US    0x0a000001u
#define MUT_PEER  0x0a000002u
#define MUT_PORT  80                     /* of the application */
#define MUT_ECHO  7                      /* of udp's echo; of tcp: comes back */
#define MUT_NOBODY 9

/* ---- mut_world.c ----------------------------------------------------------------- */

extern struct pf mut_f;
void mut_up(bool fddi, const char *tcp);
void mut_down(void);                     /* nothing may be left */
void mut_pass_time(void);                /* long enough for all that ends by itself */

/* A session that the application holds. */
struct mut_end {
	struct xk_sess *s;               /* NULL: free */
	uint64_t got;
	bool     back;                   /* what comes is pushed back */
	bool     opened, closed, failed;
	bool     wrong;                  /* a byte that its number does not have */
	bool     late;                   /* bytes after close_done or FAILED */
	bool     kept_back;              /* MANUAL: nothing is taken */
};
#define MUT_ENDS 8
extern struct mut_end mut_end[MUT_ENDS];
struct mut_end *mut_end_of(const struct xk_sess *s);
/* To look at; of one at rest a copy of what it would be. */
static inline const struct tcp_cb *mut_cb(struct mut_end *e)
{
	static struct tcp_live copy;

	if (!tcp_is_compressed(tcp_sess(e->s)))
		return tcp_cb(tcp_sess(e->s));
	tcp_idle_copy(tcp_sess(e->s), &copy);
	return &copy.cb;
}

uint8_t mut_byte(uint32_t seq);          /* of a stream, either way */
void mut_fill(uint8_t *p, uint32_t n, uint32_t seq);

struct mut_end *mut_open(uint16_t rport);
void mut_push(struct mut_end *e, uint32_t n);      /* the next n bytes of its stream */
int  mut_control(struct mut_end *e, unsigned op, uint32_t v);
void mut_drop_ends(void);                /* abort and close all */
/* A frame as it is. */
void mut_in(const void *frame, uint32_t n);

/* A segment that left. */
struct mut_out {
	uint32_t seq, ack, len;
	uint16_t sport, dport, flags, wnd;
	const uint8_t *data;
};
/* Of everything that left since mut_forget the i-th; false: no TCP segment. */
bool mut_out(unsigned i, struct mut_out *o);
unsigned mut_nout(void);
/* The last TCP segment that left; false: none did. */
bool mut_last(struct mut_out *o);
void mut_forget(void);

/* Everything that is counted. */
struct mut_counts {
	uint64_t drops;                  /* all nodes, all reasons of frames that came */
	uint64_t taken;                  /* frames that somebody took, see mut_counts_read */
	uint32_t half;                   /* entries of the SYN cache */
};
void mut_counts_read(struct mut_counts *c);
/* Buffers that are out. */
uint64_t mut_buffers(void);

/* ---- mut_conn.c --------------------------------------------------------------------- */

/* Setups: the eleven states, and states with something in hand. */
#define MUT_SETUPS(X) \
	X(closed, CLOSED, "") \
	X(listen, LISTEN, "") \
	X(listen_cookies, LISTEN, "cookies=always") \
	X(syn_sent, SYN_SENT, "") \
	X(syn_received, SYN_RCVD, "") \
	X(syn_received_both, SYN_RCVD, "") \
	X(established, ESTABLISHED, "") \
	X(established_options, ESTABLISHED, "") \
	X(established_by_cookie, ESTABLISHED, "cookies=always") \
	X(established_queued, ESTABLISHED, "") \
	X(established_holes, ESTABLISHED, "") \
	X(established_zero_window, ESTABLISHED, "") \
	X(established_full, ESTABLISHED, "rcv_buf=4096") \
	X(established_recovery, ESTABLISHED, "") \
	X(established_urgent, ESTABLISHED, "") \
	X(fin_wait_1, FIN_WAIT_1, "") \
	X(fin_wait_1_queued, FIN_WAIT_1, "") \
	X(fin_wait_2, FIN_WAIT_2, "") \
	X(close_wait, CLOSE_WAIT, "") \
	X(closing, CLOSING, "") \
	X(last_ack, LAST_ACK, "") \
	X(time_wait, TIME_WAIT, "")
#define MUT_SETUP_ENUM(name, state, tcp) MUT_##name,
enum mut_setup { MUT_SETUPS(MUT_SETUP_ENUM) MUT_NSETUPS };

/* The peer's view of a connection. */
struct mut_conn {
	enum mut_setup setup;
	uint16_t sport, dport;           /* the peer's, ours */
	uint32_t irs, iss;               /* the peer's and our initial number */
	uint32_t nxt, right;             /* we wait for, and take up to */
	uint32_t una, max;               /* of ours: acknowledged, sent */
	uint32_t max_wnd;                /* the largest window that the peer gave */
	bool     ts, sack;
	uint32_t tsval, tsecr;
	struct mut_end *e;               /* NULL: no session (CLOSED, LISTEN, SYN cache) */
};
const char *mut_setup_name(enum mut_setup s);
unsigned mut_setup_state(enum mut_setup s);
const char *mut_setup_params(enum mut_setup s);
/* Port and number tell it from other connections; false: it did not get there. */
bool mut_setup(struct mut_conn *c, enum mut_setup s, uint16_t sport, uint32_t irs);
/* Looks at the session anew. */
void mut_conn_read(struct mut_conn *c);
/* In a state that takes text: does it take 40 more bytes, once, exactly?  NULL or why not. */
const char *mut_still_receives(struct mut_conn *c);
/* Gives everything back that the connection holds. */
void mut_conn_end(struct mut_conn *c);
/* A fresh connection moves 64 KiB there and back; NULL or what went wrong. */
const char *mut_transfer(uint16_t sport);

/* ---- mut_frame.c ---------------------------------------------------------------------- */

enum mut_kind { MUT_TCP, MUT_UDP, MUT_ICMP_ECHO, MUT_ICMP_ERROR, MUT_ARP };
struct mut_spec {
	enum mut_kind kind;
	uint16_t sport, dport, flags, wnd, urp;
	uint32_t seq, ack, len;
	uint8_t  opt[40], ipopt[40];
	uint32_t nopt, nipopt;
	uint8_t  type, code;             /* ICMP */
	uint32_t rest, quote;            /* quote: bytes of the quoted datagram */
	uint32_t cut, pad;               /* frame's length: bytes cut off, bytes behind */
};
struct mut_frame {
	uint8_t  b[2300];
	uint32_t n, l3, l4, end;         /* headers begin; the datagram ends */
	enum mut_kind kind;
	bool     raw_ip, raw_l4;         /* the checksum itself was chosen */
};
uint16_t mut_sum(const uint8_t *p, uint32_t n, uint32_t seed);
void mut_build(struct mut_frame *f, const struct mut_spec *s, bool fddi);
/* Payload as its sequence number has it, then checksums: to be called after fields
 * were changed.  seal false: sums stay as they were. */
void mut_finish(struct mut_frame *f, const struct mut_spec *s, bool seal);
/* Are all sums that a receiver looks at right (or is there none)? */
bool mut_sums_right(const struct mut_frame *f);
/* Does a length, the version or TTL 0 say that the datagram is none? */
bool mut_lies(const struct mut_frame *f);
/* A plain segment of the peer's with payload, built and given in. */
void mut_segment(const struct mut_conn *c, uint32_t seq, uint32_t ack, uint16_t flags, uint32_t len);
/* The same, all said. */
void mut_give(const struct mut_spec *s);
uint32_t mut_ts_option(uint8_t *p, uint32_t tsval, uint32_t tsecr);
uint32_t mut_syn_options(uint8_t *p, const struct mut_conn *c);
extern bool mut_is_fddi;

/* ---- mut_fields.c ------------------------------------------------------------------------ */

/* One choice: a field of a header with one value, or a shape of the message. */
struct mut_change { uint16_t group; uint16_t value; };
/* Messages that are changed, in a state: number of them; the i-th. */
unsigned mut_nbases(void);
const char *mut_base_name(unsigned base);
void mut_base(struct mut_spec *s, const struct mut_conn *c, unsigned base);
/* Changes that make sense for a base. */
unsigned mut_nchanges(unsigned base, bool fddi);
struct mut_change mut_change_at(unsigned base, bool fddi, unsigned i);
void mut_change_print(struct mut_change ch, char *text, size_t n);
/* Shapes first, then build, then fields. */
void mut_change_shape(struct mut_spec *s, const struct mut_conn *c, struct mut_change ch);
void mut_change_field(struct mut_frame *f, const struct mut_conn *c, struct mut_change ch);
bool mut_change_same_field(struct mut_change a, struct mut_change b);

/* ---- mut_check.c ---------------------------------------------------------------------------- */

/* What holds of every session of the application; NULL or what does not. */
const char *mut_check(void);
bool mut_is_fragment(const struct mut_frame *f);
/* Between two readings this frame came: it was taken by somebody or dropped for a reason, once, and what left is since
 * mut_forget.  NULL or what is wrong. */
const char *mut_accounts(const struct mut_counts *was, const struct mut_counts *is, const struct mut_frame *f);

/* ---- mut_oracle.c ----------------------------------------------------------------------------- */

/* What a connection is, by the RFC's names. */
struct mut_model {
	unsigned state;                  /* enum tcp_state */
	bool     passive;
	uint32_t snd_una, snd_nxt, max_snd_wnd, iss;
	uint32_t rcv_nxt, rcv_wnd, irs;
};
struct mut_event { uint32_t seq, ack, len; uint16_t flags; };
enum mut_answer { MUT_SILENCE, MUT_ACKS, MUT_RESETS, MUT_SYN_ACKS };
struct mut_verdict {
	enum mut_answer answer;
	uint32_t seq, ack;               /* of the answer; ack of a RST without ACK: 0 */
	bool     later;                  /* an acknowledgement that may wait */
	unsigned state;                  /* afterwards */
	uint32_t text;                   /* bytes for the user */
	bool     told;                   /* the user hears that the connection was reset */
};
/* RFC 9293 3.10.7 with RFC 5961 3, 4 and 5. */
void mut_oracle(const struct mut_model *m, const struct mut_event *g, struct mut_verdict *v);

/* ---- mut_run.c --------------------------------------------------------------------------------- */

/* All cases of a setup: singles with sums repaired, singles without, pairs. */
struct mut_tally { uint64_t messages, transfers, dropped, taken; };
/* False: something failed, and was printed. */
bool mut_run_setup(enum mut_setup s, bool fddi, struct mut_tally *t);
unsigned mut_ncases(bool fddi);

#endif
