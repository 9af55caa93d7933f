/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * xk_err.h - result codes and their texts.
 *
 * Any thread may use everything here; nothing blocks or allocates.
 */
#ifndef XK_ERR_H
#define XK_ERR_H

#ifdef __cplusplus
extern "C" {
#endif

/*
 * Result codes: 0 or one of these, negative.  The numbers follow errno so that
 * a system call's failure can be handed up as it is.
 */
enum xk_err {
	XK_OK = 0,
	XK_E_PERM = -1,        /* not allowed (privilege) */
	XK_E_NOENT = -2,       /* no such thing */
	XK_E_IO = -5,          /* device failed */
	XK_E_BADF = -9,        /* not a descriptor in use */
	XK_E_AGAIN = -11,      /* would block */
	XK_E_NOMEM = -12,      /* out of memory */
	XK_E_BUSY = -16,       /* in use */
	XK_E_EXIST = -17,      /* already there */
	XK_E_ELSEWHERE = -18,  /* belongs to another virtual processor */
	XK_E_NODEV = -19,      /* no such device */
	XK_E_INVAL = -22,      /* bad argument */
	XK_E_MFILE = -24,      /* no descriptor left */
	XK_E_NOSPC = -28,      /* table or buffer full */
	XK_E_RANGE = -34,      /* value out of range */
	XK_E_DESTADDRREQ = -89, /* nobody to send to */
	XK_E_MSGSIZE = -90,    /* message too long */
	XK_E_NOPROTOOPT = -92, /* no such option here */
	XK_E_NOTSUP = -95,     /* operation not supported */
	XK_E_ADDRINUSE = -98,  /* local address taken */
	XK_E_ADDRNOTAVAIL = -99, /* no local address or port left */
	XK_E_UNREACH = -113,   /* no route to its address */
	XK_E_PIPE = -32,       /* we have ended our side of the stream */
	XK_E_CONNABORTED = -103, /* ended by this side */
	XK_E_CONNRESET = -104, /* reset by the peer */
	XK_E_ISCONN = -106,    /* connected already */
	XK_E_NOTCONN = -107,   /* not connected */
	XK_E_SHUTDOWN = -108,  /* being taken down */
	XK_E_TIMEDOUT = -110,  /* the peer does not answer */
	XK_E_CONNREFUSED = -111, /* the peer refuses */
	XK_E_ALREADY = -114,   /* under way already */
	XK_E_INPROGRESS = -115, /* under way now */
};

/* Text of a result code; never NULL.  Codes outside the enum go through strerror. */
const char *xk_strerror(int err);

#ifdef __cplusplus
}
#endif
#endif
