/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * vpr_lines.c - what ranks print: read from pipes, shown line by line behind the rank's number, or as one JSON list.
 *
 * Invariant: a pipe's text has room for what the next read may bring.
 */
#include "tools/vp-run/vpr_job.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define READ_LEAST 4096u

static bool make_room(struct vpr_pipe *p, size_t n)
{
	size_t room = p->room != 0 ? p->room : VPR_LINE_MOST;
	char *more;

	while (room < p->n + n)
		room *= 2;
	if (room == p->room)
		return true;
	more = realloc(p->text, room);
	if (more == NULL)
		return false;
	p->text = more;
	p->room = room;
	return true;
}

bool vpr_pipe_read(struct vpr_pipe *p)
{
	ssize_t n = make_room(p, READ_LEAST) ? read(p->fd, p->text + p->n, p->room - p->n) : 0;

	if (n < 0 && (errno == EINTR || errno == EAGAIN))
		return true;
	if (n > 0) {
		p->n += (size_t)n;
		return true;
	}
	close(p->fd);
	p->fd = -1;
	return false;
}

void vpr_pipe_take(struct vpr_pipe *p, size_t n)
{
	if (n == 0)
		return;
	memmove(p->text, p->text + n, p->n - n);
	p->n -= n;
}

bool vpr_pipe_add(struct vpr_pipe *p, const void *text, size_t n)
{
	if (!make_room(p, n))
		return false;
	memcpy(p->text + p->n, text, n);
	p->n += n;
	return true;
}

static void print(unsigned rank, FILE *f, const char *text, size_t n)
{
	fprintf(f, "[%u] ", rank);
	fwrite(text, 1, n, f);
	putc('\n', f);
}

void vpr_lines(unsigned rank, struct vpr_pipe *p, FILE *f, bool all)
{
	size_t from = 0;
	char *end;

	if (p->n == 0)
		return;
	while ((end = memchr(p->text + from, '\n', p->n - from)) != NULL) {
		print(rank, f, p->text + from, (size_t)(end - (p->text + from)));
		from = (size_t)(end - p->text) + 1;
	}
	if (from < p->n && (all || p->n - from >= VPR_LINE_MOST)) {
		print(rank, f, p->text + from, p->n - from);
		from = p->n;
	}
	vpr_pipe_take(p, from);
	fflush(f);
}

void vpr_lines_json(const struct vpr_job *j)
{
	printf("[\n");
	for (unsigned i = 0; i < j->n; i++) {
		const struct vpr_rank *r = &j->rank[i];
		const struct vpr_pipe *p = r->host != NULL ? &r->far_out : &r->out;

		if (p->n != 0)
			fwrite(p->text, 1, p->n, stdout);
		else
			printf("null\n");
		if (i + 1 < j->n)
			printf(",\n");
	}
	printf("]\n");
}
