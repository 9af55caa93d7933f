/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * vpx_isolate.c - --isolate: a program's network is the graph's where it does not ask by a socket of ours, too.
 *
 * Namespaces of its own, of network and of mounts (and of users, where it takes one to make the others): one interface,
 * lo, with the addresses of its node; /etc/hosts with the table of names; /etc/resolv.conf with 127.0.0.1, which
 * is vp-exec.  The files are of a file system in memory that nobody else sees.
 * Invariant: what runs in the child makes system calls alone; the text of the files was made before.
 */
#include "tools/vp-exec/vpx.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/if_addr.h>
#include <linux/mount.h>
#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <net/if.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { LOOPBACK = 1 };                   /* its number in a new namespace */
static char *hosts;
static size_t hosts_len;

bool vpx_isolate_init(void)
{
	FILE *f = open_memstream(&hosts, &hosts_len);

	if (f == NULL)
		return false;
	vpx_hosts_print(f);
	return fclose(f) == 0;
}

void vpx_isolate_fini(void)
{
	free(hosts);
	hosts = NULL;
}

static int put(const char *file, const char *text, size_t n)
{
	int fd = open(file, O_WRONLY | O_CLOEXEC), err = 0;

	if (fd < 0)
		return -errno;
	if (write(fd, text, n) != (ssize_t)n)
		err = -errno;
	close(fd);
	return err;
}

/* ---- users: nobody but who has begun us ------------------------------------------------------------------ */

static int map_of(const char *file, unsigned id)
{
	char text[32];
	int n = snprintf(text, sizeof text, "%u %u 1", id, id);

	return put(file, text, (size_t)n);
}

static int namespaces(void)
{
	unsigned uid = geteuid(), gid = getegid();
	int err;

	if (unshare(CLONE_NEWNET | CLONE_NEWNS) == 0)
		return 0;
	if (errno != EPERM || unshare(CLONE_NEWUSER | CLONE_NEWNET | CLONE_NEWNS) < 0)
		return -errno;
	err = put("/proc/self/setgroups", "deny", 4);
	if (err == 0)
		err = map_of("/proc/self/uid_map", uid);
	return err == 0 ? map_of("/proc/self/gid_map", gid) : err;
}

/* ---- the interface ------------------------------------------------------------------------------------------ */

/* One request of rtnetlink, and what the kernel says. */
static int ask(int fd, const void *request, size_t n)
{
	struct { struct nlmsghdr h; struct nlmsgerr e; char more[256]; } answer;

	if (send(fd, request, n, 0) != (ssize_t)n)
		return -errno;
	if (recv(fd, &answer, sizeof answer, 0) < (ssize_t)(sizeof answer.h + sizeof answer.e.error))
		return -EPROTO;
	return answer.h.nlmsg_type == NLMSG_ERROR ? answer.e.error : -EPROTO;
}

static int come_up(int fd)
{
	struct { struct nlmsghdr h; struct ifinfomsg i; } r = {
		.h = { .nlmsg_len = sizeof r, .nlmsg_type = RTM_NEWLINK, .nlmsg_flags = NLM_F_REQUEST | NLM_F_ACK },
		.i = { .ifi_index = LOOPBACK, .ifi_flags = IFF_UP, .ifi_change = IFF_UP },
	};

	return ask(fd, &r, sizeof r);
}

static int add_address(int fd, uint32_t addr, unsigned len)
{
	struct { struct nlmsghdr h; struct ifaddrmsg a; struct rtattr r; uint32_t addr; } r = {
		.h = { .nlmsg_len = sizeof r, .nlmsg_type = RTM_NEWADDR,
		       .nlmsg_flags = NLM_F_REQUEST | NLM_F_ACK | NLM_F_CREATE },
		.a = { .ifa_family = AF_INET, .ifa_prefixlen = (uint8_t)len, .ifa_index = LOOPBACK },
		.r = { .rta_len = RTA_LENGTH(sizeof r.addr), .rta_type = IFA_LOCAL }, .addr = htonl(addr),
	};

	return ask(fd, &r, sizeof r);
}

static int interface(const struct vpx_stack *st)
{
	int fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_ROUTE), err;
	uint32_t addr;
	unsigned len;

	if (fd < 0)
		return -errno;
	err = come_up(fd);
	for (size_t i = 0; err == 0 && vpx_hosts_of(st, &i, &addr, &len);) {
		err = add_address(fd, addr, len);
		err = err == -EEXIST ? 0 : err;          /* of two nodes, or twice of one */
	}
	close(fd);
	return err;
}

/* ---- files ---------------------------------------------------------------------------------------------------- */

/* A file of that text in place of one that there is; where there is none, there will be none. */
static int cover(int fs, const char *name, const char *file, const char *text, size_t n)
{
	int fd = openat(fs, name, O_WRONLY | O_CREAT | O_CLOEXEC, 0644), tree, err = 0;

	if (fd < 0)
		return -errno;
	if (write(fd, text, n) != (ssize_t)n)
		err = -EIO;
	close(fd);
	tree = err == 0 ? (int)syscall(SYS_open_tree, fs, name, OPEN_TREE_CLONE | OPEN_TREE_CLOEXEC) : -1;
	if (err == 0 && tree < 0)
		return -errno;
	if (err == 0 && syscall(SYS_move_mount, tree, "", AT_FDCWD, file, MOVE_MOUNT_F_EMPTY_PATH | MOVE_MOUNT_T_SYMLINKS) < 0 &&
	    errno != ENOENT)
		err = -errno;
	if (tree >= 0)
		close(tree);
	return err;
}

/* Nothing that is mounted from here on is seen by others. */
static int alone(void)
{
	struct mount_attr a = { .propagation = MS_PRIVATE };

	return syscall(SYS_mount_setattr, AT_FDCWD, "/", AT_RECURSIVE, &a, sizeof a) < 0 ? -errno : 0;
}

static int files(void)
{
	static const char resolv[] = "nameserver 127.0.0.1\n";
	int make = (int)syscall(SYS_fsopen, "tmpfs", FSOPEN_CLOEXEC), fs, err = alone();

	if (make < 0)
		return -errno;
	if (err == 0 && syscall(SYS_fsconfig, make, FSCONFIG_CMD_CREATE, NULL, NULL, 0) < 0)
		err = -errno;
	fs = err == 0 ? (int)syscall(SYS_fsmount, make, FSMOUNT_CLOEXEC, 0) : -1;
	if (err == 0 && fs < 0)
		err = -errno;
	close(make);
	if (err == 0)
		err = cover(fs, "hosts", "/etc/hosts", hosts, hosts_len);
	if (err == 0)
		err = cover(fs, "resolv.conf", "/etc/resolv.conf", resolv, sizeof resolv - 1);
	if (fs >= 0)
		close(fs);
	return err;
}

int vpx_isolate(const struct vpx_stack *st)
{
	int err = namespaces();

	if (err == 0)
		err = interface(st);
	return err == 0 ? files() : err;
}
