/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * compose_plugin.c - protocols and drivers from shared objects, beside those of the build.
 *
 * Nothing of a plug-in is read before its numbers were: a descriptor of another contract has its fields elsewhere.
 * Functions of the runtime are those of the program that loads it; one that it lacks is told by the linker, here and
 * not when it is called.
 * Invariant: the table is the build's, or a copy with all that was loaded behind it; a plug-in is in it whole or not
 * at all.
 */
#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "runtime/compose/compose_priv.h"
#include "runtime/compose/dirs.h"
#include "runtime/compose/xk_plugins.h"
#include "runtime/mem/xk_alloc.h"
#include "runtime/upi/xk_graph.h"
#include "runtime/upi/xk_plugin.h"

static const struct xk_proto **all;      /* NULL: the build's alone */
static const char **from;                /* the file of each that is not of the build */
static unsigned nbuild, nall;

/* ---- the table --------------------------------------------------------------------------- */

const struct xk_proto *const *xk_protos(void)
{
	return all != NULL ? all : xk_proto_table;
}

const struct xk_proto *xk_protos_find(const char *name)
{
	return xk_proto_of_word(xk_protos(), name, 0);
}

static int grow(unsigned more)
{
	const struct xk_proto **a;
	const char **f;

	if (all == NULL)
		while (xk_proto_table[nbuild] != NULL)
			nall = ++nbuild;
	a = xk_alloc((nall + more + 1) * sizeof *a);
	f = xk_alloc((nall + more + 1) * sizeof *f);
	if (a == NULL || f == NULL) {
		xk_free(a);
		xk_free(f);
		return XK_E_NOMEM;
	}
	memcpy(a, xk_protos(), nall * sizeof *a);
	if (from != NULL)
		memcpy(f, from, nall * sizeof *f);
	else
		memset(f, 0, nall * sizeof *f);
	a[nall] = NULL;
	xk_free(all);
	xk_free(from);
	all = a;
	from = f;
	return XK_OK;
}

/* A copy; whole: of a table of its own, else it was the build's. */
struct xk_plugins_kept {
	bool whole;
	unsigned nbuild, nall;
	const char **from;
	const struct xk_proto *all[];
};

struct xk_plugins_kept *xk_plugins_keep(void)
{
	struct xk_plugins_kept *k = xk_alloc(sizeof *k + (nall + 1) * sizeof *k->all);

	if (k == NULL)
		return NULL;
	k->whole = all != NULL;
	k->nbuild = nbuild;
	k->nall = nall;
	if (!k->whole)
		return k;
	k->from = xk_alloc((nall + 1) * sizeof *k->from);
	if (k->from == NULL) {
		xk_free(k);
		return NULL;
	}
	memcpy(k->all, all, nall * sizeof *all);
	memcpy(k->from, from, nall * sizeof *from);
	return k;
}

static bool is_from(const char *file)
{
	for (unsigned i = nbuild; i < nall; i++)
		if (from[i] == file)
			return true;
	return false;
}

/* Files of plug-ins that others have replaced since. */
static void replaced_free(struct xk_plugins_kept *k)
{
	for (unsigned i = k->nbuild; k->whole && i < k->nall; i++) {
		const char *file = k->from[i];

		if (file == NULL || is_from(file))
			continue;
		for (unsigned j = i; j < k->nall; j++)
			k->from[j] = k->from[j] != file ? k->from[j] : NULL;
		xk_free((void *)(uintptr_t)file);
	}
}

void xk_plugins_forget(struct xk_plugins_kept *k)
{
	if (k == NULL)
		return;
	replaced_free(k);
	xk_free(k->from);
	xk_free(k);
}

static bool was_from(const struct xk_plugins_kept *k, const char *file)
{
	for (unsigned i = k->nbuild; k->whole && i < k->nall; i++)
		if (k->from[i] == file)
			return true;
	return file == NULL;
}

/* The file of the plug-in that was renewed, if one was. */
static void file_free(const struct xk_plugins_kept *k)
{
	unsigned i = nbuild;

	while (i < nall && was_from(k, from[i]))
		i++;
	if (i < nall)
		xk_free((void *)(uintptr_t)from[i]);
}

/* The table has room for more than it had. */
void xk_plugins_back(struct xk_plugins_kept *k)
{
	file_free(k);
	if (k->whole) {
		memcpy(all, k->all, k->nall * sizeof *all);
		memcpy(from, k->from, k->nall * sizeof *from);
		all[k->nall] = NULL;
	} else {
		xk_free(all);
		xk_free(from);
		all = NULL;
		from = NULL;
	}
	nbuild = k->nbuild;
	nall = k->nall;
	xk_plugins_forget(k);
}

/* ---- what it says -------------------------------------------------------------------------- */

