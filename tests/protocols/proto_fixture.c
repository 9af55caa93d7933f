/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * proto_fixture.c - builds tiny graphs and looks at what passes through them.
 *
 * See proto_fixture.h.  The calling thread is the only one there is: it becomes
 * the thread inside a VP for each call, so the doubles (proto_doubles.c) keep their
 * records in plain node state.
 */
#include "tests/protocols/proto_fixture.h"
#include "tests/protocols/proto_doubles.h"

#include <stdlib.h>
#include <string.h>

#include "runtime/base/xk_param_value.h"
#include "runtime/mem/xk_mem.h"
#include "runtime/upi/xk_graph.h"
#include "runtime/upi/xk_input.h"
#include "runtime/upi/xk_part.h"

/* ---- configuration from text ----------------------------------------------------- */

/* One "name=value"; a wrong one is a bug of the test.  False: memory is out. */
static bool parse_one(const struct xk_proto *pr, void *conf, char *text)
{
	char *eq = strchr(text, '='), why[256];
	const struct xk_param *p;
	int err;

	xk_assert(eq != NULL);
	*eq = '\0';
	p = pr->params ? xk_param_find(pr->params, text) : NULL;
	if (p == NULL)
		xk_panic(__FILE__, __LINE__, "%s has no parameter '%s'", pr->name, text);
	err = xk_param_set(p, conf, eq + 1, eq[1] >= '0' && eq[1] <= '9', why, sizeof(why));
	if (err < 0 && err != XK_E_NOMEM)
		xk_panic(__FILE__, __LINE__, "%s: parameter '%s' %s", pr->name, text, why);
	return err >= 0;
}

static bool parse_all(const struct xk_proto *pr, void *conf, const char *params)
{
	char *copy = strdup(params ? params : ""), *save = NULL;
	bool ok = true;

	xk_assert(copy != NULL);
	for (char *t = strtok_r(copy, ";", &save); ok && t; t = strtok_r(NULL, ";", &save)) {
		t += strspn(t, " ");
		if (*t)
			ok = parse_one(pr, conf, t);
	}
	free(copy);
	return ok;
}

/* NULL when memory is out (only by the failure hook). */
static void *make_conf(const struct xk_proto *pr, const char *params)
{
	void *conf = xk_alloc(pr->conf_size ? pr->conf_size : 1);
	char why[256];

	if (conf == NULL)
		return NULL;
	if (!((pr->params == NULL || xk_param_defaults(pr->params, conf, why, sizeof(why)) >= 0) &&
	      parse_all(pr, conf, params))) {
		if (pr->params)
			xk_param_release(pr->params, conf);
		xk_free(conf);
		return NULL;
	}
	return conf;
}

/* ---- the graph ------------------------------------------------------------------------ */

static unsigned find_down(struct xk_graph *g, const char *over, struct xk_node **down)
{
	char *copy = strdup(over ? over : ""), *save = NULL;
	unsigned n = 0;

	xk_assert(copy != NULL);
	for (char *t = strtok_r(copy, ", ", &save); t; t = strtok_r(NULL, ", ", &save)) {
		xk_assert(n < XK_DOWN_MAX);
		down[n] = xk_graph_find(g, t);
		xk_assert(down[n] != NULL);
		n++;
	}
	free(copy);
	return n;
}

static int add_nodes(struct pf *f, const struct pf_spec *specs)
{
	for (; specs->proto != NULL; specs++) {
		struct xk_node *down[XK_DOWN_MAX], *n;
		unsigned nd = find_down(f->g, specs->over, down);
		void *conf = make_conf(specs->proto, specs->params);
		int err;

		if (conf == NULL)
			return XK_E_NOMEM;
		err = xk_graph_add(f->g, specs->proto, specs->name, conf, down, nd,
				   "test", 1, &n);
		if (err < 0)
			return err;
	}
	return 0;
}

uint64_t pf_seed = PF_SEED;

