/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * bench_binary.c - which program was measured, and who else ran meanwhile.
 *
 * A vp-run carries the words "xkvp build: commit ...; compiler ...; flags ..." among its
 * bytes (tools/vp-run/build-text); they are looked for there, so that a program of
 * another build is named without being run.  The id is a hash of all its bytes.
 */
#include "tools/vp-bench/bench.h"

#include "runtime/compose/xk_variant.h"

#include <dirent.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

static const char marker[] = "xkvp build: ";

/* ---- the program ------------------------------------------------------------------- */

bool bench_find_program(const char *name, char *path)
{
	const char *p = getenv("PATH");
	char one[PATH_MAX];

	if (strchr(name, '/') != NULL)
		return realpath(name, path) != NULL;
	while (p != NULL && *p != '\0') {
		size_t n = strcspn(p, ":");

		if (snprintf(one, sizeof one, "%.*s/%s", (int)n, p, name) < (int)sizeof one && access(one, X_OK) == 0)
			return realpath(one, path) != NULL;
		p += n + (p[n] == ':');
	}
	return false;
}

/* What stands behind `key` up to a semicolon or the end of the words. */
static json_t *word_of(const char *words, size_t n, const char *key)
{
	char text[1024];
	const char *at, *end;

	snprintf(text, sizeof text, "%.*s", (int)(n < 1000 ? n : 1000), words);
	at = strstr(text, key);
	if (at == NULL)
		return json_null();
	at += strlen(key);
	end = strstr(at, "; ");
	return json_stringn(at, end != NULL ? (size_t)(end - at) : strlen(at));
}

/* What the words of a variant say is said of the parts that it shares with the program that runs everywhere. */
static void say_variant(json_t *o)
{
	const char *flags = json_string_value(json_object_get(o, "flags"));

	if (flags != NULL)
		json_object_set_new(o, "flags", json_sprintf("%s -march=x86-64-v3", flags));
}

static void read_bytes(json_t *o, const unsigned char *b, size_t n)
{
	const char *words = memmem(b, n, marker, sizeof marker - 1);
	size_t len = words ? strnlen(words, n - (size_t)(words - (const char *)b)) : 0;

	json_object_set_new(o, "id", json_sprintf("fnv1a:%016llx", (unsigned long long)bench_hash(BENCH_HASH, b, n)));
	if (words == NULL)
		return;
	len = strcspn(words, "\n") < len ? strcspn(words, "\n") : len;
	json_object_set_new(o, "commit", word_of(words, len, "commit "));
	json_object_set_new(o, "compiler", word_of(words, len, "compiler "));
	json_object_set_new(o, "flags", word_of(words, len, "flags "));
}

json_t *bench_binary_json(const char *program)
{
	json_t *o = json_pack("{s:s, s:n, s:n, s:n, s:n}", "path", program, "id", "commit", "compiler", "flags");
	char path[PATH_MAX], variant[PATH_MAX];
	struct stat st;
	bool other;
	void *b;
	int fd;

	if (!bench_find_program(program, path))
		return o;
	other = xk_variant_of(path, variant, sizeof variant);
	if (other)
		memcpy(path, variant, sizeof path);
	json_object_set_new(o, "path", json_string(path));
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return o;
	if (fstat(fd, &st) == 0 && st.st_size > 0) {
		b = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
		if (b != MAP_FAILED) {
			read_bytes(o, b, (size_t)st.st_size);
			munmap(b, (size_t)st.st_size);
		}
	}
	close(fd);
	if (other)
		say_variant(o);
	return o;
}

/* ---- who else ran -------------------------------------------------------------------- */

/* Of a file of /proc: the line that begins with key, behind it. */
static bool status_line(const char *path, const char *key, char *out, size_t n)
{
	FILE *f = fopen(path, "re");
	char line[512];
	bool found = false;

	while (f != NULL && !found && fgets(line, sizeof line, f) != NULL)
		if (strncmp(line, key, strlen(key)) == 0) {
			snprintf(out, n, "%s", line + strlen(key) + strspn(line + strlen(key), " \t"));
			out[strcspn(out, "\n")] = '\0';
			found = true;
		}
	if (f != NULL)
		fclose(f);
	return found;
}

/* Runs, and may do so on one processor only. */
static bool runs_pinned(const char *dir, const char *task)
{
	char path[PATH_MAX], text[200];

	snprintf(path, sizeof path, "%.2000s/%.40s/status", dir, task);
	if (!status_line(path, "State:", text, sizeof text) || text[0] != 'R')
		return false;
	return status_line(path, "Cpus_allowed_list:", text, sizeof text) && strpbrk(text, ",-") == NULL;
}

static unsigned pinned_of(const char *pid)
{
	char dir[80];
	struct dirent *e;
	unsigned n = 0;
	DIR *d;

	snprintf(dir, sizeof dir, "/proc/%.20s/task", pid);
	d = opendir(dir);
	while (d != NULL && (e = readdir(d)) != NULL)
		n += e->d_name[0] != '.' && runs_pinned(dir, e->d_name);
	if (d != NULL)
		closedir(d);
	return n;
}

/* The kernel's own threads are pinned and belong to the machine. */
static bool is_kernels(const char *pid)
{
	char path[80], text[40];
	ssize_t n;

	snprintf(path, sizeof path, "/proc/%.20s/exe", pid);
	n = readlink(path, text, sizeof text);
	return n <= 0;
}

unsigned bench_pinned_others(void)
{
	DIR *d = sysconf(_SC_NPROCESSORS_ONLN) > 1 ? opendir("/proc") : NULL;
	struct dirent *e;
	unsigned n = 0;

	while (d != NULL && (e = readdir(d)) != NULL)
		if (e->d_name[0] >= '1' && e->d_name[0] <= '9' && strtol(e->d_name, NULL, 10) != (long)getpid() &&
		    !is_kernels(e->d_name))
			n += pinned_of(e->d_name);
	if (d != NULL)
		closedir(d);
	return n;
}

long bench_throttled(void)
{
	char path[120], text[40];
	long sum = -1;

	for (long i = 0; i < sysconf(_SC_NPROCESSORS_CONF); i++) {
		FILE *f;

		snprintf(path, sizeof path, "/sys/devices/system/cpu/cpu%ld/thermal_throttle/core_throttle_count", i);
		f = fopen(path, "re");
		if (f != NULL && fgets(text, sizeof text, f) != NULL)
			sum = (sum < 0 ? 0 : sum) + strtol(text, NULL, 10);
		if (f != NULL)
			fclose(f);
	}
	return sum;
}