/* The name of the k-th that it brings; renew: another plug-in may have it. */
static int taken(const struct xk_plugin *x, unsigned k, bool renew, char *why, size_t n)
{
	const struct xk_proto *p = x->protos[k];
	const struct xk_proto *const *t = xk_protos();

	for (unsigned i = 0; t[i] != NULL; i++)
		if (strcmp(t[i]->name, p->name) == 0 && !(renew && i >= nbuild && from != NULL))
			return proto_no(why, n, "brings '%s', which %s has already: give it another name", p->name,
				  i < nbuild || from == NULL ? "xkvp itself" : from[i]);
	for (unsigned i = 0; i < k; i++)
		if (strcmp(x->protos[i]->name, p->name) == 0)
			return proto_no(why, n, "brings '%s' twice: give one another name", p->name);
	return XK_OK;
}

static const char *options(const char *build)
{
	return build[0] != '\0' ? build + 1 : "none";
}

/* Its numbers; then, as far as those are right, all that it brings. */
static int look(const struct xk_plugin *x, bool renew, char *why, size_t n)
{
	char more[200];

	if (x->abi != XK_ABI)
		return proto_no(why, n, "was built against number %u of the interface, this program has %u: build it "
				"again with this program's xk/proto.h", x->abi, XK_ABI);
	if (x->size != sizeof(struct xk_proto) || x->build == NULL || x->protos == NULL)
		return proto_no(why, n, "is no plug-in of xkvp: its xk_plugin was not made by XK_PLUGIN(...)");
	if (strcmp(x->build, XK_BUILD) != 0)
		return proto_no(why, n, "was built with other options (%s; this program: %s): build it again with the "
				"flags of this program's xkvp.pc", options(x->build), options(XK_BUILD));
	if (x->protos[0] == NULL)
		return proto_no(why, n, "brings nothing: name its descriptors in XK_PLUGIN(...)");
	for (unsigned i = 0; x->protos[i] != NULL; i++) {
		const struct xk_proto *p = x->protos[i];

		if (p->abi != XK_ABI || p->size != sizeof *p || p->name == NULL)
			return proto_no(why, n, "has a descriptor, number %u, without .abi = XK_ABI, "
					".size = sizeof(struct xk_proto) and .name", i + 1);
		if (xk_proto_fault(p, more, sizeof more) != XK_OK)
			return proto_no(why, n, "cannot be used: its protocol '%s' %s", p->name, more);
		if (taken(x, i, renew, why, n) != XK_OK)
			return XK_E_INVAL;
	}
	return XK_OK;
}

static bool has(const struct xk_proto *p)
{
	for (unsigned i = nbuild; i < nall; i++)
		if (all[i] == p)
			return true;
	return false;
}

/* It was loaded before, by another of its names, and another plug-in has taken the place of nothing of it. */
static bool known(const struct xk_plugin *x)
{
	if (x->abi != XK_ABI || x->size != sizeof(struct xk_proto) || x->protos == NULL || x->protos[0] == NULL)
		return false;
	for (unsigned i = 0; x->protos[i] != NULL; i++)
		if (!has(x->protos[i]))
			return false;
	return true;
}

/* Where p stands: in the place of what a plug-in had by its name, or behind all. */
static unsigned place_of(const struct xk_proto *p)
{
	unsigned i = nbuild;

	while (i < nall && strcmp(all[i]->name, p->name) != 0)
		i++;
	return i;
}

static int add(const struct xk_plugin *x, const char *file, char *why, size_t n)
{
	char *name = NULL;
	unsigned more = 0;

	while (x->protos[more] != NULL)
		more++;
	if (grow(more) == XK_OK)
		name = xk_alloc(strlen(file) + 1);
	if (name == NULL)
		return proto_no(why, n, "cannot be loaded: out of memory");
	strcpy(name, file);
	for (unsigned i = 0; i < more; i++) {
		unsigned at = place_of(x->protos[i]);

		all[at] = x->protos[i];
		from[at] = name;
		nall += at == nall;
	}
	all[nall] = NULL;
	return XK_OK;
}

int plugin_take(const struct xk_plugin *x, const char *file, bool renew, char *why, size_t n)
{
	int err = look(x, renew, why, n);

	return err == XK_OK ? add(x, file, why, n) : err;
}

/* ---- files ----------------------------------------------------------------------------------- */

/* What the linker says, without the name that it begins with. */
static int unlinked(const char *path, char *why, size_t n)
{
	const char *said = dlerror(), *symbol;

	said = said != NULL ? said : "no reason given";
	if (strncmp(said, path, strlen(path)) == 0 && said[strlen(path)] == ':')
		said += strlen(path) + 1 + (said[strlen(path) + 1] == ' ');
	symbol = strstr(said, "undefined symbol: ");
	if (symbol == NULL)
		return proto_no(why, n, "is no plug-in: %s", said);
	symbol += strlen("undefined symbol: ");
	return proto_no(why, n, "needs '%.*s', which this program has not: link it with the library that has it, or "
			"build it again with this program's xk/proto.h", (int)strcspn(symbol, " ("), symbol);
}

