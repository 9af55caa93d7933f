#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# runner.t - a failing, a skipped and a dying unit test are seen as such.
set -u
: "${top_srcdir:=$(cd "$(dirname "$0")/../.." && pwd)}"
. "$top_srcdir/tests/support/tap.sh"
[ -f "$top_builddir/libxktest.a" ] || skip_all "no libxktest.a in $top_builddir (no CUnit?)"

cat >"$tmp/t.c" <<'END'
#include "tests/support/xk_test.h"
#include <stdlib.h>
static void passes(void) { CU_ASSERT(1); }
static void fails(void) { CU_ASSERT(1 + 1 == 3); }
static void skips(void) { xk_test_skip("no such device"); }
static void dies(void) { abort(); }
static int no_setup(void) { return 1; }
static CU_TestInfo good[] = { { "passes", passes }, { "skips", skips }, CU_TEST_INFO_NULL };
static CU_TestInfo bad[] = { { "fails", fails }, CU_TEST_INFO_NULL };
static CU_TestInfo worse[] = { { "dies", dies }, CU_TEST_INFO_NULL };
static CU_SuiteInfo suites[] = {
	{ "good", NULL, NULL, NULL, NULL, good },
	{ "bad", NULL, NULL, NULL, NULL, bad },
	{ "worse", NULL, NULL, NULL, NULL, worse },
	{ "no setup", no_setup, NULL, NULL, NULL, worse },
	CU_SUITE_INFO_NULL,
};
int main(int argc, char **argv)
{
	(void)argv;
	if (argc > 1)
		xk_test_skip_all("not today");
	return xk_test_main(suites);
}
END
# The flags of the build: a sanitizer's library has to be linked again.
flags=$(sed -n 's/^XK_LDFLAGS = //p' "$top_builddir/Makefile")
ok "a test program links" sh -c \
	"${CC:-cc} -I'$top_srcdir' -o '$tmp/t' '$tmp/t.c' '$top_builddir/libxktest.a' $flags -lcunit"

# says ONLY TEXT: the program with XK_TEST_ONLY=ONLY prints TEXT.
says() {
	XK_TEST_ONLY=$1 "$tmp/t" >"$tmp/out" 2>&1
	cat "$tmp/out"
	grep -qF -- "$2" "$tmp/out"
}

ok "a test that passes is ok" says passes 'ok 1 - good: passes'
ok "only what was asked for is in the plan" says passes '1..1'
ok "a skipped test says why" says skips '# SKIP no such device'
ok "a failing test is not ok" says fails 'not ok 1 - bad: fails'
ok "and says where" says fails 't.c:4: '
refuses "and its program fails" env XK_TEST_ONLY=fails "$tmp/t"
ok "a suite that cannot be set up is not ok" says 'no setup' 'not ok 1 - no setup: set up'
ok "a test that dies leaves no plan behind" sh -c "XK_TEST_ONLY=worse '$tmp/t' | grep -c '^1\\.\\.' | grep -qx 0"
ok "a name that nothing has skips the program" says nobody '1..0 # SKIP'
ok "a whole program can be skipped" sh -c "'$tmp/t' x | grep -qxF '1..0 # SKIP not today'"
done_testing
