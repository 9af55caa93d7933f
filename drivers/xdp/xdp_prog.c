/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * xdp_prog.c - the XDP program and its place at the interface.
 *
 * The program is made as instructions, so no compiler is needed where it runs: of
 * the graph's pattern, so that a frame comes to the socket that its VP has at the queue
 * where it came, by a map that follows the graph's connections; or else a few, to the
 * first VP's socket there.  It hangs on a BPF link, which the kernel takes away with the
 * process that holds it: a graph that dies leaves nothing behind.  Programs of others
 * are never replaced.
 * Invariant: a frame of a queue that the graph does not serve goes on to the
 * kernel's stack.
 */
#include "drivers/xdp/xdp_priv.h"
#include "runtime/base/xk_log.h"

#include <bpf/bpf.h>
#include <errno.h>
#include <linux/capability.h>
#include <linux/if_link.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#define NAME "xk_xdp"            /* what the runtime calls its own, too */
#define FLOWS_MAX 65536u         /* connections in the program's map */

/* ---- instructions ------------------------------------------------------------------- */

#define INSN(op, d, s, o, i) ((struct bpf_insn){ .code = (op), .dst_reg = (d), .src_reg = (s), .off = (o), .imm = (i) })
#define LOAD_W(d, s, o)      INSN(BPF_LDX | BPF_MEM | BPF_W, d, s, o, 0)
#define MUL(d, i)            INSN(BPF_ALU | BPF_MUL | BPF_K, d, 0, 0, i)
#define MOV(d, i)            INSN(BPF_ALU64 | BPF_MOV | BPF_K, d, 0, 0, i)
#define MAP(d, fd)           INSN(BPF_LD | BPF_DW | BPF_IMM, d, BPF_PSEUDO_MAP_FD, 0, fd), INSN(0, 0, 0, 0, 0)
#define CALL(f)              INSN(BPF_JMP | BPF_CALL, 0, 0, 0, f)
#define EXIT                 INSN(BPF_JMP | BPF_EXIT, 0, 0, 0, 0)

/*
 * return bpf_redirect_map(map, queue * nvps, XDP_PASS): to the first VP's socket
 * at the queue where the frame came.  From there it finds its VP as from any
 * device.
 */
static int prog_load(const struct xdp_dev *d, char *log, size_t loglen)
{
	const struct bpf_insn prog[] = {
		LOAD_W(BPF_REG_2, BPF_REG_1, offsetof(struct xdp_md, rx_queue_index)),
		MUL(BPF_REG_2, (int32_t)d->nvps),
		MAP(BPF_REG_1, d->map_fd),
		MOV(BPF_REG_3, XDP_PASS),
		CALL(BPF_FUNC_redirect_map),
		EXIT,
	};
	LIBBPF_OPTS(bpf_prog_load_opts, o, .expected_attach_type = BPF_XDP, .prog_flags = BPF_F_XDP_HAS_FRAGS);
	int fd;

	o.log_buf = log;
	o.log_size = (__u32)loglen;
	o.log_level = 1;
	fd = bpf_prog_load(BPF_PROG_TYPE_XDP, NAME, "Dual BSD/GPL", prog, XK_ARRAY_LEN(prog), &o);
	if (fd != -EINVAL)
		return fd;
	o.prog_flags = 0;                /* before Linux 5.18 */
	return bpf_prog_load(BPF_PROG_TYPE_XDP, NAME, "Dual BSD/GPL", prog, XK_ARRAY_LEN(prog), &o);
}

static int prog_fail(int err, const char *what, char *why, size_t n)
{
	if (err == -EPERM || err == -EACCES)
		snprintf(why, n, "%s: not permitted: needs CAP_NET_ADMIN, CAP_NET_RAW and CAP_BPF (run as root)", what);
	else if (err == -ENOSYS || err == -EINVAL)
		snprintf(why, n, "%s: %s: needs Linux 5.11 or later with BPF and XDP_SOCKETS", what, strerror(-err));
	else
		snprintf(why, n, "%s: %s", what, strerror(-err));
	return err;
}

/* The verifier's last words, where it said any. */
static const char *last_line(char *log)
{
	char *end = log + strlen(log), *line;

	while (end > log && end[-1] == '\n')
		*--end = '\0';
	line = strrchr(log, '\n');
	return line != NULL ? line + 1 : log;
}

/* May this process load programs that the verifier looks at with a perfmon's trust?  Yes, where
 * that is not known. */
static bool has_perfmon(void)
{
	struct __user_cap_header_struct h = { .version = _LINUX_CAPABILITY_VERSION_3 };
	struct __user_cap_data_struct d[_LINUX_CAPABILITY_U32S_3] = { { 0 } };
	const uint32_t admin = 1u << CAP_SYS_ADMIN, perfmon = 1u << (CAP_PERFMON - 32);

	return syscall(SYS_capget, &h, d) != 0 || (d[0].effective & admin) != 0 || (d[1].effective & perfmon) != 0;
}

