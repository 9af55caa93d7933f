/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * base_hist.c - what a histogram of times says.
 */
#include "runtime/base/xk_hist.h"

void xk_hist_sum(uint64_t sum[XK_HIST_PLACES], const struct xk_hist *h, int sign)
{
	for (unsigned i = 0; i < XK_HIST_PLACES; i++) {
		uint64_t n = xk_counter_read(h->n[i]);

		sum[i] += sign < 0 ? -n : n;
	}
}

uint64_t xk_hist_count(const uint64_t sum[XK_HIST_PLACES])
{
	uint64_t n = 0;

	for (unsigned i = 0; i < XK_HIST_PLACES; i++)
		n += sum[i];
	return n;
}

double xk_hist_middle(unsigned place)
{
	double width;

	if (place < 32)                  /* one nanosecond each */
		return place;
	width = (double)(1ull << (place / 16 - 1));
	return (16 + place % 16) * width + (width - 1) / 2;
}

double xk_hist_percentile(const uint64_t sum[XK_HIST_PLACES], double p)
{
	uint64_t n = xk_hist_count(sum), seen = 0;
	double rank = p * (double)n;

	if (n == 0)
		return 0;
	for (unsigned i = 0; i < XK_HIST_PLACES; i++) {
		seen += sum[i];
		if (sum[i] != 0 && (double)seen >= rank)
			return xk_hist_middle(i);
	}
	return xk_hist_middle(XK_HIST_PLACES - 1);
}
