/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * rec_read.c - reads a recording: chunks of records, then names.  Chunks of a ring need not stand side by side.
 *
 * Invariant: no number of the file is trusted with more than it has bytes for.
 */
#include "tools/recorder/rec.h"

#include <stdlib.h>
#include <string.h>

struct in { const char *p; size_t left; };

static bool take(struct in *in, void *to, size_t n)
{
	if (in->left < n)
		return false;
	memcpy(to, in->p, n);
	in->p += n;
	in->left -= n;
	return true;
}

/* ---- records ------------------------------------------------------------------------------ */

static int by_ring(const void *a, const void *b)
{
	const struct rec_row *x = a, *y = b;

	if (x->ring != y->ring)
		return x->ring < y->ring ? -1 : 1;
	return x->no < y->no ? -1 : x->no > y->no;
}

static int by_time(const void *a, const void *b)
{
	const struct rec_row *x = a, *y = b;

	if (x->r.when != y->r.when)
		return x->r.when < y->r.when ? -1 : 1;
	return by_ring(a, b);
}

static bool is_last(const struct xk_recording_chunk *c) { return c->n == 0; }

/* What chunk c has; false: the file ends in it. */
static bool read_chunk(struct rec *r, struct in *in, const struct xk_recording_chunk *c)
{
	for (uint32_t i = 0; i < c->n; i++) {
		struct rec_row *x = &r->row[r->nrows];

		if (!take(in, &x->r, sizeof x->r))
			return false;
		x->no = c->first + i;
		x->ring = c->ring;
		r->nrows++;
	}
	return true;
}

/* False: the file ends before its text does begin. */
static bool read_rings(struct rec *r, struct in *in)
{
	struct xk_recording_chunk c;

	while (take(in, &c, sizeof c)) {
		if (is_last(&c))
			return true;
		if (!read_chunk(r, in, &c))
			return false;
	}
	return false;
}

/* What is not there between them is counted while they stand ring by ring. */
static void order(struct rec *r)
{
	qsort(r->row, r->nrows, sizeof *r->row, by_ring);
	for (size_t i = 0; i < r->nrows; i++) {
		struct rec_row *x = &r->row[i];
		uint64_t next = i != 0 && x[-1].ring == x->ring ? x[-1].no + 1 : 0;

		x->gone = x->no > next ? x->no - next : 0;
		r->gone += x->gone;
	}
	qsort(r->row, r->nrows, sizeof *r->row, by_time);
}

/* ---- names --------------------------------------------------------------------------------- */

static int by_key(const void *a, const void *b)
{
	const struct rec_name *x = a, *y = b;

	if (x->word != y->word)
		return x->word < y->word ? -1 : 1;
	if (x->node != y->node)
		return x->node < y->node ? -1 : 1;
	return x->no < y->no ? -1 : x->no > y->no;
}

const char *rec_name(const struct rec *r, enum rec_word word, uint32_t node, uint32_t no)
{
	const struct rec_name key = { word, node, no, NULL };
	const struct rec_name *x = r->nnames != 0 ? bsearch(&key, r->name, r->nnames, sizeof *r->name, by_key) : NULL;

	return x != NULL ? x->text : NULL;
}

/* The word before a blank, which becomes its end; NULL: there is no blank. */
static char *word(char **line)
{
	char *w = *line, *blank = strchr(w, ' ');

	if (blank == NULL)
		return NULL;
	*blank = '\0';
	*line = blank + 1;
	return w;
}

static bool number(char **line, uint32_t *n)
{
	const char *w = word(line);
	char *end;
	unsigned long v;

	if (w == NULL || *w < '0' || *w > '9')
		return false;
	v = strtoul(w, &end, 10);
	*n = (uint32_t)v;
	return *end == '\0' && v <= UINT32_MAX;
}

static void add(struct rec *r, enum rec_word what, uint32_t node, uint32_t no, const char *text)
{
	r->name[r->nnames++] = (struct rec_name){ what, node, no, text };
}

