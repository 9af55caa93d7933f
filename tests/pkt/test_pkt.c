/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * test_pkt.c - the reader of wire scripts by itself: what it reads, what it refuses,
 * and that bytes and notation are the same segment.
 */
#include <stdlib.h>
#include <string.h>

#include "tests/support/xk_test.h"
#include "tools/pkt/pkt_priv.h"

static char *said;
static size_t said_n;

static struct pkt_script *parse(const char *text)
{
	FILE *out;
	struct pkt_script *s;

	free(said);
	said = NULL;
	out = open_memstream(&said, &said_n);
	s = pkt_parse("t.pkt", text, strlen(text), out);
	fclose(out);
	return s;
}

static void refuses(const char *text, const char *why)
{
	struct pkt_script *s = parse(text);

	CU_ASSERT_PTR_NULL(s);
	CU_ASSERT_PTR_NOT_NULL(strstr(said, why));
	if (s != NULL || strstr(said, why) == NULL)
		printf("# %s -> %s\n", text, said);
	pkt_free(s);
}

/* Runs text; what it says must hold `why`. */
static void ends(const char *text, enum pkt_result as, const char *why)
{
	struct pkt_script *s = parse(text);
	struct pkt_opts o = { .profile = NULL };
	enum pkt_result r;
	FILE *out;

	CU_ASSERT_PTR_NOT_NULL_FATAL(s);
	if (xk_proto_find("tcp") == NULL || xk_proto_find("sock") == NULL) {
		pkt_free(s);
		return;
	}
	free(said);
	said = NULL;
	out = open_memstream(&said, &said_n);
	r = pkt_run(s, &o, out);
	fclose(out);
	CU_ASSERT_EQUAL(r, as);
	CU_ASSERT_PTR_NOT_NULL(strstr(said, why));
	if (r != as || strstr(said, why) == NULL)
		printf("# %s -> %s: %s\n", text, pkt_result_text(r), said);
	pkt_free(s);
}

/* ---- times ------------------------------------------------------------------------- */

static void times_are_read_with_their_kind(void)
{
	struct pkt_script *s = parse("0 close(3) = 0\n+.1 close(3) = 0\n1.5...2 close(3) = 0\n"
				     "+0...0.000 close(3) = 0\n* > . 1:1(0)\n+.1~+.105 > . 1:1(0)\n");
	const struct pkt_event *e;

	CU_ASSERT_PTR_NOT_NULL_FATAL(s);
	CU_ASSERT_EQUAL(pkt_events(s), 6);
	e = s->first;
	CU_ASSERT(e->t.kind == PKT_AT && e->t.from == 0);
	e = e->next;
	CU_ASSERT(e->t.kind == PKT_AFTER && e->t.from == 100000000);
	e = e->next;
	CU_ASSERT(e->t.blocks && e->t.from == 1500000000 && e->t.to == 2000000000);
	e = e->next;
	CU_ASSERT(e->t.blocks && e->t.from == 0 && e->t.to == 0);
	e = e->next;
	CU_ASSERT(e->t.kind == PKT_WHENEVER);
	e = e->next;
	CU_ASSERT(e->t.range && e->t.from == 100000000 && e->t.to == 105000000);
	pkt_free(s);
}

static void wrong_times_are_refused(void)
{
	refuses("1~.5 > . 1:1(0)\n", "ends before it begins");
	refuses("1...2 > . 1:1(0)\n", "only a call");
	refuses("1~2 close(3) = 0\n", "only a segment that we send");
	refuses("* < . 1:1(0)\n", "only a segment that we send");
	refuses("x close(3) = 0\n", "a time in seconds");
	refuses("9999999999 close(3) = 0\n", "t.pkt:1: a time of more than 1000000000 seconds");
	refuses("0 close(3) = 0\n+99999999999999999999999 close(3) = 0\n", "t.pkt:2: a time of more than");
	refuses("+.1234567891 close(3) = 0\n", "finer than nanoseconds");
	refuses("+0~1000000001 > . 1:1(0)\n", "a time of more than");
}

/* ---- segments ------------------------------------------------------------------------- */

