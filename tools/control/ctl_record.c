/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * ctl_record.c - the recording of all flight recorders, handed to who asks.
 *
 * It goes into memory whose descriptor comes along with the answer: who asks keeps it, under a name and with the rights
 * of his own, so that a graph which may write no file is recorded, too.
 */
#include "tools/control/ctl_priv.h"

#include <errno.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "runtime/base/xk_errs.h"

int ctl_cmd_record(struct ctl_call *k)
{
	int fd = memfd_create("xk-recording", MFD_CLOEXEC), err;
	struct stat st;

	if (fd < 0)
		return ctl_fail(k, "failed", "no memory for a recording: %s", xk_strerror(-errno));
	err = xk_graph_record(k->c->g, fd, XK_RECORDING_ASKED, 0);
	if (err == XK_OK && fstat(fd, &st) != 0)
		err = -errno;
	if (err != XK_OK) {
		close(fd);
		return ctl_fail(k, "failed", "cannot write the recording: %s", xk_strerror(err));
	}
	if (k->client->pass_fd >= 0)
		close(k->client->pass_fd);
	k->client->pass_fd = fd;
	k->result = json_pack("{s:I}", "bytes", (json_int_t)st.st_size);
	return XK_OK;
}
