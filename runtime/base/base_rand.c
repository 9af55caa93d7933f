/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * base_rand.c - xoshiro256** generators, one per stream of a seed.
 *
 * The four words of state come from splitmix64, started at a mix of seed and
 * stream so that neighbouring streams share nothing.  Only integer and exact
 * floating operations are used: a run is the same on every machine, whatever
 * its mathematical library.  Invariant: the state is never all zero.
 */
#include "runtime/base/xk_rand.h"
#include "runtime/base/xk_clock.h"
#include "runtime/base/xk_siphash.h"

#include <errno.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/random.h>
#include <unistd.h>

static uint64_t splitmix(uint64_t *x)
{
	uint64_t z = (*x += 0x9e3779b97f4a7c15u);

	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
	z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
	return z ^ (z >> 31);
}

void xk_rand_init(struct xk_rand *r, uint64_t seed, uint64_t stream)
{
	uint64_t x = stream, i;

	/* The stream passes the mixer before it meets the seed; seed + stream
	 * would make (1, 2) and (2, 1) the same generator. */
	x = seed ^ splitmix(&x);
	for (i = 0; i < 4; i++)
		r->s[i] = splitmix(&x);
	if ((r->s[0] | r->s[1] | r->s[2] | r->s[3]) == 0)
		r->s[0] = 1;
}

static inline uint64_t rotl(uint64_t x, int k)
{
	return (x << k) | (x >> (64 - k));
}

uint64_t xk_rand_u64(struct xk_rand *r)
{
	uint64_t out = rotl(r->s[1] * 5, 7) * 9;
	uint64_t t = r->s[1] << 17;

	r->s[2] ^= r->s[0];
	r->s[3] ^= r->s[1];
	r->s[1] ^= r->s[2];
	r->s[0] ^= r->s[3];
	r->s[2] ^= t;
	r->s[3] = rotl(r->s[3], 45);
	return out;
}

uint64_t xk_rand_below(struct xk_rand *r, uint64_t n)
{
	unsigned __int128 m;
	uint64_t reject;

	xk_assert(n > 0);
	/* The high word of a product is uniform once the 2^64 mod n low words
	 * that some results own in excess are thrown away. */
	m = (unsigned __int128)xk_rand_u64(r) * n;
	if (XK_UNLIKELY((uint64_t)m < n)) {
		reject = -n % n;
		while ((uint64_t)m < reject)
			m = (unsigned __int128)xk_rand_u64(r) * n;
	}
	return (uint64_t)(m >> 64);
}

double xk_rand_unit(struct xk_rand *r)
{
	return (double)(xk_rand_u64(r) >> 11) * 0x1p-53;
}

/*
 * Von Neumann's method: the length of the first falling run of uniform numbers
 * is odd with probability e^-u, where u starts the run; each failed run adds
 * one to the whole part.  Comparisons only, so no rounding of a logarithm.
 */
double xk_rand_exp(struct xk_rand *r, double mean)
{
	double whole = 0, first, prev, next;
	unsigned len;

	for (;; whole++) {
		first = prev = xk_rand_unit(r);
		for (len = 1; (next = xk_rand_unit(r)) < prev; len++)
			prev = next;
		if (len & 1)
			return mean * (whole + first);
	}
}

/* Where the system has no such call, or a sandbox forbids it: 16 bytes that the kernel has given the program
 * at its start, and nobody outside knows, hashed with what is another each time and in each thread. */
static uint64_t entropy_of_start(void)
{
	static _Thread_local uint64_t drawn;
	const void *given = (const void *)(uintptr_t)getauxval(AT_RANDOM);
	uint64_t key[2] = { 0, 0 };

	if (given != NULL)
		memcpy(key, given, sizeof key);
	return xk_siphash(key, xk_clock_host() ^ (uint64_t)getpid() << 48, (uint64_t)(uintptr_t)&drawn + ++drawn);
}

uint64_t xk_rand_entropy(void)
{
	uint64_t v;
	ssize_t n;

	do
		n = getrandom(&v, sizeof v, 0);   /* waits early in boot, until the kernel has some */
	while (n < 0 && errno == EINTR);
	return n == (ssize_t)sizeof v ? v : entropy_of_start();
}