static void a_segment_has_all_its_parts(void)
{
	struct pkt_script *s = parse("0 < [ect0, tos 0x10] SEWP. 4294967295:5(6) ack 7 win 8 urg 9 <mss 1460,nop,wscale 7,"
				     "sackOK,TS val 1 ecr 2,eol>");
	const struct pkt_seg *g;

	CU_ASSERT_PTR_NOT_NULL_FATAL(s);
	g = s->first->seg;
	CU_ASSERT_EQUAL(g->flags, PKT_SYN | PKT_ECE | PKT_CWR | PKT_PSH | PKT_ACK);
	CU_ASSERT(g->seq == UINT32_MAX && g->len == 6 && g->ack == 7 && g->win == 8 && g->urp == 9);
	CU_ASSERT(g->ecn == 2 && g->tos == 16);
	CU_ASSERT_EQUAL_FATAL(g->nopts, 6);
	CU_ASSERT(g->opt[4].kind == PKT_O_TS && g->opt[4].a == 1 && g->opt[4].b == 2);
	pkt_free(s);
}

static void a_segment_is_shown_as_it_was_written(void)
{
	static const char text[] = "> [ce] FP. 1:11(10) ack 2 win 3 <nop,nop,sack 5:6 7:8,TS val 1 ecr ...>";
	struct pkt_script *s = parse("0 > [ce] FP. 1:11(10) ack 2 win 3 <nop,nop,sack 5:6 7:8,TS val 1 ecr ...>\n");
	char *shown = NULL;
	size_t n = 0;
	FILE *f = open_memstream(&shown, &n);

	CU_ASSERT_PTR_NOT_NULL_FATAL(s);
	pkt_seg_show(f, s->first->seg, true);
	fclose(f);
	CU_ASSERT_STRING_EQUAL(shown, text);
	free(shown);
	pkt_free(s);
}

static void wrong_segments_are_refused(void)
{
	refuses("0 > . 1:2(0)\n", "are 1 bytes, not 0");
	refuses("0 > Q 1:1(0)\n", "flags expected");
	refuses("0 > . 1:1(0) win 65536\n", "16 bits");
	refuses("0 > . 1:1(0) <foo>\n", "no option 'foo'");
	refuses("0 > . 1:1(0) <sack>\n", "a block");
	refuses("0 > . 1:1(0) <sack 1:2 1:2 1:2 1:2 1:2>\n", "more blocks");
	refuses("0 > . 99999999999:1(0)\n", "32 bits");
	refuses("0 < icmp unreachable nonsense [1:1(0)]\n", "no code");
	refuses("0 > icmp unreachable net_unreachable\n", "not looked at");
	refuses("0 < icmp time_exceeded nonsense [1:1(0)]\n", "no code 'nonsense'");
	refuses("0 < icmp unreachable code_256 [1:1(0)]\n", "no code 'code_256'");
	refuses("0 < icmp redirect [1:1(0)]\n", "'redirect' is none of");
}

static void an_icmp_message_has_type_and_code(void)
{
	struct pkt_script *s = parse("0 < icmp unreachable source_host_isolated [1:1(0)]\n0 < icmp time_exceeded [S 1:1(0)]\n"
				     "0 < icmp time_exceeded code_1 [1:1(0)]\n0 < icmp unreachable code_13 [1:1(0)]\n"
				     "0 < icmp unreachable precedence_cutoff\n");
	const struct { uint8_t type, code; } want[] = { { 3, 8 }, { 11, 0 }, { 11, 1 }, { 3, 13 }, { 3, 15 } };
	const struct pkt_event *e;
	unsigned i = 0;

	CU_ASSERT_PTR_NOT_NULL_FATAL(s);
	for (e = s->first; e != NULL; e = e->next, i++)
		CU_ASSERT(e->seg->icmp_type == want[i].type && e->seg->icmp_code == want[i].code);
	CU_ASSERT_EQUAL(i, XK_ARRAY_LEN(want));
	pkt_free(s);
}

