/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * sim_case.c - cases of the simulation: drawn from a seed, printed and parsed as
 * words, written as a graph file.
 *
 * Invariant: what sim_case_print wrote, sim_case_parse reads as the same case.
 */
#include "tests/sim/sim.h"

#include <stdlib.h>
#include <string.h>

#define SIM_VALUES(name, def, doc, ...) static const uint32_t values_##name[] = { __VA_ARGS__ };
SIM_FIELDS(SIM_VALUES)

const struct sim_field sim_fields[] = {
#define SIM_ROW(name, def, doc, ...) \
	{ #name, doc, def, values_##name, XK_ARRAY_LEN(values_##name), offsetof(struct sim_case, name) },
	SIM_FIELDS(SIM_ROW)
};
const unsigned sim_nfields = XK_ARRAY_LEN(sim_fields);

void sim_case_mild(struct sim_case *c, uint64_t seed)
{
	c->seed = seed;
	for (unsigned i = 0; i < sim_nfields; i++)
		*sim_field_of(c, i) = sim_fields[i].def;
}

/* Every other field is as mild as can be, so that faults meet in small groups. */
void sim_case_random(struct sim_case *c, uint64_t seed)
{
	struct xk_rand r;

	xk_rand_init(&r, seed, 0x73696d);
	sim_case_mild(c, seed);
	for (unsigned i = 0; i < sim_nfields; i++)
		if (xk_rand_below(&r, 2) != 0)
			*sim_field_of(c, i) = sim_fields[i].value[xk_rand_below(&r, sim_fields[i].n)];
	if (c->ab + c->ba == 0)
		c->ba = 1;
}

static bool parse_word(struct sim_case *c, const char *word)
{
	const char *eq = strchr(word, '=');
	char *tail;
	unsigned long long v;

	if (eq == NULL)
		return false;
	v = strtoull(eq + 1, &tail, 0);
	if (tail == eq + 1 || *tail != '\0')
		return false;
	if (strncmp(word, "seed=", 5) == 0) {
		c->seed = v;
		return true;
	}
	for (unsigned i = 0; i < sim_nfields; i++) {
		size_t n = strlen(sim_fields[i].name);

		if (n == (size_t)(eq - word) && strncmp(word, sim_fields[i].name, n) == 0) {
			*sim_field_of(c, i) = (uint32_t)v;
			return v <= UINT32_MAX;
		}
	}
	return false;
}

bool sim_case_parse(struct sim_case *c, int n, char *const *words, const char **why)
{
	sim_case_mild(c, 1);
	for (int i = 0; i < n; i++) {
		*why = words[i];
		if (!parse_word(c, words[i]))
			return false;
	}
	*why = "conns is 1 to 4, vps 1 to 64, profiles 0 to 4, end not 5 or 7, cc 0 to 3, something must be sent, queue holds something";
	return c->conns >= 1 && c->conns <= SIM_CONNS && c->vps >= 1 && c->vps <= 64 && c->profile <= 4 &&
	       c->peer <= 4 && c->chunk != 0 && c->depth != 0 && c->buf != 0 && c->end < 7 && c->end != 5 && c->cc <= 3 &&
	       c->ab + c->ba != 0 && c->queue != 0;
}

void sim_case_print(const struct sim_case *c, char *text, size_t n)
{
	struct sim_case copy = *c;
	int k = snprintf(text, n, "seed=%llu", (unsigned long long)c->seed);

	for (unsigned i = 0; i < sim_nfields; i++)
		if (*sim_field_of(&copy, i) != sim_fields[i].def)
			k += snprintf(text + k, n - (size_t)k, " %s=%u", sim_fields[i].name, *sim_field_of(&copy, i));
}

/* Buffers, and patience that 30 % loss does not exhaust: where timeouts come in rows,
 * a TIME-WAIT of a minute ends before the peer has heard the last ACK. */
static const char graph_fmt[] =
	"local macs = { ['10.0.0.1'] = '02:00:00:00:00:01', ['10.0.0.2'] = '02:00:00:00:00:02' }\n"
	"local function host(n, driver, profile)\n"
	"  local d = %1$s { name = 'link' .. n, over = driver }\n"
	"  local a = arp { name = 'arp' .. n, neighbours = macs, over = d }\n"
	"  local i = ip { name = 'ip' .. n, addr = '10.0.0.' .. n .. '/24', over = a }\n"
	"  return tcp { name = 'tcp' .. n, profile = profile, rcv_buf = %2$u, snd_buf = %2$u,\n"
	"    quirks = { rto_max = '60s', persist_max = '60s', syn_retries = 100, synack_retries = 100, retries = 100,\n"
	"    msl = '%19$s', %23$s }, %20$s%21$sover = i }\n"
	"end\n"
	"local function cable(n) return %1$s_mem { name = 'd' .. n, wire = 'w', mac = macs['10.0.0.' .. n], queue = 65536 } end\n"
	"local bad = impair { name = 'bad', over = cable(1), loss = '%3$u.%4$02u%%', dup = '%5$u.%6$02u%%',\n"
	"  reorder = '%7$u.%8$02u%%', reorder_depth = %9$u, corrupt = '%10$u.%11$02u%%', delay = '%12$uus',\n"
	"  jitter = '%13$ums', rate = '%14$uMbit/s', hold = '20ms', queue = %22$u }\n"
	"simapp { name = 'listener', listen = true, over = host(2, cable(2), '%16$s') }\n"
	"simapp { name = 'opener', over = host(1, bad, '%15$s') }\n"
	"return graph 'sim' { clock = 'virtual', threading = vppc { vps = %17$u }, seed = %18$llu }\n";

static const char *const policies[] = { "", "cc = 'cubic', ", "cc = 'reno', ", "cc = 'none', " };
static const char *const profiles[] = { "modern", "linux", "freebsd", "reno43", "lite44" };

unsigned sim_case_graph(const struct sim_case *c, char *text, size_t n)
{
	return (unsigned)snprintf(text, n, graph_fmt, c->fddi ? "fddi" : "eth", c->buf * 1024, c->loss / 100, c->loss % 100,
				  c->dup / 100, c->dup % 100, c->reorder / 100, c->reorder % 100, c->depth,
				  c->corrupt / 100, c->corrupt % 100, c->rtt * 500, c->jitter, c->rate,
				  profiles[c->profile], profiles[c->peer], c->vps,
				  (unsigned long long)(c->seed ? c->seed : 1), sim_case_is_rough(c) ? "10m" : "30s",
				  policies[c->cc], c->nots ? "timestamps = false, " : "",
				  c->queue, c->plain ? "hystart = false" : "");
}
