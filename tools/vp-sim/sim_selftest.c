/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * sim_selftest.c - the engine against closed forms of queueing theory.
 *
 * M/M/1, M/D/1, M/G/1 with the paper's frame sizes (Pollaczek and Khinchine) and M/M/8 (Erlang C)
 * at loads of 0.5, 0.8 and 0.9; a closed system with one lock (mean value analysis); conservation
 * of packets and of time (Little); and how often the 95 % intervals cover what they should.
 */
#include "tools/vp-sim/sim.h"

#include <math.h>
#include <stdlib.h>

#define MEAN 100e3      /* ns of service */

static unsigned bad, rows;

static void row(const char *name, double is, double should, double tolerance)
{
	bool good = fabs(is - should) <= tolerance * fabs(should);

	printf("%-34s %12.4f  %12.4f  %+7.2f %%  %s\n", name, is, should, 100 * (is / should - 1), good ? "ok" : "FAILED");
	bad += !good;
	rows++;
}

/* Frames of Table 2, and a machine that has nothing but a cost to copy them. */
static const struct sim_frame table2[] = { { 28, 2.8 }, { 40, 4.7 }, { 48, 4.7 }, { 56, 3.8 }, { 60, 0.9 }, { 92, 20.8 },
					   { 98, 0.9 }, { 128, 43.4 }, { 320, 1.9 }, { 470, 0.9 }, { 2400, 0.9 }, { 4096, 14.2 } };
static struct sim_ledger copies;

static void frames(struct sim_model *m)
{
	double sum = 0;

	for (unsigned i = 0; i < XK_ARRAY_LEN(table2); i++) {
		sum += table2[i].share;
		m->frame[m->nframes++] = (struct sim_frame){ table2[i].bytes, sum };
	}
	for (unsigned i = 0; i < m->nframes; i++)
		m->frame[i].share /= sum;
	copies.property[SIM_COPY].v = 0.04;
	m->ledger = &copies;
}

static void base(struct sim_model *m, unsigned processors, double load, enum sim_service service)
{
	sim_model_defaults(m);
	m->processors = processors;
	m->service = service;
	m->mean = MEAN;
	m->streams = 1;
	m->parallel = SIM_SEND;
	m->warmup = 0;
	if (service == SIM_SERVICE_FRAMES)
		frames(m);
	m->rate = load * processors * 1e9 / (service == SIM_SERVICE_FRAMES ? sim_model_bytes(m) * 40 : MEAN);
}

/* Mean of squares of the service, ns^2, and its mean. */
static void moments(const struct sim_model *m, double *mean, double *squares)
{
	double before = 0;

	*mean = MEAN;
	*squares = m->service == SIM_SERVICE_CONSTANT ? MEAN * MEAN : 2 * MEAN * MEAN;
	if (m->service != SIM_SERVICE_FRAMES)
		return;
	*mean = *squares = 0;
	for (unsigned i = 0; i < m->nframes; i++) {
		double ns = m->frame[i].bytes * 40, share = m->frame[i].share - before;

		*mean += ns * share;
		*squares += ns * ns * share;
		before = m->frame[i].share;
	}
}

/* Pollaczek and Khinchine: us in the system. */
static double one_server(const struct sim_model *m)
{
	double lambda = m->rate / 1e9, mean, squares;

	moments(m, &mean, &squares);
	return (lambda * squares / (2 * (1 - lambda * mean)) + mean) / 1e3;
}

/* Erlang's C: us in the system of n servers. */
static double many_servers(double load, unsigned n)
{
	double term = 1, sum = 1, last;

	for (unsigned k = 1; k < n; k++) {
		term *= load * n / k;
		sum += term;
	}
	last = term * load * n / n / (1 - load);
	return (last / (sum + last) / (n * (1 - load)) + 1) * MEAN / 1e3;
}

static struct sim_result *run(const struct sim_model *m)
{
	static struct sim_result r;

	if (!sim_run(m, &r)) {
		fprintf(stderr, "vp-sim: out of memory\n");
		exit(SIM_FAILED);
	}
	return &r;
}

/* ---- open systems ------------------------------------------------------------------- */

/* Packets that bring the error of the mean well below 1 %: as 1 / (1 - load)^2. */
static xk_ns long_enough(const struct sim_model *m, double load, double scale)
{
	return (xk_ns)(scale * 3e5 / ((1 - load) * (1 - load)) / m->rate * 1e9);
}

