/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * test_param.c - parameters: what is read, what is refused and in which words.
 *
 * The words matter: a sentence is "parameter 'x' " and the fragment tested
 * here.  What was read and is written again reads back as the same value.
 */
#include "runtime/base/xk_param_value.h"
#include "runtime/base/xk_rand.h"
#include "tests/support/xk_test.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const colours[] = { "red", "green", "blue", NULL };

struct conf {
	bool b;
	uint64_t u, size, time, rate, cpus;
	double f;
	unsigned e;
	char *text;
	uint32_t ip;
	struct xk_cidr cidr;
	uint8_t mac[6];
	uint16_t port;
	struct xk_plist list;
	struct xk_pmap map;
};
#define AT(field) .offset = offsetof(struct conf, field), .doc = "for the test"

static const struct xk_param schema[] = {
	{ .name = "b", .type = XK_P_BOOL, .def = "true", AT(b) },
	{ .name = "u", .type = XK_P_UINT, .def = "384", .min = "1", .max = "4096", AT(u) },
	{ .name = "size", .type = XK_P_SIZE, .def = "4KiB", .min = "1", .max = "64KiB", AT(size) },
	{ .name = "time", .type = XK_P_TIME, .def = "10s", .min = "1ms", .max = "1h", AT(time) },
	{ .name = "rate", .type = XK_P_RATE, .def = "1Gbit/s", .min = "1bit/s", AT(rate) },
	{ .name = "f", .type = XK_P_FRACTION, .def = "1%", .max = "50%", AT(f) },
	{ .name = "e", .type = XK_P_ENUM, .def = "green", .choices = colours, AT(e) },
	{ .name = "text", .type = XK_P_TEXT, .def = "some words", AT(text) },
	{ .name = "ip", .type = XK_P_IPV4, .def = "10.0.0.2", AT(ip) },
	{ .name = "cidr", .type = XK_P_CIDR, .def = "10.0.0.1/8", AT(cidr) },
	{ .name = "mac", .type = XK_P_MAC, .def = "02:00:00:00:00:fe", AT(mac) },
	{ .name = "port", .type = XK_P_PORT, .def = "7", .min = "1", AT(port) },
	{ .name = "cpus", .type = XK_P_CPUS, .def = "0-3,5", AT(cpus) },
	{ .name = "list", .type = XK_P_LIST, .elem = XK_P_TEXT, .def = "a,bc,d", AT(list) },
	{ .name = "map", .type = XK_P_MAP, .key = XK_P_IPV4, .elem = XK_P_MAC,
	  .def = "10.0.0.2=02:00:00:00:00:02,10.0.0.3=02:00:00:00:00:03", AT(map) },
	{ .name = "must", .type = XK_P_UINT, .flags = XK_PF_REQUIRED, AT(u) },
	XK_PARAM_END
};

/* ---- values ------------------------------------------------------------------ */

static uint64_t number(enum xk_ptype t, const char *text)
{
	union xk_pval v;
	char why[200] = "";
	int rc = xk_param_parse_as(t, text, false, &v, why, sizeof why);

	if (rc != XK_OK)
		printf("# \"%s\" %s\n", text, why);
	CU_ASSERT_EQUAL(rc, XK_OK);
	return v.u;
}

static void sizes_have_binary_and_decimal_units(void)
{
	CU_ASSERT_EQUAL(number(XK_P_SIZE, "0"), 0);
	CU_ASSERT_EQUAL(number(XK_P_SIZE, "1460"), 1460);
	CU_ASSERT_EQUAL(number(XK_P_SIZE, "7B"), 7);
	CU_ASSERT_EQUAL(number(XK_P_SIZE, "64KiB"), 65536);
	CU_ASSERT_EQUAL(number(XK_P_SIZE, "2MiB"), 2097152);
	CU_ASSERT_EQUAL(number(XK_P_SIZE, "3GiB"), 3221225472u);
	CU_ASSERT_EQUAL(number(XK_P_SIZE, "9kB"), 9000);
	CU_ASSERT_EQUAL(number(XK_P_SIZE, "9KB"), 9000);
	CU_ASSERT_EQUAL(number(XK_P_SIZE, "4MB"), 4000000);
	CU_ASSERT_EQUAL(number(XK_P_SIZE, "4GB"), 4000000000u);
	CU_ASSERT_EQUAL(number(XK_P_SIZE, "1.5KiB"), 1536);
	CU_ASSERT_EQUAL(number(XK_P_SIZE, "17179869183GiB"), 17179869183ull << 30);
	CU_ASSERT_EQUAL(number(XK_P_SIZE, "18446744073709551615"), UINT64_MAX);
}

