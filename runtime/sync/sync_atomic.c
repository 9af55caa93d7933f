/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * sync_atomic.c - how many locked operations a thread has done.
 *
 * Only the counting build counts; there, every read-modify-write of the
 * program passes the counter because sync is the only room that writes one.
 */
#include "runtime/sync/xk_sync.h"

#ifdef XK_COUNT_ATOMICS
_Thread_local uint64_t xk_atomics_done __attribute__((tls_model("initial-exec")));
#endif

uint64_t xk_atomics_count(void)
{
#ifdef XK_COUNT_ATOMICS
	return xk_atomics_done;
#else
	return 0;
#endif
}

bool xk_atomics_counted(void)
{
#ifdef XK_COUNT_ATOMICS
	return true;
#else
	return false;
#endif
}
