/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * pkt_show.c - a segment in the notation of the script.
 */
#include "tools/pkt/pkt_priv.h"

static void show_flags(FILE *f, uint16_t flags)
{
	static const char c[] = "FSRPUEWA.";
	static const uint16_t bit[] = { PKT_FIN, PKT_SYN, PKT_RST, PKT_PSH, PKT_URG, PKT_ECE, PKT_CWR, PKT_AE, PKT_ACK };

	if (flags == 0)
		fputc('-', f);
	for (unsigned i = 0; i < XK_ARRAY_LEN(bit); i++)
		if (flags & bit[i])
			fputc(c[i], f);
}

static void show_number(FILE *f, const char *name, uint32_t v, bool any)
{
	if (any)
		fprintf(f, "%s ...", name);
	else
		fprintf(f, "%s %u", name, v);
}

static void show_option(FILE *f, const struct pkt_opt *o)
{
	switch (o->kind) {
	case PKT_O_EOL: fprintf(f, "eol"); break;
	case PKT_O_NOP: fprintf(f, "nop"); break;
	case PKT_O_SACKOK: fprintf(f, "sackOK"); break;
	case PKT_O_MSS: show_number(f, "mss", o->a, o->any_a); break;
	case PKT_O_WSCALE: show_number(f, "wscale", o->a, o->any_a); break;
	case PKT_O_TS:
		show_number(f, "TS val", o->a, o->any_a);
		show_number(f, " ecr", o->b, o->any_b);
		break;
	case PKT_O_SACK:
		fprintf(f, "sack");
		for (unsigned i = 0; i < o->n; i++)
			fprintf(f, " %u:%u", o->sack[i].l, o->sack[i].r);
		break;
	case PKT_O_FO: case PKT_O_RAW:
		fprintf(f, o->kind == PKT_O_FO ? "FO " : "raw ");
		for (unsigned i = 0; i < o->n; i++)
			fprintf(f, "%02x", o->byte[i]);
		break;
	}
}

void pkt_seg_show(FILE *f, const struct pkt_seg *s, bool out)
{
	static const char *const ecn[] = { "noecn", "ect1", "ect0", "ce" };

	fprintf(f, "%c ", out ? '>' : '<');
	if (s->ecn > 0)
		fprintf(f, "[%s] ", ecn[s->ecn]);
	if (s->what == PKT_ICMP) {
		fprintf(f, "icmp type %u code %u", s->icmp_type, s->icmp_code);
		return;
	}
	show_flags(f, s->flags);
	fprintf(f, " %u:%u(%u)", s->seq, s->seq + s->len, s->len);
	if (s->have_ack && ((s->flags & PKT_ACK) || s->ack != 0))
		fprintf(f, " ack %u", s->ack);
	if (s->have_win)
		fprintf(f, " win %u", s->win);
	if (s->have_urp)
		fprintf(f, " urg %u", s->urp);
	if (s->any_opts || s->nopts != 0)
		fprintf(f, " <");
	if (s->any_opts)
		fprintf(f, "...");
	for (unsigned i = 0; i < s->nopts; i++) {
		fprintf(f, i ? "," : "");
		show_option(f, &s->opt[i]);
	}
	if (s->any_opts || s->nopts != 0)
		fputc('>', f);
}
