/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * bench_env.c - what machine this is, and what a reader is warned of about it.
 *
 * Everything is read, nothing is changed.  What cannot be found out is null,
 * and a warning is a sentence that a reader of the result should see.
 */
#include "tools/vp-bench/bench.h"

#include "runtime/base/xk_apart.h"

#include <dirent.h>
#include <hwloc.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>

/* First line of a file, without its end; false when there is none. */
static bool line_of(const char *path, char *buf, size_t n)
{
	FILE *f = fopen(path, "re");
	bool ok;

	if (f == NULL)
		return false;
	ok = fgets(buf, (int)n, f) != NULL;
	fclose(f);
	if (ok)
		buf[strcspn(buf, "\n")] = '\0';
	return ok;
}

static void put_line(json_t *o, const char *key, const char *path)
{
	char text[256];

	json_object_set_new(o, key, line_of(path, text, sizeof text) ? json_string(text) : json_null());
}

static void put_model(json_t *o)
{
	FILE *f = fopen("/proc/cpuinfo", "re");
	char text[512], *colon;

	json_object_set_new(o, "processor", json_null());
	while (f != NULL && fgets(text, sizeof text, f) != NULL)
		if (strncmp(text, "model name", 10) == 0 && (colon = strchr(text, ':')) != NULL) {
			colon[strcspn(colon, "\n")] = '\0';
			json_object_set_new(o, "processor", json_string(colon + 2));
			break;
		}
	if (f != NULL)
		fclose(f);
}

/* ---- topology ------------------------------------------------------------------------ */

static void put_caches(hwloc_topology_t t, json_t *o)
{
	static const struct { const char *name; hwloc_obj_type_t type; } caches[] = {
		{ "l1d_bytes", HWLOC_OBJ_L1CACHE }, { "l2_bytes", HWLOC_OBJ_L2CACHE }, { "l3_bytes", HWLOC_OBJ_L3CACHE },
	};

	for (unsigned i = 0; i < XK_ARRAY_LEN(caches); i++) {
		hwloc_obj_t c = hwloc_get_obj_by_type(t, caches[i].type, 0);

		json_object_set_new(o, caches[i].name, c ? json_integer((json_int_t)c->attr->cache.size) : json_null());
	}
}

/* 0: all of it is in the file. */
static int write_topology(void *f)
{
	json_t *o = json_object();
	hwloc_topology_t t;
	bool ok = false;

	if (hwloc_topology_init(&t) != 0)
		return 1;
	if (hwloc_topology_load(t) == 0) {
		json_object_set_new(o, "cpus", json_integer(hwloc_get_nbobjs_by_type(t, HWLOC_OBJ_PU)));
		json_object_set_new(o, "cores", json_integer(hwloc_get_nbobjs_by_type(t, HWLOC_OBJ_CORE)));
		json_object_set_new(o, "numa_nodes", json_integer(hwloc_get_nbobjs_by_type(t, HWLOC_OBJ_NUMANODE)));
		put_caches(t, o);
		ok = json_dumpf(o, f, JSON_COMPACT) == 0 && fflush(f) == 0;
	}
	hwloc_topology_destroy(t);
	json_decref(o);
	return ok ? 0 : 1;
}

/* hwloc does not survive every lack of memory: no answer is nothing known. */
static void put_topology(json_t *o)
{
	FILE *f = tmpfile();
	json_t *found = NULL;

	if (f == NULL)
		return;
	if (xk_apart(write_topology, f) == 0) {
		rewind(f);
		found = json_loadf(f, 0, NULL);
	}
	if (found != NULL)
		json_object_update(o, found);
	json_decref(found);
	fclose(f);
}

/* ---- kernel ----------------------------------------------------------------------------- */

