/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * vpg_filter.c - filter: the packet filter that a graph makes of itself, device by device.
 *
 * The graph is built but not brought up: no device is opened.  Printed are the pattern's cells,
 * the back end that would be chosen and each back end's program; --explain classifies the
 * frames of a capture file by the reference and by every back end that works here.
 * Invariant: the exit code is 1 when any back end says something else than the reference.
 */
#include "tools/vp-graph/vpg.h"

#include <stdlib.h>
#include <string.h>
#include <pcap/pcap.h>

#include "runtime/base/xk_bytes.h"
#include "runtime/upi/xk_input.h"
#include "runtime/upi/xk_part.h"

#define BACK_ENDS 8u

/* ---- the pattern ------------------------------------------------------------------- */

static void print_field(const char *word, const struct xk_pat_field *f, const char *rest)
{
	printf("      %-9s byte %u", word, f->off);
	if (f->width > 1)
		printf(" to %u%s", f->off + f->width - 1u, f->little ? ", least significant first" : "");
	if (f->mask != (f->width >= 4 ? UINT32_MAX : (1u << 8 * f->width) - 1))
		printf(", & %#x", f->mask);
	printf("%s\n", rest);
}

static void print_keys(const char *word, const struct xk_pat_key *k, unsigned n)
{
	for (unsigned i = 0; i < n; i++)
		printf("      %-9s byte %u to %u, & %#x: byte %u of the key\n", word, k[i].off, k[i].off + k[i].width - 1u,
		       k[i].mask, k[i].at);
}

static void print_cell(const struct xk_pattern *p, unsigned i)
{
	const struct xk_cell *c = &p->cell[i];
	char rest[64];

	printf("    %u: %s (%s)", i, c->name, c->proto);
	if (c->parent != XK_PAT_ABOVE)
		printf(", over %s as %#x", p->cell[c->parent].name, c->number);
	printf(", needs %u bytes\n", c->need);
	for (unsigned g = 0; g < c->nguard; g++) {
		snprintf(rest, sizeof rest, " is %#x", c->guard[g].value);
		print_field("guard", &c->guard[g], rest);
	}
	print_keys("key", c->key, c->nkey);
	if (c->has_postpone)
		print_field("postpone", &c->postpone, " is not 0: by identity");
	print_keys("identity", c->ident, c->nident);
	if (c->has_hlen) {
		snprintf(rest, sizeof rest, " times %u is the header's length", c->hlen.value);
		print_field("length", &c->hlen, rest);
	}
	if (c->has_select)
		print_field("select", &c->select, c->nkid != 0 ? " says who is above" : " says who is above: nobody here");
	if (c->elsewhere != NULL)
		printf("      elsewhere: %s\n", c->elsewhere);
}

/* What this device would get; NULL: none, and why has the reason. */
static const char *choice(struct xk_node *n, char *why, size_t len)
{
	const char *name = NULL;

	if (xk_node_classify(n, why, len) == XK_OK) {
		name = n->classifier->ops->name;
		snprintf(why, len, "%s", n->classifier->why);
	}
	xk_classifier_free(n->classifier);
	n->classifier = NULL;
	return name;
}

static void print_choice(struct xk_node *n)
{
	char why[256];
	const char *name = choice(n, why, sizeof why);

	if (name == NULL)
		printf("  no classifier: %s\n", why);
	else
		printf("  classifier %s, %s\n", name, why);
}

static json_t *choice_json(struct xk_node *n)
{
	char why[256];
	const char *name = choice(n, why, sizeof why);

	return json_pack("{s:s, s:s, s:s?, s:s}", "device", n->name, "asked", xk_node_classifier(n),
			 "classifier", name, "why", why);
}

static void print_program(const struct xk_node *n, const struct xk_classifier_ops *ops)
{
	struct xk_classifier *c;
	char why[256];

	printf("  program of %s:\n", ops->name);
	if (xk_classifier_new(&c, ops->name, n->pattern, n->graph->flows, why, sizeof why) != XK_OK) {
		printf("    refuses: %s\n", why);
		return;
	}
	fflush(stdout);
	if (ops->print != NULL)
		ops->print(c, stdout);
	else
		printf("    %s\n", ops->doc);
	xk_classifier_free(c);
}