static void times_have_units_from_ns_to_h(void)
{
	CU_ASSERT_EQUAL(number(XK_P_TIME, "3ns"), 3);
	CU_ASSERT_EQUAL(number(XK_P_TIME, "3us"), 3000);
	CU_ASSERT_EQUAL(number(XK_P_TIME, "200ms"), 200000000);
	CU_ASSERT_EQUAL(number(XK_P_TIME, "10s"), 10000000000u);
	CU_ASSERT_EQUAL(number(XK_P_TIME, "2m"), 120000000000u);
	CU_ASSERT_EQUAL(number(XK_P_TIME, "1h"), 3600000000000u);
	CU_ASSERT_EQUAL(number(XK_P_TIME, "0s"), 0);
	CU_ASSERT_EQUAL(number(XK_P_TIME, "0.5ms"), 500000);
	CU_ASSERT_EQUAL(number(XK_P_TIME, "1.000000001s"), 1000000001);
}

static void rates_are_in_bits(void)
{
	CU_ASSERT_EQUAL(number(XK_P_RATE, "9bit/s"), 9);
	CU_ASSERT_EQUAL(number(XK_P_RATE, "64kbit/s"), 64000);
	CU_ASSERT_EQUAL(number(XK_P_RATE, "100Mbit/s"), 100000000);
	CU_ASSERT_EQUAL(number(XK_P_RATE, "2.5Gbit/s"), 2500000000u);
}

static void cpus_are_ranges_and_single_numbers(void)
{
	CU_ASSERT_EQUAL(number(XK_P_CPUS, "0-3,5"), 0x2f);
	CU_ASSERT_EQUAL(number(XK_P_CPUS, "63"), UINT64_C(1) << 63);
	CU_ASSERT_EQUAL(number(XK_P_CPUS, "0-63"), UINT64_MAX);
	CU_ASSERT_EQUAL(number(XK_P_CPUS, "5,0-3,2"), 0x2f);
}

static void fractions_are_percents_or_decimals(void)
{
	static const struct { const char *text; double d; } t[] = {
		{ "1%", 0.01 }, { "0.01", 0.01 }, { "0", 0 }, { "1", 1 }, { "100%", 1 },
		{ "1e-05", 1e-05 }, { "0.1%", 0.001 }, { ".5", 0.5 }, { "12.5%", 0.125 },
		{ "0.3333333333333333", 0.3333333333333333 }, { "1e-300", 1e-300 },
	};
	union xk_pval v;
	char why[200];
	size_t i;

	for (i = 0; i < XK_ARRAY_LEN(t); i++) {
		CU_ASSERT_EQUAL(xk_param_parse_as(XK_P_FRACTION, t[i].text, i & 1, &v, why, sizeof why), XK_OK);
		CU_ASSERT_EQUAL(v.d, t[i].d);
	}
}

static void addresses_keep_their_host_bits(void)
{
	union xk_pval v;
	char why[200];

	CU_ASSERT_EQUAL(xk_param_parse_as(XK_P_CIDR, "10.1.2.3/8", false, &v, why, sizeof why), XK_OK);
	CU_ASSERT_EQUAL(v.cidr.addr, 0x0a010203);
	CU_ASSERT_EQUAL(v.cidr.len, 8);
	CU_ASSERT_EQUAL(xk_param_parse_as(XK_P_IPV4, "255.255.255.255", false, &v, why, sizeof why), XK_OK);
	CU_ASSERT_EQUAL(v.ip, 0xffffffff);
	CU_ASSERT_EQUAL(xk_param_parse_as(XK_P_MAC, "02:aB:00:00:00:Fe", false, &v, why, sizeof why), XK_OK);
	CU_ASSERT_EQUAL(memcmp(v.mac, "\x02\xab\0\0\0\xfe", 6), 0);
	CU_ASSERT_EQUAL(xk_param_parse_as(XK_P_PORT, "65535", true, &v, why, sizeof why), XK_OK);
	CU_ASSERT_EQUAL(v.port, 65535);
}

