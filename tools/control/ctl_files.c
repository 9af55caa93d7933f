/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * ctl_files.c - capture files: packets below a node go to one, frames of one come in at
 * a driver, while the graph runs.
 */
#include "tools/control/ctl_trace.h"

#include <pcap/pcap.h>
#include <string.h>

#include "drivers/pcap/xk_pcap.h"
#include "runtime/upi/xk_input.h"

#define BURST 32u                /* frames that come in at once */
#define TURN  32u                /* bursts between two looks at clients */

/* ---- capture ----------------------------------------------------------------------------- */

struct captured {
	struct ctl_job     j;
	struct xk_capture  c;
	struct xk_capture *file;
	struct xk_node    *n;
	struct xk_mutex    lock;         /* guards left */
	uint64_t           left;
};
_Static_assert(offsetof(struct captured, j) == 0, "ctl_job_end frees it");

static void capture_fn(struct xk_capture *c, xk_ns now, const struct xk_msg *m, bool down)
{
	struct captured *p = xk_container_of(c, struct captured, c);
	bool mine;

	xk_mutex_lock(&p->lock);
	mine = p->left != 0;
	if (mine && --p->left == 0)
		ctl_wake(p->j.c);
	if (mine)
		p->file->fn(p->file, now, m, down);
	xk_mutex_unlock(&p->lock);
}

static void capture_off(struct captured *p)
{
	if (p->n != NULL)
		xk_capture_detach(p->n, &p->c);
	p->n = NULL;
}

static bool capture_step(struct ctl_job *j)
{
	struct captured *p = xk_container_of(j, struct captured, j);
	uint64_t frames;
	bool over, good;

	xk_mutex_lock(&p->lock);
	over = p->left == 0 || xk_clock_host() >= j->until;
	xk_mutex_unlock(&p->lock);
	if (!over)
		return false;
	capture_off(p);
	frames = xk_pcap_capture_count(p->file);
	good = xk_pcap_capture_free(p->file);
	p->file = NULL;
	if (good)
		ctl_answer(j->c, j->client, j->id, json_pack("{s:I}", "frames", (json_int_t)frames));
	else
		ctl_answer_error(j->c, j->client, j->id, "short", "the file is short: it could not be written to its end");
	return true;
}

static void capture_free(struct ctl_job *j)
{
	struct captured *p = xk_container_of(j, struct captured, j);

	capture_off(p);
	if (p->file != NULL)
		(void)xk_pcap_capture_free(p->file);
	xk_mutex_fini(&p->lock);
	ctl_job_end(j);
}

int ctl_cmd_capture(struct ctl_call *k)
{
	struct xk_node *n = ctl_node(k, k->a.node);
	struct captured *p;
	char why[256];

	if (n == NULL)
		return XK_E_NOENT;
	if (!ctl_has_frames(n))
		return ctl_fail(k, "refused", "what passes between '%s' and its lower layer is neither frames nor datagrams: capture at a driver, at "
				"what sits over it, or at ip", n->name);
	if (!ctl_plain_file(k, k->a.file, false))
		return XK_E_INVAL;
	p = xk_alloc(sizeof *p);
	if (p == NULL)
		return ctl_fail(k, "no-memory", "out of memory");
	p->file = xk_pcap_capture_new(k->a.file, ctl_link_of(n), why, sizeof why);
	if (p->file == NULL) {
		xk_free(p);
		return ctl_fail(k, "failed", "%s", why);
	}
	xk_mutex_init(&p->lock);
	p->j = (struct ctl_job){ .step = capture_step, .free = capture_free, .c = k->c, .until = xk_clock_host() + k->a.time };
	p->c.fn = capture_fn;
	p->left = k->a.count;
	p->n = n;
	xk_capture_attach(n, &p->c);
	k->job = &p->j;
	return XK_OK;
}

/* ---- inject --------------------------------------------------------------------------------- */

