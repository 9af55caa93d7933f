/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * xk_variant.h - on x86-64, the same program compiled for more of the processor's instructions.
 *
 * A build for every x86-64 has vp-run and vp-bench once more, for x86-64-v3 (Haswell, 2013, and
 * later), beside them: vp-run-x86-64-v3.  What carries a message is inline in hundreds of
 * functions, where a choice for each would cost what it gains; so the choice is made once, when
 * the program starts, and nothing is asked afterwards.  Control path, one thread.
 */
#ifndef XK_VARIANT_H
#define XK_VARIANT_H

#include <stdbool.h>
#include <stddef.h>

/* First of all in main: goes on as that program, with the same process, name, arguments and descriptors, where this
 * build has one, the processor runs it and VP_CPU (runtime/base/xk_cpu.h) allows it; else true.  false, and a
 * sentence of the program `name`: VP_CPU is none.  Under valgrind, which would not follow, and with rights that its
 * file has and its user has not, a program goes on as itself. */
bool xk_variant_run(const char *name, char **argv);

/* Which file runs as `program`, a path: path is that of the variant, or false: program itself. */
bool xk_variant_of(const char *program, char *path, size_t room);

/* Cuts the path of a variant to the one of the program that runs everywhere; others stay. */
void xk_variant_plain(char *path);

/* What runs, for a user to read: "code for x86-64-v3, checksum by avx512, hash by sse4.2". */
void xk_variant_text(char *text, size_t room);

#endif
