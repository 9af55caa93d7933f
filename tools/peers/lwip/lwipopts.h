/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * lwipopts.h - lwIP at its best for in-memory measurements: no system layer,
 * no statistics, no assertions, pools large enough, checksums on.
 */
#ifndef XK_LWIPOPTS_H
#define XK_LWIPOPTS_H

#define NO_SYS 1
#define SYS_LIGHTWEIGHT_PROT 0
#define LWIP_NETCONN 0
#define LWIP_SOCKET 0
#define LWIP_NETIF_API 0
#define LWIP_RAW 0
#define LWIP_IPV6 0
#define LWIP_ARP 1
#define LWIP_ICMP 1
#define LWIP_DHCP 0
#define LWIP_DNS 0
#define LWIP_STATS 0
#define LWIP_NOASSERT 1
#define LWIP_SINGLE_NETIF 0
#define LWIP_NETIF_LOOPBACK 0
#define ENABLE_LOOPBACK 0
#define ETHARP_SUPPORT_STATIC_ENTRIES 1
#define ETH_PAD_SIZE 0
#define IP_FRAG 0
#define IP_REASSEMBLY 0
#define LWIP_TCP 1

#ifndef MTU
#define MTU 4352
#endif
/* TCP connections that the pools are for.  With many of them the C library's
 * malloc is faster than lwIP's own heap. */
#ifndef NCONN
#define NCONN 1
#endif
#define NUDP 1024                       /* UDP's */
#define MEM_ALIGNMENT 8
#if NCONN > 500
#define MEM_LIBC_MALLOC 1
#endif
#define MEM_SIZE (256u << 20)
#define PBUF_POOL_BUFSIZE ((MTU + 14 + 63) / 64 * 64)
#define PBUF_POOL_SIZE (NCONN > 500 ? 60000 : 8192)
#define MEMP_NUM_PBUF 65000
#define MEMP_NUM_UDP_PCB (NUDP + 16)
#define MEMP_NUM_TCP_PCB (2 * NCONN + 16)
#define MEMP_NUM_TCP_PCB_LISTEN 4
#define MEMP_NUM_TCP_SEG 65000

#define TCP_MSS (MTU - 40)
#define LWIP_WND_SCALE 1
#define TCP_RCV_SCALE 3
#define TCP_WND (256 * 1024)
#define TCP_SND_BUF TCP_WND
#define TCP_SND_QUEUELEN (4 * (TCP_SND_BUF / TCP_MSS) + 8)
#define TCP_SNDLOWAT (2 * TCP_MSS)
#define TCP_OVERSIZE TCP_MSS
#define TCP_QUEUE_OOSEQ 1
#define TCP_LISTEN_BACKLOG 0
#define LWIP_TCP_TIMESTAMPS 0
#define LWIP_TCP_SACK_OUT 0

#endif
