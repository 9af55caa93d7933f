/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * ctl_show.h - what the files that show things share.
 */
#ifndef CTL_SHOW_H
#define CTL_SHOW_H

#include <stdio.h>

#include "tools/control/ctl_priv.h"

int ctl_show_sessions(struct ctl_call *k);
/* ctl_affinity.c */
int ctl_show_affinity(struct ctl_call *k);
int ctl_show_times(struct ctl_call *k);

/* Three numbers with points between; NULL leaves them. */
static inline bool ctl_cursor(const char *text, unsigned long long n[3])
{
	char end;

	return text == NULL || sscanf(text, "%9llu.%9llu.%19llu%c", &n[0], &n[1], &n[2], &end) == 3;
}

#endif
