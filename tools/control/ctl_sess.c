/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * ctl_sess.c - the sessions of a node, or of all, piece by piece.
 *
 * Each virtual processor is entered for at most so many objects of one replica's slab at a
 * time; notes are taken there into an array, JSON is made of them outside.  A session that is
 * alive from the first piece to the last is shown exactly once: it never moves.
 */
#include "tools/control/ctl_show.h"
#include "runtime/upi/xk_change.h"
#include "runtime/upi/xk_part.h"

#include <stdlib.h>

#define PIECE 64u

struct note {
	const struct xk_node *above;
	uint64_t key[2];
	uint32_t rcnt, flags;
	uint32_t host[2];                /* ours, the peer's */
	uint16_t port[2];
	bool     has_host[2], has_port[2], bound, flow;
};

struct stay {
	struct xk_rep  *r;
	uint64_t        cursor;
	unsigned        max, count;
	bool            more;
	struct note     note[PIECE];
};

static bool asked(struct xk_sess *s, unsigned op, void *buf, unsigned len)
{
	return xk_sess_control(s, op, buf, len) == (int)len;
}

static void take_note(void *o, void *arg)
{
	struct stay *st = arg;
	struct xk_sess *s = o;
	struct note *t = &st->note[st->count];

	if (s->rep == NULL)
		return;
	st->count++;
	*t = (struct note){ .above = s->up != NULL && s->up->rep != NULL ? s->up->rep->node : NULL,
			    .key = { s->map.key.w[0], s->map.key.w[1] }, .bound = s->map.bound, .rcnt = (uint32_t)s->rcnt,
			    .flags = s->flags, .flow = s->flow != 0 };
	if (s->flags & (XK_SESS_IDLE | XK_SESS_CLOSING))
		return;                  /* what is below it may be gone */
	t->has_host[0] = asked(s, XK_CTL_GETMYHOST, &t->host[0], sizeof t->host[0]);
	t->has_host[1] = asked(s, XK_CTL_GETPEERHOST, &t->host[1], sizeof t->host[1]);
	t->has_port[0] = asked(s, XK_CTL_GETMYPORT, &t->port[0], sizeof t->port[0]);
	t->has_port[1] = asked(s, XK_CTL_GETPEERPORT, &t->port[1], sizeof t->port[1]);
}

static void stay_inside(struct xk_vp *vp, void *arg)
{
	struct stay *st = arg;

	(void)vp;
	st->count = 0;
	st->more = xk_slab_walk(xk_rep_slab(st->r), &st->cursor, st->max, take_note, st);
}

/* "10.0.0.1:80", as far as it is known. */
static json_t *end_json(const struct note *t, unsigned i)
{
	char buf[32];
	int n = 0;

	if (!t->has_host[i] && !t->has_port[i])
		return json_null();
	if (t->has_host[i])
		n = snprintf(buf, sizeof buf, "%u.%u.%u.%u", t->host[i] >> 24, t->host[i] >> 16 & 255, t->host[i] >> 8 & 255,
			     t->host[i] & 255);
	if (t->has_port[i])
		snprintf(buf + n, sizeof buf - (size_t)n, ":%u", t->port[i]);
	return json_string(buf);
}

static const char *state_of(const struct note *t)
{
	if (t->flags & XK_SESS_CLOSING)
		return "closing";
	return t->flags & XK_SESS_IDLE ? "idle" : "open";
}

static json_t *note_json(const struct stay *st, unsigned vp, const struct note *t)
{
	json_t *o = json_object();
	char key[40];

	snprintf(key, sizeof key, "%016llx%016llx", (unsigned long long)t->key[0], (unsigned long long)t->key[1]);
	json_object_set_new(o, "node", ctl_string(st->r->node->name));
	ctl_put(o, "vp", vp);
	json_object_set_new(o, "above", t->above ? ctl_string(t->above->name) : json_null());
	json_object_set_new(o, "local", end_json(t, 0));
	json_object_set_new(o, "remote", end_json(t, 1));
	json_object_set_new(o, "state", json_string(state_of(t)));
	json_object_set_new(o, "passive", json_boolean(t->flags & XK_SESS_PASSIVE));
	ctl_put(o, "references", t->rcnt);
	json_object_set_new(o, "announced", json_boolean(t->flow));
	json_object_set_new(o, "key", t->bound ? json_string(key) : json_null());
	return o;
}

/* One replica, from st->cursor on; true: the limit was reached. */
static bool replica(struct ctl_call *k, struct stay *st, unsigned vp, json_t *rows)
{
	do {
		uint64_t left = k->a.limit - json_array_size(rows);

		if (left == 0)
			return true;
		st->max = left < PIECE ? (unsigned)left : PIECE;
		xk_vp_do(st->r->vp, stay_inside, st);
		for (unsigned i = 0; i < st->count; i++)
			json_array_append_new(rows, note_json(st, vp, &st->note[i]));
	} while (st->more);
	return false;
}

int ctl_show_sessions(struct ctl_call *k)
{
	struct xk_graph *g = k->c->g;
	unsigned long long from[3] = { 0, 0, 0 };   /* node, VP, place */
	struct xk_node *only = NULL;
	struct stay *st;
	json_t *rows;
	char next[64];

	if (k->a.node != NULL && (only = ctl_node(k, k->a.node)) == NULL)
		return XK_E_NOENT;
	if (!ctl_cursor(k->a.cursor, from))
		return ctl_fail(k, "bad-argument", "'cursor' is not one of ours");
	st = xk_alloc(sizeof *st);
	rows = st != NULL ? json_array() : NULL;
	if (rows == NULL) {
		xk_free(st);
		return ctl_fail(k, "no-memory", "out of memory");
	}
	for (unsigned i = (unsigned)from[0]; i < xk_graph_slots(g); i++) {
		for (unsigned v = i == from[0] ? (unsigned)from[1] : 0; xk_graph_slot(g, i) != NULL && v < g->vps->nvps; v++) {
			if (only != NULL && only != g->node[i])
				break;
			st->r = g->node[i]->rep[v];
			st->cursor = i == from[0] && v == from[1] ? from[2] : 0;
			if (replica(k, st, v, rows)) {
				snprintf(next, sizeof next, "%u.%u.%llu", i, v, (unsigned long long)st->cursor);
				k->result = json_pack("{s:o, s:s}", "rows", rows, "cursor", next);
				xk_free(st);
				return XK_OK;
			}
		}
	}
	xk_free(st);
	k->result = json_pack("{s:o}", "rows", rows);
	return XK_OK;
}