static void arch_for(struct xk_arch *a, unsigned nvps)
{
	memset(a, 0, sizeof(*a));
	a->name = "test";
	a->domain = XK_DOMAIN_CONN;
	a->entry = XK_ENTRY_OWN;
	a->schedule = XK_SCHED_VIRTUAL;
	a->vps = (int)nvps;
	a->workers = 1;
	a->burst = 16;
	a->quantum = 64;
	a->inbox = 65536;
	a->seed = pf_seed;
}

static bool up_by(struct pf *f, const struct xk_arch *a, const struct pf_spec *specs)
{
	struct xk_graph_conf c;

	memset(f, 0, sizeof(*f));
	memset(&c, 0, sizeof(c));
	xk_rcu_register();
	f->live_before = xk_alloc_live();
	f->errs = xk_errs_new();
	c.name = "test";
	c.arch = *a;
	c.mem.limit = 256u << 20;
	if (xk_graph_new(&f->g, &c, f->errs) < 0) {
		f->g = NULL;
		return false;
	}
	if (add_nodes(f, specs) < 0 || xk_graph_up(f->g, f->errs) < 0 || xk_graph_run(f->g, f->errs) < 0) {
		xk_assert(xk_graph_free(f->g) == 0);
		f->g = NULL;
		return false;
	}
	return true;
}

static void refused(struct pf *f)
{
	for (unsigned i = 0; f->errs && i < xk_errs_count(f->errs); i++) {
		const char *file;
		int line, col;

		fprintf(stderr, "# %s\n", xk_errs_text(f->errs, i, &file, &line, &col));
	}
	xk_panic(__FILE__, __LINE__, "the test's graph does not come up");
}

bool pf_up_try(struct pf *f, unsigned nvps, const struct pf_spec *specs)
{
	struct xk_arch a;

	arch_for(&a, nvps);
	return up_by(f, &a, specs);
}

void pf_up(struct pf *f, unsigned nvps, const struct pf_spec *specs)
{
	if (!pf_up_try(f, nvps, specs))
		refused(f);
	pf_settle(f);
}

bool pf_survives(struct pf *f, const struct pf_spec *specs, uint64_t most)
{
	for (uint64_t k = 1; k < most; k++) {
		bool ok;

		xk_mem_fail_after(k);
		ok = pf_up_try(f, 1, specs);
		if (ok)
			pf_run(f, 10 * XK_MS);
		ok = ok && xk_mem_tries() < k;
		xk_mem_fail_after(0);
		pf_down(f);
		if (ok)
			return true;
	}
	return false;
}

void pf_up_threads(struct pf *f, unsigned nvps, unsigned workers, const struct pf_spec *specs)
{
	struct xk_arch a;

	arch_for(&a, nvps);
	a.schedule = XK_SCHED_DRR;
	a.workers = workers;
	if (!up_by(f, &a, specs))
		refused(f);
}

void pf_down(struct pf *f)
{
	uint64_t leaks = f->g ? xk_graph_free(f->g) : 0;

	xk_errs_free(f->errs);
	xk_rcu_barrier();
	xk_rcu_unregister();
	if (leaks != 0 || xk_alloc_live() != f->live_before)
		xk_panic(__FILE__, __LINE__, "leaked: %llu buffers or sessions, %lld blocks",
			 (unsigned long long)leaks, (long long)(xk_alloc_live() - f->live_before));
	memset(f, 0, sizeof(*f));
}

struct xk_node *pf_node(struct pf *f, const char *name)
{
	struct xk_node *n = xk_graph_find(f->g, name);

	xk_assert(n != NULL);
	return n;
}

struct xk_rep *pf_rep(struct pf *f, const char *name, unsigned vp)
{
	return pf_node(f, name)->rep[vp];
}

struct pf_upper_state *pf_upper_of(struct pf *f, const char *name)
{
	return pf_node(f, name)->state;
}

/* ---- time and entering ----------------------------------------------------------------- */

xk_ns pf_now(struct pf *f)
{
	return xk_clock_read(&f->g->vps->clock);
}

void pf_settle(struct pf *f)
{
	xk_vpset_run_virtual(f->g->vps, pf_now(f));
	while (xk_vpset_step(f->g->vps) != 0)
		;
}

