/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * sock_bind.c - names: which socket of this node has which port.
 *
 * The node's own passive map, which no protocol above uses, says it: written under
 * the graph's structure lock, read by any VP when somebody comes.  The more exact
 * name is tried first.  A name alone reserves nothing below; sock_enable does, when
 * peers shall come.
 * Invariant: sk->port is in the map exactly while it is not NULL.
 */
#include "protocols/sock/sock_priv.h"
#include "runtime/upi/xk_enable.h"
#include "runtime/upi/xk_inline.h"
#include "runtime/upi/xk_part.h"
#include "runtime/upi/xk_secret.h"
#include "runtime/vp/xk_task.h"

#define PORT_FIRST 49152u                /* RFC 6335: dynamic ports */
#define PORTS      (65536u - PORT_FIRST)

/* One stack of participants, the host innermost. */
static void push_addr(struct xk_part *p, const struct xk_sock_addr *a)
{
	if (a->host != XK_SOCK_ANY)
		xk_part_push_host(p, a->host);
	else
		xk_part_push_any(p);
	xk_part_push_port(p, a->port);
}

void sock_parts(struct xk_parts *ps, const struct xk_sock_addr *remote, const struct xk_sock_addr *local)
{
	xk_parts_init(ps, local->port != 0 ? 2 : 1);
	ps->at_home = true;
	push_addr(&ps->p[XK_REMOTE], remote);
	if (local->host != XK_SOCK_ANY && local->port != 0)
		push_addr(&ps->p[XK_LOCAL], local);
	else if (local->port != 0)
		xk_part_push_port(&ps->p[XK_LOCAL], local->port);
}

/* ---- who has which ----------------------------------------------------------------- */

static struct xk_key port_key(int type, const struct xk_sock_addr *a)
{
	return (struct xk_key){ { (uint64_t)type << 16 | a->port, a->host } };
}

struct clash { struct xk_key want; bool reuse, found; };

static int clash_visit(struct xk_mapnode *node, void *arg)
{
	const struct sock_port *p = xk_container_of(node, struct sock_port, map);
	const struct xk_key *k = &node->key;
	struct clash *c = arg;

	if (k->w[0] != c->want.w[0] || (k->w[1] != c->want.w[1] && k->w[1] != 0 && c->want.w[1] != 0))
		return XK_MAP_KEEP;
	if (p->reuse && c->reuse)
		return XK_MAP_KEEP;
	c->found = true;
	return XK_MAP_STOP;
}

static struct sock_port *port_new(const struct sock *sk, const struct xk_key *k)
{
	struct sock_port *p = xk_alloc(sizeof *p);

	if (p == NULL)
		return NULL;
	p->map.key = *k;
	p->fd = sk->fd;
	p->reuse = sk->opts.reuse;
	return p;
}

/* Under the structure lock. */
static int take_locked(struct sock *sk, struct sock_port *p, bool alone)
{
	struct clash c = { .want = p->map.key, .reuse = p->reuse && !alone };
	int err;

	xk_passive_foreach(&sk->node->passive, clash_visit, &c);
	if (c.found)
		return XK_E_ADDRINUSE;
	err = xk_passive_bind(&sk->node->passive, &p->map);
	/* Shared by consent: the one that was first has the entry. */
	return err == XK_E_EXIST ? XK_E_ALREADY : err;
}

int sock_take_port(struct sock *sk, const struct xk_sock_addr *a, bool alone)
{
	struct xk_key k = port_key(sk->type, a);
	struct sock_port *p = port_new(sk, &k);
	int err;

	if (p == NULL)
		return XK_E_NOMEM;
	xk_structure_lock(sk->node);
	err = take_locked(sk, p, alone);
	xk_structure_unlock(sk->node);
	if (err == XK_OK)
		sk->port = p;
	else
		xk_free(p);
	if (err == XK_E_ALREADY)
		err = XK_OK;
	if (err == XK_OK)
		sk->local = *a;
	return err;
}

void sock_leave_port(struct sock *sk)
{
	struct sock_port *p = sk->port;

	if (p == NULL)
		return;
	sk->port = NULL;
	xk_structure_lock(sk->node);
	xk_passive_unbind(&sk->node->passive, &p->map);
	xk_structure_unlock(sk->node);
	xk_rcu_free(&p->rcu, xk_free, p);
}

static struct sock *holder_of(const struct xk_node *n, int type, const struct xk_sock_addr *a)
{
	struct xk_key k = port_key(type, a);
	struct xk_mapnode *node = xk_passive_resolve(&n->passive, &k);

