/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * echo_pvm.c - an echo between two tasks of PVM by their own TCP connection, bytes as they are; the one that was
 * started starts the other, and measures.  A daemon of PVM runs (tools/peers/echo).
 *
 * Usage: echo-pvm BYTES WARMUP_NS MEASURED_NS, by its whole path
 */
#include <pvm3.h>

#include "echo.h"

enum { ECHO = 1, END };

static int peer;

static void must(int code, const char *what)
{
	if (code >= 0)
		return;
	fprintf(stderr, "echo-pvm: %s: error %d\n", what, code);
	pvm_exit();
	exit(1);
}

static void send_to_peer(char *buf, int n, int tag)
{
	must(pvm_initsend(PvmDataRaw), "pvm_initsend");
	if (n > 0)
		must(pvm_pkbyte(buf, n, 1), "pvm_pkbyte");
	must(pvm_send(peer, tag), "pvm_send");
}

static void once(struct echo *e)
{
	send_to_peer(e->out, e->size, ECHO);
	must(pvm_recv(peer, ECHO), "pvm_recv");
	must(pvm_upkbyte(e->in, e->size, 1), "pvm_upkbyte");
}

static void serve(struct echo *e)
{
	int buf, n, tag, tid;

	for (;;) {
		must(buf = pvm_recv(peer, -1), "pvm_recv");
		must(pvm_bufinfo(buf, &n, &tag, &tid), "pvm_bufinfo");
		if (tag == END)
			return;
		must(pvm_upkbyte(e->in, e->size, 1), "pvm_upkbyte");
		send_to_peer(e->in, e->size, ECHO);
	}
}

int main(int argc, char **argv)
{
	struct echo e;

	if (!echo_options(&e, "pvm", argc, argv))
		return 2;
	must(pvm_mytid(), "no daemon");
	pvm_setopt(PvmRoute, PvmRouteDirect);
	peer = pvm_parent();
	if (peer < 0) {
		if (pvm_spawn(argv[0], argv + 1, PvmTaskDefault, NULL, 1, &peer) != 1)
			must(peer < 0 ? peer : -1, "pvm_spawn");
		echo_run(&e, once);
		send_to_peer(e.out, 0, END);
	} else {
		serve(&e);
	}
	pvm_exit();
	return 0;
}