void pf_run(struct pf *f, xk_ns dt)
{
	xk_ns until = pf_now(f) + dt;

	/* An idle graph stops early: the rest of the time passes all the same. */
	if (!xk_vpset_run_virtual(f->g->vps, until) && pf_now(f) < until)
		xk_clock_advance(&f->g->vps->clock, until);
	pf_settle(f);
}

void pf_enter(struct pf *f, unsigned vp)
{
	xk_vp_enter_idle(f->g->vps->vp[vp]);
}

void pf_leave(struct pf *f, unsigned vp)
{
	xk_vp_leave_idle(f->g->vps->vp[vp]);
}

/* ---- in and out ---------------------------------------------------------------------------- */

struct xk_msg *pf_msg(const void *bytes, uint32_t len)
{
	struct xk_msg *m = xk_msg_new(len);

	if (m != NULL && len != 0)
		xk_msg_copy_in(m, 0, bytes, len);
	return m;
}

void pf_push_super(struct pf *f, struct xk_sess *s, const void *bytes, uint32_t len, uint32_t seg)
{
	struct xk_msg *m;

	pf_enter(f, 0);
	m = pf_msg(bytes, len);
	m->flags |= XK_MSG_SUPER | XK_MSG_PARTIAL;
	m->u.cut.seg = seg;
	xk_push(s, m);
	pf_leave(f, 0);
	pf_settle(f);
}

/* A hint list that knows nothing, as messages of unknown connections carry. */
static struct xk_sess **no_hints(void)
{
	static struct xk_sess *none[16];

	for (unsigned i = 0; i < XK_ARRAY_LEN(none); i++)
		none[i] = &xk_sess_none;
	return none;
}

static void drv_input(struct xk_rep *r, struct xk_msg *m)
{
	if (r->node->classifier != NULL) {
		xk_input(r, &m, 1);
	} else if (r->drv_sess == NULL) {
		xk_drop(r, XK_DROP_UNSUPPORTED, m);
	} else {
		m->u.hint = no_hints();
		xk_demux(r->drv_sess, m);
	}
}

void pf_inject_split(struct pf *f, const char *name, unsigned vp, const void *bytes, uint32_t len, uint32_t cut)
{
	struct xk_msg *m, *tail;

	pf_enter(f, vp);
	m = pf_msg(bytes, len);
	if (m != NULL && cut < len) {
		tail = xk_msg_split(m, cut);
		xk_assert(tail != NULL);
		xk_msg_join(m, tail);
	}
	if (m != NULL)
		drv_input(pf_rep(f, name, vp), m);
	pf_leave(f, vp);
	pf_settle(f);
}

void pf_inject(struct pf *f, const char *name, unsigned vp, const void *bytes, uint32_t len)
{
	pf_inject_split(f, name, vp, bytes, len, len);
}

void pf_inject_host(struct pf *f, const char *name, unsigned vp, uint32_t host,
		    uint32_t number, const void *bytes, uint32_t len)
{
	struct xk_rep *r = pf_rep(f, name, vp);
	struct xk_sess *s;
	struct xk_msg *m;

	pf_enter(f, vp);
	m = pf_msg(bytes, len);
	s = pf_hostlink_sess(r, host, number);
	if (m != NULL && s != NULL) {
		m->u.hint = no_hints();
		xk_pop(s, NULL, m, NULL);
	} else if (m != NULL) {
		xk_drop(r, XK_DROP_UNSUPPORTED, m);
	}
	pf_leave(f, vp);
	pf_settle(f);
}

static const struct pf_rec *rec_at(struct pf *f, const char *name, unsigned i)
{
	struct pf_recs *rs = pf_recs_of(pf_node(f, name));

	xk_assert(i < rs->n);
	return &rs->v[i];
}

unsigned pf_npushed(struct pf *f, const char *name) { return pf_recs_of(pf_node(f, name))->n; }
unsigned pf_ngot(struct pf *f, const char *name) { return pf_recs_of(pf_node(f, name))->n; }
const struct pf_rec *pf_pushed(struct pf *f, const char *name, unsigned i) { return rec_at(f, name, i); }
const struct pf_rec *pf_got(struct pf *f, const char *name, unsigned i) { return rec_at(f, name, i); }
void pf_forget(struct pf *f, const char *name) { pf_recs_clear(pf_recs_of(pf_node(f, name))); }