static void conserved(const char *name, const struct sim_result *r)
{
	uint64_t area = r->delay + r->residue;

	if (r->waited + r->arrived != r->served + r->waiting || area != r->area) {
		printf("%s: packets or their time were lost or invented\n", name);
		bad++;
	}
}

static void open_systems(double scale)
{
	static const struct { const char *name; unsigned n; enum sim_service service; } system[] = {
		{ "M/M/1", 1, SIM_SERVICE_EXPONENTIAL }, { "M/D/1", 1, SIM_SERVICE_CONSTANT },
		{ "M/G/1, frames of Table 2", 1, SIM_SERVICE_FRAMES },
		{ "M/M/8", 8, SIM_SERVICE_EXPONENTIAL },
	};
	static const double loads[] = { 0.5, 0.8, 0.9 };

	for (unsigned i = 0; i < XK_ARRAY_LEN(system); i++)
		for (unsigned k = 0; k < XK_ARRAY_LEN(loads); k++) {
			struct sim_model m;
			const struct sim_result *r;
			double mean, squares;
			char name[80];

			base(&m, system[i].n, loads[k], system[i].service);
			m.duration = long_enough(&m, loads[k], scale);
			r = run(&m);
			moments(&m, &mean, &squares);
			snprintf(name, sizeof name, "%s, load %.1f: delay us", system[i].name, loads[k]);
			row(name, sim_mean(r, SIM_DELAY), system[i].n == 1 ? one_server(&m) : many_servers(loads[k], 8),
			    0.01 / fmin(1, sqrt(scale)));
			conserved(name, r);
			snprintf(name, sizeof name, "%s, load %.1f: busy", system[i].name, loads[k]);
			row(name, sim_utilisation(&m, r), (double)r->served * mean / (double)r->time / m.processors,
			    0.005 / fmin(1, sqrt(scale)));
		}
}

/* ---- a closed system -------------------------------------------------------------------- */

/* n customers think for z and hold a lock for s; what they hold of it per second (mean value analysis). */
static double lock_rate(unsigned n, double z, double s)
{
	double queue = 0, rate = 0;

	for (unsigned i = 1; i <= n; i++) {
		double response = s * (1 + queue);

		rate = i / (z + response);
		queue = rate * response;
	}
	return rate * 1e9;
}

static void closed_systems(double scale)
{
	for (unsigned n = 1; n <= 16; n += n < 4 ? 1 : 4) {
		struct sim_model m;
		const struct sim_result *r;
		char name[80];

		base(&m, 1, 0.5, SIM_SERVICE_EXPONENTIAL);
		m.closed = true;
		m.streams = n;
		m.rate = 1e9 / (4 * MEAN);
		m.duration = (xk_ns)(scale * 100 * XK_SEC);
		m.warmup = XK_SEC;
		r = run(&m);
		snprintf(name, sizeof name, "a lock, %u customers: 1/s", n);
		row(name, (double)r->served * 1e9 / (double)r->time, lock_rate(n, 4 * MEAN, MEAN), 0.01 / fmin(1, sqrt(scale)));
	}
}

/* ---- intervals ---------------------------------------------------------------------------- */

static void intervals(double scale)
{
	unsigned covered = 0, quoted = 0, n = 100;
	struct sim_model m;
	double truth;

	base(&m, 1, 0.5, SIM_SERVICE_EXPONENTIAL);
	m.duration = (xk_ns)(20 * XK_SEC * fmax(0.25, fmin(1, scale)));
	m.warmup = XK_SEC;
	truth = one_server(&m);
	for (unsigned i = 0; i < n; i++) {
		struct sim_estimate e;

		m.seed = i;
		e = sim_estimate(run(&m), 1, SIM_DELAY);
		quoted += isfinite(e.half);
		covered += isfinite(e.half) && fabs(e.mean - truth) <= e.half;
	}
	printf("%u of %u intervals cover the mean, %u were quoted  %s\n", covered, n, quoted,
	       covered * 100 >= 88 * quoted && covered * 100 <= 99 * quoted && quoted >= 80 ? "ok" : "FAILED");
	bad += !(covered * 100 >= 88 * quoted && covered * 100 <= 99 * quoted && quoted >= 80);
}

int sim_selftest(double scale)
{
	bad = rows = 0;
	printf("%-34s %12s  %12s\n", "", "simulated", "closed form");
	open_systems(scale);
	closed_systems(scale);
	intervals(scale);
	printf("%s\n", bad == 0 ? "all agree" : "some disagree");
	return bad == 0 ? SIM_OK : SIM_FAILED;
}
