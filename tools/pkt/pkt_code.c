/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * pkt_code.c - %{ assertions }% about the connection's state.
 *
 * Of the language these blocks are written in, the part that assertions use:
 *
 *   block = { statement ( newline | ";" ) };  statement = "assert" expr [ "," text ] | "print" ... | "pass"
 *   expr  = or/and/not, == != < <= > >=, + - * / %, numbers, names, parentheses
 *
 * Names are fields of Linux's tcp_info (tcpi_cwnd is in segments there), which
 * this reader fills from XK_TCP_INFO of the socket used last, and TCPI_<STATE>.
 * Invariant: an unknown name is an error, never a value.
 */
#include <ctype.h>
#include <string.h>

#include "tools/pkt/pkt_priv.h"

struct code {
	struct pkt_run         *u;
	const struct pkt_event *e;
	const char             *at;
	struct tcp_snapshot     i;
	bool                    have;
	bool                    bad;
};

static int64_t expr_or(struct code *c);

static void bad(struct code *c, const char *what)
{
	if (!c->bad)
		pkt_bad(c->u, c->e, "%s before '%.20s'", what, c->at);
	c->bad = true;
}

static void space(struct code *c)
{
	while (*c->at == ' ' || *c->at == '\t')
		c->at++;
}

static bool take(struct code *c, const char *w)
{
	size_t n = strlen(w);

	space(c);
	if (strncmp(c->at, w, n) != 0 || (isalpha((unsigned char)*w) && (isalnum((unsigned char)c->at[n]) || c->at[n] == '_')))
		return false;
	c->at += n;
	return true;
}

/* ---- names ---------------------------------------------------------------------------- */

static const struct { const char *name; unsigned state; } states[] = {
	{ "TCPI_ESTABLISHED", TCP_S_ESTABLISHED }, { "TCPI_SYN_SENT", TCP_S_SYN_SENT },
	{ "TCPI_SYN_RECV", TCP_S_SYN_RCVD }, { "TCPI_SYN_RECEIVED", TCP_S_SYN_RCVD },
	{ "TCPI_FIN_WAIT1", TCP_S_FIN_WAIT_1 }, { "TCPI_FIN_WAIT_1", TCP_S_FIN_WAIT_1 },
	{ "TCPI_FIN_WAIT2", TCP_S_FIN_WAIT_2 }, { "TCPI_FIN_WAIT_2", TCP_S_FIN_WAIT_2 },
	{ "TCPI_TIME_WAIT", TCP_S_TIME_WAIT }, { "TCPI_CLOSED", TCP_S_CLOSED }, { "TCPI_CLOSE", TCP_S_CLOSED },
	{ "TCPI_CLOSE_WAIT", TCP_S_CLOSE_WAIT }, { "TCPI_LAST_ACK", TCP_S_LAST_ACK },
	{ "TCPI_LISTEN", TCP_S_LISTEN }, { "TCPI_CLOSING", TCP_S_CLOSING },
	{ "TCP_CA_Open", 0 }, { "TCP_CA_Disorder", 1 }, { "TCP_CA_CWR", 2 }, { "TCP_CA_Recovery", 3 }, { "TCP_CA_Loss", 4 },
	{ "TCPI_OPT_TIMESTAMPS", 1 }, { "TCPI_OPT_SACK", 2 }, { "TCPI_OPT_WSCALE", 4 }, { "TCPI_OPT_ECN", 8 },
	{ "True", 1 }, { "False", 0 },
};

static uint32_t segments(uint32_t bytes, uint32_t mss) { return mss ? bytes / mss : bytes; }

static bool field_value(const struct tcp_snapshot *i, const char *name, int64_t *v)
{
	const struct { const char *name; int64_t v; } f[] = {
		{ "tcpi_state", i->state }, { "tcpi_ca_state", i->ca_state }, { "tcpi_backoff", i->backoff },
		{ "tcpi_options", i->timestamps | i->sack << 1 | i->wscale << 2 | i->ecn << 3 },
		{ "tcpi_snd_wscale", i->snd_wscale }, { "tcpi_rcv_wscale", i->rcv_wscale },
		{ "tcpi_rto", (int64_t)i->rto_ms * 1000 }, { "tcpi_rtt", i->srtt_us }, { "tcpi_rttvar", i->rttvar_us },
		{ "tcpi_snd_mss", i->mss }, { "tcpi_advmss", i->mss }, { "tcpi_unacked", i->unacked },
		{ "tcpi_sacked", i->sacked }, { "tcpi_lost", i->lost }, { "tcpi_retrans", i->retrans },
		{ "tcpi_snd_cwnd", segments(i->cwnd, i->mss) }, { "tcpi_snd_ssthresh", segments(i->ssthresh, i->mss) },
		{ "tcpi_total_retrans", (int64_t)i->retransmits }, { "tcpi_snd_rexmitpack", (int64_t)i->retransmits },
		{ "tcpi_bytes_acked", (int64_t)i->bytes_acked }, { "tcpi_bytes_received", (int64_t)i->bytes_received },
		{ "tcpi_segs_out", (int64_t)i->segs_out }, { "tcpi_segs_in", (int64_t)i->segs_in },
		{ "tcpi_notsent_bytes", (int64_t)i->queued - (int64_t)(uint32_t)(i->snd_nxt - i->snd_una) },
		{ "tcpi_snd_wnd", i->snd_wnd }, { "tcpi_rcv_space", i->rcv_wnd }, { "tcpi_rcv_ooopack", i->ooo_segments },
	};

	for (unsigned n = 0; n < XK_ARRAY_LEN(f); n++)
		if (strcmp(f[n].name, name) == 0) {
			*v = f[n].v;
			return true;
		}
	return false;
}

