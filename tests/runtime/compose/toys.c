/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * toys.c - see toys.h.
 */
#include "tests/runtime/compose/toys.h"

#include <stdio.h>
#include <string.h>

#include "runtime/mem/xk_mem.h"
#include "runtime/upi/xk_app.h"
#include "runtime/upi/xk_part.h"

/* ---- wire, link, host, ports ------------------------------------------------------ */

struct wire_conf { uint64_t mtu; unsigned peer; char *label; };
static const char *const peers[] = { "loop", "sink", NULL };
static const struct xk_param wire_params[] = {
	{ .name = "mtu", .type = XK_P_SIZE, .def = "1500", .min = "68", .max = "9000", .doc = "largest payload",
	  .offset = offsetof(struct wire_conf, mtu) },
	{ .name = "peer", .type = XK_P_ENUM, .def = "loop", .choices = peers, .doc = "the other end",
	  .offset = offsetof(struct wire_conf, peer) },
	{ .name = "label", .type = XK_P_TEXT, .doc = "any text", .offset = offsetof(struct wire_conf, label) },
	XK_PARAM_END
};
static const struct xk_ops no_ops;
const struct xk_proto toy_wire = {
	.abi = XK_ABI, .size = sizeof(struct xk_proto), .name = "wire", .doc = "a wire", .is_driver = true,
	.ops = &no_ops, .offers = "frame", .params = wire_params, .conf_size = sizeof(struct wire_conf),
};

const struct xk_proto toy_link = {
	.abi = XK_ABI, .size = sizeof(struct xk_proto), .name = "link", .doc = "a link", .ops = &no_ops,
	.offers = "link", .needs = { "frame" }, .min_down = 1, .max_down = 1,
};

struct host_conf { struct xk_cidr addr; struct xk_pmap neighbours; struct xk_plist ports; };
static const struct xk_param host_params[] = {
	{ .name = "addr", .type = XK_P_CIDR, .flags = XK_PF_REQUIRED, .doc = "our address",
	  .offset = offsetof(struct host_conf, addr) },
	{ .name = "neighbours", .type = XK_P_MAP, .key = XK_P_IPV4, .elem = XK_P_MAC, .doc = "static entries",
	  .offset = offsetof(struct host_conf, neighbours) },
	{ .name = "ports", .type = XK_P_LIST, .elem = XK_P_PORT, .def = "7,9", .doc = "some ports",
	  .offset = offsetof(struct host_conf, ports) },
	XK_PARAM_END
};
const struct xk_proto toy_host = {
	.abi = XK_ABI, .size = sizeof(struct xk_proto), .name = "host", .doc = "a host layer", .ops = &no_ops,
	.offers = "host", .needs = { "link" }, .min_down = 1, .max_down = 2, .params = host_params,
	.conf_size = sizeof(struct host_conf),
};

struct ports_conf { bool checksum; uint64_t idle, rate; };
static const struct xk_param ports_params[] = {
	{ .name = "checksum", .type = XK_P_BOOL, .def = "true", .doc = "compute it",
	  .offset = offsetof(struct ports_conf, checksum) },
	{ .name = "idle", .type = XK_P_TIME, .def = "30s", .max = "1h", .doc = "how long",
	  .offset = offsetof(struct ports_conf, idle) },
	{ .name = "rate", .type = XK_P_RATE, .doc = "how much", .offset = offsetof(struct ports_conf, rate) },
	XK_PARAM_END
};
const struct xk_proto toy_ports = {
	.abi = XK_ABI, .size = sizeof(struct xk_proto), .name = "ports", .doc = "ports", .ops = &no_ops,
	.offers = "port", .needs = { "host" }, .min_down = 1, .max_down = 1, .params = ports_params,
	.conf_size = sizeof(struct ports_conf),
};

const struct xk_proto toy_between = {
	.abi = XK_ABI, .size = sizeof(struct xk_proto), .name = "between", .doc = "passes on", .ops = &no_ops,
	.offers = "port|stream", .as_below = true, .needs = { "port|stream" }, .min_down = 1, .max_down = 1,
};
const struct xk_proto toy_streamer = {
	.abi = XK_ABI, .size = sizeof(struct xk_proto), .name = "streamer", .doc = "wants streams", .ops = &no_ops,
	.needs = { "stream" }, .min_down = 1, .max_down = 1,
};

/* ---- the application: a task per VP that counts ------------------------------------ */

#define APP_CONNS 64
struct app_conf { uint64_t conns, count, fewer; };
struct app_node { uint32_t unfinished; };
struct app_rep {
	struct xk_task  task;
	struct xk_rep  *rep;
	uint64_t        n, next, left;
	xk_counter      messages[APP_CONNS], bytes[APP_CONNS];
	uint64_t        no[APP_CONNS];
};
static const struct xk_param app_params[] = {
	{ .name = "conns", .type = XK_P_UINT, .def = "4", .min = "1", .max = "64", .doc = "connections",
	  .offset = offsetof(struct app_conf, conns) },
	{ .name = "count", .type = XK_P_UINT, .doc = "messages of each; 0: endless",
	  .offset = offsetof(struct app_conf, count) },
	{ .name = "fewer", .type = XK_P_UINT, .doc = "connections less that each VP tells of once it has sent",
	  .offset = offsetof(struct app_conf, fewer) },
	XK_PARAM_END
};

static void app_done(struct app_rep *a)
{
	struct app_node *n = a->rep->node->state;

	if (xk_atomic_add(&n->unfinished, (uint32_t)-1) == 1)
		xk_graph_finished(a->rep->node->graph);
}