static void read_node(struct rec *r, char *line)
{
	const char *protocol;
	uint32_t node;

	if (!number(&line, &node) || (protocol = word(&line)) == NULL)
		return;
	add(r, REC_PROTOCOL, node, 0, protocol);
	add(r, REC_NODE, node, 0, line);
}

static void read_failed(struct rec *r, char *line)
{
	uint32_t node;

	if (number(&line, &node))
		add(r, REC_FAILED, node, 0, line);
}

static void read_text(struct rec *r, enum rec_word what, char *line)
{
	uint32_t node, no;

	if (number(&line, &node) && number(&line, &no))
		add(r, what, node, no, line);
}

/* At most two names; what is no line of ours says nothing. */
static void read_line(struct rec *r, char *line)
{
	const char *w;

	if (strcmp(line, "end") == 0)
		r->whole = true;
	w = word(&line);
	if (w == NULL)
		return;
	if (strcmp(w, "graph") == 0)
		r->graph = line;
	else if (strcmp(w, "threading") == 0)
		r->threading = line;
	else if (strcmp(w, "node") == 0)
		read_node(r, line);
	else if (strcmp(w, "failed") == 0)
		read_failed(r, line);
	else if (strcmp(w, "drop") == 0)
		read_text(r, REC_DROP, line);
	else if (strcmp(w, "event") == 0)
		read_text(r, REC_EVENT, line);
}

/* Text is shown on terminals. */
static void make_printable(char *s, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (s[i] != '\n' && ((unsigned char)s[i] < ' ' || (unsigned char)s[i] > '~'))
			s[i] = '?';
}

static bool read_names(struct rec *r, const struct in *in)
{
	size_t lines = 0;
	char *at, *nl;

	for (size_t i = 0; i < in->left; i++)
		lines += in->p[i] == '\n';
	r->text = malloc(in->left + 1);
	r->name = malloc((2 * lines + 1) * sizeof *r->name);
	if (r->text == NULL || r->name == NULL)
		return false;
	memcpy(r->text, in->p, in->left);
	make_printable(r->text, in->left);
	r->text[in->left] = '\0';
	for (at = r->text; (nl = strchr(at, '\n')) != NULL; at = nl + 1) {
		*nl = '\0';
		read_line(r, at);
	}
	qsort(r->name, r->nnames, sizeof *r->name, by_key);
	return true;
}

/* ---- a file ---------------------------------------------------------------------------------- */

void rec_free(struct rec *r)
{
	free(r->row);
	free(r->name);
	free(r->text);
	*r = (struct rec){ 0 };
}

static const char *fault(const struct xk_recording_head *h, size_t len)
{
	if (len > REC_MOST)
		return "is longer than a recording can be";
	if (memcmp(h->magic, XK_RECORDING_MAGIC, sizeof h->magic) != 0)
		return "is no recording";
	if (h->order != XK_RECORDING_ORDER)
		return "was written on a machine of the other byte order";
	if (h->version != XK_RECORDING_VERSION || h->size != sizeof(struct xk_rec))
		return "is of another version: read it with the vp-ctl of the program that wrote it";
	return NULL;
}

bool rec_read(struct rec *r, const void *bytes, size_t len, char *why, size_t n)
{
	struct in in = { bytes, len };
	const char *bad;
	bool good;

	*r = (struct rec){ .graph = "", .threading = "" };
	bad = take(&in, &r->head, sizeof r->head) ? fault(&r->head, len) : "is too short for a recording";
	if (bad != NULL) {
		snprintf(why, n, "%s", bad);
		*r = (struct rec){ 0 };
		return false;
	}
	r->row = malloc((in.left / sizeof(struct xk_rec) + 1) * sizeof *r->row);
	good = r->row != NULL && (!read_rings(r, &in) || read_names(r, &in));
	if (!good) {
		snprintf(why, n, "cannot be read: out of memory");
		rec_free(r);
		return false;
	}
	order(r);
	return true;
}
