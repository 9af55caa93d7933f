/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * http_match.c - what a request asks of a file that is there: conditions (RFC 9110
 * 13), one range of bytes (14), dates (5.6.7).
 *
 * Pure functions.  Several ranges at once, units other than bytes and ranges that
 * make no sense are ignored, as 14.2 allows: the whole file is sent.
 * Invariant: a range that is returned lies inside the file and is not empty,
 * unless the whole file is.
 */
#include "protocols/http/http_priv.h"

#include <string.h>
#include <strings.h>

/* ---- dates ------------------------------------------------------------------------ */

static const char days[] = "SunMonTueWedThuFriSat", months[] = "JanFebMarAprMayJunJulAugSepOctNovDec";

const char *http_date(char buf[HTTP_DATE], int64_t t)
{
	time_t tt = (time_t)t;
	struct tm tm;

	if (gmtime_r(&tt, &tm) == NULL || tm.tm_year < -1900 || tm.tm_year > 8099)
		memset(&tm, 0, sizeof tm);
	snprintf(buf, HTTP_DATE, "%.3s, %02u %.3s %04u %02u:%02u:%02u GMT", days + 3 * tm.tm_wday,
		 (unsigned)tm.tm_mday & 31, months + 3 * tm.tm_mon, (unsigned)(tm.tm_year + 1900) % 10000,
		 (unsigned)tm.tm_hour & 31, (unsigned)tm.tm_min & 63, (unsigned)tm.tm_sec & 63);
	return buf;
}

int64_t http_date_parse(const char *s)
{
	unsigned day, year, h, m, sec;
	char month[4] = "";
	const char *at;
	int end = 0;

	if (sscanf(s, "%*3[A-Za-z], %2u %3[A-Za-z] %4u %2u:%2u:%2u GMT%n", &day, month, &year, &h, &m, &sec, &end) == 6 &&
	    end != 0) {
		;
	} else if (sscanf(s, "%*9[A-Za-z], %2u-%3[A-Za-z]-%2u %2u:%2u:%2u GMT%n", &day, month, &year, &h, &m, &sec,
			  &end) == 6 && end != 0) {
		year += year < 70 ? 2000 : 1900;
	} else if (sscanf(s, "%*3[A-Za-z] %3[A-Za-z] %2u %2u:%2u:%2u %4u%n", month, &day, &h, &m, &sec, &year,
			  &end) != 6 || end == 0) {
		return -1;
	}
	at = strlen(month) == 3 ? strstr(months, month) : NULL;
	if (at == NULL || (at - months) % 3 != 0 || s[end] != 0 || year < 1970 || day < 1 || day > 31 || h > 23 ||
	    m > 59 || sec > 60)
		return -1;
	return (int64_t)timegm(&(struct tm){ .tm_year = (int)year - 1900, .tm_mon = (int)(at - months) / 3,
		.tm_mday = (int)day, .tm_hour = (int)h, .tm_min = (int)m, .tm_sec = (int)sec });
}

/* ---- conditions ------------------------------------------------------------------------ */

/* Does a list of entity tags name this one?  weak: a tag marked W/ counts, too. */
static bool names_tag(const char *list, const char *etag, bool weak)
{
	size_t n = strlen(etag);

	if (strcmp(list, "*") == 0)
		return true;
	while (*list != 0) {
		bool is_weak;
		const char *end;

		list += strspn(list, " \t,");
		is_weak = strncmp(list, "W/", 2) == 0;
		list += is_weak ? 2 : 0;
		if (*list != '"' || (end = strchr(list + 1, '"')) == NULL)
			return false;
		if ((weak || !is_weak) && (size_t)(end + 1 - list) == n && memcmp(list, etag, n) == 0)
			return true;
		list = end + 1;
	}
	return false;
}

/* 200, or what a condition makes of it; in the order of RFC 9110 13.2.2. */
static unsigned conditions(const struct http_req *q, const struct http_file *f)
{
	int64_t t;

	if (q->if_match != NULL) {
		if (!names_tag(q->if_match, f->etag, false))
			return 412;
	} else if (q->if_unmodified != NULL && (t = http_date_parse(q->if_unmodified)) >= 0 && f->mtime > t) {
		return 412;
	}
	if (q->if_none_match != NULL)
		return names_tag(q->if_none_match, f->etag, true) ? 304 : 200;
	if (q->if_modified != NULL && (t = http_date_parse(q->if_modified)) >= 0 && f->mtime <= t)
		return 304;
	return 200;
}

/* ---- ranges ------------------------------------------------------------------------------ */

static bool number(const char **s, uint64_t *v)
{
	const char *p = *s;

	*v = 0;
	for (; *p >= '0' && *p <= '9'; p++)
		*v = *v > UINT64_MAX / 20 ? *v : *v * 10 + (uint64_t)(*p - '0');
	if (p == *s)
		return false;
	*s = p;
	return true;
}

/* 206, 416, or 200: there is no range to speak of. */
static unsigned range_of(const char *s, uint64_t size, struct http_range *r)
{
	uint64_t first, last;
	bool has_first, has_last;

	if (strncasecmp(s, "bytes=", 6) != 0)
		return 200;
	s += 6;
	s += strspn(s, " \t");
	has_first = number(&s, &first);
	if (*s++ != '-')
		return 200;
	has_last = number(&s, &last);
	if (*s != 0 || (!has_first && !has_last) || (has_first && has_last && last < first))
		return 200;
	if (!has_first) {                /* the last so many */
		if (last == 0 || size == 0)
			return 416;
		r->n = last < size ? last : size;
		r->first = size - r->n;
		return 206;
	}
	if (first >= size)
		return 416;
	r->first = first;
	r->n = (has_last && last < size - 1 ? last : size - 1) - first + 1;
	return 206;
}

/* If-Range: does the range still speak of this file? */
static bool same_file(const char *v, const struct http_file *f)
{
	if (v == NULL)
		return true;
	return *v == '"' ? strcmp(v, f->etag) == 0 : http_date_parse(v) == f->mtime;
}

unsigned http_match(const struct http_req *q, const struct http_file *f, struct http_range *r)
{
	unsigned status = conditions(q, f);

	*r = (struct http_range){ 0, f->size };
	if (status != 200 || q->range == NULL || q->method != HTTP_GET || !same_file(q->if_range, f))
		return status;
	return range_of(q->range, f->size, r);
}
