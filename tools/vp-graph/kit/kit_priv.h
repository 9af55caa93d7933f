/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * kit_priv.h - what the files that make a scene share, and no clause needs.
 */
#ifndef KIT_PRIV_H
#define KIT_PRIV_H

#include "tools/vp-graph/kit/kit.h"

/* The scene as text, as `how` wants it; of malloc; NULL: no memory. */
char *kit_text_of(const struct kit *k, const struct kit_how *how);

/* The graph file of that name in the program: kit.lua, or NAME without .test.lua; of malloc; NULL: none. */
char *kit_of_build(const char *name);

#endif
