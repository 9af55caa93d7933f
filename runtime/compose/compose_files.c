/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * compose_files.c - the files of a graph: reading them, and the graph path to
 * which `include` is confined.
 *
 * The path is: the folder of the graph file, the nearest folder above it that
 * is called graphs, the caller's path, $VP_GRAPH_PATH.
 * Invariant: an included file's resolved name lies below a folder of the path,
 * whatever links and dots its given name has.
 */
#include "runtime/compose/compose_lua.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define PATH_DIRS 32u

/* ---- reading ----------------------------------------------------------------------- */

static int read_all(int fd, char **text, size_t *n)
{
	size_t room = 8192, used = 0;
	char *buf = malloc(room), *more;
	ssize_t got;

	while (buf != NULL && (got = read(fd, buf + used, room - used)) != 0) {
		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0) {
			free(buf);
			return -errno;
		}
		used += (size_t)got;
		if (used > COMPOSE_FILE_MAX)
			break;
		if (used == room) {
			more = realloc(buf, room *= 2);
			if (more == NULL)
				free(buf);
			buf = more;
		}
	}
	if (buf == NULL)
		return XK_E_NOMEM;
	*text = buf;
	*n = used;
	return XK_OK;
}

int files_read(const char *path, char **text, size_t *n, char *why, size_t nwhy)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY), err;
	struct stat st;

	if (fd < 0) {
		err = -errno;
		snprintf(why, nwhy, err == XK_E_NOENT ? "no such file" : "cannot be read: %s", strerror(-err));
		return err;
	}
	if (fstat(fd, &st) == 0 && !S_ISREG(st.st_mode)) {
		close(fd);
		snprintf(why, nwhy, S_ISDIR(st.st_mode) ? "is a directory, not a graph file"
							: "is not a plain file");
		return XK_E_INVAL;
	}
	err = read_all(fd, text, n);
	close(fd);
	if (err != XK_OK) {
		snprintf(why, nwhy, "cannot be read: %s", strerror(-err));
	} else if (*n > COMPOSE_FILE_MAX) {
		free(*text);
		snprintf(why, nwhy, "is larger than 1 MiB: not a graph file");
		err = XK_E_INVAL;
	}
	return err;
}

int files_add(struct xk_spec *s, const char *name, const char *real, const char *text, size_t n)
{
	struct spec_file *f;

	if (s->nfiles == COMPOSE_FILES_MAX)
		return XK_E_NOSPC;
	f = &s->file[s->nfiles];
	f->name = arena_text(&s->arena, name, strlen(name));
	f->real = real ? arena_text(&s->arena, real, strlen(real)) : f->name;
	f->text = arena_text(&s->arena, text, n);
	if (f->name == NULL || f->real == NULL || f->text == NULL)
		return XK_E_NOMEM;
	f->len = n;
	f->ref = LUA_NOREF;
	return (int)s->nfiles++;
}

/* More than a tenth of what it begins with is neither UTF-8 nor blank space. */
static bool is_binary(const char *text, size_t n)
{
	size_t most = n < 4096 ? n : 4096, odd = 0;

	for (size_t i = 0, len; i < most; i += len != 0 ? len : 1) {
		len = spec_utf8(text + i, n - i);
		odd += len == 0 || ((unsigned char)text[i] < ' ' && strchr("\t\n\v\f\r", text[i]) == NULL) || text[i] == '\0';
	}
	return odd > 2 && odd > most / 10;
}

int files_compile(lua_State *L, unsigned no)
{
	const struct spec_file *f = &loader_of(L)->s->file[no];
	const char *text = f->text;
	size_t n = f->len;
	char chunk[16];

	if (n >= 3 && memcmp(text, "\xef\xbb\xbf", 3) == 0)
		text += 3, n -= 3;
	snprintf(chunk, sizeof chunk, "@%u", no);
	if (n > 0 && text[0] == '\x1b') {
		lua_pushfstring(L, "%d:1: this is compiled Lua; a graph file is text", (int)no);
		return LUA_ERRSYNTAX;
	}
	if (is_binary(text, n)) {
		lua_pushfstring(L, "%d:1: this is a binary file; a graph file is text", (int)no);
		return LUA_ERRSYNTAX;
	}
	/* "#!" lets a graph be a script; its newline stays, for the line numbers. */
	if (n > 0 && text[0] == '#')
		while (n > 0 && *text != '\n')
			text++, n--;
	return luaL_loadbufferx(L, text, n, chunk, "t");
}

