# SPDX-License-Identifier: BSD-2-Clause
# tap.sh - TAP for shell tests.  A script starts with
#   : "${top_srcdir:=$(cd "$(dirname "$0")/../.." && pwd)}"
#   . "$top_srcdir/tests/support/tap.sh"
#
#   ok NAME COMMAND...      passes when COMMAND succeeds
#   refuses NAME COMMAND... passes when COMMAND fails with an exit code below 126
#   skip NAME REASON        neither
#   skip_all REASON         the whole script cannot run here
#   code WANTED COMMAND...  succeeds when COMMAND ends with exactly that exit code
#   says TEXT COMMAND...    succeeds when COMMAND prints it somewhere
#   until_ok SECONDS COMMAND...  tries, 20 times a second, until it succeeds
#   presets                 prints the names of all threading architectures; XK_TEST_TURN=i/n leaves each n-th,
#                           from the i-th on, i = 0 .. n - 1
#   all_presets             the same, whatever XK_TEST_TURN says
#   done_testing            the plan, last
#
# What a failing command printed follows as "# " lines.  $tmp is a directory
# that is gone at the end; a test starts nothing that outlives it.

: "${top_builddir:=$PWD}"
tap_n=0
tap_failed=0
tmp=$(mktemp -d) || exit 1
trap 'rm -rf "$tmp"' EXIT

tap_result() {
	tap_n=$((tap_n + 1))
	if [ "$1" -eq 0 ]; then
		echo "ok $tap_n - $2"
	else
		tap_failed=1
		echo "not ok $tap_n - $2"
		sed 's/^/# /' "$tmp/.tap" | tail -n 30
	fi
}

ok() {
	tap_name=$1
	shift
	"$@" >"$tmp/.tap" 2>&1 </dev/null
	tap_result $? "$tap_name"
}

refuses() {
	tap_name=$1
	shift
	"$@" >"$tmp/.tap" 2>&1 </dev/null
	tap_code=$?
	[ $tap_code -gt 0 ] && [ $tap_code -lt 126 ]
	tap_result $? "$tap_name"
}

skip() {
	tap_n=$((tap_n + 1))
	echo "ok $tap_n - $1 # SKIP $2"
}

code() {
	want=$1
	shift
	"$@"
	got=$?
	echo "exit code $got"
	[ "$got" -eq "$want" ]
}

until_ok() {
	tries=$(($1 * 20))
	shift
	until "$@" >/dev/null 2>&1; do
		tries=$((tries - 1))
		[ $tries -gt 0 ] || return 1
		sleep 0.05
	done
}

says() {
	text=$1
	shift
	"$@" >"$tmp/says" 2>&1
	cat "$tmp/says"
	grep -q -e "$text" "$tmp/says"
}

all_presets() { "$top_builddir/vp-graph" list | sed -n '/^threading$/,/^$/s/^  \([a-z_0-9]*\) .*/\1/p'; }
presets() {
	all_presets | awk -v turn="${XK_TEST_TURN:-0/1}" 'BEGIN { split(turn, t, "/") } (NR - 1) % t[2] == t[1] + 0'
}

skip_all() {
	echo "1..0 # SKIP $1"
	exit 0
}

done_testing() {
	echo "1..$tap_n"
	exit $tap_failed
}
