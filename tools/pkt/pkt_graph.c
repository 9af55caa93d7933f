/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * pkt_graph.c - the graph of a run: the usual one, or the caller's, with sockets put
 * on its tcp and the script at its bottom.
 *
 * Either way there is one VP and the virtual schedule: a script is one thread of
 * time.  The usual graph is written as a graph file would be, so parameters
 * are checked by the same code as everybody's.
 */
#include <arpa/inet.h>
#include <stdlib.h>
#include <string.h>

#include "drivers/rawip/rawip.h"
#include "runtime/base/xk_param_value.h"
#include "runtime/compose/xk_compose.h"
#include "runtime/sync/xk_sync.h"
#include "tools/pkt/pkt_priv.h"

/* ---- options of the script ------------------------------------------------------------ */

/* What a tool prints, not what must happen. */
static const char *const harmless[] = { "debug", "verbose", "no_cleanup", NULL };
static const char *const used[] = {
	"ip_version", "tolerance_usecs", "tcp_ts_tick_usecs", "ts_tick_usecs", "mtu", "local_ip", "remote_ip",
	"gateway_ip", "bind_port", "connect_port", "strict_segments", "profile", "tcp", NULL
};

static bool among(const char *const *list, const char *name)
{
	for (; *list != NULL; list++)
		if (strcmp(*list, name) == 0)
			return true;
	return false;
}

static bool address(struct pkt_run *u, const char *name, uint32_t *a)
{
	const char *v = pkt_option_of(u->s, name, NULL);
	struct in_addr in;

	if (v == NULL)
		return true;
	if (inet_pton(AF_INET, v, &in) != 1) {
		fprintf(u->out, "%s: --%s: '%s' is no IPv4 address\n", u->s->name, name, v);
		return false;
	}
	*a = be32toh(in.s_addr);
	return true;
}

/* The option's number, from lo to hi; *v stays as it is without one. */
static bool number(struct pkt_run *u, const char *name, int64_t lo, int64_t hi, int64_t *v)
{
	const char *text = pkt_option_of(u->s, name, NULL);
	char *end;
	long long n;

	if (text == NULL)
		return true;
	n = strtoll(text, &end, 0);
	if (*text == '\0' || *end != '\0' || n < lo || n > hi) {
		fprintf(u->out, "%s: --%s=%s: a number from %lld to %lld expected\n", u->s->name, name, text,
			(long long)lo, (long long)hi);
		return false;
	}
	*v = n;
	return true;
}

static bool check_options(struct pkt_run *u)
{
	const char *v = pkt_option_of(u->s, "ip_version", "ipv4");

	for (const struct pkt_option *o = u->s->option; o != NULL; o = o->next) {
		if (among(harmless, o->name)) {
			if (u->o->notes)
				fprintf(u->out, "%s:%d: note: --%s changes nothing here\n", u->s->name, o->line, o->name);
		} else if (!among(used, o->name)) {
			fprintf(u->out, "%s:%d: there is no option --%s\n", u->s->name, o->line, o->name);
			return false;
		}
	}
	if (strcmp(v, "ipv4") == 0)
		return true;
	fprintf(u->out, "%s: --ip_version=%s: there is IPv4 only\n", u->s->name, v);
	return false;
}

static bool numbers(struct pkt_run *u)
{
	int64_t tolerance = u->o->tolerance_us ? u->o->tolerance_us : 4000, tick = 0, bind = 8080, conn = 8080;

	u->mtu = 1500;
	if (!number(u, "tolerance_usecs", 0, 60000000, &tolerance) || !number(u, "ts_tick_usecs", 0, 1000000, &tick) ||
	    !number(u, "tcp_ts_tick_usecs", 0, 1000000, &tick) || !number(u, "bind_port", 1, 65535, &bind) ||
	    !number(u, "connect_port", 1, 65535, &conn) || !number(u, "mtu", 68, 65535, &u->mtu))
		return false;
	u->tolerance = tolerance * 1000;
	u->tick = tick * 1000;
	u->bind_port = u->lport = (uint16_t)bind;
	u->connect_port = (uint16_t)conn;
	return true;
}