static void bytes_and_back_are_the_same_segment(void)
{
	struct pkt_script *s = parse("0 < P. 100:1100(1000) ack 7 win 8 <nop,nop,TS val 1 ecr 2,nop,nop,sack 3:4 5:6>");
	struct pkt_seg live, back;
	uint8_t buf[2000];
	size_t n;

	CU_ASSERT_PTR_NOT_NULL_FATAL(s);
	live = *s->first->seg;
	live.src = 0x0a000001;
	live.dst = 0x0a000002;
	live.sport = 1;
	live.dport = 2;
	n = pkt_seg_store(&live, 5, buf, sizeof buf);
	CU_ASSERT_EQUAL(n, 20 + 20 + 12 + 20 + 1000);
	CU_ASSERT_PTR_NULL(pkt_seg_load(buf, n, &back));
	CU_ASSERT(back.seq == 100 && back.len == 1000 && back.flags == live.flags && back.nopts == live.nopts);
	CU_ASSERT(back.src == live.src && back.dport == 2 && back.win == 8);
	CU_ASSERT_EQUAL(back.payload[0], pkt_byte(5, PKT_SALT_IN));
	for (size_t i = 0; i < n; i += 7) {
		buf[i] ^= 1;
		CU_ASSERT_PTR_NOT_NULL(pkt_seg_load(buf, n, &back));
		buf[i] ^= 1;
	}
	CU_ASSERT_PTR_NOT_NULL(pkt_seg_load(buf, n - 1, &back));
	pkt_free(s);
}

static void options_that_do_not_fit_are_not_stored(void)
{
	struct pkt_script *s = parse("0 < . 1:1(0) <nop>\n0 < . 1:1(0) <TS val 1 ecr 1,TS val 1 ecr 1,TS val 1 ecr 1,"
				     "TS val 1 ecr 1,nop,nop,nop,nop>\n");
	uint8_t buf[200];

	CU_ASSERT_PTR_NOT_NULL_FATAL(s);
	CU_ASSERT_EQUAL(pkt_seg_store(s->first->seg, 0, buf, sizeof buf), 0);
	CU_ASSERT_EQUAL(pkt_seg_store(s->first->next->seg, 0, buf, sizeof buf), 0);
	pkt_free(s);
}

/* ---- calls ---------------------------------------------------------------------------------- */

static void a_call_has_arguments_and_a_result(void)
{
	struct pkt_script *s = parse("0 poll([{fd=4, events=POLLIN|POLLOUT, revents=POLLIN}], 1, 0) = 1\n"
				     "0 accept(3, ..., ...) = -1 EWOULDBLOCK (operation would block)\n"
				     "0 fcntl(3, F_GETFL) = 0x02 (flags O_RDWR)\n"
				     "0 bind(3, {sa_family = AF_INET, sin_port = htons(8080), "
				     "sin_addr = inet_addr(\"1.2.3.4\")}, 16) = 0\n");
	const struct pkt_event *e;
	int64_t v;

	CU_ASSERT_PTR_NOT_NULL_FATAL(s);
	e = s->first;
	CU_ASSERT_EQUAL(e->call->nargs, 3);
	CU_ASSERT_EQUAL(e->call->arg[0]->kind, PKT_X_LIST);
	CU_ASSERT_EQUAL(e->call->arg[0]->kid[0]->n, 3);
	CU_ASSERT_STRING_EQUAL(e->call->arg[0]->kid[0]->kid[1]->s, "events");
	CU_ASSERT(pkt_expr_value(e->call->arg[0]->kid[0]->kid[1], &v) && v == (1 | 4));
	e = e->next;
	CU_ASSERT_EQUAL(e->call->result, -1);
	CU_ASSERT_STRING_EQUAL(e->call->err, "EWOULDBLOCK");
	e = e->next;
	CU_ASSERT_EQUAL(e->call->result, 2);
	e = e->next;
	CU_ASSERT(pkt_expr_value(e->call->arg[1]->kid[2]->kid[0], &v) && v == 0x01020304);
	pkt_free(s);
}

static void wrong_calls_are_refused(void)
{
	refuses("0 close(3) 0\n", "'=' expected");
	refuses("0 close(3 = 0\n", "expected");
	refuses("0 close(3) = -1 ENONSENSE\n", "not known");
	refuses("0 close(3) = \n", "number expected");
	refuses("0 f([[[[[[[[[[[[[[[[[[[[1]]]]]]]]]]]]]]]]]]]]) = 0\n", "too deeply");
	refuses("0 f(A_WORD|1) = 0\n", "only numbers");
	refuses("0 `abc\n", "'`' is missing");
	refuses("0 %{ abc\n", "is missing");
	refuses("/* 0 close(3) = 0\n", "comment without end");
}