static unsigned app_run(struct xk_task *t, unsigned budget)
{
	struct app_rep *a = (struct app_rep *)(void *)t;
	const struct app_conf *c = a->rep->conf;
	unsigned done = 0;

	for (; done < budget && (c->count == 0 || a->left > 0); done++, a->left--) {
		xk_count(a->messages[a->next]);
		xk_count_add(a->bytes[a->next], 10);
		xk_count(a->rep->npush);
		xk_count(a->rep->count[0]);
		a->next = (a->next + 1) % a->n;
	}
	if (c->count != 0 && a->left == 0) {
		xk_task_park(t);
		app_done(a);
	}
	return done;
}

static int app_init(struct xk_node *n, struct xk_errs *e)
{
	const struct app_conf *c = n->conf;

	(void)e;
	((struct app_node *)n->state)->unfinished = n->graph->vps->nvps;
	if (c->count != 0)
		xk_graph_will_finish(n->graph);
	return XK_OK;
}

static int app_rep_start(struct xk_rep *r, struct xk_errs *e)
{
	const struct app_conf *c = r->conf;
	struct app_rep *a = r->state;

	(void)e;
	a->rep = r;
	for (uint64_t i = 0; i < c->conns; i++)
		if (xk_graph_vp_of(r->node->graph, i) == r->vp)
			a->no[a->n++] = i;
	a->left = a->n * c->count;
	xk_task_init(&a->task, r->vp, app_run);
	if (a->n != 0)
		xk_task_ready(&a->task);
	else
		app_done(a);
	return XK_OK;
}

static void app_rep_stop(struct xk_rep *r)
{
	xk_task_park(&((struct app_rep *)r->state)->task);
}

static int app_control(struct xk_rep *r, unsigned op, void *buf, unsigned len)
{
	const struct app_conf *conf = r->conf;
	struct app_rep *a = r->state;
	struct xk_app_counts c = { a->n, a->messages, a->bytes, a->no, NULL, NULL };

	if (op != XK_CTL_APP_COUNTS || len < sizeof c)
		return XK_E_NOTSUP;
	if (xk_counter_read(r->npush) != 0)
		c.n -= conf->fewer < c.n ? conf->fewer : c.n;
	memcpy(buf, &c, sizeof c);
	return sizeof c;
}

static const struct xk_ops app_ops = {
	.init = app_init, .rep_start = app_rep_start, .rep_stop = app_rep_stop, .control = app_control,
};
static const char *const app_counts[] = { "units", NULL };
static const char *const app_drops[] = { "too_tired", NULL };
const struct xk_proto toy_app = {
	.abi = XK_ABI, .size = sizeof(struct xk_proto), .name = "app", .doc = "an application", .ops = &app_ops,
	.needs = { "port|stream" }, .min_down = 1, .max_down = 1, .params = app_params,
	.conf_size = sizeof(struct app_conf), .node_size = sizeof(struct app_node),
	.rep_size = sizeof(struct app_rep), .counts = app_counts, .drops = app_drops,
};

const struct xk_proto *const toys[] = { &toy_wire, &toy_link, &toy_host, &toy_ports, &toy_app, &toy_between, &toy_streamer, NULL };

const char toy_good[] =
	"-- a comment with { brackets } and 'quotes'\n"
	"local a = args {\n"
	"  vps  = uint { 2, min = 1, max = 64, doc = \"virtual processors\" },\n"
	"  idle = time { \"200ms\", doc = \"idle time\" },\n"
	"  kind = enum { \"sink\", choices = { \"loop\", \"sink\" } },\n"
	"}\n"
	"local function net(addr)\n"
	"  return stack { host { addr = addr, neighbours = { [\"10.0.0.2\"] = \"02:00:00:00:00:02\" } },\n"
	"                 link {}, wire { peer = a.kind, mtu = 4 * 1024 } }\n"
	"end\n"
	"stack {\n"
	"  app { conns = 8 },\n"
	"  ports { idle = a.idle * 2, rate = \"1Gbit/s\", over = net \"10.0.0.1/8\" },\n"
	"}\n"
	"return graph \"toy\" {\n"
	"  doc = \"a good graph\",\n"
	"  threading = vppc { vps = a.vps, workers = 1 },\n"
	"  clock = \"virtual\", duration = \"10ms\", seed = 7,\n"
	"}\n";

/* ---- loading ------------------------------------------------------------------------- */

struct toy_load toy_load(const char *text, const char *const *args)
{
	struct toy_load l = { .e = xk_errs_new(), .w = xk_errs_new() };
	struct xk_compose_opts o = { .table = toys, .args = args };

	while (args != NULL && args[o.nargs] != NULL)
		o.nargs++;
	l.load = xk_spec_load_text(&l.s, "toy.lua", text, strlen(text), &o, l.e);
	l.check = l.s ? xk_spec_check(l.s, l.e, l.w) : XK_E_NOMEM;
	xk_errs_sort(l.e);
	return l;
}

void toy_unload(struct toy_load *l)
{
	xk_spec_free(l->s);
	xk_errs_free(l->e);
	xk_errs_free(l->w);
}

const char *toy_error(const struct toy_load *l, unsigned i)
{
	static char buf[1024];
	const char *text;
	int line, col;

	if (i >= xk_errs_count(l->e))
		return "";
	text = xk_errs_text(l->e, i, NULL, &line, &col);
	snprintf(buf, sizeof buf, "%d:%d: %s", line, col, text);
	return buf;
}