/* ---- calls of the upper protocol ------------------------------------------------------------- */

struct xk_sess *pf_open(struct pf *f, const char *name, unsigned vp, struct xk_parts *ps, int *err)
{
	struct xk_rep *r = pf_rep(f, name, vp);
	struct xk_sess *s;
	int ignored;

	pf_enter(f, vp);
	s = xk_open(r, r->node, r->down[0], ps, err ? err : &ignored);
	pf_leave(f, vp);
	return s;
}

void pf_push(struct pf *f, unsigned vp, struct xk_sess *s, const void *bytes, uint32_t len)
{
	struct xk_msg *m;

	pf_enter(f, vp);
	m = pf_msg(bytes, len);
	if (m != NULL)
		xk_push(s, m);
	pf_leave(f, vp);
	pf_settle(f);
}

void pf_close(struct pf *f, unsigned vp, struct xk_sess *s)
{
	pf_enter(f, vp);
	xk_close(s);
	pf_leave(f, vp);
}

struct xk_sess *pf_open_mac(struct pf *f, const char *name, unsigned vp, const uint8_t mac[6], int *err)
{
	struct xk_parts ps;

	xk_parts_init(&ps, 1);
	xk_part_push_mac(&ps.p[XK_REMOTE], mac);
	return pf_open(f, name, vp, &ps, err);
}

struct xk_sess *pf_open_host(struct pf *f, const char *name, unsigned vp, uint32_t host, int *err)
{
	struct xk_parts ps;

	xk_parts_init(&ps, 1);
	xk_part_push_host(&ps.p[XK_REMOTE], host);
	return pf_open(f, name, vp, &ps, err);
}

/* ---- counters ------------------------------------------------------------------------------------ */

static int index_of(const char *const *words, const char *w)
{
	for (int i = 0; words && words[i]; i++)
		if (strcmp(words[i], w) == 0)
			return i;
	return -1;
}

uint64_t pf_drops(struct pf *f, const char *name, const char *reason)
{
	struct xk_node *n = pf_node(f, name);
	uint64_t sum = 0;
	int i = -1;

	if (reason != NULL) {
		i = index_of(n->proto->drops, reason);
		i = i >= 0 ? i + XK_DROP_FIRST : !strcmp(reason, "nomem") ? XK_DROP_NOMEM :
		    !strcmp(reason, "unsupported") ? XK_DROP_UNSUPPORTED : -1;
		if (i < 0)
			return UINT64_MAX;
	}
	for (unsigned vp = 0; vp < f->g->vps->nvps; vp++)
		for (int d = 0; d < XK_DROPS_MAX; d++)
			if (reason == NULL || d == i)
				sum += n->rep[vp]->drop[d];
	return sum;
}

uint64_t pf_count(struct pf *f, const char *name, const char *counter)
{
	struct xk_node *n = pf_node(f, name);
	int i = index_of(n->proto->counts, counter);
	uint64_t sum = 0;

	if (i < 0)
		return UINT64_MAX;
	for (unsigned vp = 0; vp < f->g->vps->nvps; vp++)
		sum += n->rep[vp]->count[i];
	return sum;
}

uint64_t pf_buffers(struct pf *f)
{
	struct xk_mem_stats s[XK_MEM_CLASSES];
	uint64_t n = 0;

	xk_mempool_stats(f->g->vps->pool, s);
	for (unsigned i = 0; i < XK_MEM_CLASSES; i++)
		n += s[i].outstanding;
	return n;
}

uint64_t pf_sessions(struct pf *f, const char *name)
{
	struct xk_node *n = pf_node(f, name);
	uint64_t sum = 0;

	for (unsigned vp = 0; vp < f->g->vps->nvps; vp++)
		sum += xk_rep_sessions(n->rep[vp]);
	return sum;
}
