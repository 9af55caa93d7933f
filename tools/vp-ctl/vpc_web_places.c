/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * vpc_web_places.c - the connections of vp-ctl web: who has not shown the token cannot keep out who has.
 *
 * Any user of this machine may connect.  At most STRANGERS connections that have not shown the token are there: when one
 * more comes, the one of them that has been there longest is cut.
 * Invariant: fd of a place is open as long as the place is somebody's.
 */
#include "tools/vp-ctl/vpc.h"

#ifdef XK_HAVE_MICROHTTPD

#include <sys/socket.h>

#include "tools/vp-ctl/vpc_web.h"

#define STRANGERS 16u

static void cut_the_oldest(struct web *w)
{
	struct web_place *old = NULL;
	unsigned n = 0;

	for (struct web_place *p = w->place; p < w->place + WEB_PLACES; p++) {
		if (p->c == NULL || p->known || p->cut)
			continue;
		n++;
		if (old == NULL || p->since < old->since)
			old = p;
	}
	if (n <= STRANGERS)
		return;
	old->cut = true;
	(void)shutdown(old->fd, SHUT_RDWR);      /* libmicrohttpd sees it, and closes it */
}

void web_place(void *arg, struct MHD_Connection *c, void **place, enum MHD_ConnectionNotificationCode what)
{
	struct web *w = arg;
	struct web_place *p = *place;

	if (what == MHD_CONNECTION_NOTIFY_CLOSED) {
		if (p != NULL)
			p->c = NULL;
		return;
	}
	for (p = w->place; p < w->place + WEB_PLACES && p->c != NULL; p++)
		;
	if (p == w->place + WEB_PLACES)
		return;                          /* libmicrohttpd lets no more in than there are places */
	*p = (struct web_place){ .c = c, .fd = MHD_get_connection_info(c, MHD_CONNECTION_INFO_CONNECTION_FD)->connect_fd,
				 .since = xk_clock_host() };
	*place = p;
	cut_the_oldest(w);
}

void web_known(struct MHD_Connection *c)
{
	struct web_place *p = MHD_get_connection_info(c, MHD_CONNECTION_INFO_SOCKET_CONTEXT)->socket_context;

	if (p != NULL)
		p->known = true;
}

#endif