/* ---- the graph path ---------------------------------------------------------------------- */

/* Adds a folder as "resolved\0shown"; one that is not there is no error. */
static int path_add(struct loader *ld, const char *dir)
{
	char *real = realpath(*dir ? dir : ".", NULL), *both;
	size_t n;

	if (real == NULL || ld->npath == PATH_DIRS) {
		free(real);
		return XK_OK;
	}
	n = strlen(real) + 1;
	both = arena_get(&ld->s->arena, n + strlen(dir) + 1);
	if (both != NULL) {
		memcpy(both, real, n);
		memcpy(both + n, dir, strlen(dir) + 1);
		ld->path[ld->npath++] = both;
	}
	free(real);
	return both ? XK_OK : XK_E_NOMEM;
}

static int path_add_list(struct loader *ld, const char *list)
{
	int err = XK_OK;

	while (list != NULL && *list != '\0' && err == XK_OK) {
		size_t n = strcspn(list, ":");
		char dir[PATH_MAX];

		if (n > 0 && n < sizeof dir) {
			memcpy(dir, list, n);
			dir[n] = '\0';
			err = path_add(ld, dir);
		}
		list += n + (list[n] == ':');
	}
	return err;
}

/* The nearest folder called graphs at or above the resolved dir. */
static int path_add_graphs(struct loader *ld, const char *dir)
{
	char *real = realpath(*dir ? dir : ".", NULL), *slash;
	int err = XK_OK;

	while (real != NULL && (slash = strrchr(real, '/')) != NULL && slash != real) {
		if (strcmp(slash, "/graphs") == 0) {
			err = path_add(ld, real);
			break;
		}
		*slash = '\0';
	}
	free(real);
	return err;
}

int files_path(struct loader *ld, const char *main_file)
{
	const char *slash = strrchr(main_file, '/');
	char dir[PATH_MAX] = "";
	int err;

	ld->path = arena_get(&ld->s->arena, PATH_DIRS * sizeof *ld->path);
	if (ld->path == NULL)
		return XK_E_NOMEM;
	if (slash != NULL)
		snprintf(dir, sizeof dir, "%.*s", slash == main_file ? 1 : (int)(slash - main_file), main_file);
	err = path_add(ld, dir);
	if (err == XK_OK)
		err = path_add_graphs(ld, dir);
	if (err == XK_OK)
		err = path_add_list(ld, ld->o->path);
	if (err == XK_OK)
		err = path_add_list(ld, getenv("VP_GRAPH_PATH"));
	return err;
}

void files_fini(struct loader *ld)
{
	ld->npath = 0;
}

/* ---- include ------------------------------------------------------------------------------ */

enum found { FOUND, NOT_THERE, OUTSIDE };

static bool has_dotdot(const char *name)
{
	for (const char *p = name; *p != '\0'; p += strcspn(p, "/"), p += *p == '/')
		if (strncmp(p, "..", 2) == 0 && (p[2] == '/' || p[2] == '\0'))
			return true;
	return false;
}

/* real[PATH_MAX] and shown[PATH_MAX] of the first match along the path. */
static enum found find_file(const struct loader *ld, const char *name, char *real, char *shown)
{
	enum found res = NOT_THERE;
	char full[PATH_MAX];

	if (!ld->o->unsafe && (name[0] == '/' || has_dotdot(name)))
		return OUTSIDE;
	for (unsigned i = 0; i < ld->npath; i++) {
		const char *dir = ld->path[i], *seen = dir + strlen(dir) + 1;
		size_t n = strlen(dir);

		if (snprintf(full, sizeof full, "%s/%s", dir, name) >= (int)sizeof full ||
		    realpath(full, real) == NULL)
			continue;
		if (!ld->o->unsafe && (strncmp(real, dir, n) != 0 || (n > 1 && real[n] != '/'))) {
			res = OUTSIDE;
			continue;
		}
		if (snprintf(shown, PATH_MAX, "%s%s%s", seen, *seen ? "/" : "", name) >= PATH_MAX)
			continue;
		return FOUND;
	}
	return res;
}

