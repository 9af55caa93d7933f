/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * kit_clauses.h - the clauses, for the table of kit.c.  Each runs in a process of its own and says what it found.
 */
#ifndef KIT_CLAUSES_H
#define KIT_CLAUSES_H

#include "tools/vp-graph/kit/kit.h"

void kit_clause_descriptor(struct kit *k);
void kit_clause_start(struct kit *k);
void kit_clause_parameters(struct kit *k);
void kit_clause_bytes(struct kit *k);
void kit_clause_consumed(struct kit *k);
void kit_clause_memory(struct kit *k);
void kit_clause_sessions(struct kit *k);
void kit_clause_headers(struct kit *k);
void kit_clause_filters(struct kit *k);
void kit_clause_presets(struct kit *k);
void kit_clause_stalls(struct kit *k);

#endif
