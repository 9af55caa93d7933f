/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * classify_ebpf_load.c - gives programs and maps to the kernel, and says why it took none.
 *
 * A program is loaded without a log first: writing one is most of the verifier's time.  Only
 * when it was refused is it tried again for the verifier's words, of which the last lines say
 * what was wrong; lines of statistics behind them are left out.
 * Invariant: what fails leaves no descriptor open.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include <bpf/bpf.h>

#include "runtime/classify/classify_ebpf.h"
#include "runtime/mem/xk_mem.h"

#define LOG_BYTES (1u << 20)
#define LAST_LINES 3

static int refused_how(int err)
{
	switch (-err) {
	case EPERM:  return XK_E_PERM;
	case ENOMEM: return XK_E_NOMEM;
	case EMFILE: case ENFILE: return XK_E_MFILE;
	default:     return XK_E_NOTSUP;
	}
}

/* What would have to change, for errors that come before the verifier. */
static const char *advice(int err)
{
	switch (-err) {
	case EPERM:  return "it takes CAP_BPF, CAP_PERFMON and CAP_NET_ADMIN, or root";
	case ENOSYS: return "this kernel has no bpf system call (CONFIG_BPF_SYSCALL)";
	case E2BIG:  return "the program is too large for this kernel's verifier";
	case EINVAL: case ENOTSUP: return "this kernel does not know what it needs";
	case ENOMEM: return "the kernel has no memory for it";
	default:     return "the kernel would not have it";
	}
}

/* Statistics and what a line must have at least. */
static bool says_something(const char *line, size_t n)
{
	return n > 0 && strncmp(line, "processed ", n < 10 ? n : 10) != 0 &&
	       strncmp(line, "verification time ", n < 18 ? n : 18) != 0 &&
	       strncmp(line, "stack depth ", n < 12 ? n : 12) != 0;
}

/* The last lines of the verifier's log that say something, joined by " | ". */
static void last_lines(const char *all, char *to, size_t n)
{
	const char *line[LAST_LINES] = { NULL }, *end;
	size_t len[LAST_LINES] = { 0 }, at = 0;
	unsigned count = 0;

	for (const char *s = all; *s != '\0'; s = *end == '\0' ? end : end + 1) {
		end = strchrnul(s, '\n');
		if (!says_something(s, (size_t)(end - s)))
			continue;
		line[count % LAST_LINES] = s;
		len[count++ % LAST_LINES] = (size_t)(end - s);
	}
	if (n > 0)
		to[0] = '\0';
	for (unsigned i = count > LAST_LINES ? count - LAST_LINES : 0; i < count && at < n; i++) {
		int w = snprintf(to + at, n - at, "%s%.*s", at != 0 ? " | " : "", (int)len[i % LAST_LINES],
				 line[i % LAST_LINES]);

		at += w > 0 ? (size_t)w : 0;
	}
}

static int load(uint32_t type, const char *name, const struct bpf_insn *insn, unsigned n, char *log, size_t loglen)
{
	LIBBPF_OPTS(bpf_prog_load_opts, o, .log_buf = log, .log_size = (uint32_t)loglen, .log_level = log != NULL);
	int fd;

	if (type == BPF_PROG_TYPE_SYSCALL)
		o.prog_flags = BPF_F_SLEEPABLE;
	if (type == BPF_PROG_TYPE_XDP) {
		o.expected_attach_type = BPF_XDP;
		o.prog_flags = BPF_F_XDP_HAS_FRAGS;
	}
	fd = bpf_prog_load((enum bpf_prog_type)type, name, "Dual BSD/GPL", insn, n, &o);
	if (fd < 0 && errno == EINVAL && type == BPF_PROG_TYPE_XDP) {
		o.prog_flags = 0;        /* before Linux 5.18 */
		fd = bpf_prog_load((enum bpf_prog_type)type, name, "Dual BSD/GPL", insn, n, &o);
	}
	return fd >= 0 ? fd : -errno;
}

int ebpf_load_prog(uint32_t type, const char *name, const struct bpf_insn *insn, unsigned n, char *log, size_t loglen)
{
	int fd = load(type, name, insn, n, NULL, 0), err = fd;
	char *all;

	if (fd >= 0)
		return fd;
	all = xk_alloc(LOG_BYTES);
	if (all != NULL && err != -EPERM) {
		fd = load(type, name, insn, n, all, LOG_BYTES);
		all[LOG_BYTES - 1] = '\0';
	}
	if (fd >= 0) {                           /* it was short of something for a moment */
		xk_free(all);
		return fd;
	}
	if (all != NULL && all[0] != '\0') {
		int at = snprintf(log, loglen, "the verifier refused the program %s (%u instructions): ", name, n);

		if (at > 0 && (size_t)at < loglen)
			last_lines(all, log + at, loglen - (size_t)at);
	} else {
		snprintf(log, loglen, "the eBPF program %s can't be loaded (%s): %s", name, strerror(-err), advice(err));
	}
	xk_free(all);
	return refused_how(err);
}

/* ---- programs that steer ------------------------------------------------------------------------ */

static int load_gen(struct ebpf_gen *g, uint32_t type, const char *name, char *log, size_t loglen)
{
	int fd;

	if (g == NULL)
		return XK_E_NOTSUP;
	fd = ebpf_load_prog(type, name, g->a.insn, g->a.n, log, loglen);
	xk_free(g);
	return fd;
}

int xk_pattern_xdp(const struct xk_pattern *p, unsigned nvps, int xskmap_fd, int flows_fd, char *log, size_t loglen)
{
	return load_gen(ebpf_gen_xdp(p, nvps, xskmap_fd, flows_fd, log, loglen), BPF_PROG_TYPE_XDP, "xk_xdp", log, loglen);
}

int xk_pattern_fanout(const struct xk_pattern *p, unsigned nvps, int flows_fd, char *log, size_t loglen)
{
	return load_gen(ebpf_gen_fanout(p, nvps, flows_fd, log, loglen), BPF_PROG_TYPE_SOCKET_FILTER, "xk_fanout", log,
			loglen);
}

/* ---- their flows ---------------------------------------------------------------------------------- */

int xk_ebpf_flows_new(uint32_t most, char *log, size_t loglen)
{
	LIBBPF_OPTS(bpf_map_create_opts, o, .map_flags = BPF_F_NO_PREALLOC);
	int fd = bpf_map_create(BPF_MAP_TYPE_HASH, "xk_flows", sizeof(struct xk_flowkey), sizeof(uint32_t), most, &o);

	if (fd >= 0)
		return fd;
	snprintf(log, loglen, "no map for %u flows (%s): %s", most, strerror(errno), advice(-errno));
	return refused_how(-errno);
}

int xk_ebpf_flows_set(int flows_fd, const struct xk_flowkey *k, uint16_t vp)
{
	uint32_t v = vp;

	if (bpf_map_update_elem(flows_fd, k, &v, BPF_ANY) == 0)
		return XK_OK;
	return errno == E2BIG ? XK_E_NOSPC : errno == EBADF ? XK_E_BADF : errno == ENOMEM ? XK_E_NOMEM : XK_E_IO;
}

int xk_ebpf_flows_drop(int flows_fd, const struct xk_flowkey *k)
{
	if (bpf_map_delete_elem(flows_fd, k) == 0)
		return XK_OK;
	return errno == ENOENT ? XK_E_NOENT : errno == EBADF ? XK_E_BADF : XK_E_IO;
}
