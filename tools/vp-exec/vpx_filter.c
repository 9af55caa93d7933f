/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * vpx_filter.c - which system calls of a program come to the supervisor.
 *
 * libseccomp writes the filter before any program is begun, so that the child of a process with threads has one system
 * call to make and no memory to ask for.  Sends and receives without an address are the kernel's own, and so is all that
 * makes, copies and closes descriptors; but for a receive of one byte, by which programs find out whether a stream is
 * connected (ENOTCONN), and Python's ssl does before it wraps one.
 */
#include "tools/vp-exec/vpx.h"

#include "runtime/base/xk_apart.h"

#include <errno.h>
#include <seccomp.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

static const int always[] = {
	SCMP_SYS(bind), SCMP_SYS(listen), SCMP_SYS(accept), SCMP_SYS(accept4), SCMP_SYS(connect), SCMP_SYS(shutdown),
	SCMP_SYS(getsockname), SCMP_SYS(getpeername), SCMP_SYS(setsockopt), SCMP_SYS(getsockopt), SCMP_SYS(sendmsg),
	SCMP_SYS(recvmsg), SCMP_SYS(sendmmsg), SCMP_SYS(recvmmsg),
};
static const int families[] = { AF_INET, AF_INET6, AF_PACKET };

/* io_uring passes by every filter: programs do without it. */
static int rules(scmp_filter_ctx f)
{
	int err = seccomp_attr_set(f, SCMP_FLTATR_ACT_BADARCH, SCMP_ACT_ERRNO(ENOSYS));

	if (err == 0)
		err = seccomp_rule_add(f, SCMP_ACT_ERRNO(ENOSYS), SCMP_SYS(io_uring_setup), 0);
	for (unsigned i = 0; err == 0 && i < sizeof always / sizeof *always; i++)
		err = seccomp_rule_add(f, SCMP_ACT_NOTIFY, always[i], 0);
	for (unsigned i = 0; err == 0 && i < sizeof families / sizeof *families; i++)
		err = seccomp_rule_add(f, SCMP_ACT_NOTIFY, SCMP_SYS(socket), 1,
				       SCMP_A0_32(SCMP_CMP_EQ, (uint32_t)families[i], 0));
	if (err == 0)
		err = seccomp_rule_add(f, SCMP_ACT_NOTIFY, SCMP_SYS(sendto), 1, SCMP_A4_64(SCMP_CMP_NE, 0, 0));
	if (err == 0)
		err = seccomp_rule_add(f, SCMP_ACT_NOTIFY, SCMP_SYS(recvfrom), 1, SCMP_A4_64(SCMP_CMP_NE, 0, 0));
	if (err == 0)
		err = seccomp_rule_add(f, SCMP_ACT_NOTIFY, SCMP_SYS(recvfrom), 1, SCMP_A2_64(SCMP_CMP_EQ, 1, 0));
	if (err == 0)
		err = seccomp_rule_add(f, SCMP_ACT_NOTIFY, SCMP_SYS(sendto), 1,
				       SCMP_A3_64(SCMP_CMP_MASKED_EQ, MSG_OOB, MSG_OOB));
	return err;
}

/* As the filter that programs get, into the file *fd; an errno. */
static int export(void *fd)
{
	scmp_filter_ctx c = seccomp_init(SCMP_ACT_ALLOW);
	int err = c != NULL ? rules(c) : -ENOMEM;

	if (err == 0)
		err = seccomp_export_bpf(c, *(int *)fd);
	if (c != NULL)
		seccomp_release(c);
	return -err;
}

static int load(int fd, struct sock_fprog *out)
{
	struct stat st;

	if (fstat(fd, &st) < 0)
		return -errno;
	out->filter = malloc((size_t)st.st_size);
	out->len = (unsigned short)((size_t)st.st_size / sizeof *out->filter);
	return out->filter != NULL && pread(fd, out->filter, (size_t)st.st_size, 0) == st.st_size ? 0 : -ENOMEM;
}

int vpx_filter_new(struct sock_fprog *f)
{
	int fd = memfd_create("filter", MFD_CLOEXEC), err;

	if (fd < 0)
		return -errno;
	err = xk_apart(export, &fd);             /* libseccomp does not survive every lack of memory */
	if (err > 0)
		err = -err;
	if (err == 0)
		err = load(fd, f);
	close(fd);
	return err;
}

void vpx_filter_free(struct sock_fprog *f)
{
	free(f->filter);
	f->filter = NULL;
}
