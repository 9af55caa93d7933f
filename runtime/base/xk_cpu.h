/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * xk_cpu.h - which instructions of the processor code may use beyond those that all of its kind have.
 *
 * A build runs on every x86-64, or every arm64.  What is faster with more is there in variants,
 * of which one is chosen when a program starts: the sums and copies of xk_csum.h, the hash of
 * runtime/map/xk_table.h and, on x86-64, whole programs (runtime/compose/xk_home.h).
 *
 * The variable VP_CPU of the environment is the most that may be chosen.  It is for comparing,
 * and for finding out whether a fault is of a variant.  Any thread, also before main; no errors.
 */
#ifndef XK_CPU_H
#define XK_CPU_H

#include <stdbool.h>
#include <stdint.h>

/* One bit each; zero: what all have, on x86-64 SSE2, on arm64 NEON. */
enum {
	XK_CPU_SSE42 = 1,        /* x86-64: CRC-32C by instruction */
	XK_CPU_AVX2 = 2,
	XK_CPU_V3 = 4,           /* all of x86-64-v3: AVX2, BMI1, BMI2, F16C, FMA, LZCNT, MOVBE */
	XK_CPU_AVX512 = 8,       /* F, BW, VL; and BMI2 */
	XK_CPU_CRC = 16,         /* arm64: CRC-32C by instruction */
};

/* What the processor has, or the emulator in its place, the system keeps over a switch of threads, and VP_CPU allows. */
uint32_t xk_cpu_has(void);

/* What VP_CPU may be, "generic, sse4.2, ..."; and whether it is one of these or not set. */
const char *xk_cpu_words(void);
bool        xk_cpu_is_known(void);

/* What the calling program was compiled for: "x86-64", "x86-64-v3", "arm64", "another". */
const char *xk_cpu_built(void);

#endif