/* ---- refusals ------------------------------------------------------------------ */

static const struct { const char *name, *text; bool bare; int rc; const char *why; } refusals[] = {
	{ "time", "200", true, XK_E_INVAL, "needs a time with a unit like \"200ms\", got the bare number 200" },
	{ "time", "200", false, XK_E_INVAL, "needs a time with a unit like \"200ms\", got \"200\"" },
	{ "time", "soon", false, XK_E_INVAL, "needs a time with a unit like \"200ms\", got \"soon\"" },
	{ "time", "", false, XK_E_INVAL, "needs a time with a unit like \"200ms\", got \"\"" },
	{ "time", "1.s", false, XK_E_INVAL, "needs a time with a unit like \"200ms\", got \"1.s\"" },
	{ "time", "2h", false, XK_E_RANGE, "must be between 1ms and 1h, got 2h" },
	{ "time", "0s", false, XK_E_RANGE, "must be between 1ms and 1h, got 0s" },
	{ "time", "-1s", false, XK_E_RANGE, "must be between 1ms and 1h, got -1s" },
	{ "time", "5min", false, XK_E_INVAL, "has the unknown unit \"min\" (use one of h, m, s, ms, us, ns)" },
	{ "time", "200 ms", false, XK_E_INVAL, "must be written without spaces, got \"200 ms\" (write \"200ms\")" },
	{ "time", " ", false, XK_E_INVAL, "needs a time, got only spaces" },
	{ "time", "0.0000000001s", false, XK_E_INVAL, "is finer than one nanosecond, got 0.0000000001s" },
	{ "u", "0", true, XK_E_RANGE, "must be between 1 and 4096, got 0" },
	{ "u", "4097", true, XK_E_RANGE, "must be between 1 and 4096, got 4097" },
	{ "u", "-5", true, XK_E_RANGE, "must be between 1 and 4096, got -5" },
	{ "u", "99999999999999999999", true, XK_E_RANGE, "must be between 1 and 4096, got 99999999999999999999" },
	{ "u", "8.0", true, XK_E_INVAL, "needs a whole number, got 8.0 (use // for whole division)" },
	{ "u", "1e+15", true, XK_E_INVAL, "needs a whole number, got 1e+15 (use // for whole division)" },
	{ "u", "many", false, XK_E_INVAL, "needs a whole number, got \"many\"" },
	{ "u", "7x", false, XK_E_INVAL, "needs a whole number, got \"7x\"" },
	{ "u", "", false, XK_E_INVAL, "needs a whole number, got \"\"" },
	{ "u", "1 0", false, XK_E_INVAL, "must be written without spaces, got \"1 0\" (write \"10\")" },
	{ "must", "-1", true, XK_E_RANGE, "must not be negative, got -1" },
	{ "must", "18446744073709551616", true, XK_E_RANGE, "is too large: 18446744073709551616" },
	{ "size", "65KiB", false, XK_E_RANGE, "must be between 1 and 64KiB, got 65KiB" },
	{ "size", "17179869184GiB", false, XK_E_RANGE, "must be between 1 and 64KiB, got 17179869184GiB" },
	{ "size", "4K", false, XK_E_INVAL,
	  "has the unknown unit \"K\" (use one of GiB, MiB, KiB, GB, MB, B, kB, KB)" },
	{ "size", "0.3B", false, XK_E_INVAL, "is finer than one byte, got 0.3B" },
	{ "size", "big", false, XK_E_INVAL, "needs a size like \"64KiB\", got \"big\"" },
	{ "rate", "100", true, XK_E_INVAL, "needs a rate with a unit like \"1Gbit/s\", got the bare number 100" },
	{ "rate", "0bit/s", false, XK_E_RANGE, "must be at least 1bit/s, got 0bit/s" },
	{ "rate", "1Gbps", false, XK_E_INVAL,
	  "has the unknown unit \"Gbps\" (use one of Gbit/s, Mbit/s, kbit/s, bit/s)" },
	{ "f", "60%", false, XK_E_RANGE, "must be at most 50%, got 60%" },
	{ "f", "1.5", true, XK_E_RANGE, "must be at most 50%, got 1.5" },
	{ "f", "half", false, XK_E_INVAL, "needs a fraction like \"1%\" or 0.01, got \"half\"" },
	{ "f", "1e", false, XK_E_INVAL, "needs a fraction like \"1%\" or 0.01, got \"1e\"" },
	{ "f", "%", false, XK_E_INVAL, "needs a fraction like \"1%\" or 0.01, got \"%\"" },
	{ "e", "gren", false, XK_E_INVAL,
	  "must be one of \"red\", \"green\", \"blue\", got \"gren\" (did you mean \"green\"?)" },
	{ "e", "mauve", false, XK_E_INVAL, "must be one of \"red\", \"green\", \"blue\", got \"mauve\"" },
	{ "e", "", false, XK_E_INVAL, "must be one of \"red\", \"green\", \"blue\", got \"\"" },
	{ "b", "yes", false, XK_E_INVAL, "needs true or false, got \"yes\"" },
	{ "b", "1", true, XK_E_INVAL, "needs true or false, got the number 1" },
	{ "ip", "10.0.0", false, XK_E_INVAL, "needs an IPv4 address like \"10.0.0.2\", got \"10.0.0\"" },
	{ "ip", "10.0.0.256", false, XK_E_INVAL, "needs an IPv4 address like \"10.0.0.2\", got \"10.0.0.256\"" },
	{ "ip", "10.0.0.01", false, XK_E_INVAL, "needs an IPv4 address like \"10.0.0.2\", got \"10.0.0.01\"" },
	{ "ip", "10.0.0.1.", false, XK_E_INVAL, "needs an IPv4 address like \"10.0.0.2\", got \"10.0.0.1.\"" },
	{ "ip", "10", true, XK_E_INVAL, "needs an IPv4 address like \"10.0.0.2\", got the number 10" },
	{ "cidr", "10.0.0.1", false, XK_E_INVAL,
	  "needs an address with a prefix length like \"10.0.0.1/8\", got \"10.0.0.1\"" },
	{ "cidr", "10.0.0.1/33", false, XK_E_INVAL,
	  "needs an address with a prefix length like \"10.0.0.1/8\", got \"10.0.0.1/33\"" },
	{ "mac", "02:00:00:00:00", false, XK_E_INVAL,
	  "needs a MAC address like \"02:00:00:00:00:02\", got \"02:00:00:00:00\"" },
	{ "mac", "02-00-00-00-00-02", false, XK_E_INVAL,
	  "needs a MAC address like \"02:00:00:00:00:02\", got \"02-00-00-00-00-02\"" },
	{ "mac", "02:00:00:00:00:02:", false, XK_E_INVAL,
	  "needs a MAC address like \"02:00:00:00:00:02\", got \"02:00:00:00:00:02:\"" },
	{ "port", "0", true, XK_E_RANGE, "must be at least 1, got 0" },
	{ "cpus", "3-1", false, XK_E_INVAL, "has the range 3-1 the wrong way round" },
	{ "cpus", "0,64", false, XK_E_RANGE, "names a processor above 63: \"0,64\"" },
	{ "cpus", "0-", false, XK_E_INVAL, "needs processors like \"0-3,5\", got \"0-\"" },
	{ "cpus", "0,,1", false, XK_E_INVAL, "needs processors like \"0-3,5\", got \"0,,1\"" },
	{ "cpus", "all", false, XK_E_INVAL, "needs processors like \"0-3,5\", got \"all\"" },
	{ "list", "a", false, XK_E_INVAL, "needs a list, got \"a\"" },
	{ "map", "a", false, XK_E_INVAL, "needs a table, got \"a\"" },
	{ "ip", "a\tb\nc", false, XK_E_INVAL, "must be written without spaces, got \"a?b?c\" (write \"abc\")" },
	{ "ip", "aaaaaaaaaabbbbbbbbbbccccccccccddddddddddeeeee", false, XK_E_INVAL,
	  "needs an IPv4 address like \"10.0.0.2\", got \"aaaaaaaaaabbbbbbbbbbccccccccccdddddddddd...\"" },
};

