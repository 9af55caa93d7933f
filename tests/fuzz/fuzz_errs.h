/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * fuzz_errs.h - what every complaint about a file must have, whatever the file: words, and a line that is there.
 */
#ifndef FUZZ_ERRS_H
#define FUZZ_ERRS_H

#include <string.h>

#include "runtime/base/xk_errs.h"
#include "tests/fuzz/fuzz_in.h"

/* Complaints about the file of that name, which is text[size]. */
static inline void fuzz_located(const struct xk_errs *e, const char *name, const uint8_t *text, size_t size)
{
	int lines = 1, line, col;
	const char *file;

	for (size_t i = 0; i < size; i++)
		lines += text[i] == '\n';
	for (unsigned i = 0; i < xk_errs_count(e); i++) {
		const char *what = xk_errs_text(e, i, &file, &line, &col);

		if (what == NULL || *what == 0)
			fuzz_must("a complaint without words");
		if (file != NULL && strcmp(file, name) == 0 && (line < 0 || line > lines))
			fuzz_must("a complaint about a line that the file does not have");
	}
}

#endif
