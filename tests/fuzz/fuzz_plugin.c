/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * fuzz_plugin.c - fuzz target of what plug-ins say of themselves: one is refused in a sentence, or can be used.
 *
 * An input is the numbers of an object and up to three descriptors with their parameters: texts out of a list or of the
 * input, sizes, offsets, types and lists of any length.  It goes where the loader of shared objects takes it.
 * Held to: what is refused has a sentence and changes nothing of the table; what is taken is found by its names, which
 * graph files can have and nobody else has; each of its parameters lies in the configuration, by itself; defaults fit there,
 * and what a user writes is within its limits, and written out and read again is the same; a graph file that names it is
 * checked, and built where it is good; the table is as before when it is put back, and all memory is given back.
 * Invariant: nothing is kept from one input to the next.
 */
#include <string.h>

#include "runtime/base/xk_param_value.h"
#include "runtime/compose/compose_priv.h"
#include "runtime/compose/xk_compose.h"
#include "runtime/compose/xk_plugins.h"
#include "runtime/mem/xk_mem.h"
#include "runtime/upi/xk_plugin.h"
#include "tests/fuzz/fuzz_in.h"

#define PROTOS 3u
#define PARAMS 4u
#define WORDS  48u                       /* of drops, counts, choices: more than there may be */
#define TEXTS  4096u

static char texts[TEXTS];                /* those of the input */
static size_t ntexts;

/* ---- an object of the input's ------------------------------------------------------------------- */

static const char *text(struct fuzz_in *in)
{
	static const char *const list[] = {
		NULL, "", "one", "two", "three", "udp", "stack", "end", "frame", "link", "host", "port", "true", "7", "1000", "70000",
		"64KiB", "200ms", "1Gbit/s", "50%", "10.0.0.1", "10.0.0.1/8", "02:00:00:00:00:01", "0-3,5", "a,b", "k=v,l=w",
		"frame|port", "a line of doc",
	};
	unsigned k = fuzz_byte(in);
	const uint8_t *bytes;
	char *at = texts + ntexts;
	uint32_t n;

	if (k < 224)
		return list[k % XK_ARRAY_LEN(list)];
	n = fuzz_some(in, &bytes, k % 32 * 2);
	if (ntexts + n + 1 > TEXTS)
		return NULL;
	memcpy(at, bytes, n);
	at[n] = '\0';
	ntexts += n + 1;
	return at;
}

/* The input's, or what is likely to be good. */
static const char *text_or(struct fuzz_in *in, unsigned odd, const char *good)
{
	return odd ? text(in) : good;
}

/* A list of n words, which are all the same. */
static const char *const *words(struct fuzz_in *in)
{
	static const char *all[WORDS + 1];
	unsigned n = fuzz_byte(in);

	for (unsigned i = 0; i < WORDS; i++)
		all[i] = "word";
	return n < 128 ? NULL : &all[WORDS - n % (WORDS + 1)];
}

static void param(struct fuzz_in *in, struct xk_param *p, unsigned i)
{
	static const char *const names[PARAMS] = { "a", "b", "c", "d" }, *const choices[] = { "one", "two", NULL };
	unsigned odd = fuzz_byte(in), t = fuzz_byte(in);

	*p = (struct xk_param){
		.name = names[i], .doc = text_or(in, odd & 1, "of a parameter"), .type = (enum xk_ptype)(t % 18), .offset = 24 * i,
		.def = text_or(in, odd & 2, NULL), .min = text_or(in, odd & 4, NULL), .max = text_or(in, odd & 8, NULL),
		.choices = (t % 18 == XK_P_ENUM) != (t >= 240) ? choices : NULL, .key = (enum xk_ptype)(t / 18), .elem = XK_P_TEXT,
	};
	if (odd & 16)
		p->offset = fuzz_byte(in);
	if (odd & 32)
		p->elem = (enum xk_ptype)(fuzz_byte(in) % 18);
	if (odd & 64)
		p->flags = fuzz_byte(in);
	if (odd & 128) {
		p->group = text(in);
		p->name = text(in);
	}
}

