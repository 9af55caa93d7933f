/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * pcap.c - a driver whose device is a file: plays a capture into the graph and
 * writes what the graph sends to another one.
 *
 * The replica of the first VP reads (a file has one place to read from); the
 * classifier hands each frame to its VP.  Files are opened, and their errors
 * told, before the graph starts; a file that turns out broken later ends the
 * play, counted.
 * Invariant: every frame read is passed up, or counted as cut or too long.
 */
#include "drivers/common/edge.h"
#include "drivers/pcap/pcap_priv.h"
#include "runtime/base/xk_errs.h"
#include "runtime/upi/xk_graph.h"
#include "runtime/upi/xk_input.h"
#include "runtime/upi/xk_review.h"
#include "runtime/vp/xk_timer.h"

#include <errno.h>
#include <pcap/pcap.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define BURST 32u

enum { PACE_RECORDED, PACE_FAST };

struct pcapd_conf {
	char    *file, *out;
	unsigned rate, link, classifier;
	uint64_t loop, count, mtu, linger;
	uint8_t  mac[6];
	bool     finish, overwrite;
};

#define PCAPD_DROPS(X) X(TOO_LONG, "too_long") X(NO_FILE, "not_written")
enum {
	PCAPD_DROP_BASE = XK_DROP_FIRST - 1,
#define X(id, text) PCAPD_DROP_##id,
	PCAPD_DROPS(X)
#undef X
};
enum { N_READ, N_WRITTEN, N_CUT, N_LONG, N_BROKEN, N_PASSES };

struct pcapd_state {
	struct cap_writer *w;
	pcap_t  *in;
	uint32_t link, frame_max;
};

/* Used on the first VP only. */
struct pcapd_rep {
	struct xk_task  task;
	struct xk_timer timer;           /* next frame due, or the end of lingering */
	struct xk_rep  *rep;
	const u_char   *bytes;           /* frame read but not due yet; NULL: none */
	struct pcap_pkthdr hdr;
	xk_ns    start, first;           /* graph time of the pass; file time of its first frame */
	uint64_t passes, sent, in_pass;
	bool     over;
};

static const struct pcapd_conf *conf_of(const struct xk_rep *r) { return r->conf; }
static struct pcapd_state *state_of(const struct xk_rep *r) { return r->node->state; }

static bool ends_by_itself(const struct pcapd_conf *c)
{
	return c->file != NULL && c->finish && (c->loop != 0 || c->count != 0);
}

/* ---- the file ------------------------------------------------------------------- */

static pcap_t *file_open(const char *path, uint32_t *link, char *why, size_t n)
{
	char text[PCAP_ERRBUF_SIZE] = "";
	pcap_t *in = pcap_open_offline_with_tstamp_precision(path, PCAP_TSTAMP_PRECISION_NANO, text);
	int dlt;

	if (in == NULL) {
		/* libpcap puts the path before some of its texts, not all. */
		const char *t = strncmp(text, path, strlen(path)) == 0 ? text + strlen(path) : text;

		snprintf(why, n, "cannot play '%s': %s", path, t + strspn(t, ": "));
		return NULL;
	}
	dlt = pcap_datalink(in);
	if (cap_link_of_dlt(dlt) < 0) {
		const char *name = pcap_datalink_val_to_name(dlt);

		snprintf(why, n, "cannot play '%s': its link type is %s, and only EN10MB (Ethernet) and FDDI are known",
			 path, name ? name : "unknown");
		pcap_close(in);
		return NULL;
	}
	*link = (uint32_t)cap_link_of_dlt(dlt);
	return in;
}

/* Between two passes it was removed, or became something else. */
static void file_lost(struct xk_rep *r, const char *why)
{
	xk_count(r->count[N_BROKEN]);
	XK_TRACE(&r->node->log, 1, "%s", why);
	xk_node_failed(r->node, "its file is gone");
}

/* The next frame to pr->bytes; false at the end of everything. */
static bool file_next(struct pcapd_rep *pr)
{
	struct xk_rep *r = pr->rep;
	struct pcapd_state *st = state_of(r);
	const struct pcapd_conf *c = conf_of(r);
	struct pcap_pkthdr *h;
	char why[256];
	uint32_t link;
	int res;

	for (;;) {
		if (c->count != 0 && pr->sent >= c->count)
			return false;
		res = st->in ? pcap_next_ex(st->in, &h, &pr->bytes) : PCAP_ERROR_BREAK;
		if (res == 1)
			break;
		pr->bytes = NULL;
		if (res == PCAP_ERROR) {
			xk_count(r->count[N_BROKEN]);
			XK_TRACE(&r->node->log, 1, "'%s' ends early: %s", c->file, pcap_geterr(st->in));
		}
		xk_count(r->count[N_PASSES]);
		pr->passes++;
		if (st->in == NULL || pr->in_pass == 0 || (c->loop != 0 && pr->passes >= c->loop))
			return false;
		pcap_close(st->in);
		st->in = file_open(c->file, &link, why, sizeof why);
		pr->in_pass = 0;
		if (st->in == NULL) {
			file_lost(r, why);
			return false;
		}
	}
	pr->hdr = *h;
	return true;
}