	return node != NULL ? sock_get(xk_container_of(node, struct sock_port, map)->fd) : NULL;
}

struct sock *sock_find_port(struct xk_rep *r, struct xk_sess *lls, int type)
{
	struct xk_sock_addr a = { 0 };
	struct sock *sk;

	if (xk_sess_control(lls, XK_CTL_GETMYPORT, &a.port, sizeof a.port) != (int)sizeof a.port)
		return NULL;
	if (xk_sess_control(lls, XK_CTL_GETMYHOST, &a.host, sizeof a.host) != (int)sizeof a.host)
		a.host = XK_SOCK_ANY;
	sk = holder_of(r->node, type, &a);
	if (sk != NULL || a.host == XK_SOCK_ANY)
		return sk;
	a.host = XK_SOCK_ANY;
	return holder_of(r->node, type, &a);
}

/* ---- open for peers, below ------------------------------------------------------------ */

int64_t sock_do_binding(struct sock *sk, sock_op op, void *arg)
{
	int64_t res;

	xk_binding_begin(sk->node);
	res = sock_do(sk, op, arg);
	xk_binding_end(sk->node);
	return res;
}

int64_t sock_do_seldom(struct sock *sk, sock_op op, void *arg, bool *held)
{
	int64_t res = sock_do(sk, op, arg);

	if (res != SOCK_BINDS)
		return res;
	*held = true;
	return sock_do_binding(sk, op, arg);
}

int sock_enable(struct sock *sk)
{
	struct xk_parts ps, *kept;
	int err;

	kept = xk_alloc(sizeof *kept);
	if (kept == NULL)
		return XK_E_NOMEM;
	xk_parts_init(&ps, 1);
	push_addr(&ps.p[0], &sk->local);
	*kept = ps;
	err = xk_open_enable(sk->node, sk->node, sock_below(sk)->node, &ps);
	if (err == XK_OK)
		sk->enabled = kept;
	else
		xk_free(kept);
	return err;
}

void sock_disable(struct sock *sk)
{
	struct xk_parts *ps = sk->enabled;

	if (ps == NULL)
		return;
	sk->enabled = NULL;
	(void)xk_open_disable(sk->node, sk->node, sock_below(sk)->node, ps);
	xk_free(ps);
}

/* ---- a name that is free ---------------------------------------------------------------- */

static int take(struct sock *sk, const struct xk_sock_addr *a, bool alone, bool enable)
{
	int err = sock_take_port(sk, a, alone);

	if (err != XK_OK || !enable)
		return err;
	err = sock_enable(sk);
	if (err != XK_OK) {
		sock_leave_port(sk);
		sk->local = (struct xk_sock_addr){ 0 };
	}
	return err;
}

/* From a random one on, so that it cannot be guessed (RFC 6056 3.3.1). */
int sock_take_some_port(struct sock *sk, uint32_t host, bool enable)
{
	uint32_t first = (uint32_t)xk_vp_secret_below(xk_vp_self, PORTS);

	for (uint32_t i = 0; i < PORTS; i++) {
		struct xk_sock_addr a = { host, (uint16_t)(PORT_FIRST + (first + i) % PORTS) };
		int err = take(sk, &a, true, enable);

		if (err != XK_E_ADDRINUSE)
			return err;
	}
	return XK_E_ADDRNOTAVAIL;
}

/* ---- bind --------------------------------------------------------------------------------- */

static bool is_ours(const struct sock *sk, uint32_t host)
{
	int res = xk_control(sock_below(sk), XK_CTL_ISLOCAL, &host, sizeof host);

	/* What has no addresses to know lets any pass. */
	return host == XK_SOCK_ANY || res == 1 || res == XK_E_NOTSUP;
}

static int64_t bind_op(struct sock *sk, void *arg)
{
	const struct xk_sock_addr *a = arg;
	bool dgram = sk->type == XK_SOCK_DGRAM;

	if (sk->closed)
		return XK_E_BADF;
	if (sk->state != SOCK_IDLE || sk->local.port != 0)
		return XK_E_INVAL;
	if (!is_ours(sk, a->host))
		return XK_E_ADDRNOTAVAIL;
	if (a->port == 0)
		return sock_take_some_port(sk, a->host, dgram);
	return take(sk, a, false, dgram);
}

int xk_sock_bind(int fd, const struct xk_sock_addr *a)
{
	struct xk_sock_addr copy = *a;
	struct sock *sk;
	int res = sock_hold(fd, &sk);

	if (res != XK_OK)
		return res;
	res = (int)sock_do_binding(sk, bind_op, &copy);
	sock_put(sk);
	return res;
}
