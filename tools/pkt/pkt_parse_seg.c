/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * pkt_parse_seg.c - segments and ICMP messages.
 *
 *   segment = { "[" ip "]" } flags seq ":" end "(" len ")" [ "ack" n ] [ "win" n ] [ "urg" n ] [ "<" options ">" ]
 *   ip      = "ect0" | "ect1" | "ce" | "noecn" | "tos" n | "ttl" n
 *   options = "..." | option { "," option }
 *   icmp    = "icmp" type [ code ] [ "mtu" n ] [ "[" flags? seq ":" end "(" len ")" "]" ]
 *
 * Invariant: a segment's end is seq + len, as the script promises.
 */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "tools/pkt/pkt_priv.h"

/* ---- options --------------------------------------------------------------------- */

static bool parse_sack(struct pkt_lex *x, struct pkt_opt *o)
{
	o->kind = PKT_O_SACK;
	for (pkt_skip(x); x->at < x->end && isdigit((unsigned char)*x->at); pkt_skip(x)) {
		if (o->n == XK_ARRAY_LEN(o->sack))
			return pkt_error(x, "more blocks than an option can hold");
		if (!pkt_u32(x, &o->sack[o->n].l) || !pkt_need(x, ":") || !pkt_u32(x, &o->sack[o->n].r))
			return false;
		o->n++;
	}
	return o->n != 0 || pkt_error(x, "a block, begin:end, expected here");
}

/* A value or "...". */
static bool parse_any_u32(struct pkt_lex *x, uint32_t *v, bool *any)
{
	*any = pkt_take(x, "...");
	return *any || pkt_u32(x, v);
}

static bool parse_hex(struct pkt_lex *x, struct pkt_opt *o)
{
	pkt_skip(x);
	for (; x->end - x->at >= 2 && isxdigit((unsigned char)x->at[0]) && isxdigit((unsigned char)x->at[1]); x->at += 2) {
		unsigned byte;

		if (o->n == XK_ARRAY_LEN(o->byte) || sscanf(x->at, "%2x", &byte) != 1)
			return pkt_error(x, "bytes in hex expected here, at most 38");
		o->byte[o->n++] = (uint8_t)byte;
	}
	return true;
}

static bool parse_tcp_option(struct pkt_lex *x, struct pkt_opt *o)
{
	char w[16];

	if (!pkt_word(x, w, sizeof w))
		return pkt_error(x, "an option expected here");
	if (strcmp(w, "nop") == 0)
		o->kind = PKT_O_NOP;
	else if (strcmp(w, "eol") == 0)
		o->kind = PKT_O_EOL;
	else if (strcmp(w, "sackOK") == 0)
		o->kind = PKT_O_SACKOK;
	else if (strcmp(w, "mss") == 0)
		return o->kind = PKT_O_MSS, parse_any_u32(x, &o->a, &o->any_a);
	else if (strcmp(w, "wscale") == 0)
		return o->kind = PKT_O_WSCALE, parse_any_u32(x, &o->a, &o->any_a);
	else if (strcmp(w, "sack") == 0)
		return parse_sack(x, o);
	else if (strcmp(w, "TS") == 0)
		return o->kind = PKT_O_TS, pkt_need(x, "val") && parse_any_u32(x, &o->a, &o->any_a) &&
		       pkt_need(x, "ecr") && parse_any_u32(x, &o->b, &o->any_b);
	else if (strcmp(w, "FO") == 0)
		return o->kind = PKT_O_FO, parse_hex(x, o);
	else
		return pkt_error(x, "there is no option '%s'", w);
	return true;
}

static bool parse_options(struct pkt_lex *x, struct pkt_seg *s)
{
	if (pkt_take(x, "...")) {
		s->any_opts = true;
		return pkt_need(x, ">");
	}
	if (pkt_take(x, ">"))
		return true;
	do {
		if (s->nopts == PKT_OPTS_MAX)
			return pkt_error(x, "more options than a segment can hold");
		if (!parse_tcp_option(x, &s->opt[s->nopts++]))
			return false;
	} while (pkt_take(x, ","));
	return pkt_need(x, ">");
}