/* Graph time at which the frame just read is due. */
static xk_ns frame_due(struct pcapd_rep *pr)
{
	xk_ns t = (xk_ns)pr->hdr.ts.tv_sec * XK_SEC + (xk_ns)pr->hdr.ts.tv_usec;

	if (conf_of(pr->rep)->rate == PACE_FAST)
		return 0;
	if (pr->in_pass == 0) {
		pr->first = t;
		pr->start = xk_vp_now();
	}
	return t > pr->first ? pr->start + (t - pr->first) : 0;
}

/* The frame as a message, or NULL, counted. */
static struct xk_msg *frame_take(struct pcapd_rep *pr)
{
	struct xk_rep *r = pr->rep;
	const u_char *bytes = pr->bytes;
	uint32_t n = pr->hdr.caplen;
	struct xk_msg *m;

	pr->bytes = NULL;
	pr->in_pass++;
	pr->sent++;
	xk_count(r->count[N_READ]);
	if (n < pr->hdr.len)
		xk_count(r->count[N_CUT]);
	if (n > state_of(r)->frame_max) {
		xk_count(r->count[N_LONG]);
		return NULL;
	}
	m = xk_msg_new(n);
	if (m == NULL) {
		xk_dropped(r, XK_DROP_NOMEM, 1);
		return NULL;
	}
	if (m->flags & XK_MSG_CHAIN)
		xk_msg_copy_in(m, 0, bytes, n);
	else
		memcpy(m->data, bytes, n);
	return m;
}

/* ---- playing ----------------------------------------------------------------------- */

static void play_over(struct pcapd_rep *pr)
{
	xk_task_park(&pr->task);
	if (pr->over)
		return;
	pr->over = true;
	/* What was caused may still be under way: answers, retries. */
	if (ends_by_itself(conf_of(pr->rep)))
		xk_timer_set(pr->rep->wheel, &pr->timer, xk_vp_now() + conf_of(pr->rep)->linger);
}

static void play_timer(struct xk_timer *t)
{
	struct pcapd_rep *pr = xk_container_of(t, struct pcapd_rep, timer);

	if (pr->over)
		xk_graph_finished(pr->rep->node->graph);
	else
		xk_task_ready(&pr->task);
}

static unsigned play_run(struct xk_task *t, unsigned budget)
{
	struct pcapd_rep *pr = xk_container_of(t, struct pcapd_rep, task);
	struct xk_msg *burst[BURST];
	unsigned n = 0, done = 0;

	if (budget > BURST)
		budget = BURST;
	while (done < budget) {
		xk_ns due;

		if (pr->bytes == NULL && !file_next(pr)) {
			play_over(pr);
			break;
		}
		due = frame_due(pr);
		if (due > xk_vp_now()) {
			xk_timer_set(pr->rep->wheel, &pr->timer, due);
			xk_task_park(t);
			break;
		}
		done++;
		burst[n] = frame_take(pr);
		n += burst[n] != NULL;
	}
	if (n != 0)
		xk_input(pr->rep, burst, n);
	return done;
}

/* ---- sessions ------------------------------------------------------------------------ */

static void pcapd_push(struct xk_sess *s, struct xk_msg *m)
{
	struct xk_rep *r = s->rep;
	struct pcapd_state *st = state_of(r);

	if (m->tot > st->frame_max) {
		xk_drop(r, PCAPD_DROP_TOO_LONG, m);
	} else if (st->w != NULL && !cap_writer_ok(st->w)) {
		xk_drop(r, PCAPD_DROP_NO_FILE, m);
	} else {
		if (st->w != NULL) {
			cap_writer_put(st->w, xk_vp_now(), m);
			xk_count(r->count[N_WRITTEN]);
		}
		xk_msg_free(m);
	}
}

static int pcapd_control(struct xk_rep *r, unsigned op, void *buf, unsigned len)
{
	return xk_edge_control((struct xk_edge){ state_of(r)->frame_max, state_of(r)->link, conf_of(r)->mac }, op, buf, len);
}

