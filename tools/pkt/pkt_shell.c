/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * pkt_shell.c - `commands`: nothing is executed; what they set becomes parameters.
 *
 * A sysctl in front of the first call sets a parameter of the run's tcp; later only
 * what new sockets inherit can change.  A name with a fixed meaning in this tcp
 * is accepted at that value and refused at another.  What configures a host that is
 * not there, and is known to mean nothing here, is passed over with a note.
 * Invariant: a command whose meaning is not known ends the run: no script passes by
 * what was not done.
 */
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/base/xk_param_value.h"
#include "tools/pkt/pkt_priv.h"

enum kind { AS_BYTES, AS_MS, AS_COUNT, AS_BOOL, ALWAYS, NOTHING, KEEP_IDLE, KEEP_INTERVAL, KEEP_COUNT, RCV_BUF, SND_BUF };

/* param: of tcp, or why this value is the only one (ALWAYS), or none matters (NOTHING). */
static const struct { const char *name; enum kind kind; const char *param; int64_t value; } known[] = {
	{ "net.inet.tcp.recvspace", RCV_BUF, "rcv_buf", 0 },
	{ "net.inet.tcp.sendspace", SND_BUF, "snd_buf", 0 },
	{ "net.inet.tcp.delacktime", AS_MS, "delack", 0 },
	{ "net.inet.tcp.sack.enable", AS_BOOL, "sack", 0 },
	{ "net.inet.tcp.initcwnd_segments", AS_COUNT, "initial_window", 0 },
	{ "net.inet.tcp.rexmit_min", AS_MS, "rto_min", 0 },
	{ "net.inet.tcp.msl", AS_MS, "msl", 0 },
	{ "net.inet.tcp.finwait2_timeout", AS_MS, "fin_wait2", 0 },
	{ "net.inet.tcp.mssdflt", AS_COUNT, "mss", 0 },
	{ "net.inet.tcp.rfc3042", AS_BOOL, "limited_transmit", 0 },
	{ "net.inet.tcp.keepidle", KEEP_IDLE, "keep_idle", 0 },
	{ "net.inet.tcp.keepintvl", KEEP_INTERVAL, "keep_interval", 0 },
	{ "net.inet.tcp.keepcnt", KEEP_COUNT, "keep_count", 0 },
	{ "net.inet.tcp.blackhole", ALWAYS, "a closed port always answers (RFC 9293 3.10.7.1)", 0 },
	{ "net.inet.tcp.insecure_rst", ALWAYS, "a RST inside the window is always challenged (RFC 5961 3)", 0 },
	{ "net.inet.tcp.insecure_syn", ALWAYS, "a SYN inside the window is always challenged (RFC 5961 4)", 0 },
	{ "net.inet.tcp.ecn.enable", ALWAYS, "ECN is accepted, not asked for, as parameter ecn says", 2 },
	{ "net.inet.tcp.hostcache.purgenow", NOTHING, "a run begins without memory of other connections", 0 },
	{ "kern.ipc.maxsockbuf", NOTHING, "buffers have the bounds of parameters rcv_buf and snd_buf", 0 },
	{ "net.ipv4.tcp_sack", AS_BOOL, "sack", 0 },
	{ "net.ipv4.tcp_timestamps", AS_BOOL, "timestamps", 0 },
	{ "net.ipv4.tcp_window_scaling", AS_BOOL, "use_wscale", 0 },
	{ "net.ipv4.tcp_dsack", AS_BOOL, "dsack", 0 },
	{ "net.ipv4.tcp_syn_retries", AS_COUNT, "syn_retries", 0 },
	{ "net.ipv4.tcp_synack_retries", AS_COUNT, "synack_retries", 0 },
	{ "net.ipv4.tcp_retries2", AS_COUNT, "retries", 0 },
	{ "net.ipv4.tcp_slow_start_after_idle", AS_BOOL, "idle_restart", 0 },
};

/* A table of its own behind the others (graph_text puts them together). */
static void add_param(struct pkt_run *u, const char *param, const char *fmt, ...) XK_PRINTF(3, 4);
static void add_param(struct pkt_run *u, const char *param, const char *fmt, ...)
{
	const struct xk_param *p = xk_param_find(xk_proto_find("tcp")->params, param);
	const char *group = p != NULL ? p->group : NULL;
	size_t n = strlen(u->tcp_args);
	char value[64];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(value, sizeof value, fmt, ap);
	va_end(ap);
	snprintf(u->tcp_args + n, sizeof u->tcp_args - n, group ? ", { %s = { %s = %s } }" : ", { %s%s = %s }",
		 group ? group : "", param, value);
}