static void refusals_say_what_was_wanted_and_what_was_got(void)
{
	union xk_pval v;
	char why[256];
	size_t i;
	int rc;

	for (i = 0; i < XK_ARRAY_LEN(refusals); i++) {
		why[0] = '\0';
		rc = xk_param_parse(xk_param_find(schema, refusals[i].name), refusals[i].text,
				    refusals[i].bare, &v, why, sizeof why);
		if (rc != refusals[i].rc || strcmp(why, refusals[i].why) != 0)
			printf("# %s = \"%s\": %d %s\n", refusals[i].name, refusals[i].text, rc, why);
		CU_ASSERT_EQUAL(rc, refusals[i].rc);
		CU_ASSERT_STRING_EQUAL(why, refusals[i].why);
	}
}

static void a_port_without_bounds_still_has_those_of_a_port(void)
{
	union xk_pval v;
	char why[100];

	CU_ASSERT_EQUAL(xk_param_parse_as(XK_P_PORT, "70000", true, &v, why, sizeof why), XK_E_RANGE);
	CU_ASSERT_STRING_EQUAL(why, "must be between 0 and 65535, got 70000");
	CU_ASSERT_EQUAL(xk_param_parse_as(XK_P_FRACTION, "1.5", true, &v, why, sizeof why), XK_E_RANGE);
	CU_ASSERT_STRING_EQUAL(why, "must be between 0 and 1 (0% and 100%), got 1.5");
}

