/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * pcap_filter.c - filter expressions, as tcpdump takes them, into classic BPF.
 *
 * Invariant: what is handed out is a program that the engine has taken or will refuse with a
 * sentence; nothing of libpcap's stays.
 */
#include <pcap/pcap.h>
#include <stdio.h>
#include <string.h>

#include "drivers/pcap/pcap_priv.h"

int xk_pcap_compile(const char *text, int linktype, struct sock_filter *prog, unsigned max, char *why, size_t n)
{
	int dlt = cap_dlt_of_link(linktype), err = XK_E_INVAL;
	pcap_t *dead = dlt >= 0 ? pcap_open_dead(dlt, CAP_SNAPLEN) : NULL;
	struct bpf_program b;

	if (dead == NULL) {
		snprintf(why, n, dlt < 0 ? "no expression can be made for this link" : "out of memory");
		return dlt < 0 ? XK_E_NOTSUP : XK_E_NOMEM;
	}
	if (pcap_compile(dead, &b, text, 1, PCAP_NETMASK_UNKNOWN) != 0) {
		snprintf(why, n, "%s", pcap_geterr(dead));
		pcap_close(dead);
		return XK_E_INVAL;
	}
	if (b.bf_len > max) {
		snprintf(why, n, "%u instructions: at most %u", b.bf_len, max);
	} else {
		for (unsigned i = 0; i < b.bf_len; i++)
			prog[i] = (struct sock_filter){ .code = b.bf_insns[i].code, .jt = b.bf_insns[i].jt,
				.jf = b.bf_insns[i].jf, .k = b.bf_insns[i].k };
		err = (int)b.bf_len;
	}
	pcap_freecode(&b);
	pcap_close(dead);
	return err;
}
