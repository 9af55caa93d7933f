/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * xdr_code.c - the one file that calls libtirpc and what rpcgen made of samples.x.
 *
 * An XDR stream over memory is set up on the stack, so a call costs what the conversion costs.
 * Decoding finds its array allocated, which the routines take to mean that they shall not
 * allocate one; xdr_free would be the caller's xk_msg_free.
 * Invariant: no routine is given more bytes than are there.
 */
#include "protocols/xdr/xdr_code.h"

#include "protocols/xdr/samples.h"

_Static_assert(sizeof(sample) == XDR_SAMPLE, "samples.x: no padding, and what XDR takes");
_Static_assert(SAMPLES_MAX == XDR_SAMPLES_MAX, "samples.x");

bool xdr_code_put(uint8_t *to, const void *array, uint32_t n)
{
	XDR x;

	xdrmem_create(&x, (char *)to, n * XDR_SAMPLE, XDR_ENCODE);
	return xdr_vector(&x, (char *)(uintptr_t)array, n, XDR_SAMPLE, (xdrproc_t)xdr_sample);
}

bool xdr_code_get(void *array, const uint8_t *from, uint32_t n)
{
	XDR x;

	xdrmem_create(&x, (char *)(uintptr_t)from, n * XDR_SAMPLE, XDR_DECODE);
	return xdr_vector(&x, array, n, XDR_SAMPLE, (xdrproc_t)xdr_sample);
}

bool xdr_code_put_array(uint8_t *to, const void *array, uint32_t n)
{
	samples a = { n, (sample *)(uintptr_t)array };
	XDR x;

	xdrmem_create(&x, (char *)to, XDR_COUNT + n * XDR_SAMPLE, XDR_ENCODE);
	return xdr_samples(&x, &a);
}

bool xdr_code_get_array(void *array, const uint8_t *from, uint32_t n)
{
	samples a = { n, array };
	XDR x;

	xdrmem_create(&x, (char *)(uintptr_t)from, XDR_COUNT + n * XDR_SAMPLE, XDR_DECODE);
	return xdr_samples(&x, &a) && a.samples_len == n;
}

uint32_t xdr_code_count(const uint8_t *from)
{
	u_int n = 0;
	XDR x;

	xdrmem_create(&x, (char *)(uintptr_t)from, XDR_COUNT, XDR_DECODE);
	return xdr_u_int(&x, &n) ? n : UINT32_MAX;
}

bool xdr_code_put_count(uint8_t *to, uint32_t n)
{
	XDR x;

	xdrmem_create(&x, (char *)to, XDR_COUNT, XDR_ENCODE);
	return xdr_u_int(&x, &n);
}
