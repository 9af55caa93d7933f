/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * pkt.h - wire scripts: what a program calls, which segments arrive, which must
 * leave, and when.
 *
 * The language is that of packetdrill, as far as scripts for TCP over IPv4 use it.
 * A script is parsed once and can be run any number of times; a run has a graph of
 * its own, one virtual clock and nothing of the host's.
 *
 *   pkt_parse -> pkt_run -> pkt_free
 *
 * A run needs a graph whose bottom is a node of the driver rawip.  Without one
 * it builds the usual: tcp and icmp over ip over rawip, parameters from the script.
 * Invariant: the same script and the same graph give the same result, to the byte.
 */
#ifndef PKT_H
#define PKT_H

#include <stdbool.h>
#include <stdio.h>

struct pkt_script;
struct xk_spec;

enum pkt_result {
	PKT_PASS,
	PKT_DIFFERS,     /* a segment, a result or a time is not as the script has it */
	PKT_BAD_SCRIPT,  /* it could not be read, or uses what this reader does not know */
	PKT_FAILED,      /* the graph did not come up, memory was out, something leaked */
};
const char *pkt_result_text(enum pkt_result r);

/* Parses text[n], known as `name` in messages, which go to `out`.  NULL: wrong. */
struct pkt_script *pkt_parse(const char *name, const char *text, size_t n, FILE *out);
struct pkt_script *pkt_parse_file(const char *path, FILE *out);
void pkt_free(struct pkt_script *s);
/* Events in it. */
unsigned pkt_events(const struct pkt_script *s);

struct pkt_opts {
	const char *profile;      /* of the usual graph; NULL: "linux", or as the script says */
	const char *tcp;          /* more parameters of its tcp: "delack = \"40ms\", quirks = { sack = false }"; NULL */
	struct xk_spec *spec;     /* a graph of the caller's own, checked; NULL: the usual */
	unsigned tolerance_us;    /* when the script does not say; 0: 4000 */
	bool  strict;             /* segments must be cut as the script has them, and none may be left over */
	bool  notes;              /* say what of the script was ignored, and why */
	bool  show;               /* print every segment and call as it happens */
};
/* Differences and notes go to `out`. */
enum pkt_result pkt_run(const struct pkt_script *s, const struct pkt_opts *o, FILE *out);

#endif
