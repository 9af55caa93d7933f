/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * kit_scene.c - the graph in which a protocol is tried: two ends of it, something below each, someone above.
 *
 * What a descriptor offers and needs says where it can stand.  Where more must be known (an
 * address, a file, a device) the protocol has a graph file of its own, NAME.test.lua, beside it; in such a
 * file `kit` is there, too (kit.lua).
 */
#include "tools/vp-graph/kit/kit.h"

#include <dlfcn.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/base/xk_param_value.h"
#include "tools/vp-graph/kit/kit_priv.h"

#define FILE_MAX_SIZE (1u << 20)

/* ---- words ---------------------------------------------------------------------------------- */

/* The first of the alternatives in list that the kit knows something below, or above; "" none. */
static const char *known(const char *list, char *buf, size_t n)
{
	static const char *const words[] = { "frame", "frame/eth", "frame/fddi", "link", "hostlink", "host", "port",
					     "stream", "echo", "cells", "messages", "job", "socket", "peer" };

	for (; list != NULL && *list != '\0'; list += *list == '|') {
		size_t len = strcspn(list, "|");

		for (unsigned i = 0; i < XK_ARRAY_LEN(words); i++)
			if (strlen(words[i]) == len && memcmp(words[i], list, len) == 0) {
				snprintf(buf, n, "%s", words[i]);
				return buf;
			}
		list += len;
	}
	return "";
}

static const struct xk_param *required(const struct xk_proto *p)
{
	for (const struct xk_param *q = p->params; q != NULL && q->name != NULL; q++)
		if (q->flags & XK_PF_REQUIRED)
			return q;
	return NULL;
}

/* What the port of an application is, which others then speak to. */
static const char *port_of(const struct xk_proto *p)
{
	const struct xk_param *q = p->params != NULL ? xk_param_find(p->params, "port") : NULL;

	return q != NULL && q->type == XK_P_PORT && q->def != NULL ? q->def : "7";
}

/* ---- made of the descriptor --------------------------------------------------------------- */

/* "over = { kit.below(...), ... }" or nothing. */
static void put_over(FILE *f, const struct xk_proto *p)
{
	char word[32];
	unsigned n = p->min_down;

	if (n != 0)
		fprintf(f, "over = { ");
	for (unsigned i = 0, j = 0; i < n; i++) {
		fprintf(f, "kit.below(\"%s\", i), ", known(p->needs[j], word, sizeof word));
		if (j + 1 < XK_DOWN_MAX && p->needs[j + 1] != NULL)
			j++;
	}
	if (n != 0)
		fprintf(f, "}");
}

static void put_app(FILE *f, const struct xk_proto *p)
{
	char word[32];
	const char *below = known(p->needs[0], word, sizeof word);
	bool asked = strcmp(below, "port") == 0 || strcmp(below, "stream") == 0;

	fprintf(f, "for i = 1, 2 do ");
	if (asked)
		fprintf(f, "if i == 1 then load { name = \"asks\", to = kit.addr[2], port = %s, conns = kit.a.conns, "
			"count = kit.a.count, size = kit.a.size, over = kit.below(\"%s\", i) } else ", port_of(p), below);
	fprintf(f, "%s { ", p->name);
	put_over(f, p);
	fprintf(f, asked ? " } end end\n" : " } end\n");
}

static void put_layer(FILE *f, const struct xk_proto *p)
{
	char word[32];

	fprintf(f, "for i = 1, 2 do kit.above(\"%s\", i, %s { ",
		known(p->as_below ? p->needs[0] : p->offers, word, sizeof word), p->name);
	put_over(f, p);
	fprintf(f, " }) end\n");
}

static char *make(const struct xk_proto *p)
{
	char *text = NULL;
	size_t n;
	FILE *f = open_memstream(&text, &n);

	if (f == NULL)
		return NULL;
	if (p->offers == NULL)
		put_app(f, p);
	else
		put_layer(f, p);
	fprintf(f, "return graph \"kit\" { threading = up {} }\n");
	return fclose(f) == 0 ? text : NULL;
}

/* Why no scene can be made of p's descriptor; false: one can. */
static bool cannot_make(const struct xk_proto *p, char *why, size_t n)
{
	const struct xk_param *q = required(p);
	char word[32];

	if (q != NULL)
		snprintf(why, n, "needs a value of '%s' that the kit cannot know", q->name);
	else if (p->min_down != 0 && known(p->needs[0], word, sizeof word)[0] == '\0')
		snprintf(why, n, "lies over '%s', which the kit has nothing of", p->needs[0]);
	else if (p->offers != NULL && known(p->offers, word, sizeof word)[0] == '\0')
		snprintf(why, n, "offers '%s', which the kit puts nothing over", p->offers);
	else
		return false;
	return true;
}

