/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * xdr_code.h - samples to and from XDR bytes, by the routines that rpcgen has made and libtirpc
 * runs over the caller's memory.
 *
 * Samples lie at multiples of 8 bytes; XDR bytes may lie anywhere.  Nothing is allocated: what is
 * decoded goes where the caller says, who has looked at the count before.  false: the routine
 * refused, and what was written is undefined.
 */
#ifndef XDR_CODE_H
#define XDR_CODE_H

#include "protocols/xdr/xdr.h"
#include "runtime/base/xk_base.h"

/* n samples, without a count. */
bool xdr_code_put(uint8_t *to, const void *array, uint32_t n);
bool xdr_code_get(void *array, const uint8_t *from, uint32_t n);
/* An array of n: XDR_COUNT + n * XDR_SAMPLE bytes. */
bool xdr_code_put_array(uint8_t *to, const void *array, uint32_t n);
bool xdr_code_get_array(void *array, const uint8_t *from, uint32_t n);
/* The count at from. */
uint32_t xdr_code_count(const uint8_t *from);
bool xdr_code_put_count(uint8_t *to, uint32_t n);

#endif
