/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * base_cpu.c - asks the processor what it has; see xk_cpu.h.
 *
 * The compiler's own question knows whether the system saves wide registers; what it has no word
 * for is asked by cpuid.  Invariant: the answer is the same at every call.
 */
#include "runtime/base/xk_cpu.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/base/xk_base.h"

/* What a word of VP_CPU allows; from the least to the most. */
struct word { const char *name; uint32_t most; };

#if defined(__x86_64__)
#include <cpuid.h>

static const struct word words[] = {
	{ "generic", 0 },
	{ "sse4.2", XK_CPU_SSE42 },
	{ "avx2", XK_CPU_SSE42 | XK_CPU_AVX2 | XK_CPU_V3 },
	{ "avx512", XK_CPU_SSE42 | XK_CPU_AVX2 | XK_CPU_V3 | XK_CPU_AVX512 },
};
static const char word_list[] = "generic, sse4.2, avx2, avx512";

/* F16C, MOVBE and LZCNT. */
static bool has_the_rest_of_v3(void)
{
	unsigned a, b, c, d, more;

	if (!__get_cpuid(1, &a, &b, &c, &d) || !__get_cpuid(0x80000001, &a, &b, &more, &d))
		return false;
	return (c & bit_F16C) != 0 && (c & bit_MOVBE) != 0 && (more & bit_LZCNT) != 0;
}

static uint32_t ask(void)
{
	uint32_t has = 0;

	__builtin_cpu_init();
	if (__builtin_cpu_supports("sse4.2"))
		has |= XK_CPU_SSE42;
	if (__builtin_cpu_supports("avx2"))
		has |= XK_CPU_AVX2;
	if ((has & XK_CPU_AVX2) != 0 && __builtin_cpu_supports("bmi") && __builtin_cpu_supports("bmi2") &&
	    __builtin_cpu_supports("fma") && __builtin_cpu_supports("popcnt") && has_the_rest_of_v3())
		has |= XK_CPU_V3;
	if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
	    __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("bmi2"))
		has |= XK_CPU_AVX512;
	return has;
}

#elif defined(__aarch64__)
#include <sys/auxv.h>

#define HAS_CRC32 (1ul << 7)             /* HWCAP_CRC32 of the kernel's ABI */

static const struct word words[] = { { "generic", 0 }, { "crc", XK_CPU_CRC } };
static const char word_list[] = "generic, crc";

static uint32_t ask(void)
{
	return (getauxval(AT_HWCAP) & HAS_CRC32) != 0 ? XK_CPU_CRC : 0;
}

#else

static const struct word words[] = { { "generic", 0 } };
static const char word_list[] = "generic";

static uint32_t ask(void)
{
	return 0;
}
#endif

/* NULL: there is none, or it is none that we know, and then it forbids nothing. */
static const struct word *allowed(void)
{
	const char *word = getenv("VP_CPU");

	for (size_t i = 0; word != NULL && i < XK_ARRAY_LEN(words); i++)
		if (strcmp(words[i].name, word) == 0)
			return &words[i];
	return NULL;
}

uint32_t xk_cpu_has(void)
{
	const struct word *w = allowed();

	return w != NULL ? ask() & w->most : ask();
}

const char *xk_cpu_words(void)
{
	return word_list;
}

bool xk_cpu_is_known(void)
{
	const char *word = getenv("VP_CPU");

	return word == NULL || *word == '\0' || allowed() != NULL;
}

const char *xk_cpu_built(void)
{
#if defined(__x86_64__) && defined(__AVX2__) && defined(__BMI2__) && defined(__MOVBE__)
	return "x86-64-v3";
#elif defined(__x86_64__)
	return "x86-64";
#elif defined(__aarch64__)
	return "arm64";
#else
	return "another";
#endif
}