/* Shell lines that come before the first thing that happens. */
static void early_shell(struct pkt_run *u)
{
	for (const struct pkt_event *e = u->s->first; e != NULL; e = e->next) {
		if (e->kind != PKT_E_SHELL)
			return;
		pkt_shell(u, e, true);
	}
}

bool pkt_configure(struct pkt_run *u)
{
	const char *profile = u->o->profile ? u->o->profile : pkt_option_of(u->s, "profile", "linux");

	u->local = 0xc0a80001;
	u->remote = 0xc0000201;
	u->gateway = 0xc0a80002;
	if (!check_options(u) || !numbers(u) || !address(u, "local_ip", &u->local) ||
	    !address(u, "remote_ip", &u->remote) || !address(u, "gateway_ip", &u->gateway))
		return false;
	u->rport = 40961;
	u->strict = u->o->strict || pkt_option_of(u->s, "strict_segments", NULL) != NULL;
	u->keepidle = u->keepintvl = u->keepcnt = -1;
	u->last_fd = -1;
	/* Every connection passes the end of the number space soon. */
	u->remote_off = 0xffffff00u;
	snprintf(u->profile, sizeof u->profile, "%s", profile);
	early_shell(u);
	return !u->bad;
}

/* ---- building --------------------------------------------------------------------------- */

/* tcp = delack = "40ms" of the script's options, with the caller's behind. */
static void graph_text(struct pkt_run *u, FILE *f)
{
	char local[INET_ADDRSTRLEN], gateway[INET_ADDRSTRLEN];
	struct in_addr a = { htobe32(u->local) }, b = { htobe32(u->gateway) };
	const char *own = pkt_option_of(u->s, "tcp", NULL);

	inet_ntop(AF_INET, &a, local, sizeof local);
	inet_ntop(AF_INET, &b, gateway, sizeof gateway);
	fprintf(f, "local net = ip { addr = \"%s/16\", routes = { [\"0.0.0.0/0\"] = \"%s\" }, over = rawip { mtu = %lld } }\n",
		local, gateway, (long long)u->mtu);
	fprintf(f, "icmp { over = net }\n");
	fprintf(f, "local function with(all)\n"
		"  local t = { over = net, quirks = {} }\n"
		"  for _, some in ipairs(all) do for k, v in pairs(some) do\n"
		"    if k == 'quirks' then for q, x in pairs(v) do t.quirks[q] = x end else t[k] = v end\n"
		"  end end\n"
		"  return t\n"
		"end\n");
	fprintf(f, "tcp(with { { profile = \"%s\" }%s, { %s }, { %s } })\n", u->profile, u->tcp_args, own ? own : "",
		u->o->tcp ? u->o->tcp : "");
	fprintf(f, "return graph \"script\" { clock = \"virtual\", seed = 1, threading = vppc { vps = 1 } }\n");
}

static bool load(struct pkt_run *u, struct xk_errs *errs)
{
	struct xk_compose_opts o = { 0 };
	char *text = NULL;
	size_t n = 0;
	FILE *f = open_memstream(&text, &n);
	int err;

	if (u->o->spec != NULL) {
		if (f != NULL)
			fclose(f);
		free(text);
		u->spec = u->o->spec;
		return true;
	}
	xk_assert(f != NULL);
	graph_text(u, f);
	fclose(f);
	err = xk_spec_load_text(&u->own_spec, "script.lua", text, n, &o, errs);
	free(text);
	if (err == XK_OK)
		err = xk_spec_check(u->own_spec, errs, NULL);
	u->spec = u->own_spec;
	return err == XK_OK;
}

static struct xk_node *node_of(struct xk_graph *g, const char *proto)
{
	for (unsigned i = 0; i < g->nnodes; i++)
		if (strcmp(g->node[i]->proto->name, proto) == 0)
			return g->node[i];
	return NULL;
}

static void one_thread(struct xk_plan *p)
{
	p->is_virtual = true;
	p->arch.domain = XK_DOMAIN_CONN;
	p->arch.entry = XK_ENTRY_OWN;
	p->arch.schedule = XK_SCHED_VIRTUAL;
	p->arch.vps = 1;
	p->arch.workers = 1;
	p->conn_map = NULL;
	p->nconn_map = 0;
}