/* ---- life -------------------------------------------------------------------------------- */

static void pcapd_fini(struct xk_node *n)
{
	struct pcapd_state *st = n->state;

	if (st->in != NULL)
		pcap_close(st->in);
	if (!cap_writer_free(st->w))
		XK_TRACE(&n->log, 1, "'%s' is not complete: writing failed", ((struct pcapd_conf *)n->conf)->out);
	memset(st, 0, sizeof *st);
}

static int pcapd_init(struct xk_node *n, struct xk_errs *e)
{
	const struct pcapd_conf *c = n->conf;
	struct pcapd_state *st = n->state;
	char why[512];

	st->link = c->link;
	if (c->file != NULL) {
		st->in = file_open(c->file, &st->link, why, sizeof why);
		if (st->in == NULL)
			goto fail;
	}
	st->frame_max = (uint32_t)c->mtu + (st->link == XK_LINK_FDDI ? 21 : 14);
	if (c->out != NULL) {
		st->w = cap_writer_new(c->out, (int)st->link, why, sizeof why);
		if (st->w == NULL)
			goto fail;
	}
	if (ends_by_itself(c))
		xk_graph_will_finish(n->graph);
	return XK_OK;
fail:
	xk_errs_add(e, n->file, n->line, 0, "%s: %s", n->name, why);
	pcapd_fini(n);
	return XK_E_IO;
}

static int pcapd_rep_init(struct xk_rep *r)
{
	struct pcapd_rep *pr = r->state;

	pr->rep = r;
	xk_task_init(&pr->task, r->vp, play_run);
	xk_timer_init(&pr->timer, play_timer);
	return XK_OK;
}

static int pcapd_rep_start(struct xk_rep *r, struct xk_errs *e)
{
	struct pcapd_rep *pr = r->state;

	(void)e;
	if (xk_node_reader(r->node) == r->vp && state_of(r)->in != NULL)
		xk_task_ready(&pr->task);
	return XK_OK;
}

static void pcapd_rep_stop(struct xk_rep *r)
{
	struct pcapd_rep *pr = r->state;

	xk_task_park(&pr->task);
	xk_timer_cancel(r->wheel, &pr->timer);
}

/* Who reads a pipe or a terminal waits for the writer; a file's pages are there. */
static bool pcapd_waits(const void *conf, char *why, size_t n)
{
	const struct pcapd_conf *c = conf;
	struct stat st;
	int err;

	if (c->file == NULL)
		return false;
	err = strcmp(c->file, "-") == 0 ? fstat(STDIN_FILENO, &st) : stat(c->file, &st);
	if (err != 0 || !(S_ISFIFO(st.st_mode) || S_ISCHR(st.st_mode) || S_ISSOCK(st.st_mode)))
		return false;
	snprintf(why, n, "'%s' is no file but a pipe or the like, and reading it waits for who writes", c->file);
	return true;
}

static int pcapd_check(const void *conf, char *why, size_t n)
{
	const struct pcapd_conf *c = conf;

	if (c->file == NULL && c->out == NULL)
		snprintf(why, n, "needs 'file', a capture to play, or 'out', a file to write, or both");
	else if (c->file != NULL && c->out != NULL && strcmp(c->file, c->out) == 0)
		snprintf(why, n, "'%s' cannot be played and written at once", c->file);
	else
		return XK_OK;
	return XK_E_INVAL;
}

/* ---- before there is a graph --------------------------------------------------------- */

/* What is no plain file may wait for its writer, or be read once only: it is not looked at. */
static bool can_look(const char *path)
{
	struct stat st;

	return strcmp(path, "-") != 0 && (stat(path, &st) != 0 || S_ISREG(st.st_mode));
}

static void review_out(const struct xk_view *v, struct xk_review *r, const struct pcapd_conf *c)
{
	const char *path = c->out, *slash = strrchr(path, '/');
	struct stat st;
	char dir[4096];

	if (strcmp(path, "-") == 0)
		return;
	snprintf(dir, sizeof dir, "%.*s", slash == NULL ? 1 : slash == path ? 1 : (int)(slash - path), slash == NULL ? "." : path);
	if (stat(path, &st) == 0 && S_ISDIR(st.st_mode))
		xk_review_fault(r, v, "out", "cannot write '%s': it is a directory", path);
	else if (access(stat(path, &st) == 0 ? path : dir, W_OK) != 0)
		xk_review_fault(r, v, "out", "cannot write '%s': %s", path, strerror(errno));
	else if (!c->overwrite && stat(path, &st) == 0 && S_ISREG(st.st_mode) && st.st_size != 0)
		xk_review_fault(r, v, "out", "'%s' is there already: overwrite = true replaces it", path);
}

