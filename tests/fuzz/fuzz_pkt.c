/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * fuzz_pkt.c - fuzz target of the reader of wire scripts: a script is read, or refused at a line of it.
 *
 * Held to: what is refused is told in at least one sentence that begins with the script's name and a line that it has;
 * what is read says nothing of the kind; the same text is read the same twice; all memory is given back.
 * Invariant: nothing is kept from one input to the next.
 */
#include <string.h>

#include "tests/fuzz/fuzz_in.h"
#include "tools/pkt/pkt.h"

#define NAME "fuzz.pkt"

static unsigned lines(const uint8_t *text, size_t n)
{
	unsigned is = 1;

	for (size_t i = 0; i < n; i++)
		is += text[i] == '\n';
	return is;
}

static struct pkt_script *read_it(const uint8_t *data, size_t size, char **said)
{
	char *text = malloc(size + !size);       /* of its own length: the sanitizer sees a byte read too far */
	struct pkt_script *s;
	size_t n;
	FILE *f = open_memstream(said, &n);

	if (text == NULL || f == NULL)
		abort();
	memcpy(text, data, size);
	s = pkt_parse(NAME, text, size, f);
	free(text);
	if (fclose(f) != 0)
		abort();
	return s;
}

static void located(const char *said, unsigned last)
{
	unsigned line;

	if (sscanf(said, NAME ":%u:", &line) != 1)
		fuzz_must("a refusal without its place");
	if (line == 0 || line > last)
		fuzz_must("a refusal at a line that the script does not have");
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *said, *again;
	struct pkt_script *s = read_it(data, size, &said), *t = read_it(data, size, &again);

	if (s == NULL)
		located(said, lines(data, size));
	if ((s == NULL) != (t == NULL) || strcmp(said, again) != 0 || (s != NULL && pkt_events(s) != pkt_events(t)))
		fuzz_must("the same script is read in two ways");
	pkt_free(s);
	pkt_free(t);
	free(said);
	free(again);
	return 0;
}
