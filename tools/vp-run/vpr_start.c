/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * vpr_start.c - ranks begin together: each says when its graph is up, and goes on when all are.
 *
 * By then the ports of all are open, so what one sends first finds the others.  A rank that is not up in time is told by
 * its number.  They also have a key in common, by which ncs knows who is of the job.
 * Invariant: nobody is waited for that has ended, or that is late.
 */
#include "tools/vp-run/vpr_job.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <unistd.h>

/* ---- the key -------------------------------------------------------------------------------------- */

bool vpr_key_given(char key[VPR_KEY + 1])
{
	const char *given = getenv("VP_KEY");
	size_t n = given != NULL ? strlen(given) : 0;

	memset(key, 0, VPR_KEY + 1);
	if (n > VPR_KEY) {
		fprintf(stderr, "vp-run: VP_KEY has %zu bytes, more than %u\n", n, VPR_KEY);
		return false;
	}
	if (n != 0)
		memcpy(key, given, n);
	return true;
}

int vpr_key_make(char key[VPR_KEY + 1])
{
	unsigned char b[VPR_KEY / 2];

	if (!vpr_key_given(key))
		return VPR_USAGE;
	if (key[0] != '\0')
		return VPR_OK;
	if (getrandom(b, sizeof b, 0) != (ssize_t)sizeof b) {
		fprintf(stderr, "vp-run: cannot make a key: %s\n", strerror(errno));
		return VPR_FAILED;
	}
	for (unsigned i = 0; i < sizeof b; i++)
		(void)sprintf(key + 2 * (size_t)i, "%02x", b[i]);
	return VPR_OK;
}

/* Whatever is there: a login on another host may have one of its own. */
int vpr_key_tell(const char *key)
{
	return setenv("VP_KEY", key, 1) == 0 ? XK_OK : XK_E_NOMEM;
}

/* ---- in the rank ------------------------------------------------------------------------------------- */

void vpr_wait_for_all(const struct vpr *o)
{
	struct pollfd p[2] = { { .fd = o->finished_fd, .events = POLLIN }, { .fd = o->stop_fd, .events = POLLIN } };
	char word = VPR_UP;

	if (o->finished_fd <= 0 || write(o->finished_fd, &word, 1) != 1)
		return;
	while (poll(p, 2, -1) < 0 && errno == EINTR)
		;
	if (p[1].revents == 0)                   /* else the run will see it, and ends */
		(void)read(o->finished_fd, &word, 1);
}

/* ---- its starter --------------------------------------------------------------------------------------- */

void vpr_go(int say)
{
	const char word = VPR_GO;

	if (say >= 0)                            /* who is gone is missed by its output's end */
		(void)send(say, &word, 1, MSG_NOSIGNAL | MSG_DONTWAIT);
}

static bool gone(const struct vpr_rank *r)
{
	return (r->begun && r->pid <= 0) || r->end.known || r->lost || r->late;
}

void vpr_start_turn(struct vpr_job *j)
{
	bool any = false;

	for (unsigned i = 0; i < j->n && !j->started; i++) {
		if (gone(&j->rank[i]))
			continue;
		if (!j->rank[i].ready)
			return;
		any = true;
	}
	j->started |= any;
	for (unsigned i = 0; i < j->n && j->started; i++) {
		struct vpr_rank *r = &j->rank[i];

		if (!r->ready || r->went)
			continue;
		r->went = true;
		if (r->host != NULL)
			vpr_remote_say(r, VPR_GO);
		else
			vpr_go(r->say);
	}
}

/* What has come and was not read is not late: this process may not have run for long. */
static bool silent(const struct vpr_rank *r)
{
	struct pollfd p = { .fd = r->host != NULL ? r->out.fd : r->say, .events = POLLIN };

	return poll(&p, 1, 0) == 0;
}

int64_t vpr_start_late(struct vpr_job *j)
{
	int64_t next = -1, left;

	for (unsigned i = 0; i < j->n && !j->started && !j->over.ending; i++) {
		struct vpr_rank *r = &j->rank[i];

		if (r->ready || !r->begun || gone(r) || r->ready_by == 0)
			continue;
		left = vpr_left(r->ready_by);
		if (left == 0 && silent(r)) {
			fprintf(stderr, "vp-run: rank %u%s%s did not come up in %s\n", i, r->host != NULL ? " at " : "",
				r->host != NULL ? r->host->name : "", j->o->within);
			r->late = true;
			vpr_job_failed(j, VPR_FAILED);
		} else {
			next = vpr_least(next, left);
		}
	}
	return next;
}
