/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * vpc_http.h - what export and web share: a port of the loopback interface, and answers over HTTP (libmicrohttpd).
 */
#ifndef VPC_HTTP_H
#define VPC_HTTP_H

#include <microhttpd.h>
#include <poll.h>

#include "tools/vp-ctl/vpc.h"

/* What is answered, and headers: name, value, ..., NULL; or NULL: none beside the type. */
struct vpc_answer {
	unsigned           status;
	const char        *type;
	char              *text;
	size_t             n;
	bool               own;          /* text is freed when it is out */
	const char *const *headers;
};

enum MHD_Result vpc_http_answer(struct MHD_Connection *c, const struct vpc_answer *a);
/* A sentence, not freed. */
enum MHD_Result vpc_http_plain(struct MHD_Connection *c, unsigned status, const char *text, const char *const *headers);
/* A port from 0 (any that is free) to 65535; false: said that it is none. */
bool vpc_http_port(const char *text, uint16_t *port);
/* A socket that listens at 127.0.0.1, with its port; negative: said why not. */
int  vpc_http_listen(uint16_t *port);
/* Daemon d does what it can, after at most `most`, or when one of p[0..n) is ready; p[0] is d's own. */
void vpc_http_turn(struct MHD_Daemon *d, struct pollfd *p, unsigned n, xk_ns most);

#endif
