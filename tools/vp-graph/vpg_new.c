/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * vpg_new.c - vp-graph new-protocol: a folder with a plug-in that compiles, runs and is tested.
 *
 * The files are those of tools/vp-graph/new, in which words such as @NAME@ stand for others; they are in the program.
 * Invariant: nothing that is there already is written over.
 */
#include "tools/vp-graph/vpg.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tools/vp-graph/new_text.h"

/* What stands for the kind's name, and what is made of the kind's two files and of the others. */
static const struct { const char *kind, *what; } kinds[] = {
	{ "app", "An application over a port: answers each message with its first bytes" },
	{ "layer", "A layer over a port: a byte in front of each message, checked on the way up" },
	{ "driver", "A driver that offers a port: what is sent comes back" },
};
static const struct { const char *from, *to; unsigned mode; } files[] = {
	{ "KIND.c", "@NAME@.c", 0666 }, { "KIND.lua", "@NAME@.lua", 0666 }, { "Makefile", "Makefile", 0666 },
	{ "test.sh", "test.sh", 0777 }, { "page.md", "@NAME@.md", 0666 },
};

static const char *what_of(const char *kind)
{
	for (unsigned i = 0; i < XK_ARRAY_LEN(kinds); i++)
		if (strcmp(kinds[i].kind, kind) == 0)
			return kinds[i].what;
	return "";
}

static const char *text_of(const char *kind, const char *from)
{
	char name[32];

	snprintf(name, sizeof name, "%s%s", strncmp(from, "KIND", 4) == 0 ? kind : "", strncmp(from, "KIND", 4) == 0 ? from + 4 : from);
	for (unsigned i = 0; i < XK_ARRAY_LEN(new_text); i++)
		if (strcmp(new_text[i].name, name) == 0)
			return (const char *)new_text[i].text;
	return "";
}

/* What words of six characters stand for. */
struct words { const char *name, *what, *head; };

static const char *meaning(const struct words *w, const char *at)
{
	return strncmp(at, "@NAME@", 6) == 0 ? w->name : strncmp(at, "@WHAT@", 6) == 0 ? w->what :
	       strncmp(at, "@HEAD@", 6) == 0 ? w->head : NULL;
}

static void put(FILE *f, const char *text, const struct words *w)
{
	const char *at, *is;

	while ((at = strchr(text, '@')) != NULL) {
		fwrite(text, 1, (size_t)(at - text), f);
		is = meaning(w, at);
		fputs(is != NULL ? is : "@", f);
		text = at + (is != NULL ? 6 : 1);
	}
	fputs(text, f);
}

static bool write_file(const char *path, unsigned mode, const char *text, const struct words *w)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode);
	FILE *f = fd >= 0 ? fdopen(fd, "w") : NULL;
	bool done;

	if (f == NULL) {
		if (fd >= 0)
			close(fd);
		return false;
	}
	put(f, text, w);
	done = !ferror(f);
	return fclose(f) == 0 && done;
}

/* Words of C, whose identifiers the name is part of, and those that the interface begins its own with. */
static bool is_taken(const char *name)
{
	static const char *const words[] = {
		"alignas", "alignof", "asm", "auto", "bool", "break", "case", "char", "const", "constexpr", "continue", "default",
		"do", "double", "else", "enum", "extern", "false", "float", "for", "goto", "if", "inline", "int", "long", "nullptr",
		"register", "restrict", "return", "short", "signed", "sizeof", "static", "static_assert", "struct", "switch",
		"thread_local", "true", "typedef", "typeof", "typeof_unqual", "union", "unsigned", "void", "volatile", "while",
	};
	static const char *const heads[] = { "xk", "virt" };

	for (unsigned i = 0; i < XK_ARRAY_LEN(words); i++)
		if (strcmp(name, words[i]) == 0)
			return true;
	for (unsigned i = 0; i < XK_ARRAY_LEN(heads); i++) {
		size_t n = strlen(heads[i]);

		if (strncmp(name, heads[i], n) == 0 && (name[n] == '\0' || name[n] == '_'))
			return true;
	}
	return false;
}

/* A name that a graph file and a C file can have and that nothing has yet. */
static bool is_good(const char *name)
{
	const struct xk_proto *there = xk_protos_find(name);
	char why[256];

	if (there != NULL) {
		fprintf(stderr, "vp-graph: there is a %s '%s' already: %s\n", there->is_driver ? "driver" : "protocol", name, there->doc);
		return false;
	}
	if (xk_proto_name_fault(name, why, sizeof why) != XK_OK)
		fprintf(stderr, "vp-graph: '%s' %s\n", name, why);
	else if (is_taken(name))
		fprintf(stderr, "vp-graph: '%s' is a word of C or of xk/proto.h, and its C file is to be named by it: call it otherwise\n",
			name);
	else
		return true;
	return false;
}

int vpg_new_protocol(const struct vpg *o)
{
	const char *name = o->arg[0];
	const struct words w = { name, what_of(o->kind), text_of(o->kind, "head.lua") };
	char path[256], to[64];

	if (!is_good(name))
		return VPG_USAGE;
	if (mkdir(name, 0777) != 0) {
		fprintf(stderr, errno == EEXIST ? "vp-graph: there is a folder '%s' already: nothing was written\n" :
			"vp-graph: cannot make the folder '%s'\n", name);
		return VPG_FAILED;
	}
	for (unsigned i = 0; i < XK_ARRAY_LEN(files); i++) {
		snprintf(to, sizeof to, "%s%s", files[i].to[0] == '@' ? name : "", files[i].to[0] == '@' ? files[i].to + 6 : files[i].to);
		snprintf(path, sizeof path, "%s/%s", name, to);
		if (!write_file(path, files[i].mode, text_of(o->kind, files[i].from), &w)) {
			fprintf(stderr, "vp-graph: cannot write '%s': %s\n", path, strerror(errno));
			return VPG_FAILED;
		}
	}
	printf("%s/: %s\n\n    cd %s && make\n    VP_PLUGIN_PATH=. vp-run %s.lua\n    make check\n", name, w.what, name, name);
	return VPG_OK;
}
