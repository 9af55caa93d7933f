/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * vpr_hosts.c - the hosts of a job: HOST[:RANKS][=ADDRESS], separated by commas, or one a line in a file.
 *
 * Ranks go to hosts in their order, to each as many as it has room for.  Addresses are IPv4, as in a graph.
 * Invariant: a host's name is one word that neither a remote shell nor a shell takes for anything else.
 */
#include "tools/vp-run/vpr_job.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netdb.h>
#include <stdlib.h>
#include <string.h>

#define LETTERS "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
#define NAME_MOST 255u

struct where { const char *file; unsigned line; };       /* file NULL: the command line */

static int wrong(const struct where *w, const char *entry, const char *why)
{
	if (w->file != NULL)
		fprintf(stderr, "vp-run: %s:%u: '%.80s' %s\n", w->file, w->line, entry, why);
	else
		fprintf(stderr, "vp-run: option --hosts: '%.80s' %s\n", entry, why);
	return VPR_USAGE;
}

int vpr_host_find(const char *host, struct in_addr *addr)
{
	const struct addrinfo hints = { .ai_family = AF_INET, .ai_socktype = SOCK_STREAM };
	struct addrinfo *found = NULL;
	int err = getaddrinfo(host, NULL, &hints, &found);

	if (err != 0)
		return err;
	*addr = ((const struct sockaddr_in *)(const void *)found->ai_addr)->sin_addr;
	freeaddrinfo(found);
	return 0;
}

/* Without the user that a remote shell is told. */
static bool resolve(const char *name, char addr[VPR_ADDR])
{
	const char *at = strrchr(name, '@');
	struct in_addr found;

	return vpr_host_find(at != NULL ? at + 1 : name, &found) == 0 && inet_ntop(AF_INET, &found, addr, VPR_ADDR) != NULL;
}

static bool places_of(const char *text, unsigned *places)
{
	char *end;
	unsigned long n = *text >= '0' && *text <= '9' ? strtoul(text, &end, 10) : 0;

	if (n == 0 || n > VPR_RANKS_MAX || *end != '\0')
		return false;
	*places = (unsigned)n;
	return true;
}

static bool is_name(const char *s)
{
	size_t n = strlen(s);

	return n != 0 && n <= NAME_MOST && *s != '-' && strspn(s, LETTERS "._-@") == n && s[n - 1] != '@';
}

/* Cuts entry. */
static int add(struct vpr_hosts *h, const struct where *w, char *entry)
{
	char whole[96], *addr = strchr(entry, '='), *places;
	struct vpr_host one = { .places = 1 }, *more;
	struct in_addr parsed;

	snprintf(whole, sizeof whole, "%s", entry);
	if (addr != NULL)
		*addr++ = '\0';
	places = strchr(entry, ':');
	if (places != NULL)
		*places++ = '\0';
	if (!is_name(entry) || (places != NULL && !places_of(places, &one.places)))
		return wrong(w, whole, "is not HOST[:RANKS][=ADDRESS]");
	if (addr != NULL && inet_pton(AF_INET, addr, &parsed) != 1)
		return wrong(w, whole, "has no IPv4 address behind '='");
	for (unsigned i = 0; i < h->n; i++)
		if (strcmp(h->host[i].name, entry) == 0)
			return wrong(w, whole, "is there twice: say HOST:RANKS");
	if (addr != NULL)
		(void)inet_ntop(AF_INET, &parsed, one.addr, sizeof one.addr);
	one.name = strdup(entry);
	more = realloc(h->host, (h->n + 1) * sizeof *more);
	if (more != NULL)
		h->host = more;
	if (more == NULL || one.name == NULL) {
		free(one.name);
		fprintf(stderr, "vp-run: out of memory\n");
		return VPR_FAILED;
	}
	h->host[h->n++] = one;
	h->places += one.places;
	return VPR_OK;
}

static int add_words(struct vpr_hosts *h, const struct where *w, char *text)
{
	char *save = NULL;
	int code = VPR_OK;

	for (char *s = strtok_r(text, ", \t\r\n", &save); s != NULL && code == VPR_OK; s = strtok_r(NULL, ", \t\r\n", &save))
		code = add(h, w, s);
	return code;
}