static json_t *mitigations(void)
{
	static const char dir[] = "/sys/devices/system/cpu/vulnerabilities";
	DIR *d = opendir(dir);
	json_t *o = json_object();
	struct dirent *e;
	char path[512];

	while (d != NULL && (e = readdir(d)) != NULL) {
		if (e->d_name[0] == '.')
			continue;
		snprintf(path, sizeof path, "%s/%s", dir, e->d_name);
		put_line(o, e->d_name, path);
	}
	if (d != NULL)
		closedir(d);
	return o;
}

static bool hypervisor(void)
{
	FILE *f = fopen("/proc/cpuinfo", "re");
	char text[4096];
	bool found = false;

	while (f != NULL && !found && fgets(text, sizeof text, f) != NULL)
		found = strncmp(text, "flags", 5) == 0 && strstr(text, " hypervisor") != NULL;
	if (f != NULL)
		fclose(f);
	return found;
}

/* Share of stolen time since boot, or -1. */
static double steal(void)
{
	unsigned long long v[8] = { 0 }, sum = 0;
	char text[512];

	if (!line_of("/proc/stat", text, sizeof text) ||
	    sscanf(text, "cpu %llu %llu %llu %llu %llu %llu %llu %llu", &v[0], &v[1], &v[2], &v[3], &v[4], &v[5],
		   &v[6], &v[7]) != 8)
		return -1;
	for (unsigned i = 0; i < 8; i++)
		sum += v[i];
	return sum ? (double)v[7] / (double)sum : -1;
}

static double clock_grain(void)
{
	struct timespec r;

	return clock_getres(CLOCK_MONOTONIC, &r) == 0 ? (double)r.tv_sec * 1e9 + (double)r.tv_nsec : -1;
}

/* ---- warnings -------------------------------------------------------------------------------- */

static void warning(json_t *env, const char *text)
{
	json_array_append_new(json_object_get(env, "warnings"), json_string(text));
}

static void find_warnings(json_t *env)
{
	const json_t *governor = json_object_get(env, "governor");
	double load = bench_real(env, "load"), stolen = bench_real(env, "steal");
	char text[200];

	if (json_is_true(json_object_get(env, "virtual_machine")))
		warning(env, "this is a virtual machine: absolute times vary from day to day");
	if (json_is_null(governor))
		warning(env, "the frequency governor cannot be read");
	else if (strcmp(json_string_value(governor), "performance") != 0)
		warning(env, "the frequency governor is not \"performance\"");
	if (load > 0.5) {
		snprintf(text, sizeof text, "the machine was busy before the first run: load %.2f", load);
		warning(env, text);
	}
	if (stolen > 0.01) {
		snprintf(text, sizeof text, "%.1f %% of the time since boot was stolen by the host", stolen * 100);
		warning(env, text);
	}
	if (bench_real(env, "cpus") < 4)
		warning(env, "few processors: the system's own work competes with the measured threads");
}

json_t *bench_env(void)
{
	json_t *o = json_object();
	struct utsname u;
	double load = 0;

	put_model(o);
	put_topology(o);
	if (uname(&u) == 0)
		json_object_set_new(o, "kernel", json_sprintf("%s %s %s", u.sysname, u.release, u.machine));
	put_line(o, "governor", "/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor");
	put_line(o, "clocksource", "/sys/devices/system/clocksource/clocksource0/current_clocksource");
	put_line(o, "thp", "/sys/kernel/mm/transparent_hugepage/enabled");
	put_line(o, "command_line", "/proc/cmdline");
	json_object_set_new(o, "page_bytes", json_integer(sysconf(_SC_PAGESIZE)));
	json_object_set_new(o, "virtual_machine", json_boolean(hypervisor()));
	json_object_set_new(o, "clock_grain_ns", json_real(clock_grain()));
	json_object_set_new(o, "steal", steal() < 0 ? json_null() : json_real(steal()));
	json_object_set_new(o, "load", getloadavg(&load, 1) == 1 ? json_real(load) : json_null());
	json_object_set_new(o, "mitigations", mitigations());
	json_object_set_new(o, "warnings", json_array());
	find_warnings(o);
	return o;
}
