/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * pkt_words.c - constants by name, and the numbers of expressions.
 *
 * Values are this reader's own currency: both sides of every comparison come from
 * here, so it does not matter which system a script was written on.
 */
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <poll.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <arpa/inet.h>

#include "tools/pkt/pkt_priv.h"

static const struct { const char *name; int64_t v; } words[] = {
#define W(x) { #x, x }
#define T(x) { "TCP_" #x, PKT_TCP_##x }
	W(AF_INET), W(AF_UNSPEC), W(PF_INET), W(SOCK_STREAM), W(SOCK_NONBLOCK), W(IPPROTO_TCP), W(IPPROTO_IP),
	W(SOL_SOCKET), { "SOL_TCP", IPPROTO_TCP }, W(SOL_IP), W(INADDR_ANY),
	W(SO_REUSEADDR), W(SO_REUSEPORT), W(SO_RCVBUF), W(SO_SNDBUF), W(SO_ERROR), W(SO_KEEPALIVE), W(SO_LINGER),
	W(SO_OOBINLINE), W(SO_RCVTIMEO), W(SO_SNDTIMEO), W(SO_RCVLOWAT), W(SO_PRIORITY),
	T(NODELAY), T(MAXSEG), T(CORK), T(KEEPIDLE), T(KEEPINTVL), T(KEEPCNT),
	T(SYNCNT), T(LINGER2), T(DEFER_ACCEPT), T(INFO), T(QUICKACK), T(CONGESTION),
	T(USER_TIMEOUT), T(WINDOW_CLAMP), T(NOTSENT_LOWAT), T(FASTOPEN),
	W(SHUT_RD), W(SHUT_WR), W(SHUT_RDWR),
	W(F_GETFL), W(F_SETFL), W(O_RDWR), W(O_RDONLY), W(O_WRONLY), W(O_NONBLOCK),
	W(MSG_PEEK), W(MSG_DONTWAIT), W(MSG_OOB), W(MSG_WAITALL), W(MSG_NOSIGNAL), W(MSG_MORE), W(MSG_TRUNC),
	W(MSG_EOR), W(MSG_ERRQUEUE), W(MSG_CTRUNC),
	W(POLLIN), W(POLLOUT), W(POLLERR), W(POLLHUP), W(POLLPRI), W(POLLNVAL), W(POLLRDNORM), W(POLLWRNORM),
	W(POLLRDHUP),
	W(FIONREAD), W(FIONBIO), { "SIOCINQ", FIONREAD }, { "SIOCOUTQ", TIOCOUTQ }, { "NULL", 0 },
#undef T
#undef W
};

static const struct { const char *name; int v; } errnos[] = {
#define W(x) { #x, x }
	W(EAGAIN), W(EWOULDBLOCK), W(EINPROGRESS), W(EALREADY), W(ECONNREFUSED), W(ECONNRESET), W(ECONNABORTED),
	W(ETIMEDOUT), W(EPIPE), W(ENOTCONN), W(EISCONN), W(EINVAL), W(EFAULT), W(EBADF), W(EADDRINUSE),
	W(EADDRNOTAVAIL), W(EDESTADDRREQ), W(EHOSTUNREACH), W(ENETUNREACH), W(EMSGSIZE), W(ENOPROTOOPT),
	W(EOPNOTSUPP), W(ENOTSUP), W(EPERM), W(EACCES), W(ENOTSOCK), W(EPROTONOSUPPORT), W(EAFNOSUPPORT),
	W(EMFILE), W(ENOMEM), W(ENOBUFS), W(EINTR), W(EPROTO), W(EEXIST), W(ENOENT),
#undef W
};

bool pkt_word_value(const char *name, int64_t *v)
{
	for (unsigned i = 0; i < XK_ARRAY_LEN(words); i++)
		if (strcmp(words[i].name, name) == 0) {
			*v = words[i].v;
			return true;
		}
	for (unsigned i = 0; i < XK_ARRAY_LEN(errnos); i++)
		if (strcmp(errnos[i].name, name) == 0) {
			*v = errnos[i].v;
			return true;
		}
	return false;
}

const char *pkt_errno_name(int err)
{
	for (unsigned i = 0; i < XK_ARRAY_LEN(errnos); i++)
		if (errnos[i].v == err)
			return errnos[i].name;
	return strerror(err);
}

static bool call_value(const struct pkt_expr *x, int64_t *v)
{
	struct in_addr a;

	if (x->n != 1)
		return false;
	if (strcmp(x->s, "htons") == 0 || strcmp(x->s, "htonl") == 0)
		return pkt_expr_value(x->kid[0], v);
	if (strcmp(x->s, "inet_addr") == 0 && x->kid[0]->kind == PKT_X_TEXT &&
	    inet_pton(AF_INET, x->kid[0]->s, &a) == 1) {
		*v = (int64_t)be32toh(a.s_addr);
		return true;
	}
	return false;
}

bool pkt_expr_value(const struct pkt_expr *x, int64_t *v)
{
	switch (x->kind) {
	case PKT_X_INT:
		*v = x->v;
		return true;
	case PKT_X_WORD:
		return pkt_word_value(x->s, v);
	case PKT_X_CALL:
		return call_value(x, v);
	case PKT_X_LIST:
		return x->n == 1 && pkt_expr_value(x->kid[0], v);
	case PKT_X_FIELD:
		return pkt_expr_value(x->kid[0], v);
	default:
		return false;
	}
}