static void options_comments_and_lines_are_counted(void)
{
	struct pkt_script *s = parse("--mtu=1000\n// x\n--strict_segments\n/* 1\n2 */ 0 close(3) = 0 // y\n`a\nb`\n"
				     "+0 %{ assert tcpi_state == 1 }%");

	CU_ASSERT_PTR_NOT_NULL_FATAL(s);
	CU_ASSERT_STRING_EQUAL(pkt_option_of(s, "mtu", ""), "1000");
	CU_ASSERT_STRING_EQUAL(pkt_option_of(s, "strict_segments", "no"), "");
	CU_ASSERT_PTR_NULL(pkt_option_of(s, "mt", NULL));
	CU_ASSERT_EQUAL(s->first->line, 5);
	CU_ASSERT_STRING_EQUAL(s->first->text, "0 close(3) = 0");
	CU_ASSERT_EQUAL(s->last->line, 8);
	pkt_free(s);
}

/* ---- what is not done is not passed ----------------------------------------------------------- */

#define OPENED "0 socket(..., SOCK_STREAM, IPPROTO_TCP) = 3\n+0 bind(3, ..., ...) = 0\n+0 listen(3, 1) = 0\n" \
	"+0 < S 0:0(0) win 10000 <mss 1000>\n+0 > S. 0:0(0) ack 1 <...>\n+0 < . 1:1(0) ack 1 win 10000\n" \
	"+0 accept(3, ..., ...) = 4\n"

static void a_command_that_is_not_run_is_told(void)
{
	ends("0 `ip route add 10.0.0.0/8 dev eth0`\n", PKT_BAD_SCRIPT, "t.pkt:1: commands are not run here: what 'ip' would do");
	ends(OPENED "+0 `true`\n", PKT_BAD_SCRIPT, "t.pkt:8: commands are not run here");
	ends("0 `sysctl -w net.ipv4.tcp_mystery=1`\n", PKT_BAD_SCRIPT, "tcp_mystery is not known here");
	ends("0 `sysctl -q net.ipv4.tcp_sack=1 net.ipv4.tcp_mystery=1`\n", PKT_BAD_SCRIPT, "tcp_mystery is not known here");
	ends("0 `sysctl -w net.ipv4.tcp_sack=on`\n", PKT_BAD_SCRIPT, "'on' is no number");
	ends("0 `sysctl net.ipv4.tcp_sack`\n", PKT_BAD_SCRIPT, "no name=value");
	ends(OPENED "+0 `sysctl -w net.inet.tcp.delacktime=99`\n", PKT_BAD_SCRIPT, "cannot change while connections may exist");
	ends(OPENED "+0 `sysctl -w net.inet.tcp.rfc1323=0`\n", PKT_BAD_SCRIPT, "cannot change while connections may exist");
	ends("`../common/defaults.sh `\n0 `sysctl -w kern.ipc.maxsockbuf=2097152`\n+0 `sysctl -w net.ipv4.tcp_sack=0; "
	     "sysctl -w net.ipv4.tcp_timestamps=0`\n" OPENED, PKT_PASS, "");
}

static void an_option_that_is_not_heeded_is_refused(void)
{
	ends("--tolerance_percent=5\n" OPENED, PKT_BAD_SCRIPT, "t.pkt:1: there is no option --tolerance_percent");
	ends("--non_fatal=packet\n" OPENED, PKT_BAD_SCRIPT, "there is no option --non_fatal");
	ends("--tolerance_usecs=many\n" OPENED, PKT_BAD_SCRIPT, "--tolerance_usecs=many: a number from 0");
	ends("--mtu=\n" OPENED, PKT_BAD_SCRIPT, "--mtu=: a number from 68");
	ends("--bind_port=70000\n" OPENED, PKT_BAD_SCRIPT, "a number from 1 to 65535");
	ends(OPENED "+0 setsockopt(4, SOL_SOCKET, SO_PRIORITY, [1], 4) = 0\n", PKT_DIFFERS, "-1 ENOPROTOOPT, not 0");
	ends(OPENED "+0 setsockopt(4, 99, 99, [1], 4) = -1 ENOPROTOOPT\n", PKT_PASS, "");
	ends(OPENED "+0 write(4, ..., 10) = 10\n+0 send(4, ..., 10, MSG_MORE) = 10\n", PKT_BAD_SCRIPT, "flags 0x8000 are not known");
}