static int file_loaded(const struct xk_spec *s, const char *real)
{
	char *main_real;

	for (unsigned i = 1; i < s->nfiles; i++)
		if (strcmp(s->file[i].real, real) == 0)
			return (int)i;
	main_real = realpath(s->file[0].name, NULL);
	if (main_real != NULL && strcmp(main_real, real) == 0) {
		free(main_real);
		return 0;
	}
	free(main_real);
	return -1;
}

/* Reads and adds; negative with the reason on the stack. */
static int file_open(lua_State *L, const char *real, const char *shown)
{
	char *text, why[128];
	size_t n;
	int no;

	if (files_read(real, &text, &n, why, sizeof why) != XK_OK) {
		lua_pushstring(L, why);
		return -1;
	}
	no = files_add(loader_of(L)->s, shown, real, text, n);
	free(text);
	if (no == XK_E_NOSPC)
		lua_pushliteral(L, "too many files: a graph has at most 256");
	else if (no < 0)
		lua_pushliteral(L, "out of memory");
	return no;
}

static int run_included(lua_State *L, unsigned no)
{
	struct loader *ld = loader_of(L);
	int status = files_compile(L, no);

	if (status != LUA_OK) {
		loader_failed(ld, status, no, true);
		loader_push_poison(L);
		return 1;
	}
	ld->s->file[no].loading = true;
	lua_call(L, 0, 1);
	ld->s->file[no].loading = false;
	lua_pushvalue(L, -1);
	ld->s->file[no].ref = luaL_ref(L, LUA_REGISTRYINDEX);
	return 1;
}

/* The folders that were looked in, as they were given; on the stack. */
static const char *path_text(lua_State *L)
{
	const struct loader *ld = loader_of(L);
	luaL_Buffer b;

	luaL_buffinit(L, &b);
	for (unsigned i = 0; i < ld->npath; i++) {
		const char *shown = ld->path[i] + strlen(ld->path[i]) + 1;

		luaL_addstring(&b, i == 0 ? "" : ", ");
		luaL_addstring(&b, *shown != '\0' ? shown : ".");
	}
	luaL_pushresult(&b);
	return lua_tostring(L, -1);
}

int word_include(lua_State *L)
{
	struct loader *ld = loader_of(L);
	struct spec_place at = loader_caller(L);
	char real[PATH_MAX], shown[PATH_MAX];
	const char *name;
	size_t n;
	int no;

	if (lua_type(L, 1) != LUA_TSTRING)
		return loader_poison(L, at, "include", "include: needs the name of a file in quotes");
	name = lua_tolstring(L, 1, &n);
	if (n == 0 || strlen(name) != n || n >= PATH_MAX)
		return loader_poison(L, at, "include", "include: this is no name of a file");
	switch (find_file(ld, name, real, shown)) {
	case OUTSIDE:
		return loader_poison(L, at, "include", "include: \"%s\" leaves the graph path", name);
	case NOT_THERE:
		return loader_poison(L, at, "include", "include: there is no \"%s\" in the graph path (%s)", name,
				     path_text(L));
	case FOUND:
		break;
	}
	no = file_loaded(ld->s, real);
	if (no >= 0 && ld->s->file[no].loading)
		return loader_poison(L, at, "include", "include: \"%s\" includes itself", name);
	if (no >= 0 && ld->s->file[no].ref != LUA_NOREF) {
		lua_rawgeti(L, LUA_REGISTRYINDEX, ld->s->file[no].ref);
		return 1;
	}
	if (no < 0)
		no = file_open(L, real, shown);
	if (no < 0)
		return loader_poison(L, at, "include", "include: \"%s\": %s", name, lua_tostring(L, -1));
	return run_included(L, (unsigned)no);
}
