/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * bench_hints.c - what would make this machine a better one to measure on.
 *
 * Each row looks at a file of the kernel's, or at what the environment says, and has
 * the sentence and the command that would mend it.  Nothing is changed: the commands
 * are printed, and who runs them knows why.  Where nobody inside can mend it (a
 * virtual machine, too few processors) it says so.
 */
#include "tools/vp-bench/bench.h"

#include <dirent.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

struct look { const char *root; const json_t *env; };

static bool line(const struct look *k, const char *path, char *buf, size_t n)
{
	char full[600];
	FILE *f;
	bool ok;

	snprintf(full, sizeof full, "%s%s", k->root, path);
	f = fopen(full, "re");
	if (f == NULL)
		return false;
	ok = fgets(buf, (int)n, f) != NULL;
	fclose(f);
	if (ok)
		buf[strcspn(buf, "\n")] = '\0';
	return ok;
}

static double number(const struct look *k, const char *path)
{
	char text[100], *end;
	double v;

	if (!line(k, path, text, sizeof text))
		return NAN;
	v = strtod(text, &end);
	return end == text ? NAN : v;
}

/* ---- looks ------------------------------------------------------------------------------ */

#define CPU "/sys/devices/system/cpu"

static bool governor(const struct look *k)
{
	char text[100];

	return line(k, CPU "/cpu0/cpufreq/scaling_governor", text, sizeof text) && strcmp(text, "performance") != 0;
}

static bool no_governor(const struct look *k)
{
	char text[100];

	return !line(k, CPU "/cpu0/cpufreq/scaling_governor", text, sizeof text);
}

static bool turbo_intel(const struct look *k) { return number(k, CPU "/intel_pstate/no_turbo") == 0; }
static bool turbo_other(const struct look *k) { return number(k, CPU "/cpufreq/boost") == 1; }
static bool smt(const struct look *k) { return number(k, CPU "/smt/active") == 1; }
static bool paranoid(const struct look *k) { return number(k, "/proc/sys/kernel/perf_event_paranoid") > 1; }
static bool busy(const struct look *k) { return bench_real(k->env, "load") > 0.5; }
static bool stolen(const struct look *k) { return bench_real(k->env, "steal") > 0.01; }
static bool virtual(const struct look *k) { return json_is_true(json_object_get(k->env, "virtual_machine")); }
static bool few(const struct look *k) { return bench_real(k->env, "cpus") < 4; }
static bool numa(const struct look *k) { return bench_real(k->env, "numa_nodes") > 1; }
static bool balancing(const struct look *k) { return numa(k) && number(k, "/proc/sys/kernel/numa_balancing") > 0; }
static bool no_huge(const struct look *k) { return number(k, "/proc/sys/vm/nr_hugepages") == 0; }

static bool no_thp(const struct look *k)
{
	char text[100];

	return line(k, "/sys/kernel/mm/transparent_hugepage/enabled", text, sizeof text) && strstr(text, "[never]") != NULL;
}

static bool clock_source(const struct look *k)
{
	char now[100], all[200];

	return line(k, "/sys/devices/system/clocksource/clocksource0/current_clocksource", now, sizeof now) &&
	       line(k, "/sys/devices/system/clocksource/clocksource0/available_clocksource", all, sizeof all) &&
	       strcmp(now, "tsc") != 0 && strstr(all, "tsc") != NULL;
}

/* A state of idleness that takes more than 10 us to leave. */
static bool deep_sleep(const struct look *k)
{
	char path[100];

	for (unsigned i = 0; i < 16; i++) {
		snprintf(path, sizeof path, CPU "/cpu0/cpuidle/state%u/latency", i);
		if (number(k, path) > 10) {
			snprintf(path, sizeof path, CPU "/cpu0/cpuidle/state%u/disable", i);
			if (number(k, path) == 0)
				return true;
		}
	}
	return false;
}

/* ---- the table ----------------------------------------------------------------------------- */

static const struct hint {
	const char *name;
	bool      (*doubtful)(const struct look *k);
	const char *doubt, *command;            /* command NULL: nothing inside helps */
} hints[] = {
	{ "governor", governor, "the processors change their frequency with the load",
	  "sudo cpupower frequency-set -g performance" },
	{ "no-governor", no_governor, "the frequency governor cannot be seen: the host or the firmware decides", NULL },
	{ "turbo", turbo_intel, "turbo: a processor is faster while it is cool and its neighbours are idle",
	  "echo 1 | sudo tee /sys/devices/system/cpu/intel_pstate/no_turbo" },
	{ "boost", turbo_other, "boost: a processor is faster while it is cool and its neighbours are idle",
	  "echo 0 | sudo tee /sys/devices/system/cpu/cpufreq/boost" },
	{ "smt", smt, "two processors share a core: what one does slows the other",
	  "echo off | sudo tee /sys/devices/system/cpu/smt/control" },
	{ "idle", deep_sleep, "idle processors take more than 10 us to wake", "sudo cpupower idle-set -D 10" },
	{ "load", busy, "other programs are running", "ps -eo pcpu,pid,args --sort=-pcpu | head" },
	{ "thp", no_thp, "large pages are not given to those who ask",
	  "echo madvise | sudo tee /sys/kernel/mm/transparent_hugepage/enabled" },
	{ "hugepages", no_huge, "no large pages are set aside: the arena does with what it gets",
	  "sudo sysctl vm.nr_hugepages=128" },
	{ "clocksource", clock_source, "reading the clock costs a system call or a device", 
	  "echo tsc | sudo tee /sys/devices/system/clocksource/clocksource0/current_clocksource" },
	{ "perf", paranoid, "the processor's counters are not for users: cache misses are not available",
	  "sudo sysctl kernel.perf_event_paranoid=1" },
	{ "numa", numa, "memory has more than one node: a run may find its own near or far",
	  "numactl --cpunodebind=0 --membind=0 vp-bench run FILE" },
	{ "balancing", balancing, "the kernel moves pages between nodes while a run goes on", "sudo sysctl kernel.numa_balancing=0" },
	{ "steal", stolen, "the host takes processor time away", "virsh vcpupin DOMAIN VCPU CPU    # on the host" },
	{ "virtual", virtual, "this is a virtual machine: absolute times vary from day to day; compare in turns", NULL },
	{ "few", few, "few processors: the system's own work competes with the measured threads", NULL },
};

json_t *bench_hints(const char *root, const json_t *env)
{
	const struct look k = { root, env };
	json_t *list = json_array();

	for (unsigned i = 0; i < XK_ARRAY_LEN(hints); i++)
		if (hints[i].doubtful(&k))
			json_array_append_new(list, json_pack("{s:s, s:s, s:s?}", "name", hints[i].name, "doubt", hints[i].doubt,
							      "command", hints[i].command));
	return list;
}