/* ---- from a file ------------------------------------------------------------------------------- */

static char *read_whole(const char *path)
{
	FILE *f = fopen(path, "re");
	char *text = f != NULL ? malloc(FILE_MAX_SIZE + 1) : NULL;
	size_t n;

	if (text != NULL) {
		n = fread(text, 1, FILE_MAX_SIZE, f);
		text[n] = '\0';
		if (ferror(f) || strlen(text) != n) {
			free(text);
			text = NULL;
		}
	}
	if (f != NULL)
		fclose(f);
	return text;
}

/* NAME.test.lua beside the object that the descriptor lies in. */
static char *beside(const struct xk_proto *p, char *path, size_t n)
{
	const char *slash;
	Dl_info info;

	if (dladdr(p, &info) == 0 || info.dli_fname == NULL)
		return NULL;
	slash = strrchr(info.dli_fname, '/');
	snprintf(path, n, "%.*s%s.test.lua", slash != NULL ? (int)(slash - info.dli_fname + 1) : 0, info.dli_fname,
		 p->name);
	return read_whole(path);
}

static bool has_protocol(const struct xk_proto *p)
{
	for (unsigned i = 0; xk_proto_table[i] != NULL; i++)
		if (xk_proto_table[i] == p)
			return true;
	return false;
}

/* Sets k->body and k->file. */
static bool find(struct kit *k, struct kit_found *f)
{
	static char path[4096];
	char name[80], why[200];

	if (k->o->graph != NULL) {
		k->file = k->o->graph;
		k->body = read_whole(k->file);
		snprintf(f->what, sizeof f->what, "cannot read '%s'", k->file);
		k->is_file = true;
		return k->body != NULL;
	}
	k->file = path;
	snprintf(path, sizeof path, "%s.test.lua", k->proto->name);
	/* A word may have several descriptors: sink_stream. */
	snprintf(name, sizeof name, "%s_%s", k->proto->name, k->proto->needs[0] != NULL ? k->proto->needs[0] : "");
	k->body = !has_protocol(k->proto) ? beside(k->proto, path, sizeof path) : kit_of_build(name);
	if (k->body == NULL && has_protocol(k->proto))
		k->body = kit_of_build(k->proto->name);
	k->is_file = k->body != NULL;
	if (k->body != NULL)
		return true;
	if (cannot_make(k->proto, why, sizeof why)) {
		f->state = KIT_SKIP;
		snprintf(f->what, sizeof f->what, "%s: give a graph with --graph FILE, or %s.test.lua beside it", why,
			 k->proto->name);
		return false;
	}
	k->body = make(k->proto);
	snprintf(path, sizeof path, "(made of %s)", k->proto->name);
	return k->body != NULL;
}

/* ---- does it run? ---------------------------------------------------------------------------------- */

static void try_it(struct kit *k, void *arg)
{
	struct kit_how how = { 0 };
	struct kit_world w;

	(void)arg;
	kit_at(k, "the start of its graph");
	if (kit_build(&w, k, &how) && kit_up(&w))
		kit_pass(k, "it starts");
	else if (w.err == XK_E_PERM || w.err == XK_E_NODEV || w.err == -EACCES)
		kit_skip(k, "cannot be had here: %s", kit_error(&w));
	else
		kit_fail(k, "%s", kit_error(&w));
	kit_down(&w);
}

bool kit_scene(struct kit *k, struct kit_found *f)
{
	struct kit_found other;

	*f = (struct kit_found){ .state = KIT_FAIL, .what = "out of memory" };
	if (!find(k, f))
		return false;
	k->is_made = strstr(k->body, "kit.") != NULL;
	k->real = strstr(k->body, "clock = \"real\"") != NULL;
	kit_apart(k, try_it, NULL, f);
	if (f->state != KIT_FAIL || k->real)
		return f->state == KIT_PASS;
	k->real = true;
	kit_apart(k, try_it, NULL, &other);
	if (other.state == KIT_SKIP)
		*f = other;
	k->real = other.state == KIT_PASS;
	return k->real;
}

void kit_scene_free(struct kit *k)
{
	free(k->body);
	k->body = NULL;
	k->real = false;
}