static void descriptor(struct fuzz_in *in, struct xk_proto *p, struct xk_param *params, unsigned i)
{
	static const struct xk_ops none;
	static const char *const names[PROTOS] = { "one", "two", "three" };
	unsigned odd = fuzz_byte(in), more = fuzz_byte(in), n = more % (PARAMS + 1);

	*p = (struct xk_proto){ .abi = XK_ABI, .size = sizeof *p, .name = text_or(in, odd & 1, names[i]),
				.doc = text_or(in, odd & 2, "a line of doc"), .ops = odd & 4 ? NULL : &none,
				.is_driver = more & 64, .is_host = more & 128, .conf_size = 24 * PARAMS, .offers = "port" };
	if (odd & 8) {
		p->offers = text(in);
		p->as_below = more & 32;
		for (unsigned k = 0; k < XK_DOWN_MAX && (p->needs[k] = text(in)) != NULL; k++)
			;
		p->min_down = fuzz_byte(in) % 10;
		p->max_down = fuzz_byte(in) % 10;
	}
	if (odd & 16) {
		p->conf_size = fuzz_byte(in);
		p->node_size = fuzz_word(in);
		p->rep_size = fuzz_word(in);
		p->sess_size = fuzz_word(in);
	}
	if (odd & 32) {
		p->drops = words(in);
		p->counts = words(in);
	}
	if (odd & 64) {
		p->abi = XK_ABI + fuzz_byte(in) % 3 - 1;
		p->size = (uint32_t)(sizeof *p + fuzz_byte(in) % 3 - 1);
	}
	for (unsigned k = 0; k < n; k++)
		param(in, &params[k], k);
	params[n] = (struct xk_param)XK_PARAM_END;
	p->params = odd & 128 ? NULL : params;
}

static void object(struct fuzz_in *in, struct xk_plugin *x)
{
	static struct xk_proto p[PROTOS];
	static struct xk_param params[PROTOS][PARAMS + 1];
	static const struct xk_proto *all[PROTOS + 1];
	unsigned odd = fuzz_byte(in), n = odd & 3;

	ntexts = 0;
	*x = (struct xk_plugin){ .abi = XK_ABI, .size = sizeof *p, .build = odd & 4 ? text(in) : XK_BUILD, .protos = odd & 8 ? NULL : all };
	if (odd & 16) {
		x->abi = XK_ABI + fuzz_byte(in) % 3 - 1;
		x->size = (uint32_t)(sizeof *p + fuzz_byte(in) % 3 - 1);
	}
	for (unsigned i = 0; i < n; i++) {
		descriptor(in, &p[i], params[i], i);
		all[i] = &p[i];
	}
	all[n] = NULL;
}

/* ---- what is taken can be used --------------------------------------------------------------------- */

static bool can_be_written(const char *s)
{
	size_t n = strlen(s);

	for (size_t i = 0; i < n; i++)
		if (!((s[i] >= 'a' && s[i] <= 'z') || s[i] == '_' || (s[i] >= '0' && s[i] <= '9' && i != 0)))
			return false;
	return n != 0 && n <= 32;
}

/* Of a number: is it where the limits are?  Others have none that are kept in order. */
static bool within(const struct xk_param *q, const void *at)
{
	union xk_pval v = { 0 }, limit;
	char why[128];
	size_t align;

	if (q->type != XK_P_UINT && q->type != XK_P_SIZE && q->type != XK_P_TIME && q->type != XK_P_RATE)
		return true;
	memcpy(&v, at, xk_param_type_size(q->type, &align));
	if (q->min != NULL && xk_param_parse_as(q->type, q->min, false, &limit, why, sizeof why) == XK_OK && v.u < limit.u)
		return false;
	return q->max == NULL || xk_param_parse_as(q->type, q->max, false, &limit, why, sizeof why) != XK_OK || v.u <= limit.u;
}

/* What stands at q, written and read again, is the same when it is written once more. */
static void again(const struct xk_param *q, char *conf)
{
	char one[600], two[600], why[256];

	xk_param_format(q, conf + q->offset, one, sizeof one);
	if (strlen(one) + 1 == sizeof one || q->type == XK_P_LIST || q->type == XK_P_MAP || xk_param_is_unset(q, conf))
		return;                          /* texts in them may have commas */
	fuzz_must(xk_param_set(q, conf, one, false, why, sizeof why) == XK_OK ? NULL : "what is written cannot be read");
	xk_param_format(q, conf + q->offset, two, sizeof two);
	fuzz_must(strcmp(one, two) == 0 ? NULL : "what is written is read as something else");
}