static void a_short_buffer_cuts_the_sentence(void)
{
	union xk_pval v;
	char why[8];

	memset(why, 'x', sizeof why);
	CU_ASSERT_EQUAL(xk_param_parse_as(XK_P_IPV4, "no", false, &v, why, sizeof why), XK_E_INVAL);
	CU_ASSERT_STRING_EQUAL(why, "needs a");
}

/* Any bytes at all: an answer, no crash (run under the sanitizers). */
static void random_texts_are_answered(void)
{
	static const char some[] = "0123456789.,:-/%eEabfKMGiBmsunht \t\x80\xff\"";
	struct xk_rand r;
	char text[64], why[64];
	union xk_pval v;
	unsigned i, t;
	size_t n, k;

	xk_rand_init(&r, 5, 0);
	for (i = 0; i < 200000; i++) {
		n = xk_rand_below(&r, i % 16 == 0 ? sizeof text : 12);
		for (k = 0; k < n; k++)
			text[k] = some[xk_rand_below(&r, sizeof some - 1)];
		text[n] = '\0';
		t = (unsigned)xk_rand_below(&r, XK_P_MAP + 1);
		why[0] = '\0';
		if (xk_param_parse_as(t, text, i & 1, &v, why, sizeof why) == XK_OK) {
			if (t == XK_P_TEXT)
				free(v.text);
			continue;
		}
		CU_ASSERT_NOT_EQUAL(why[0], '\0');
	}
}

/* ---- round trips ------------------------------------------------------------------ */

static void same_after(const struct xk_param *p, const union xk_pval *v)
{
	char text[80], why[200] = "";
	union xk_pval w;
	int rc;

	xk_param_format(p, v, text, sizeof text);
	rc = xk_param_parse_as(p->type, text, false, &w, why, sizeof why);
	if (rc != XK_OK)
		printf("# %s: %s %s\n", xk_param_type_name(p->type), text, why);
	CU_ASSERT_EQUAL(rc, XK_OK);
	switch (p->type) {
	case XK_P_FRACTION: CU_ASSERT_EQUAL(w.d, v->d); break;
	case XK_P_IPV4: CU_ASSERT_EQUAL(w.ip, v->ip); break;
	case XK_P_CIDR: CU_ASSERT(w.cidr.addr == v->cidr.addr && w.cidr.len == v->cidr.len); break;
	case XK_P_MAC: CU_ASSERT_EQUAL(memcmp(w.mac, v->mac, 6), 0); break;
	case XK_P_PORT: CU_ASSERT_EQUAL(w.port, v->port); break;
	default: CU_ASSERT_EQUAL(w.u, v->u); break;
	}
}