struct injected {
	struct ctl_job  j;
	pcap_t         *in;
	struct xk_rep  *r;               /* that reads the device */
	uint64_t        frames, cut, lost;       /* lost: too long, or no memory */
	bool            end, broken;
};
_Static_assert(offsetof(struct injected, j) == 0, "ctl_job_end frees it");

/* The next frame as a message, or NULL: there is none, or it is not to be had. */
static struct xk_msg *next_frame(struct injected *p)
{
	struct pcap_pkthdr *h;
	const u_char *bytes;
	struct xk_msg *m;
	int got = pcap_next_ex(p->in, &h, &bytes);

	if (got != 1) {
		p->end = true;
		p->broken = got != PCAP_ERROR_BREAK;
		return NULL;
	}
	if (h->caplen < h->len)
		p->cut++;
	m = h->caplen == h->len && h->caplen != 0 && h->caplen <= XK_MSG_MAX_SEG ? xk_msg_new(h->caplen) : NULL;
	if (m != NULL)
		memcpy(m->data, bytes, h->caplen);
	else
		p->lost += h->caplen == h->len;
	return m;
}

static void inject_inside(struct xk_vp *vp, void *arg)
{
	struct injected *p = arg;
	struct xk_msg *m[BURST];
	unsigned n = 0;

	(void)vp;
	while (!p->end && n < BURST)
		if ((m[n] = next_frame(p)) != NULL)
			n++;
	p->frames += n;
	if (n != 0)
		xk_input(p->r, m, n);
}

static bool inject_step(struct ctl_job *j)
{
	struct injected *p = xk_container_of(j, struct injected, j);

	for (unsigned i = 0; i < TURN && !p->end; i++)
		xk_vp_do(p->r->vp, inject_inside, p);
	if (!p->end) {
		ctl_wake(j->c);
		return false;
	}
	if (p->broken)
		ctl_answer_error(j->c, j->client, j->id, "broken", pcap_geterr(p->in));
	else
		ctl_answer(j->c, j->client, j->id, json_pack("{s:I, s:I, s:I}", "frames", (json_int_t)p->frames, "cut",
							     (json_int_t)p->cut, "lost", (json_int_t)p->lost));
	return true;
}

static void inject_free(struct ctl_job *j)
{
	pcap_close(xk_container_of(j, struct injected, j)->in);
	ctl_job_end(j);
}

static int link_of_file(pcap_t *in)
{
	switch (pcap_datalink(in)) {
	case DLT_EN10MB: return XK_LINK_ETH;
	case DLT_FDDI:   return XK_LINK_FDDI;
	case DLT_RAW:    return XK_LINK_RAWIP;
	default:         return -1;
	}
}

int ctl_cmd_inject(struct ctl_call *k)
{
	struct xk_node *n = ctl_node(k, k->a.node);
	char why[PCAP_ERRBUF_SIZE] = "";
	struct injected *p;
	pcap_t *in;

	if (n == NULL)
		return XK_E_NOENT;
	if (!xk_node_is_edge(n) || n->classifier == NULL)
		return ctl_fail(k, "refused", "frames come in at a device's driver, which '%s' is not", n->name);
	if (!ctl_plain_file(k, k->a.file, true))
		return XK_E_INVAL;
	in = pcap_open_offline(k->a.file, why);
	if (in == NULL)
		return ctl_fail(k, "failed", "cannot read '%s': %s", k->a.file, why);
	p = link_of_file(in) == ctl_link_of(n) ? xk_alloc(sizeof *p) : NULL;
	if (p == NULL) {
		pcap_close(in);
		return ctl_fail(k, "refused", "the frames of '%s' are of another kind than those of '%s', or memory is out",
				k->a.file, n->name);
	}
	p->j = (struct ctl_job){ .step = inject_step, .free = inject_free, .c = k->c };
	p->in = in;
	p->r = n->rep[xk_node_reader(n)->no];
	k->job = &p->j;
	ctl_wake(k->c);
	return XK_OK;
}