static void print_device(struct xk_node *n)
{
	printf("%s (%s)  %s:%d\n", n->name, n->proto->name, n->file ? n->file : "?", n->line);
	print_choice(n);
	printf("  pattern of %u cells%s\n", n->pattern->ncell, n->pattern->ncell ? "" : ": every frame goes to VP 0");
	for (unsigned i = 0; i < n->pattern->ncell; i++)
		print_cell(n->pattern, i);
	for (unsigned i = 0; xk_classifier_table[i] != NULL; i++)
		if (strcmp(xk_classifier_table[i]->name, "none") != 0)
			print_program(n, xk_classifier_table[i]);
}

/* ---- explain ---------------------------------------------------------------------------- */

struct judge { struct xk_node *n; struct xk_classifier *c[BACK_ENDS]; unsigned nc; unsigned differ; };

static void judge_new(struct judge *j, struct xk_node *n)
{
	char why[256];

	*j = (struct judge){ .n = n };
	for (unsigned i = 0; xk_classifier_table[i] != NULL && j->nc < BACK_ENDS; i++)
		if (strcmp(xk_classifier_table[i]->name, "none") != 0 &&
		    xk_classifier_new(&j->c[j->nc], xk_classifier_table[i]->name, n->pattern, n->graph->flows, why,
				      sizeof why) == XK_OK)
			j->nc++;
}

static void print_path(const struct xk_pattern *p, unsigned cell)
{
	if (cell == XK_PAT_ABOVE)
		return;
	print_path(p, p->cell[cell].parent);
	printf("%s%s", p->cell[cell].parent != XK_PAT_ABOVE ? " > " : "", p->cell[cell].name);
}

static void print_verdict(const struct xk_pattern *p, const struct xk_verdict *v)
{
	static const char *const kind[] = { "nothing known", "hosts", "datagram's identity", "connection" };
	const uint8_t *k = (const uint8_t *)&v->pat.key;

	print_path(p, v->pat.cell);
	printf("%s%s", v->pat.cell != XK_PAT_ABOVE ? ": " : "", kind[v->pat.kind]);
	if (v->pat.kind != XK_PAT_NONE)
		printf(", remote %08x.%04x local %08x.%04x selector %08x, hash %08x", xk_be32(k), xk_be16(k + 8),
		       xk_be32(k + 4), xk_be16(k + 10), xk_be32(k + 12), v->pat.hash);
	printf(", VP %u\n", v->vp);
}

/* A copy of its own length, so that a tool for memory errors sees a byte read too far. */
static void explain_frame(struct judge *j, unsigned long no, const uint8_t *bytes, uint32_t len)
{
	uint8_t *copy = malloc(len + 1);
	struct xk_verdict v;

	if (copy == NULL)
		return;
	memcpy(copy, bytes, len);
	xk_rcu_read_lock();
	xk_classify_verdict(j->n->pattern, j->n->graph->flows, copy, len, &v);
	printf("%s frame %lu, %u bytes: ", j->n->name, no, len);
	print_verdict(j->n->pattern, &v);
	for (unsigned i = 0; i < j->nc; i++) {
		struct xk_msg m = { .data = copy, .len = len, .tot = len }, *mp = &m;

		xk_classify(j->c[i], &mp, 1);
		if (m.hash == v.pat.hash && m.vp == v.vp && m.u.v.flow == v.flow)
			continue;
		printf("  DIFFERS: %s says hash %08x, VP %u\n", j->c[i]->ops->name, m.hash, m.vp);
		j->differ++;
	}
	xk_rcu_read_unlock();
	free(copy);
}

/* Are frames of this kind what the pattern's first protocol reads? */
static bool link_fits(const struct xk_pattern *p, int dlt)
{
	const char *root = p->ncell != 0 ? p->cell[XK_PAT_ROOT].proto : "";

	return strcmp(root, "eth") == 0 ? dlt == DLT_EN10MB : strcmp(root, "fddi") == 0 ? dlt == DLT_FDDI :
	       strcmp(root, "ip") == 0 ? dlt == DLT_RAW || dlt == DLT_IPV4 : true;
}

