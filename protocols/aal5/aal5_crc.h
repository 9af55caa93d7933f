/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * aal5_crc.h - the CRC-32 of AAL5 (ITU-T I.363.5, 9.2.1.2): most significant bit first, ones before, complemented.
 *
 * By ISA-L where the build has it, else by tables, eight bytes a step: the same results.
 */
#ifndef AAL5_CRC_H
#define AAL5_CRC_H

#include <stddef.h>
#include <stdint.h>

/* Of nothing. */
#define AAL5_CRC_NONE 0u

/* Of n more bytes behind those whose CRC is crc. */
uint32_t aal5_crc(uint32_t crc, const void *p, size_t n);
/* The same by tables, in every build. */
uint32_t aal5_crc_tables(uint32_t crc, const void *p, size_t n);

#endif