/* ---- the rest of a segment ------------------------------------------------------------- */

static uint16_t flag_of(char c)
{
	static const struct { char c; uint16_t bit; } f[] = {
		{ 'F', PKT_FIN }, { 'S', PKT_SYN }, { 'R', PKT_RST }, { 'P', PKT_PSH }, { '.', PKT_ACK },
		{ 'U', PKT_URG }, { 'E', PKT_ECE }, { 'W', PKT_CWR }, { 'A', PKT_AE },
	};

	for (unsigned i = 0; i < XK_ARRAY_LEN(f); i++)
		if (f[i].c == c)
			return f[i].bit;
	return 0;
}

static bool parse_flags(struct pkt_lex *x, struct pkt_seg *s)
{
	const char *from;

	pkt_skip(x);
	if (pkt_take(x, "-"))
		return true;
	for (from = x->at; x->at < x->end && flag_of(*x->at) != 0; x->at++)
		s->flags |= flag_of(*x->at);
	return x->at != from || pkt_error(x, "flags expected here: some of F S R P . U E W A, or - for none");
}

static bool parse_span(struct pkt_lex *x, struct pkt_seg *s)
{
	uint32_t end;

	if (!pkt_u32(x, &s->seq) || !pkt_need(x, ":") || !pkt_u32(x, &end) || !pkt_need(x, "(") ||
	    !pkt_u32(x, &s->len) || !pkt_need(x, ")"))
		return false;
	if (end - s->seq != s->len)
		return pkt_error(x, "%u:%u are %u bytes, not %u", s->seq, end, end - s->seq, s->len);
	return s->len <= 65535 || pkt_error(x, "no segment holds %u bytes", s->len);
}

static bool parse_ip(struct pkt_lex *x, struct pkt_seg *s)
{
	char w[16];
	uint32_t v;

	while (pkt_take(x, "[")) {
		do {
			if (!pkt_word(x, w, sizeof w))
				return pkt_error(x, "what of the network header?");
			if (strcmp(w, "noecn") == 0)
				s->ecn = 0;
			else if (strcmp(w, "ect1") == 0)
				s->ecn = 1;
			else if (strcmp(w, "ect0") == 0)
				s->ecn = 2;
			else if (strcmp(w, "ce") == 0)
				s->ecn = 3;
			else if (strcmp(w, "tos") == 0 && pkt_u32(x, &v))
				s->tos = (int16_t)(v & 255);
			else if (strcmp(w, "ttl") == 0 && pkt_u32(x, &v))
				s->ttl = (int16_t)(v & 255);
			else
				return pkt_error(x, "'%s' is none of ect0, ect1, ce, noecn, tos, ttl", w);
		} while (pkt_take(x, ","));
		if (!pkt_need(x, "]"))
			return false;
	}
	return true;
}

static bool parse_16(struct pkt_lex *x, uint16_t *v)
{
	uint32_t n;

	if (!pkt_u32(x, &n))
		return false;
	*v = (uint16_t)n;
	return n <= 65535 || pkt_error(x, "this field has 16 bits");
}

static bool parse_tail(struct pkt_lex *x, struct pkt_seg *s)
{
	if (pkt_take(x, "ack")) {
		s->have_ack = true;
		if (!pkt_u32(x, &s->ack))
			return false;
	}
	if (pkt_take(x, "win")) {
		s->have_win = true;
		if (!parse_16(x, &s->win))
			return false;
	}
	if (pkt_take(x, "urg")) {
		s->have_urp = true;
		if (!parse_16(x, &s->urp))
			return false;
	}
	if (pkt_take(x, "<"))
		return parse_options(x, s);
	return true;
}

/* ---- ICMP ---------------------------------------------------------------------------------- */