/* By a name with a '/' the linker looks nowhere else. */
static void *opened(const char *file, char *why, size_t n)
{
	char path[PATH_MAX];
	void *h;

	if ((size_t)snprintf(path, sizeof path, "%s%s", strchr(file, '/') != NULL ? "" : "./", file) >= sizeof path) {
		(void)proto_no(why, n, "has too long a name");
		return NULL;
	}
	(void)dlerror();
	h = dlopen(path, RTLD_NOW | RTLD_LOCAL);
	if (h == NULL)
		(void)unlinked(path, why, n);
	return h;
}

static int load_file(const char *file, bool renew, char *why, size_t n)
{
	const struct xk_plugin *x;
	struct stat st;
	void *h;
	int err;

	if (stat(file, &st) != 0) {
		err = -errno;
		(void)proto_no(why, n, "cannot be read: %s", xk_strerror(err));
		return err;
	}
	if (!S_ISREG(st.st_mode))
		return proto_no(why, n, "is no file");
	h = opened(file, why, n);
	if (h == NULL)
		return XK_E_INVAL;
	x = dlsym(h, "xk_plugin");
	if (x == NULL)
		err = proto_no(why, n, "is no plug-in of xkvp: it has no XK_PLUGIN(...)");
	else if (known(x))
		return XK_OK;
	else
		err = plugin_take(x, file, renew, why, n);
	if (err != XK_OK)
		(void)dlclose(h);
	return err;
}

int xk_plugin_load(const char *file, char *why, size_t n)
{
	return load_file(file, false, why, n);
}

int xk_plugin_renew(const char *file, char *why, size_t n)
{
	return load_file(file, true, why, n);
}

/* ---- folders --------------------------------------------------------------------------------------- */

static int is_object(const struct dirent *d)
{
	size_t n = strlen(d->d_name);

	return n > 3 && d->d_name[0] != '.' && strcmp(d->d_name + n - 3, ".so") == 0;
}

/* A bad one is told; the others are used. */
static bool load(const char *tool, const char *file)
{
	char why[512];

	if (xk_plugin_load(file, why, sizeof why) == XK_OK)
		return true;
	fprintf(stderr, "%s: plug-in %s %s\n", tool, file, why);
	return false;
}

static bool is_folder(const char *path)
{
	struct stat st;

	return stat(path, &st) == 0 && S_ISDIR(st.st_mode);
}

static void load_folder(const char *tool, const char *dir)
{
	struct dirent **d;
	int n = scandir(dir, &d, is_object, alphasort);
	char file[PATH_MAX];

	if (n < 0)
		fprintf(stderr, "%s: plug-in %s cannot be read: %s\n", tool, dir, xk_strerror(-errno));
	for (int i = 0; i < n; i++) {
		if ((size_t)snprintf(file, sizeof file, "%s/%s", dir, d[i]->d_name) < sizeof file)
			(void)load(tool, file);
		free(d[i]);
	}
	if (n >= 0)
		free(d);
}

/* ---- for tools ---------------------------------------------------------------------------------------- */

/* Files and folders with ':' between. */
static void load_path(const char *tool, const char *path)
{
	char one[PATH_MAX];

	while (*path != '\0') {
		size_t n = strcspn(path, ":");

		if (n >= sizeof one) {
			fprintf(stderr, "%s: plug-in %s has too long a name\n", tool, path);
		} else if (n != 0) {
			memcpy(one, path, n);
			one[n] = '\0';
			if (is_folder(one))
				load_folder(tool, one);
			else
				(void)load(tool, one);
		}
		path += n + (path[n] == ':');
	}
}

void xk_plugins_find(const char *tool)
{
	const char *path = getenv(XK_PLUGIN_PATH);

	if (path != NULL)
		load_path(tool, path);
	if (is_folder(XK_PLUGIN_DIR))
		load_folder(tool, XK_PLUGIN_DIR);
}

/* In front of what the environment says, by a name that holds in every folder. */
static bool hand_on(const char *file)
{
	const char *was = getenv(XK_PLUGIN_PATH);
	char whole[PATH_MAX], *now;
	size_t n;
	bool done;

	if (realpath(file, whole) == NULL)
		return false;
	if (strchr(whole, ':') != NULL) {
		errno = EINVAL;
		return false;
	}
	n = strlen(whole) + 2 + (was != NULL ? strlen(was) : 0);
	now = xk_alloc(n);
	if (now == NULL)
		return false;
	snprintf(now, n, "%s%s%s", whole, was != NULL ? ":" : "", was != NULL ? was : "");
	done = setenv(XK_PLUGIN_PATH, now, 1) == 0;
	xk_free(now);
	return done;
}

bool xk_plugin_ask(const char *tool, const char *file)
{
	if (!load(tool, file))
		return false;
	if (hand_on(file))
		return true;
	fprintf(stderr, "%s: plug-in %s cannot be handed on: %s\n", tool, file, strerror(errno));
	return false;
}
