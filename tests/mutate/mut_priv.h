/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * mut_priv.h - what mut_fields.c and mut_shapes.c share: changes that are not of one
 * field's value.
 */
#ifndef TESTS_MUT_PRIV_H
#define TESTS_MUT_PRIV_H

#include "tests/mutate/mut.h"

#define MUT_SHAPE_GROUP 0x100u

enum mut_shape {
	MUT_TCP_OPTION,          /* one option with a length */
	MUT_TCP_LAST,            /* the same as the last bytes there are */
	MUT_TCP_SPECIAL,         /* whole sets */
	MUT_TCP_SACK,            /* blocks */
	MUT_TCP_TIME,            /* timestamps */
	MUT_IP_OPTION, MUT_IP_LAST,
	MUT_CUT, MUT_PAD, MUT_LEN, MUT_QUOTED,
	MUT_SHAPE_COUNT
};
unsigned mut_shape_values(enum mut_shape s);
const char *mut_shape_name(enum mut_shape s);
bool mut_shape_fits(enum mut_shape s, enum mut_kind kind, bool below, bool options);

#endif