/* Numbers of every magnitude, round and not. */
static uint64_t some_number(struct xk_rand *r)
{
	static const uint64_t step[] = { 1, 10, 1000, 1024, 1000000, 1048576, 60000000000u, 3600000000000u };
	uint64_t v = xk_rand_u64(r) >> xk_rand_below(r, 64);

	return v - v % step[xk_rand_below(r, XK_ARRAY_LEN(step))];
}

static void what_is_written_reads_back_as_the_same_value(void)
{
	static const enum xk_ptype whole[] = { XK_P_UINT, XK_P_SIZE, XK_P_TIME, XK_P_RATE };
	struct xk_param p = { .name = "x", .doc = "x" };
	struct xk_rand r;
	union xk_pval v;
	unsigned i, k;

	xk_rand_init(&r, 6, 0);
	for (i = 0; i < 20000; i++) {
		for (k = 0; k < XK_ARRAY_LEN(whole); k++) {
			p.type = whole[k];
			v.u = some_number(&r);
			same_after(&p, &v);
		}
		p.type = XK_P_CPUS, v.u = xk_rand_u64(&r) & xk_rand_u64(&r), v.u |= v.u == 0;
		same_after(&p, &v);
		p.type = XK_P_IPV4, v.ip = (uint32_t)xk_rand_u64(&r);
		same_after(&p, &v);
		p.type = XK_P_CIDR, v.cidr.addr = (uint32_t)xk_rand_u64(&r), v.cidr.len = (uint8_t)(i % 33);
		same_after(&p, &v);
		p.type = XK_P_MAC, v.u = xk_rand_u64(&r);
		same_after(&p, &v);
		p.type = XK_P_PORT, v.port = (uint16_t)xk_rand_u64(&r);
		same_after(&p, &v);
		p.type = XK_P_FRACTION, v.d = i < 1001 ? i / 1000.0 : xk_rand_unit(&r);
		same_after(&p, &v);
	}
}

static void values_are_written_as_a_user_would(void)
{
	static const struct { enum xk_ptype t; uint64_t v; const char *text; } t[] = {
		{ XK_P_SIZE, 65536, "64KiB" }, { XK_P_SIZE, 4000000, "4MB" }, { XK_P_SIZE, 9000, "9000" },
		{ XK_P_SIZE, 0, "0" }, { XK_P_SIZE, UINT64_C(1) << 30, "1GiB" },
		{ XK_P_TIME, 200000000, "200ms" }, { XK_P_TIME, 0, "0s" }, { XK_P_TIME, 90000000000u, "90s" },
		{ XK_P_TIME, 3600000000000u, "1h" }, { XK_P_RATE, 1000000000, "1Gbit/s" },
		{ XK_P_RATE, 2500000, "2500kbit/s" }, { XK_P_CPUS, 0x2f, "0-3,5" }, { XK_P_CPUS, 6, "1-2" },
	};
	struct xk_param p = { .name = "x" };
	char buf[64];
	size_t i;

	for (i = 0; i < XK_ARRAY_LEN(t); i++) {
		p.type = t[i].t;
		CU_ASSERT_STRING_EQUAL(xk_param_format(&p, &t[i].v, buf, sizeof buf), t[i].text);
	}
	p.type = XK_P_UINT;
	CU_ASSERT_STRING_EQUAL(xk_param_format(&p, &t[0].v, buf, 3), "65");
}

/* ---- schemas ------------------------------------------------------------------------ */

static void defaults_fill_every_field_and_can_be_written_again(void)
{
	struct conf c, zero;
	char why[200] = "", text[200];
	const struct xk_param *p;

	memset(&c, 0, sizeof c);
	memset(&zero, 0, sizeof zero);
	CU_ASSERT_EQUAL(xk_param_defaults(schema, &c, why, sizeof why), XK_OK);
	CU_ASSERT_STRING_EQUAL(why, "");
	for (p = schema; p->name != NULL; p++) {
		if (p->def == NULL || p->type == XK_P_FRACTION)
			continue;
		xk_param_format(p, (char *)&c + p->offset, text, sizeof text);
		CU_ASSERT_STRING_EQUAL(text, p->def);
	}
	CU_ASSERT_EQUAL(c.f, 0.01);
	CU_ASSERT_EQUAL(c.e, 1);
	CU_ASSERT_EQUAL(c.list.n, 3);
	CU_ASSERT_EQUAL(c.map.n, 2);
	CU_ASSERT_EQUAL(c.map.v[1].key.ip, 0x0a000003);
	CU_ASSERT_EQUAL(c.map.v[1].val.mac[5], 3);
	xk_param_release(schema, &c);
	CU_ASSERT_PTR_NULL(c.text);
	CU_ASSERT_PTR_NULL(c.list.v);
	CU_ASSERT_PTR_NULL(c.map.v);
	CU_ASSERT_EQUAL(c.list.n + c.map.n, 0);
	xk_param_release(schema, &c);
	xk_param_release(schema, &zero);
	xk_param_release(NULL, &zero);
}