static const struct { const char *name; uint8_t type; } icmp_types[] = {
	{ "unreachable", 3 }, { "source_quench", 4 }, { "time_exceeded", 11 }, { "parameter_problem", 12 },
};

/* Of unreachable. */
static const struct { const char *name; uint8_t code; } icmp_codes[] = {
	{ "net_unreachable", 0 }, { "host_unreachable", 1 }, { "protocol_unreachable", 2 }, { "port_unreachable", 3 },
	{ "frag_needed", 4 }, { "source_route_failed", 5 }, { "net_unknown", 6 }, { "host_unknown", 7 },
	{ "source_host_isolated", 8 }, { "net_prohibited", 9 }, { "host_prohibited", 10 },
	{ "net_unreachable_for_tos", 11 }, { "host_unreachable_for_tos", 12 }, { "packet_filtered", 13 },
	{ "precedence_violation", 14 }, { "precedence_cutoff", 15 },
};

/* A code by number, code_13, of any type. */
static bool code_by_number(const char *w, uint8_t *code)
{
	char *end;
	long n;

	if (strncmp(w, "code_", 5) != 0 || !isdigit((unsigned char)w[5]))
		return false;
	n = strtol(w + 5, &end, 10);
	*code = (uint8_t)n;
	return *end == '\0' && n <= UINT8_MAX;
}

static bool parse_icmp_code(struct pkt_lex *x, struct pkt_seg *s)
{
	char w[32];

	/* Of the others the code may be left out: it is 0. */
	if (s->icmp_type != 3 && (pkt_looks(x, "mtu") || pkt_looks(x, "[")))
		return true;
	pkt_skip(x);
	if (s->icmp_type != 3 && (x->at == x->end || !isalpha((unsigned char)*x->at)))
		return true;
	if (!pkt_word(x, w, sizeof w))
		return pkt_error(x, "which kind of unreachable?");
	if (code_by_number(w, &s->icmp_code))
		return true;
	for (unsigned i = 0; s->icmp_type == 3 && i < XK_ARRAY_LEN(icmp_codes); i++)
		if (strcmp(icmp_codes[i].name, w) == 0) {
			s->icmp_code = icmp_codes[i].code;
			return true;
		}
	return pkt_error(x, "there is no code '%s'", w);
}

static bool parse_icmp(struct pkt_lex *x, struct pkt_seg *s)
{
	char w[32];

	s->what = PKT_ICMP;
	if (!pkt_word(x, w, sizeof w))
		return pkt_error(x, "which ICMP message?");
	for (unsigned i = 0; i < XK_ARRAY_LEN(icmp_types); i++)
		if (strcmp(icmp_types[i].name, w) == 0)
			s->icmp_type = icmp_types[i].type;
	if (s->icmp_type == 0)
		return pkt_error(x, "'%s' is none of unreachable, source_quench, time_exceeded, parameter_problem", w);
	if (!parse_icmp_code(x, s))
		return false;
	if (pkt_take(x, "mtu") && !parse_16(x, &s->icmp_mtu))
		return false;
	if (!pkt_take(x, "["))
		return true;
	pkt_skip(x);
	if (x->at < x->end && !isdigit((unsigned char)*x->at) && !parse_flags(x, s))
		return false;
	return parse_span(x, s) && pkt_need(x, "]");
}

bool pkt_parse_seg(struct pkt_lex *x, struct pkt_event *e)
{
	struct pkt_seg *s = pkt_get(&x->s->arena, sizeof *s);

	e->seg = s;
	s->ecn = s->tos = s->ttl = -1;
	if (!parse_ip(x, s))
		return false;
	if (pkt_take(x, "icmp")) {
		if (e->kind == PKT_E_OUT)
			return pkt_error(x, "ICMP messages of ours are not looked at");
		return parse_icmp(x, s);
	}
	return parse_flags(x, s) && parse_span(x, s) && parse_tail(x, s);
}
