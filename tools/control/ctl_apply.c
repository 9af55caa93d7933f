/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * ctl_apply.c - apply: a graph file's difference to the graph that runs, told, and made under traffic.
 *
 * The file is read as vp-run reads it, with the same sentences about what is wrong.  All of the work is done
 * before the answer; the virtual processors are entered for pieces of it and run on between them.
 * Invariant: an answer that is an error, or of a dry run, means that the graph is as it was, and that graph files mean
 * what they meant.
 */
#include "tools/control/ctl_priv.h"

#include <stdlib.h>
#include <string.h>

#include "runtime/compose/xk_diff.h"
#include "runtime/compose/xk_plugins.h"

#define WORDS 64u

/* ---- what is wrong -------------------------------------------------------------------- */

static int fail(struct ctl_call *k, const char *code, const struct xk_spec *s, struct xk_errs *e)
{
	char *text = NULL;
	size_t n = 0;
	FILE *f = open_memstream(&text, &n);

	if (f != NULL) {
		xk_spec_print_errors(f, s, e, NULL);
		fclose(f);
	}
	while (n != 0 && text[n - 1] == '\n')
		text[--n] = '\0';
	ctl_fail(k, text != NULL ? code : "no-memory", "%s", text != NULL ? text : "out of memory");
	free(text);
	return XK_E_INVAL;
}

/* ---- rows ------------------------------------------------------------------------------- */

static void row(json_t *rows, const struct xk_diff_row *r)
{
	static const char *const words[] = { "added", "removed", "replaced", "set", "over" };
	json_t *o = json_object();

	json_object_set_new(o, "node", ctl_string(r->node));
	json_object_set_new(o, "change", json_string(words[r->kind]));
	json_object_set_new(o, "what", r->param != NULL ? json_string(r->param->name) : json_string(r->kind == XK_DIFF_OVER ?
			    "lies over" : "protocol"));
	json_object_set_new(o, "was", r->kind == XK_DIFF_ADD ? json_null() : ctl_string(r->was));
	if (r->kind == XK_DIFF_ADD)
		json_object_set_new(o, "now", ctl_string(r->was));
	else
		json_object_set_new(o, "now", r->kind == XK_DIFF_REMOVE ? json_null() : ctl_string(r->now));
	json_array_append_new(rows, o);
}

static json_t *rows_of(const struct xk_diff *d)
{
	const struct xk_diff_row *r;
	json_t *rows = json_array();
	unsigned n = xk_diff_rows(d, &r);

	for (unsigned i = 0; i < n; i++)
		row(rows, &r[i]);
	return rows;
}

/* ---- the file ------------------------------------------------------------------------------ */

/* Words with blanks between, as behind the file's name on a command line; in `text`, which is written to. */
static unsigned words_of(char *text, const char **word)
{
	unsigned n = 0;

	for (char *w = strtok(text, " "); w != NULL && n < WORDS; w = strtok(NULL, " "))
		word[n++] = w;
	return n;
}

static int load(struct ctl_call *k, struct xk_spec **s, struct xk_errs *e)
{
	char *text = xk_strdup(k->a.args != NULL ? k->a.args : "");
	const char *word[WORDS];
	struct xk_compose_opts o = { .args = word, .untrusted = k->c->run.untrusted };
	int err;

	if (text == NULL)
		return ctl_fail(k, "no-memory", "out of memory");
	o.nargs = words_of(text, word);
	err = xk_spec_load(s, k->a.file, &o, e);
	if (*s != NULL && xk_spec_check(*s, e, NULL) != XK_OK)
		err = XK_E_INVAL;
	xk_free(text);
	if (err == XK_OK && xk_spec_plan(*s) == NULL)
		return ctl_fail(k, "bad-file", "%s describes no graph", k->a.file);
	return err == XK_OK ? XK_OK : fail(k, "bad-file", *s, e);
}

/* kept: what graph files meant before. */
static int plugin(struct ctl_call *k, struct xk_plugins_kept **kept)
{
	char why[512];

	if (k->a.plugin == NULL || k->a.plugin[0] == '\0')
		return XK_OK;
	*kept = xk_plugins_keep();
	if (*kept == NULL)
		return ctl_fail(k, "no-memory", "out of memory");
	if (xk_plugin_renew(k->a.plugin, why, sizeof why) == XK_OK)
		return XK_OK;
	return ctl_fail(k, "bad-file", "plug-in %s %s", k->a.plugin, why);
}

static int change(struct ctl_call *k, struct xk_spec *s, struct xk_errs *e)
{
	struct xk_diff *d = NULL;
	json_t *rows = NULL;
	int err = xk_diff_new(&d, s, k->c->g, e);

	if (err == XK_OK)
		rows = rows_of(d);
	if (err == XK_OK && json_array_size(rows) != 0)
		err = xk_diff_apply(d, k->a.dry_run, e);
	xk_diff_free(d);
	if (err != XK_OK) {
		json_decref(rows);
		return fail(k, err == XK_E_NOMEM ? "no-memory" : "refused", s, e);
	}
	/* The change is made; whoever asks for counters without memory for a directory is told. */
	if (!k->a.dry_run && json_array_size(rows) != 0)
		(void)ctl_dir_make(k->c);
	k->result = json_pack("{s:o, s:b}", "rows", rows, "applied", !k->a.dry_run);
	return k->result != NULL ? XK_OK : ctl_fail(k, "no-memory", "out of memory");
}

int ctl_cmd_apply(struct ctl_call *k)
{
	struct xk_errs *e = xk_errs_new();
	struct xk_plugins_kept *kept = NULL;
	struct xk_spec *s = NULL;
	int err = e != NULL ? plugin(k, &kept) : ctl_fail(k, "no-memory", "out of memory");

	if (err == XK_OK)
		err = load(k, &s, e);
	if (err == XK_OK)
		err = change(k, s, e);
	xk_spec_free(s);
	xk_errs_free(e);
	if (kept != NULL && (err != XK_OK || k->a.dry_run))
		xk_plugins_back(kept);
	else
		xk_plugins_forget(kept);
	return err;
}