static void what_was_not_given_is_told_from_every_value(void)
{
	struct { bool b; uint64_t u; unsigned e; } c;
	static const char *const words[] = { "one", "two", NULL };
	const struct xk_param unset[] = {
		{ .name = "b", .type = XK_P_BOOL, .flags = XK_PF_UNSET, .doc = "x", .offset = 0 },
		{ .name = "u", .type = XK_P_TIME, .flags = XK_PF_UNSET, .max = "1h", .doc = "x", .offset = 8 },
		{ .name = "e", .type = XK_P_ENUM, .flags = XK_PF_UNSET, .choices = words, .doc = "x", .offset = 16 },
		XK_PARAM_END
	};
	static const char *const value[] = { "false", "0s", "one" };
	char why[200], text[40];

	memset(&c, 0, sizeof c);
	CU_ASSERT_FALSE(xk_param_is_unset(&unset[1], &c));
	CU_ASSERT_EQUAL(xk_param_defaults(unset, &c, why, sizeof why), XK_OK);
	for (unsigned i = 0; i < 3; i++) {
		CU_ASSERT_TRUE(xk_param_is_unset(&unset[i], &c));
		CU_ASSERT_STRING_EQUAL(xk_param_format(&unset[i], (char *)&c + unset[i].offset, text, sizeof text),
				       "unset");
		CU_ASSERT_EQUAL(xk_param_set(&unset[i], &c, value[i], false, why, sizeof why), XK_OK);
		CU_ASSERT_FALSE(xk_param_is_unset(&unset[i], &c));
		CU_ASSERT_STRING_EQUAL(xk_param_format(&unset[i], (char *)&c + unset[i].offset, text, sizeof text),
				       value[i]);
	}
}

static void a_bad_default_is_named(void)
{
	static const struct xk_param bad[] = {
		{ .name = "text", .type = XK_P_TEXT, .def = "kept until released", AT(text) },
		{ .name = "list", .type = XK_P_LIST, .elem = XK_P_IPV4, .def = "10.0.0.1,x", AT(list) },
		XK_PARAM_END
	};
	struct conf c;
	char why[200];

	memset(&c, 0, sizeof c);
	CU_ASSERT_EQUAL(xk_param_defaults(bad, &c, why, sizeof why), XK_E_INVAL);
	CU_ASSERT_STRING_EQUAL(why, "default of 'list' needs an IPv4 address like \"10.0.0.2\", got \"x\"");
	xk_param_release(bad, &c);
}

static void setting_again_replaces_and_leaks_nothing(void)
{
	const struct xk_param *text = xk_param_find(schema, "text");
	const struct xk_param *list = xk_param_find(schema, "list");
	const struct xk_param *map = xk_param_find(schema, "map");
	struct conf c;
	char why[200];

	memset(&c, 0, sizeof c);
	CU_ASSERT_EQUAL(xk_param_defaults(schema, &c, why, sizeof why), XK_OK);
	CU_ASSERT_EQUAL(xk_param_set(text, &c, "other", false, why, sizeof why), XK_OK);
	CU_ASSERT_STRING_EQUAL(c.text, "other");
	CU_ASSERT_EQUAL(xk_param_set(list, &c, "z", false, why, sizeof why), XK_OK);
	CU_ASSERT_EQUAL(c.list.n, 1);
	CU_ASSERT_STRING_EQUAL(c.list.v[0].text, "z");
	CU_ASSERT_EQUAL(xk_param_set(map, &c, "10.0.0.9", false, why, sizeof why), XK_E_INVAL);
	CU_ASSERT_STRING_EQUAL(why, "needs ipv4=mac pairs with commas between them, got \"10.0.0.9\"");
	CU_ASSERT_EQUAL(xk_param_set(map, &c, "10.0.0.9=x", false, why, sizeof why), XK_E_INVAL);
	CU_ASSERT_EQUAL(xk_param_set(text, &c, "", false, why, sizeof why), XK_OK);
	CU_ASSERT_STRING_EQUAL(c.text, "");
	xk_param_release(schema, &c);
}

