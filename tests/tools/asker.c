/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * asker.c - a plug-in for tests: asks for a file by HTTP, `count` times over one connection, each time when the
 * answer before is whole, and keeps what comes.
 *
 * It is written against xk/proto.h alone: an application over a stream of the words that those of the tree have.
 * Invariant: what `in` holds is the beginning of one answer.
 */
#include <xk/proto.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define HEAD_MOST 1024u

struct asker_conf { uint32_t to; uint16_t port; char *path, *keep; uint64_t count; };
struct asker_rep { struct xk_sess *lls; struct stream_q in; uint64_t left; FILE *keep; };
enum { N_ANSWERS, N_BYTES, N_FAILED };   /* as in asker_counts */

static struct asker_rep *asker_of(const struct xk_rep *r) { return r->state; }

static void ask(struct xk_rep *r)
{
	char text[HEAD_MOST];
	int n = snprintf(text, sizeof text, "GET %s HTTP/1.1\r\nHost: asked\r\n\r\n", ((const struct asker_conf *)r->conf)->path);

	stream_write_some(asker_of(r)->lls, text, (uint32_t)n);
}

/* Bytes of the answer that `in` begins with, or 0: its head is not there yet. */
static uint32_t answer_length(const struct stream_q *in)
{
	char head[HEAD_MOST + 1];
	const char *end, *length;

	head[stream_q_copy(in, 0, head, HEAD_MOST)] = '\0';
	end = strstr(head, "\r\n\r\n");
	length = strstr(head, "Content-Length: ");
	if (end == NULL)
		return 0;
	return (uint32_t)(end + 4 - head) + (length != NULL && length < end ? (uint32_t)strtoul(length + 16, NULL, 10) : 0);
}

static void answered(struct xk_rep *r, uint32_t n)
{
	struct asker_rep *a = asker_of(r);
	char *bytes = a->keep != NULL ? xk_alloc(n) : NULL;

	if (bytes != NULL)
		fwrite(bytes, 1, stream_q_copy(&a->in, 0, bytes, n), a->keep);
	xk_free(bytes);
	stream_q_drop(&a->in, n);
	xk_count(r->count[N_ANSWERS]);
	if (--a->left != 0)
		ask(r);
	else
		xk_app_finished(r->node);
}

static void asker_demux(struct xk_up *up, struct xk_sess *lls, struct xk_msg *m)
{
	struct asker_rep *a = asker_of(up->rep);
	uint32_t n;

	(void)lls;
	xk_count(up->rep->npop);
	xk_count_add(up->rep->count[N_BYTES], m->tot);
	stream_q_put(&a->in, m);
	while (a->left != 0 && (n = answer_length(&a->in)) != 0 && n <= a->in.bytes)
		answered(up->rep, n);
}

static void asker_event(struct xk_rep *r, const struct xk_stream_event *ev)
{
	if (ev->what == XK_STREAM_FAILED)
		xk_count(r->count[N_FAILED]);
}

static int asker_control(struct xk_rep *r, unsigned op, void *buf, unsigned len)
{
	const struct xk_app_counts c = { 1, &r->count[N_ANSWERS], &r->count[N_BYTES], NULL, NULL, NULL };

	return stream_app_control(r, op, buf, len, &c, asker_event);
}

static int asker_init(struct xk_node *n, struct xk_errs *e)
{
	(void)e;
	xk_app_will_finish(n);
	return XK_OK;
}

static int asker_rep_start(struct xk_rep *r, struct xk_errs *e)
{
	const struct asker_conf *c = r->conf;
	struct asker_rep *a = asker_of(r);
	struct xk_parts ps;
	int err = XK_OK;

	if (!xk_app_is_here(r, 0))
		return XK_OK;
	a->keep = c->keep != NULL ? fopen(c->keep, "w") : NULL;
	a->left = c->count;
	xk_parts_init(&ps, 2);
	xk_part_push_host(&ps.p[XK_REMOTE], c->to);
	xk_part_push_port(&ps.p[XK_REMOTE], c->port);
	xk_part_push_any(&ps.p[XK_LOCAL]);
	xk_part_push_any(&ps.p[XK_LOCAL]);
	a->lls = xk_open(r, r->node, r->down[0], &ps, &err);
	if (a->lls == NULL || (c->keep != NULL && a->keep == NULL)) {
		xk_node_error(r->node, e, "cannot ask: %s", xk_strerror(err));
		return XK_E_INVAL;
	}
	ask(r);
	return XK_OK;
}

static void asker_rep_stop(struct xk_rep *r)
{
	struct asker_rep *a = asker_of(r);

	stream_q_free(&a->in);
	if (a->lls != NULL)
		xk_close(a->lls);
	if (a->keep != NULL)
		fclose(a->keep);
}

static const struct xk_ops asker_ops = {
	.init = asker_init, .rep_start = asker_rep_start, .rep_stop = asker_rep_stop, .demux = asker_demux,
	.control = asker_control,
};
static const struct xk_param asker_params[] = {
	{ .name = "to", .type = XK_P_IPV4, .doc = "who is asked", .offset = offsetof(struct asker_conf, to), .flags = XK_PF_REQUIRED },
	{ .name = "port", .type = XK_P_PORT, .def = "80", .min = "1", .doc = "at which port", .offset = offsetof(struct asker_conf, port) },
	{ .name = "path", .type = XK_P_TEXT, .def = "/", .doc = "for what", .offset = offsetof(struct asker_conf, path) },
	{ .name = "keep", .type = XK_P_TEXT, .doc = "file for the answers", .offset = offsetof(struct asker_conf, keep) },
	{ .name = "count", .type = XK_P_UINT, .def = "1", .min = "1", .doc = "so often", .offset = offsetof(struct asker_conf, count) },
	XK_PARAM_END
};
static const char *const asker_counts[] = { "answers", "bytes", "failed", NULL };

static const struct xk_proto asker = {
	.abi = XK_ABI, .size = sizeof(struct xk_proto), .name = "asker", .doc = "asks for a file by HTTP", .ops = &asker_ops,
	.needs = { "stream" }, .min_down = 1, .max_down = 1, .params = asker_params, .conf_size = sizeof(struct asker_conf),
	.rep_size = sizeof(struct asker_rep), .counts = asker_counts,
};
XK_PLUGIN(&asker);