/* What new sockets inherit, at any time; a socket's times are whole seconds. */
static bool inherited(struct pkt_run *u, enum kind kind, int64_t v)
{
	if (kind != KEEP_COUNT && v % 1000 != 0)
		return false;
	switch (kind) {
	case KEEP_IDLE: u->keepidle = v; return true;
	case KEEP_INTERVAL: u->keepintvl = v; return true;
	case KEEP_COUNT: u->keepcnt = v; return true;
	default: return false;
	}
}

static void set(struct pkt_run *u, const struct pkt_event *e, unsigned i, int64_t v, bool before)
{
	const char *p = known[i].param;

	if (known[i].kind == ALWAYS) {
		if (v != known[i].value)
			pkt_bad(u, e, "%s = %lld is not possible: %s", known[i].name, (long long)v, p);
		return;
	}
	if (known[i].kind == NOTHING) {
		pkt_note(u, e, "%s changes nothing: %s", known[i].name, p);
		return;
	}
	if (inherited(u, known[i].kind, v))
		return;
	if (!before) {
		pkt_bad(u, e, "%s cannot change while connections may exist", known[i].name);
		return;
	}
	switch (known[i].kind) {
	case AS_MS: add_param(u, p, "\"%lldms\"", (long long)v); break;
	case AS_BOOL: add_param(u, p, "%s", v ? "true" : "false"); break;
	default: add_param(u, p, "%lld", (long long)v); break;
	}
}

/* rfc1323 stands for two parameters. */
static bool rfc1323(struct pkt_run *u, const struct pkt_event *e, const char *name, int64_t v, bool before)
{
	if (strcmp(name, "net.inet.tcp.rfc1323") != 0)
		return false;
	if (!before && v == 0)
		pkt_bad(u, e, "%s cannot change while connections may exist", name);
	else if (v == 0) {
		add_param(u, "timestamps", "false");
		add_param(u, "use_wscale", "false");
	}
	return true;
}

/* name=value */
static void sysctl(struct pkt_run *u, const struct pkt_event *e, char *setting, bool before)
{
	char *value = strchr(setting, '='), *end;
	int64_t v;

	if (value == NULL || value[1] == '\0') {
		pkt_bad(u, e, "sysctl: '%s' is no name=value", setting);
		return;
	}
	*value++ = '\0';
	v = strtoll(value, &end, 0);
	if (*end != '\0') {
		pkt_bad(u, e, "sysctl: %s: '%s' is no number", setting, value);
		return;
	}
	if (rfc1323(u, e, setting, v, before))
		return;
	for (unsigned i = 0; i < XK_ARRAY_LEN(known); i++)
		if (strcmp(known[i].name, setting) == 0) {
			set(u, e, i, v, before);
			return;
		}
	pkt_bad(u, e, "sysctl %s is not known here, so what it would change is not done", setting);
}

/* A script of the suites for Linux that sets each sysctl to what a system begins with. */
static bool sets_defaults(const char *word)
{
	static const char name[] = "common/defaults.sh";
	size_t n = strlen(word);

	return n >= sizeof name - 1 && strcmp(word + n - (sizeof name - 1), name) == 0;
}

static void command(struct pkt_run *u, const struct pkt_event *e, char *line, bool before)
{
	char *save = NULL, *word = strtok_r(line, " \t\r", &save);

	if (word == NULL)
		return;
	if (sets_defaults(word) && strtok_r(NULL, " \t\r", &save) == NULL) {
		pkt_note(u, e, "the profile stands for the system's defaults");
		return;
	}
	if (strcmp(word, "sysctl") != 0) {
		pkt_bad(u, e, "commands are not run here: what '%s' would do is not done", word);
		return;
	}
	while ((word = strtok_r(NULL, " \t\r", &save)) != NULL && !u->bad)
		if (strcmp(word, "-w") != 0 && strcmp(word, "-q") != 0 && strcmp(word, "-wq") != 0 && strcmp(word, "-qw") != 0)
			sysctl(u, e, word, before);
}

void pkt_shell(struct pkt_run *u, const struct pkt_event *e, bool before)
{
	char *copy = pkt_text(&u->arena, e->code, strlen(e->code)), *save = NULL;

	for (char *line = strtok_r(copy, "\n;", &save); line != NULL && !u->bad; line = strtok_r(NULL, "\n;", &save))
		command(u, e, line, before);
}