static int read_file(struct vpr_hosts *h, const char *path)
{
	struct where w = { path, 0 };
	FILE *f = fopen(path, "re");
	char line[512], *hash;
	int code = VPR_OK;

	if (f == NULL) {
		fprintf(stderr, "vp-run: option --hosts: cannot read %s: %s\n", path, strerror(errno));
		return VPR_USAGE;
	}
	while (code == VPR_OK && fgets(line, sizeof line, f) != NULL) {
		w.line++;
		if (strchr(line, '\n') == NULL && !feof(f)) {
			code = wrong(&w, line, "is part of a line that is too long");
			break;
		}
		hash = strchr(line, '#');
		if (hash != NULL)
			*hash = '\0';
		code = add_words(h, &w, line);
	}
	if (code == VPR_OK && ferror(f)) {
		fprintf(stderr, "vp-run: option --hosts: cannot read %s: %s\n", path, strerror(errno));
		code = VPR_USAGE;
	}
	fclose(f);
	return code;
}

static int read_list(struct vpr_hosts *h, const char *list)
{
	const struct where w = { NULL, 0 };
	char *text = strdup(list);
	int code;

	if (text == NULL) {
		fprintf(stderr, "vp-run: out of memory\n");
		return VPR_FAILED;
	}
	code = add_words(h, &w, text);
	free(text);
	return code;
}

/* Addresses of those that have ranks; one that is a machine's own means another machine to others. */
static int find_addresses(struct vpr_hosts *h)
{
	const struct vpr_host *loop = NULL, *far = NULL;

	for (unsigned i = 0; i < h->n && h->host[i].ranks != 0; i++) {
		struct vpr_host *one = &h->host[i];

		if (one->addr[0] == '\0' && !resolve(one->name, one->addr)) {
			fprintf(stderr, "vp-run: option --hosts: no IPv4 address of host %s is known here: say %s=ADDRESS\n",
				one->name, one->name);
			return VPR_USAGE;
		}
		*(strncmp(one->addr, "127.", 4) == 0 ? &loop : &far) = one;
	}
	if (loop == NULL || far == NULL)
		return VPR_OK;
	fprintf(stderr, "vp-run: option --hosts: host %s is %s, where %s does not find it: say %s=ADDRESS\n",
		loop->name, loop->addr, far->name, loop->name);
	return VPR_USAGE;
}

static int spread(struct vpr_hosts *h, struct vpr *o)
{
	unsigned first = 0;

	if (h->n == 0) {
		fprintf(stderr, "vp-run: option --hosts: no host is in '%s'\n", o->hosts);
		return VPR_USAGE;
	}
	if (o->ranks == 0)
		o->ranks = h->places;
	if (o->ranks > h->places || o->ranks > VPR_RANKS_MAX) {
		fprintf(stderr, "vp-run: option --hosts: %u ranks, where there is room for %u (HOST:RANKS), and at most %u may be\n",
			o->ranks, h->places, VPR_RANKS_MAX);
		return VPR_USAGE;
	}
	for (unsigned i = 0; i < h->n; i++) {
		struct vpr_host *one = &h->host[i];

		one->first = first;
		one->ranks = one->places < o->ranks - first ? one->places : o->ranks - first;
		first += one->ranks;
	}
	return VPR_OK;
}

static int list_room(struct vpr_hosts *h, unsigned ranks)
{
	h->peers = calloc(ranks, VPR_ADDR);
	if (h->peers != NULL)
		return VPR_OK;
	fprintf(stderr, "vp-run: out of memory\n");
	return VPR_FAILED;
}

static size_t list(struct vpr_hosts *h, size_t at, const char *addr, unsigned times)
{
	for (unsigned i = 0; i < times; i++)
		at += (size_t)sprintf(h->peers + at, "%s%s", at != 0 ? "," : "", addr);
	return at;
}

int vpr_hosts_here(struct vpr_hosts *h, unsigned ranks)
{
	int code = list_room(h, ranks);

	if (code == VPR_OK)
		(void)list(h, 0, "127.0.0.1", ranks);
	return code;
}

int vpr_hosts_open(struct vpr_hosts *h, struct vpr *o)
{
	int code = strchr(o->hosts, '/') != NULL ? read_file(h, o->hosts) : read_list(h, o->hosts);
	size_t at = 0;

	if (code == VPR_OK)
		code = spread(h, o);
	if (code == VPR_OK)
		code = find_addresses(h);
	if (code == VPR_OK)
		code = list_room(h, o->ranks);
	for (unsigned i = 0; i < h->n && code == VPR_OK; i++)
		at = list(h, at, h->host[i].addr, h->host[i].ranks);
	return code;
}

void vpr_hosts_close(struct vpr_hosts *h)
{
	for (unsigned i = 0; i < h->n; i++)
		free(h->host[i].name);
	free(h->host);
	free(h->peers);
	*h = (struct vpr_hosts){ .host = NULL };
}