static int64_t name_value(struct code *c, const char *name)
{
	int64_t v;

	for (unsigned i = 0; i < XK_ARRAY_LEN(states); i++)
		if (strcmp(states[i].name, name) == 0)
			return states[i].state;
	if (field_value(&c->i, name, &v)) {
		if (!c->have)
			bad(c, "there is no connection to ask");
		return v;
	}
	bad(c, "a name that is not known");
	return 0;
}

/* ---- expressions ----------------------------------------------------------------------- */

static int64_t atom(struct code *c)
{
	char name[64];
	int64_t v = 0;
	size_t n = 0;

	if (take(c, "(")) {
		v = expr_or(c);
		if (!take(c, ")"))
			bad(c, "')' is missing");
		return v;
	}
	if (take(c, "-"))
		return -atom(c);
	space(c);
	if (isdigit((unsigned char)*c->at)) {
		for (; isdigit((unsigned char)*c->at) && v < INT64_MAX / 16; c->at++)
			v = v * 10 + (*c->at - '0');
		return v;
	}
	while ((isalnum((unsigned char)*c->at) || *c->at == '_') && n + 1 < sizeof name)
		name[n++] = *c->at++;
	name[n] = '\0';
	if (n == 0) {
		bad(c, "a value is missing");
		return 0;
	}
	return name_value(c, name);
}

static int64_t product(struct code *c)
{
	int64_t v = atom(c), w;

	while (!c->bad) {
		if (take(c, "*")) {
			v *= atom(c);
		} else if (take(c, "//") || take(c, "/")) {
			w = atom(c);
			v = w ? v / w : 0;
		} else if (take(c, "%")) {
			w = atom(c);
			v = w ? v % w : 0;
		} else {
			break;
		}
	}
	return v;
}

static int64_t sum(struct code *c)
{
	int64_t v = product(c);

	while (!c->bad) {
		if (take(c, "+"))
			v += product(c);
		else if (take(c, "-"))
			v -= product(c);
		else if (take(c, "&"))
			v &= product(c);
		else
			break;
	}
	return v;
}

/* Chains: a < b < c. */
static int64_t comparison(struct code *c)
{
	int64_t v = sum(c), w, r = 1;
	bool any = false;

	while (!c->bad) {
		int op = take(c, "==") ? 0 : take(c, "!=") ? 1 : take(c, "<=") ? 2 : take(c, ">=") ? 3 :
			 take(c, "<") ? 4 : take(c, ">") ? 5 : -1;

		if (op < 0)
			break;
		w = sum(c);
		r &= op == 0 ? v == w : op == 1 ? v != w : op == 2 ? v <= w : op == 3 ? v >= w : op == 4 ? v < w : v > w;
		v = w;
		any = true;
	}
	return any ? r : v;
}

static int64_t expr_not(struct code *c)
{
	return take(c, "not") ? !expr_not(c) : comparison(c);
}

static int64_t expr_and(struct code *c)
{
	int64_t v = expr_not(c), w;

	while (!c->bad && take(c, "and")) {
		w = expr_not(c);
		v = v && w;
	}
	return v;
}

static int64_t expr_or(struct code *c)
{
	int64_t v = expr_and(c), w;

	while (!c->bad && take(c, "or")) {
		w = expr_and(c);
		v = v || w;
	}
	return v;
}

/* ---- statements ------------------------------------------------------------------------- */

static void to_end(struct code *c)
{
	while (*c->at != '\0' && *c->at != '\n' && *c->at != ';')
		c->at++;
}

static void statement(struct code *c)
{
	const char *from = c->at;

	if (take(c, "assert")) {
		int64_t v = expr_or(c);

		if (!c->bad && v == 0) {
			const char *end = c->at;

			pkt_differs(c->u, c->e, "this does not hold:%.*s", (int)(end - from - 6), from + 6);
		}
		to_end(c);               /* a text after a comma */
	} else if (take(c, "print") || take(c, "pass") || *c->at == '#') {
		to_end(c);
	} else {
		bad(c, "only assertions are understood here,");
	}
}

void pkt_code(struct pkt_run *u, const struct pkt_event *e)
{
	struct code c = { .u = u, .e = e, .at = e->code };
	struct pkt_sock *k = u->last_fd >= 0 ? u->fd[u->last_fd] : NULL;
	size_t len = sizeof c.i;

	c.have = k != NULL && xk_sock_getopt(k->fd, XK_TCP_INFO, &c.i, &len) == XK_OK;
	while (!c.bad && *c.at != '\0') {
		if (isspace((unsigned char)*c.at) || *c.at == ';')
			c.at++;
		else
			statement(&c);
	}
}
