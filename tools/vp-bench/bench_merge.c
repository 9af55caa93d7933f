/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * bench_merge.c - the subcommand merge: the parts that --shard made become one result.
 *
 * Parts of vp-sim give the bytes of the whole sweep (bench_merge_sim.c), those of vp-bench a result
 * that names the machine of each point (bench_merge_doc.c).
 * Invariant: what is not whole, or not of one sweep, is refused, and nothing is written.
 */
#include "tools/vp-bench/bench_merge.h"

#include <argp.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

struct merge { const char *file[BENCH_SHARDS], *out; unsigned n; struct bench_part *part; };

/* ---- reading ----------------------------------------------------------------------------- */

static bool read_text(struct bench_part *p, char *why, size_t size)
{
	FILE *f = fopen(p->file, "re"), *to = open_memstream(&p->text, &p->n);
	char buf[65536];
	size_t got;
	bool good = f != NULL && to != NULL;

	if (f == NULL)
		snprintf(why, size, "%s: %s", p->file, strerror(errno));
	while (good && (got = fread(buf, 1, sizeof buf, f)) != 0)
		good = fwrite(buf, 1, got, to) == got;
	if (f != NULL && (ferror(f) || !good)) {
		snprintf(why, size, "%s: cannot be read", p->file);
		good = false;
	}
	if (f != NULL)
		fclose(f);
	return to != NULL && fclose(to) == 0 && good;
}

static bool is_sim(const struct bench_part *p) { return strcmp(bench_text(p->head, "tool"), "vp-sim") == 0; }

static bool read_part(struct bench_part *p, char *why, size_t size)
{
	json_error_t e;

	if (!read_text(p, why, size))
		return false;
	if (strlen(p->text) != p->n) {
		snprintf(why, size, "%s is damaged: it holds a zero byte", p->file);
		return false;
	}
	p->head = json_loadb(p->text, p->n, JSON_DISABLE_EOF_CHECK, &e);
	p->head_n = p->head != NULL ? (size_t)e.position : 0;
	if (p->head == NULL)
		snprintf(why, size, "%s:%d: %s", p->file, e.line, e.text);
	else if (json_object_get(p->head, "shard") == NULL)
		snprintf(why, size, "%s: is no part of a sweep: --shard makes one", p->file);
	else if (!is_sim(p) && p->text[p->head_n + strspn(p->text + p->head_n, " \t\r\n")] != '\0')
		snprintf(why, size, "%s is damaged: more stands behind the result", p->file);
	else
		return true;
	return false;
}

static bool read_all(struct merge *m, char *why, size_t size)
{
	m->part = calloc(m->n, sizeof *m->part);
	for (unsigned i = 0; m->part != NULL && i < m->n; i++) {
		m->part[i].file = m->file[i];
		if (!read_part(&m->part[i], why, size))
			return false;
		if (is_sim(&m->part[i]) != is_sim(m->part)) {
			snprintf(why, size, "%s is of %s, %s of %s", m->file[i], is_sim(&m->part[i]) ? "vp-sim" : "vp-bench", m->file[0],
				 is_sim(m->part) ? "vp-sim" : "vp-bench");
			return false;
		}
	}
	return m->part != NULL;
}

/* ---- the command ------------------------------------------------------------------------------ */

static char *merged(const struct merge *m, char *why, size_t size)
{
	char *json, *text = NULL;
	json_t *doc;

	if (is_sim(m->part))
		return bench_merge_sim(m->part, m->n, why, size);
	doc = bench_merge_docs(m->part, m->n, why, size);
	if (doc == NULL)
		return NULL;
	bench_doc_review(doc);
	json = json_dumps(doc, JSON_INDENT(1));
	if (json == NULL || asprintf(&text, "%s\n", json) < 0)
		text = NULL;
	free(json);
	json_decref(doc);
	return text;
}

static int work(struct merge *m)
{
	char why[4400] = "out of memory", *text = NULL;

	if (read_all(m, why, sizeof why))
		text = merged(m, why, sizeof why);
	if (text == NULL) {
		fprintf(stderr, "vp-bench merge: %s\n", why);
		return BENCH_USAGE;
	}
	if (bench_text_save(text, m->out, why, sizeof why) != BENCH_OK) {
		fprintf(stderr, "vp-bench merge: cannot write %s\n", why);
		free(text);
		return BENCH_IO;
	}
	free(text);
	return BENCH_OK;
}

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct merge *m = state->input;

	switch (key) {
	case 'o': m->out = arg; return 0;
	case ARGP_KEY_ARG:
		if (m->n == BENCH_SHARDS)
			argp_error(state, "at most %u files", BENCH_SHARDS);
		m->file[m->n++] = arg;
		return 0;
	case ARGP_KEY_END:
		if (m->n == 0)
			argp_error(state, "which parts? (files that --shard made)");
		if (m->out == NULL)
			argp_error(state, "where to? -o FILE");
		return 0;
	default: return ARGP_ERR_UNKNOWN;
	}
}

int bench_merge_main(int argc, char **argv)
{
	static const struct argp_option opts[] = {
		{ "output", 'o', "FILE", 0, "Where the whole result goes", 0 },
		{ 0 }
	};
	static const struct argp argp = { .options = opts, .parser = parse, .args_doc = "FILE... -o FILE",
		.doc = "The parts of a sweep that --shard i/n of vp-bench run, vp-bench reproduce or vp-sim made, as one result." };
	static struct merge m;
	int code;

	argp_err_exit_status = BENCH_USAGE;
	argp_parse(&argp, argc, argv, 0, NULL, &m);
	code = work(&m);
	for (unsigned i = 0; m.part != NULL && i < m.n; i++) {
		json_decref(m.part[i].head);
		free(m.part[i].text);
	}
	free(m.part);
	return code;
}