static int explain_device(struct xk_node *n, const char *file)
{
	char text[PCAP_ERRBUF_SIZE] = "";
	pcap_t *in = pcap_open_offline(file, text);
	struct pcap_pkthdr *h;
	const u_char *bytes;
	unsigned long no = 0;
	struct judge j;
	int got;

	if (in == NULL) {
		fprintf(stderr, "vp-graph: cannot read '%s': %s\n", file, text);
		return VPG_FAILED;
	}
	if (!link_fits(n->pattern, pcap_datalink(in))) {
		const char *name = pcap_datalink_val_to_name(pcap_datalink(in));

		printf("%s: frames of %s (%s) are none of %s\n", n->name, file, name ? name : "?",
		       n->pattern->cell[XK_PAT_ROOT].proto);
		pcap_close(in);
		return VPG_OK;
	}
	judge_new(&j, n);
	while ((got = pcap_next_ex(in, &h, &bytes)) == 1)
		explain_frame(&j, ++no, bytes, h->caplen);
	if (got == PCAP_ERROR)
		fprintf(stderr, "vp-graph: '%s' behind frame %lu: %s\n", file, no, pcap_geterr(in));
	printf("%s: %lu frames, reference and", n->name, no);
	for (unsigned i = 0; i < j.nc; i++) {
		printf(" %s", j.c[i]->ops->name);
		xk_classifier_free(j.c[i]);
	}
	printf(" differ %u times\n", j.differ);
	pcap_close(in);
	return j.differ != 0 || got == PCAP_ERROR ? VPG_FAILED : VPG_OK;
}

/* ---- the command --------------------------------------------------------------------------- */

static int each_device(struct xk_graph *g, const char *file)
{
	int code = VPG_OK;

	for (unsigned i = 0; i < g->nnodes; i++) {
		int one = VPG_OK;

		if (g->node[i]->pattern == NULL)
			continue;
		if (file != NULL)
			one = explain_device(g->node[i], file);
		else
			print_device(g->node[i]);
		code = code != VPG_OK ? code : one;
	}
	return code;
}

/* The graph of an opened file with its filters, or NULL: said why. */
static struct xk_graph *build(struct vpg_file *f)
{
	struct xk_graph *g = NULL;

	xk_rcu_register();
	if (xk_spec_build(f->s, &g, f->errs) == XK_OK && xk_graph_filter(g, f->errs) == XK_OK)
		return g;
	xk_spec_print_errors(stderr, f->s, f->errs, NULL);
	xk_graph_free(g);
	xk_rcu_unregister();
	return NULL;
}

static void unbuild(struct xk_graph *g)
{
	xk_graph_free(g);
	xk_rcu_unregister();
}

int vpg_show_classifiers(struct vpg_file *f, json_t *into)
{
	struct xk_graph *g = build(f);

	if (g == NULL)
		return VPG_GRAPH_ERRORS;
	for (unsigned i = 0; i < g->nnodes; i++) {
		if (g->node[i]->pattern == NULL)
			continue;
		if (into != NULL) {
			json_array_append_new(into, choice_json(g->node[i]));
		} else {
			printf("\n%s\n", g->node[i]->name);
			print_choice(g->node[i]);
		}
	}
	unbuild(g);
	return VPG_OK;
}

int vpg_filter(const struct vpg *o)
{
	struct xk_graph *g;
	struct vpg_file f;
	int code = vpg_open(&f, o, o->arg[0]);

	if (code == VPG_OK && xk_spec_plan(f.s) == NULL) {
		fprintf(stderr, "vp-graph: %s is a bench without a graph of its own\n", o->arg[0]);
		code = VPG_FAILED;
	}
	if (code == VPG_OK) {
		g = build(&f);
		code = g == NULL ? VPG_GRAPH_ERRORS : each_device(g, o->explain);
		if (g != NULL)
			unbuild(g);
	}
	vpg_close(&f);
	return code;
}
