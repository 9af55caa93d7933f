/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * vpc_record.c - record: what the flight recorders of a running graph have; recording: what a file of theirs says.
 *
 * The running side writes into memory and hands it over, so a file is made with the rights of who asks.
 * Invariant: a file that is there already stays as it is.
 */
#include "tools/vp-ctl/vpc.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tools/recorder/rec.h"

static int fault(const char *file, const char *why)
{
	fprintf(stderr, "vp-ctl: %s: %s\n", file, why);
	return VPC_REFUSED;
}

/* All bytes of fd, of malloc, from its beginning on; NULL: *why. */
static char *whole(int fd, size_t *n, const char **why)
{
	struct stat st;
	char *p;

	*n = 0;
	*why = NULL;
	if (fstat(fd, &st) != 0)
		*why = strerror(errno);
	else if (!S_ISREG(st.st_mode))
		*why = "is no file";
	else if ((uint64_t)st.st_size > REC_MOST)
		*why = "is longer than a recording can be";
	p = *why == NULL ? malloc((size_t)st.st_size + 1) : NULL;
	if (*why == NULL && p == NULL)
		*why = "out of memory";
	while (p != NULL && *n < (size_t)st.st_size) {
		ssize_t k = pread(fd, p + *n, (size_t)st.st_size - *n, (off_t)*n);

		if (k == 0)
			break;
		if (k < 0 && errno != EINTR) {
			*why = strerror(errno);
			free(p);
			return NULL;
		}
		*n += k > 0 ? (size_t)k : 0;
	}
	return p;
}

/* In words, for Perfetto, or with the frames of a capture file for those who read them. */
enum form { TEXT, TRACE, PCAPNG, FORMS };
static const char *const forms[] = { "text", "trace", "pcapng" };

static int show(const char *file, const char *bytes, size_t n, enum form form, const char *capture)
{
	char why[512] = "out of memory";
	struct rec r;
	bool good = true;

	if (!rec_read(&r, bytes, n, why, sizeof why))
		return fault(file, why);
	if (form == TRACE)
		good = rec_trace(stdout, &r);
	else if (form == PCAPNG)
		good = rec_pcapng(stdout, &r, capture, why, sizeof why);
	else
		rec_text(stdout, &r);
	rec_free(&r);
	return good ? VPC_OK : fault(file, why);
}

static int keep(const char *file, const char *bytes, size_t n)
{
	int fd = open(file, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	size_t at = 0;

	if (fd < 0)
		return fault(file, strerror(errno));
	while (at < n) {
		ssize_t k = write(fd, bytes + at, n - at);

		if (k <= 0 && errno != EINTR)
			break;
		at += k > 0 ? (size_t)k : 0;
	}
	if (close(fd) != 0 || at < n) {
		(void)unlink(file);
		return fault(file, "cannot be written to its end");
	}
	printf("%s: %zu bytes; vp-ctl recording %s shows them\n", file, n, file);
	return VPC_OK;
}

int vpc_record(struct vpc *o)
{
	int code = VPC_OK;
	json_t *answer = vpc_ask(o, json_pack("{s:s}", "cmd", "record"), &code);
	const char *why = "no recording came with the answer";
	char *bytes = NULL;
	size_t n;

	if (answer == NULL)
		return code;
	json_decref(answer);
	if (o->passed >= 0)
		bytes = whole(o->passed, &n, &why);
	if (bytes == NULL)
		return fault(o->path, why);
	code = o->nwords > 1 ? keep(o->word[1], bytes, n) : show(o->path, bytes, n, TEXT, NULL);
	free(bytes);
	return code;
}

int vpc_recording(const struct vpc *o)
{
	const char *word = o->nwords > 2 ? o->word[2] : "text", *why;
	enum form form = TEXT;
	char *bytes;
	size_t n;
	int fd, code;

	while (form < FORMS && strcmp(word, forms[form]) != 0)
		form++;
	if (form == FORMS || o->nwords < 2 || o->nwords > 4 || (o->nwords == 4) != (form == PCAPNG)) {
		fprintf(stderr, "vp-ctl: recording needs a file, and perhaps how to show it: recording FILE [text|trace|pcapng CAPTURE]\n");
		return VPC_USAGE;
	}
	fd = open(o->word[1], O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	if (fd < 0)
		return fault(o->word[1], strerror(errno));
	bytes = whole(fd, &n, &why);
	close(fd);
	if (bytes == NULL)
		return fault(o->word[1], why);
	code = show(o->word[1], bytes, n, form, o->word[3]);
	free(bytes);
	return code;
}
