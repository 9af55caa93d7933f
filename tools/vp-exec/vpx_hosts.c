/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * vpx_hosts.c - the table of names: nodes of sockets and their addresses, a file of --hosts, and which servers of names
 * programs will ask.
 *
 * Addresses of a node are those that the parameters of what lies below it say.  The table is complete before the first
 * program begins and does not change afterwards.
 */
#include "tools/vp-exec/vpx.h"

#include "runtime/embed/xk_embed.h"
#include "runtime/upi/xk_proto.h"

#include <arpa/inet.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

struct host { char *name; uint32_t addr; unsigned len; };   /* len: of its network's prefix */
static struct host *host;
static size_t nhosts, room;
static size_t nfirst;                    /* so many are of the graph */
enum { SERVERS = 3 };                    /* as many as resolv.conf(5) knows */
static uint32_t server[SERVERS];
static unsigned nservers;

static bool add(const char *name, uint32_t addr, unsigned len)
{
	if (nhosts == room) {
		size_t n = room == 0 ? 16 : 2 * room;
		struct host *more = realloc(host, n * sizeof *more);

		if (more == NULL)
			return false;
		host = more;
		room = n;
	}
	host[nhosts] = (struct host){ strdup(name), addr, len };
	return host[nhosts].name != NULL && ++nhosts != 0;
}

bool vpx_hosts_add(const char *name, uint32_t addr) { return add(name, addr, 32); }

void vpx_hosts_free(void)
{
	while (nhosts != 0)
		free(host[--nhosts].name);
	free(host);
	host = NULL;
	room = 0;
}

/* ---- asked ---------------------------------------------------------------------------------------------- */

bool vpx_hosts_addr(const char *name, size_t *i, uint32_t *addr)
{
	for (; *i < nhosts; ++*i)
		if (strcasecmp(host[*i].name, name) == 0) {
			*addr = host[(*i)++].addr;
			return true;
		}
	return false;
}

const char *vpx_hosts_name(uint32_t addr)
{
	for (size_t i = 0; i < nhosts; i++)
		if (host[i].addr == addr)
			return host[i].name;
	return NULL;
}

bool vpx_hosts_of(const struct vpx_stack *st, size_t *i, uint32_t *addr, unsigned *len)
{
	for (; *i < nfirst; ++*i)
		if (strcmp(host[*i].name, st->name) == 0) {
			*addr = host[*i].addr;
			*len = host[(*i)++].len;
			return true;
		}
	return false;
}

void vpx_hosts_print(FILE *f)
{
	for (size_t i = 0; i < nhosts; i++)
		fprintf(f, "%u.%u.%u.%u %s\n", host[i].addr >> 24, host[i].addr >> 16 & 255, host[i].addr >> 8 & 255,
			host[i].addr & 255, host[i].name);
}

static bool of_graph(uint32_t addr)
{
	for (size_t i = 0; i < nfirst; i++)
		if (host[i].addr == addr)
			return true;
	return false;
}

bool vpx_hosts_server(const struct vpx_stack *st, struct xk_sock_addr a)
{
	bool known = false;

	for (unsigned i = 0; i < nservers; i++)
		known |= server[i] == a.host;
	if (!known || a.port != 53 || of_graph(a.host))
		return false;
	return a.host >> 24 != 127 || !vpx_socks_bound(st, SOCK_DGRAM, 53);
}

/* ---- the graph's ------------------------------------------------------------------------------------------ */

/* Every address that a text has. */
static bool add_all(const char *name, const char *text)
{
	while (*text != '\0') {
		size_t n = strspn(text, "0123456789.");
		struct in_addr a;
		char one[16];

		if (n == 0) {
			text++;
			continue;
		}
		if (n < sizeof one) {
			memcpy(one, text, n);
			one[n] = '\0';
			if (inet_pton(AF_INET, one, &a) == 1 &&
			    !add(name, ntohl(a.s_addr), text[n] == '/' ? (unsigned)atoi(text + n + 1) : 32))
				return false;
		}
		text += n;
	}
	return true;
}

static bool below(const struct xk_embed *g, const char *name, const struct xk_node *n)
{
	static const char *const params[] = { "addr", "addrs" };
	size_t before = nhosts;
	char text[512];

	for (unsigned p = 0; p < sizeof params / sizeof *params; p++)
		if (xk_embed_get(g, xk_node_name(n), params[p], text, sizeof text) == XK_OK && !add_all(name, text))
			return false;
	if (nhosts != before)
		return true;
	for (unsigned i = 0; i < xk_node_ndown(n); i++)
		if (nhosts == before && !below(g, name, xk_node_down(n, i)))
			return false;
	return true;
}

bool vpx_hosts_graph(const struct xk_embed *g)
{
	for (unsigned i = 0; i < vpx.nstacks; i++)
		if (!below(g, vpx.stack[i].name, vpx.stack[i].node))
			return false;
	nfirst = nhosts;
	return vpx_hosts_add("localhost", 0x7f000001);
}

/* ---- files -------------------------------------------------------------------------------------------------- */

static bool line_of(const char *file, unsigned no, char *line)
{
	char *save, *word = strtok_r(line, " \t\r\n", &save), *name;
	struct in_addr a;
	bool ok = true;

	if (word == NULL || strchr(word, ':') != NULL)   /* nothing, or of IPv6 */
		return true;
	if (inet_pton(AF_INET, word, &a) != 1) {
		fprintf(stderr, "vp-exec: %s:%u: %s is no address\n", file, no, word);
		return false;
	}
	while (ok && (name = strtok_r(NULL, " \t\r\n", &save)) != NULL)
		ok = vpx_hosts_add(name, ntohl(a.s_addr));
	return ok;
}

bool vpx_hosts_file(const char *file)
{
	FILE *f = fopen(file, "re");
	char line[1024];
	bool ok = true;

	if (f == NULL) {
		fprintf(stderr, "vp-exec: %s: %m\n", file);
		return false;
	}
	for (unsigned no = 1; ok && fgets(line, sizeof line, f) != NULL; no++) {
		line[strcspn(line, "#")] = '\0';
		ok = line_of(file, no, line);
	}
	fclose(f);
	return ok;
}

void vpx_hosts_servers(void)
{
	FILE *f = vpx.isolate ? NULL : fopen("/etc/resolv.conf", "re");
	char line[256], word[64];
	struct in_addr a;

	nservers = 0;
	while (f != NULL && nservers < SERVERS && fgets(line, sizeof line, f) != NULL)
		if (sscanf(line, "nameserver %63s", word) == 1 && inet_pton(AF_INET, word, &a) == 1)
			server[nservers++] = ntohl(a.s_addr);
	if (f != NULL)
		fclose(f);
	if (nservers == 0)               /* as resolv.conf(5) has it */
		server[nservers++] = 0x7f000001;
}