static void what_is_left_over_fails_unless_it_only_acknowledges(void)
{
	ends(OPENED "+0 write(4, ..., 10) = 10\n", PKT_DIFFERS, "a segment is left over");
	ends(OPENED "+0 close(4) = 0\n", PKT_DIFFERS, "a segment is left over");
	ends(OPENED "+0 < P. 1:11(10) ack 1 win 10000\n+0 close(4) = 0\n", PKT_DIFFERS, "> R.");
	ends(OPENED "+0 < P. 1:11(10) ack 1 win 10000\n", PKT_PASS, "");
	ends("--strict_segments\n" OPENED "+0 < P. 1:11(10) ack 1 win 10000\n", PKT_DIFFERS, "a segment is left over");
}

static void the_clock_has_an_end(void)
{
	ends("0 socket(..., SOCK_STREAM, IPPROTO_TCP) = 3\n+1000000000 close(3) = 0\n+1000000000 close(3) = -1 EBADF\n"
	     "+1000000000 close(3) = -1 EBADF\n+1000000000 close(3) = -1 EBADF\n", PKT_BAD_SCRIPT, "t.pkt:5: the clock does not");
}

/* No prefix and no mangled byte of a script makes the reader do anything but say so. */
static void mangled_scripts_are_read_or_refused(void)
{
	static const char text[] = "--mtu=1000\n0 `sysctl -w a=1`\n+0 socket(..., SOCK_STREAM, IPPROTO_TCP) = 3\n"
		"+.1...0.2 poll([{fd=4, events=POLLIN, revents=0}], 1, -1) = -1 EAGAIN (x)\n"
		"+.1~+.2 > [ect0] SP. 0:10(10) ack 1 win 2 urg 3 <mss 1,nop,sack 1:2 3:4,TS val 1 ecr 2>\n"
		"+0 < icmp unreachable frag_needed mtu 1000 [1:2(1)]\n+0 %{ assert tcpi_state == 1 }%\n";
	char copy[sizeof text];

	for (size_t n = 0; n < sizeof text - 1; n++) {
		memcpy(copy, text, n);
		copy[n] = '\0';
		pkt_free(parse(copy));
	}
	for (size_t i = 0; i < sizeof text - 1; i++)
		for (const char *c = "\x01(<[\"-9"; *c != '\0'; c++) {
			memcpy(copy, text, sizeof text);
			copy[i] = *c;
			pkt_free(parse(copy));
		}
	CU_PASS("the sanitizers judge");
}

static int done(void)
{
	free(said);
	said = NULL;
	return 0;
}

#define T(f) { #f, f }
static CU_TestInfo all[] = {
	T(times_are_read_with_their_kind), T(wrong_times_are_refused), T(a_segment_has_all_its_parts),
	T(a_segment_is_shown_as_it_was_written), T(wrong_segments_are_refused), T(bytes_and_back_are_the_same_segment),
	T(options_that_do_not_fit_are_not_stored), T(a_call_has_arguments_and_a_result), T(wrong_calls_are_refused),
	T(options_comments_and_lines_are_counted), T(mangled_scripts_are_read_or_refused),
	T(an_icmp_message_has_type_and_code), T(a_command_that_is_not_run_is_told), T(an_option_that_is_not_heeded_is_refused),
	T(what_is_left_over_fails_unless_it_only_acknowledges), T(the_clock_has_an_end), CU_TEST_INFO_NULL
};
static CU_SuiteInfo suites[] = { { "pkt", NULL, done, NULL, NULL, all }, CU_SUITE_INFO_NULL };

int main(void)
{
	return xk_test_main(suites);
}