/* -1: the runtime shall steer. */
static int prog_of_pattern(struct xdp_dev *d)
{
	char log[1024] = "";
	int fd;

	if (d->pattern == NULL || d->nvps == 1)
		return -1;
	if (xk_ebpf_follow(&d->flows, d->flowtab, FLOWS_MAX, log, sizeof log) != XK_OK)
		XK_TRACE(d->log, 2, "interface %s: the program knows connections by their hash alone: %s", d->ifname, log);
	fd = xk_pattern_xdp(d->pattern, d->nvps, d->map_fd, d->flows.fd, log, sizeof log);
	if (fd < 0) {
		XK_TRACE(d->log, 2, "interface %s: no program of the graph's pattern%s: %s", d->ifname,
			 has_perfmon() ? "" : " (needs CAP_PERFMON, too)", log);
		xk_ebpf_unfollow(&d->flows);
	}
	return fd;
}

int xdp_prog_new(struct xdp_dev *d, char *why, size_t n)
{
	char log[4096] = "", what[256];

	d->map_fd = bpf_map_create(BPF_MAP_TYPE_XSKMAP, NAME, sizeof(uint32_t), sizeof(uint32_t),
				   (d->first_queue + d->nqueues) * d->nvps, NULL);
	if (d->map_fd < 0)
		return prog_fail(d->map_fd, "cannot make the map of sockets", why, n);
	d->prog_fd = prog_of_pattern(d);
	d->steers = d->prog_fd >= 0;
	if (!d->steers)
		d->prog_fd = prog_load(d, log, sizeof log);
	if (d->prog_fd >= 0)
		return XK_OK;
	snprintf(what, sizeof what, "cannot load the XDP program%s%.150s", log[0] ? ": " : "", last_line(log));
	return prog_fail(d->prog_fd, what, why, n);
}

/* ---- at the interface ------------------------------------------------------------------ */

static void prog_name(uint32_t id, char name[BPF_OBJ_NAME_LEN])
{
	struct bpf_prog_info info = { .id = 0 };
	uint32_t len = sizeof info;
	int fd = bpf_prog_get_fd_by_id(id);

	name[0] = '\0';
	if (fd < 0)
		return;
	if (bpf_obj_get_info_by_fd(fd, &info, &len) == 0)
		memcpy(name, info.name, BPF_OBJ_NAME_LEN);
	close(fd);
}

static int prog_taken(const char *ifname, uint32_t id, char *why, size_t n)
{
	char name[BPF_OBJ_NAME_LEN];

	prog_name(id, name);
	if (strcmp(name, NAME) == 0)
		snprintf(why, n, "interface %s is in use by another graph", ifname);
	else
		snprintf(why, n, "interface %s has an XDP program already ('%s', number %u); to take it away: "
			 "ip link set dev %s xdp off", ifname, name, id, ifname);
	return XK_E_BUSY;
}

int xdp_prog_alone(const struct xdp_dev *d, char *why, size_t n)
{
	LIBBPF_OPTS(bpf_xdp_query_opts, q);
	int err = bpf_xdp_query((int)d->ifindex, 0, &q);

	if (err != 0)
		return prog_fail(err, "cannot ask for the interface's XDP program", why, n);
	if (q.prog_id != 0)
		return prog_taken(d->ifname, q.prog_id, why, n);
	if (q.drv_prog_id != 0 || q.skb_prog_id != 0 || q.hw_prog_id != 0)
		return prog_taken(d->ifname, q.drv_prog_id ? q.drv_prog_id : q.skb_prog_id ? q.skb_prog_id : q.hw_prog_id,
				  why, n);
	return XK_OK;
}

int xdp_prog_attach(struct xdp_dev *d, bool native, char *why, size_t n)
{
	LIBBPF_OPTS(bpf_link_create_opts, o, .flags = native ? XDP_FLAGS_DRV_MODE : XDP_FLAGS_SKB_MODE);

	d->link_fd = bpf_link_create(d->prog_fd, (int)d->ifindex, BPF_XDP, &o);
	if (d->link_fd >= 0)
		return XK_OK;
	if (d->link_fd == -EOPNOTSUPP && native) {
		snprintf(why, n, "the driver of %s takes no XDP program; mode = \"generic\" works on every interface", d->ifname);
		return d->link_fd;
	}
	/* Somebody was quicker than we were after looking. */
	if (d->link_fd == -EBUSY || d->link_fd == -EEXIST) {
		int err = xdp_prog_alone(d, why, n);

		if (err != XK_OK)
			return err;
	}
	return prog_fail(d->link_fd, "cannot attach the XDP program", why, n);
}

bool xdp_prog_gone(const struct xdp_dev *d)
{
	struct bpf_link_info info = { .id = 0 };
	uint32_t len = sizeof info;

	return bpf_obj_get_info_by_fd(d->link_fd, &info, &len) == 0 && info.xdp.ifindex != d->ifindex;
}

void xdp_prog_free(struct xdp_dev *d)
{
	if (d->prog_fd >= 0)
		close(d->prog_fd);
	if (d->map_fd >= 0)
		close(d->map_fd);
	d->prog_fd = d->map_fd = -1;
	xk_ebpf_unfollow(&d->flows);
}