static bool find_nodes(struct pkt_run *u)
{
	u->raw = node_of(u->g, "rawip");
	u->tcp = node_of(u->g, "tcp");
	if (u->raw == NULL || u->tcp == NULL) {
		fprintf(u->out, "%s: the graph has no node of '%s': a script needs tcp, and rawip at the bottom\n",
			u->s->name, u->raw == NULL ? "rawip" : "tcp");
		return false;
	}
	return true;
}

static void sent(void *arg, xk_ns now, const struct xk_msg *m)
{
	struct pkt_run *u = arg;
	struct pkt_sent *p = malloc(sizeof *p + m->tot);

	xk_assert(p != NULL);
	p->next = NULL;
	p->at = (int64_t)now - u->start;
	p->n = m->tot;
	xk_assert(xk_msg_copy_out(m, 0, p->bytes, m->tot) == m->tot);
	if (u->last != NULL)
		u->last->next = p;
	else
		u->first = p;
	u->last = p;
}

/* The program's sockets, on the tcp of whatever graph it is. */
static bool add_sockets(struct pkt_run *u)
{
	const struct xk_proto *p = xk_proto_find("sock");
	char why[256] = "";
	void *conf;

	if (p == NULL) {
		fprintf(u->out, "%s: this build has no 'sock', which a script's calls go to\n", u->s->name);
		return false;
	}
	conf = xk_alloc(p->conf_size != 0 ? p->conf_size : 1);
	xk_assert(conf != NULL);
	if (xk_param_defaults(p->params, conf, why, sizeof why) != XK_OK) {
		fprintf(u->out, "%s: sock: %s\n", u->s->name, why);
		xk_free(conf);
		return false;
	}
	return xk_graph_add(u->g, p, "sockets", conf, &u->tcp, 1, "script", 0, &u->sock) == XK_OK;
}

static bool build(struct pkt_run *u, struct xk_errs *errs)
{
	one_thread(xk_spec_plan(u->spec));
	if (xk_spec_build(u->spec, &u->g, errs) != XK_OK)
		return false;
	if (!find_nodes(u))
		return false;
	if (!add_sockets(u))
		return false;
	rawip_on_sent(u->raw, sent, u);
	return xk_graph_up(u->g, errs) == XK_OK && xk_graph_run(u->g, errs) == XK_OK;
}

/* A caller's graph has its own address. */
static void addresses(struct pkt_run *u)
{
	struct xk_node *ip = u->tcp->down[0];
	uint32_t a;

	if (u->o->spec == NULL || xk_control(ip->rep[0], XK_CTL_GETMYHOST, &a, sizeof a) != (int)sizeof a)
		return;
	u->local = a;
	if (pkt_option_of(u->s, "remote_ip", NULL) == NULL)
		u->remote = (a & 255) == 254 ? a - 1 : a + 1;
	u->gateway = u->remote;
}

bool pkt_graph_up(struct pkt_run *u)
{
	struct xk_errs *errs = xk_errs_new();
	bool good;

	xk_assert(errs != NULL);
	xk_rcu_register();
	good = load(u, errs) && build(u, errs);
	if (xk_errs_count(errs) != 0)
		xk_spec_print_errors(u->out, u->spec, errs, NULL);
	xk_errs_free(errs);
	if (!good)
		return false;
	addresses(u);
	u->start = (int64_t)xk_clock_read(&u->g->vps->clock);
	return true;
}

bool pkt_graph_down(struct pkt_run *u)
{
	uint64_t leaked = 0;

	if (u->g != NULL)
		leaked = xk_graph_free(u->g);
	xk_rcu_unregister();
	xk_spec_free(u->own_spec);
	while (u->first != NULL) {
		struct pkt_sent *p = u->first;

		u->first = p->next;
		free(p);
	}
	if (leaked != 0)
		fprintf(u->out, "%s: %llu buffers or sessions are left after the end, or messages went astray\n", u->s->name,
			(unsigned long long)leaked);
	return leaked == 0;
}
