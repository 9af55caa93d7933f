/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * base_param_units.c - the units of sizes, times and rates.
 *
 * Invariant: whatever the formatter writes with these, the parser reads back
 * as the same number.
 */
#include "runtime/base/base_param_priv.h"

#define Ki 1024ull
#define k 1000ull

static const struct param_unit size_unit[] = {
	{ "GiB", Ki * Ki * Ki }, { "MiB", Ki * Ki }, { "KiB", Ki },
	{ "GB", k * k * k }, { "MB", k * k }, { "B", 1 },
	/* read only */
	{ "kB", k }, { "KB", k }, { 0 },
};

static const struct param_unit time_unit[] = {
	{ "h", 3600 * k * k * k }, { "m", 60 * k * k * k }, { "s", k * k * k },
	{ "ms", k * k }, { "us", k }, { "ns", 1 }, { 0 },
};

static const struct param_unit rate_unit[] = {
	{ "Gbit/s", k * k * k }, { "Mbit/s", k * k }, { "kbit/s", k }, { "bit/s", 1 }, { 0 },
};

const struct param_units *param_units_of(enum xk_ptype t)
{
	static const struct param_units size = { size_unit, 6 }, time = { time_unit, 6 },
					rate = { rate_unit, 4 };

	return t == XK_P_SIZE ? &size : t == XK_P_TIME ? &time : &rate;
}