static void configure(struct fuzz_in *in, const struct xk_proto *p)
{
	char *conf = calloc(1, p->conf_size + !p->conf_size), why[256];   /* of its size: the sanitizer sees a byte too far */

	fuzz_must(conf != NULL ? NULL : "no memory");
	fuzz_must(xk_param_defaults(p->params, conf, why, sizeof why) == XK_OK ? NULL : "a default is none");
	for (const struct xk_param *q = p->params; q != NULL && q->name != NULL; q++) {
		const char *value = text(in);

		if (value != NULL && xk_param_set(q, conf, value, fuzz_byte(in) & 1, why, sizeof why) == XK_OK) {
			fuzz_must(within(q, conf + q->offset) ? NULL : "a value beyond its limits is taken");
			again(q, conf);
		}
	}
	xk_param_release(p->params, conf);
	free(conf);
}

static void compose(const char *name)
{
	struct xk_errs *e = xk_errs_new(), *w = xk_errs_new();
	struct xk_spec *s = NULL;
	struct xk_graph *g;
	char file[200];
	int n = snprintf(file, sizeof file, "%s {}\nreturn graph \"g\" { clock = \"virtual\", seed = 1, threading = up {} }\n", name);

	fuzz_must(e != NULL && w != NULL ? NULL : "no memory");
	fuzz_must(xk_spec_load_text(&s, "fuzz.lua", file, (size_t)n, NULL, e) == XK_OK ? NULL : "a graph file cannot name it");
	if (xk_spec_check(s, e, w) == XK_OK) {
		int err = xk_spec_build(s, &g, e);

		fuzz_must(err == XK_OK || err == XK_E_NOMEM ? NULL : "what was checked cannot be built");
		fuzz_must(err == XK_OK && xk_graph_free(g) != 0 ? "a graph leaves something" : NULL);
	}
	xk_spec_free(s);
	xk_errs_free(w);
	xk_errs_free(e);
}

static void taken(struct fuzz_in *in, const struct xk_plugin *x)
{
	unsigned how = fuzz_byte(in);

	for (unsigned i = 0; x->protos[i] != NULL; i++) {
		const struct xk_proto *p = x->protos[i];

		fuzz_must(can_be_written(p->name) ? NULL : "a name that no graph file can have");
		fuzz_must(xk_protos_find(p->name) == p ? NULL : "what was taken is not found, or is somebody else");
		configure(in, p);
		if (how % 4 == 0)
			compose(p->name);
	}
}

/* ---- inputs ------------------------------------------------------------------------------------------- */

/* The table, as a sum of what it points at. */
static uintptr_t table(void)
{
	uintptr_t sum = 0;

	for (const struct xk_proto *const *t = xk_protos(); *t != NULL; t++)
		sum = sum * 31 + (uintptr_t)*t;
	return sum;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct fuzz_in in = { data, data + size };
	static bool ready;
	struct xk_plugins_kept *kept;
	struct xk_plugin x;
	char why[512] = "";
	uintptr_t before;
	uint64_t live;

	if (!ready)
		xk_rcu_register();
	ready = true;
	live = xk_alloc_live();
	before = table();
	kept = xk_plugins_keep();
	fuzz_must(kept != NULL ? NULL : "no memory");
	object(&in, &x);
	if (plugin_take(&x, "fuzz.so", false, why, sizeof why) == XK_OK) {
		taken(&in, &x);
		xk_plugins_back(kept);
	} else {
		fuzz_must(*why != 0 ? NULL : "a refusal without a sentence");
		fuzz_must(table() == before ? NULL : "what was refused is in the table");
		xk_plugins_back(kept);
	}
	fuzz_must(table() == before ? NULL : "the table is another one than before");
	fuzz_must(xk_alloc_live() == live ? NULL : "memory is left");
	return 0;
}
