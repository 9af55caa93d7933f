/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * pcap_priv.h - the capture file writer shared by the driver and by captures.
 */
#ifndef XK_PCAP_PRIV_H
#define XK_PCAP_PRIV_H

#include "drivers/pcap/xk_pcap.h"
#include "runtime/sync/xk_sync.h"

#define CAP_SNAPLEN 262144u      /* what readers accept at most */

struct cap_writer;
struct cap_writer *cap_writer_new(const char *path, int linktype, char *why, size_t n);
bool     cap_writer_free(struct cap_writer *w);
/* One frame, chains flattened; from any thread inside a VP. */
void     cap_writer_put(struct cap_writer *w, xk_ns now, const struct xk_msg *m);
uint64_t cap_writer_count(const struct cap_writer *w);
bool     cap_writer_ok(const struct cap_writer *w);

/* enum xk_link <-> the numbers of capture files; -1 when there is none. */
int cap_dlt_of_link(int link);
int cap_link_of_dlt(int dlt);

#endif