static void pcapd_review(const struct xk_view *v, struct xk_review *r)
{
	const struct pcapd_conf *c = v->conf;
	char why[512];
	uint32_t link;
	pcap_t *in;

	if (c->file != NULL && can_look(c->file)) {
		in = file_open(c->file, &link, why, sizeof why);
		if (in == NULL)
			xk_review_fault(r, v, "file", "%s", why);
		else
			pcap_close(in);
	}
	if (c->out != NULL)
		review_out(v, r, c);
}

/* A file that is played says its link type itself. */
static int pcapd_ask(const struct xk_view *v, unsigned op, void *buf, unsigned len)
{
	const struct pcapd_conf *c = v->conf;
	uint32_t link = c->link;
	char why[512];
	pcap_t *in;

	if (op != XK_CTL_LINK_TYPE || (c->file != NULL && !can_look(c->file)))
		return XK_E_NOTSUP;
	if (c->file != NULL) {
		in = file_open(c->file, &link, why, sizeof why);
		if (in == NULL)
			return XK_E_NOTSUP;
		pcap_close(in);
	}
	return xk_answer32(buf, len, link);
}

static const struct xk_ops pcapd_ops = {
	.init = pcapd_init, .fini = pcapd_fini, .rep_init = pcapd_rep_init,
	.rep_start = pcapd_rep_start, .rep_stop = pcapd_rep_stop,
	.open = xk_edge_open, .close = xk_edge_close, .push = pcapd_push,
	.enter = xk_input_enter, .control = pcapd_control,
};

static const char *const rates[] = { "recorded", "fast", NULL };
static const char *const links[] = { "eth", "fddi", NULL };   /* ORDER enum xk_link */

#define P(field, t, d, text, ...) \
	{ .name = #field, .type = t, .def = d, .doc = text, .offset = offsetof(struct pcapd_conf, field), ##__VA_ARGS__ }

static const struct xk_param pcapd_params[] = {
	P(file, XK_P_TEXT, NULL, "capture to play into the graph; its link type (Ethernet or FDDI) is the driver's",
	  .flags = XK_PF_HOST),
	P(out, XK_P_TEXT, NULL, "file that frames sent by the graph are written to", .flags = XK_PF_HOST),
	P(overwrite, XK_P_BOOL, "false", "let 'out' be a file that is there and not empty"),
	P(rate, XK_P_ENUM, "recorded", "with the pauses of the recording, or as fast as frames are taken", .choices = rates),
	P(loop, XK_P_UINT, "1", "play the file so many times; 0: for ever"),
	P(count, XK_P_UINT, "0", "stop after so many frames; 0: at the end"),
	P(finish, XK_P_BOOL, "true", "the graph may end when the file has been played"),
	P(linger, XK_P_TIME, "100ms", "wait so long for what the last frame causes", .max = "1h"),
	P(link, XK_P_ENUM, "eth", "link type when no file is played", .choices = links),
	P(mtu, XK_P_SIZE, "1500", "largest payload of a frame", .min = "68", .max = "65535"),
	P(mac, XK_P_MAC, "02:00:00:00:00:01", "own address: the one that the recorded frames were sent to"),
	XK_CLASSIFIER_PARAM(struct pcapd_conf, classifier),
	XK_PARAM_END
};

static const char *const pcapd_drops[] = {
#define X(id, text) text,
	PCAPD_DROPS(X)
#undef X
	NULL
};
static const char *const pcapd_counts[] = {
	"read", "written", "cut_short", "longer_than_mtu", "file_errors", "passes", NULL
};

const struct xk_proto xk_proto_pcap = {
	.abi = XK_ABI, .size = sizeof(struct xk_proto), .name = "pcap",
	.doc = "plays a capture file into the graph and writes what the graph sends to another",
	.is_driver = true, .is_host = true, .ops = &pcapd_ops, .offers = "frame", .params = pcapd_params,
	.conf_size = sizeof(struct pcapd_conf), .node_size = sizeof(struct pcapd_state),
	.rep_size = sizeof(struct pcapd_rep), .sess_size = sizeof(struct xk_sess),
	.check = pcapd_check, .review = pcapd_review, .ask = pcapd_ask, .waits = pcapd_waits, .gives = xk_edge_gives_own, .drops = pcapd_drops, .counts = pcapd_counts,
};