static void parameters_are_found_by_name(void)
{
	static const struct xk_param groups[] = {
		{ .name = "rate" }, { .name = "rate", .group = "a" }, { .name = "rate", .group = "b" }, { .name = "x", .group = "b" }, XK_PARAM_END
	};

	CU_ASSERT_PTR_EQUAL(xk_param_find(groups, "rate"), &groups[0]);
	CU_ASSERT_PTR_EQUAL(xk_param_find(groups, "b.rate"), &groups[2]);
	CU_ASSERT_PTR_EQUAL(xk_param_find(groups, "x"), &groups[3]);
	CU_ASSERT_PTR_NULL(xk_param_find(groups, "a.x"));
	CU_ASSERT_PTR_NULL(xk_param_find(groups, "b."));
	CU_ASSERT_PTR_EQUAL(xk_param_find_in(groups, "a", "rate"), &groups[1]);
	CU_ASSERT_PTR_EQUAL(xk_param_find_in(groups, NULL, "rate"), &groups[0]);
	CU_ASSERT_PTR_NULL(xk_param_find_in(groups, NULL, "x"));
	CU_ASSERT_PTR_NULL(xk_param_find_in(groups, "c", "rate"));
	CU_ASSERT_PTR_EQUAL(xk_param_find(schema, "time"), &schema[3]);
	CU_ASSERT_PTR_NULL(xk_param_find(schema, "tim"));
	CU_ASSERT_PTR_NULL(xk_param_find(NULL, "time"));
	CU_ASSERT_STRING_EQUAL(xk_param_type_name(XK_P_BOOL), "bool");
	CU_ASSERT_STRING_EQUAL(xk_param_type_name(XK_P_MAP), "map");
}

static CU_TestInfo tests[] = {
	{ "sizes_have_binary_and_decimal_units", sizes_have_binary_and_decimal_units },
	{ "times_have_units_from_ns_to_h", times_have_units_from_ns_to_h },
	{ "rates_are_in_bits", rates_are_in_bits },
	{ "cpus_are_ranges_and_single_numbers", cpus_are_ranges_and_single_numbers },
	{ "fractions_are_percents_or_decimals", fractions_are_percents_or_decimals },
	{ "addresses_keep_their_host_bits", addresses_keep_their_host_bits },
	{ "refusals_say_what_was_wanted_and_what_was_got", refusals_say_what_was_wanted_and_what_was_got },
	{ "a_port_without_bounds_still_has_those_of_a_port", a_port_without_bounds_still_has_those_of_a_port },
	{ "a_short_buffer_cuts_the_sentence", a_short_buffer_cuts_the_sentence },
	{ "random_texts_are_answered", random_texts_are_answered },
	{ "what_is_written_reads_back_as_the_same_value", what_is_written_reads_back_as_the_same_value },
	{ "values_are_written_as_a_user_would", values_are_written_as_a_user_would },
	{ "defaults_fill_every_field_and_can_be_written_again",
	  defaults_fill_every_field_and_can_be_written_again },
	{ "a_bad_default_is_named", a_bad_default_is_named },
	{ "what_was_not_given_is_told_from_every_value", what_was_not_given_is_told_from_every_value },
	{ "setting_again_replaces_and_leaks_nothing", setting_again_replaces_and_leaks_nothing },
	{ "parameters_are_found_by_name", parameters_are_found_by_name },
	CU_TEST_INFO_NULL
};

static CU_SuiteInfo suites[] = {
	{ "param", NULL, NULL, NULL, NULL, tests },
	CU_SUITE_INFO_NULL
};

int main(void)
{
	return xk_test_main(suites);
}
