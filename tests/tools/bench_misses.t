#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# bench_misses.t - vp-bench misses: two runs under cachegrind, whose difference is a message's; valgrind
# is played by a script, but for one real run.
set -u
: "${top_srcdir:=$(cd "$(dirname "$0")/../.." && pwd)}"
. "$top_srcdir/tests/support/tap.sh"
. "$top_srcdir/tests/tools/bench_lib.sh"

# 1000 instructions and 3 last-level misses of data for each message, 500000 and 77 for the set-up.
mkdir "$tmp/bin"
cat >"$tmp/bin/valgrind" <<'END'
#!/bin/sh
echo "$*" >>"$FAKE_LONG.calls"
for w; do
	case $w in
	--cachegrind-out-file=*) out=${w#*=} ;;
	--duration=1000000000ns) n=100 ;;
	--duration=3000000000ns) n=$(cat "$FAKE_LONG") ;;
	esac
done
{
	echo 'desc: I1 cache:         32768 B, 64 B, 8-way associative'
	echo 'desc: D1 cache:         32768 B, 64 B, 8-way associative'
	echo 'desc: LL cache:         33554432 B, 64 B, direct-mapped'
	echo 'events: Ir I1mr ILmr Dr D1mr DLmr Dw D1mw DLmw'
	echo 'fl=x.c'
	# By the real clock every fourth run has more: threads took turns.
	case $* in
	*--virtual*) more=0 ;;
	*) more=$(($(wc -l <"$FAKE_LONG.calls") % 4 == 0 ? 40000 : 0)) ;;
	esac
	echo "summary: $((500000 + more + n * 1000)) 0 0 9 $((n * 7)) $((77 + n)) 9 $((n * 5)) $((n * 2))"
} >"$out"
[ -f "$FAKE_LONG.none" ] && : >"$out"
echo "{\"schema\":1,\"messages\":$n,\"bytes\":$((n * 512))}"
END
chmod +x "$tmp/bin/valgrind"
PATH=$tmp/bin:$PATH FAKE_LONG=$tmp/long
export PATH FAKE_LONG
echo 300 >"$tmp/long"
graph=$top_srcdir/graphs/bench/udp-up.lua

ok "two runs in virtual time: code 0" code 0 "$bench" misses --time 1s --json "$graph" size=512
cp "$tmp/out" "$tmp/misses.json"
ok "the set-up falls out" jq -e '.messages == 200 and .per_message.instructions == 1000 and
	.per_message.first_level_data_misses == 12 and .per_message.last_level_data_misses == 3' "$tmp/misses.json"
ok "and a KB has two messages of 512 bytes" jq -e '.per_kb.last_level_data_misses == 6 and .per_kb.instructions == 2000' "$tmp/misses.json"
if have_schema; then
	ok "it follows its schema" valid "$tmp/misses.json" vp-misses-1.json
else
	skip "it follows its schema" "python3-jsonschema is not installed"
fi
ok "on one thread, with one seed" sh -c "test \$(wc -l <'$tmp/long.calls') -eq 2 && ! grep -v -- ' --virtual --seed=1 ' '$tmp/long.calls'"
ok "by the real clock three pairs run" sh -c ": >'$tmp/long.calls'; '$bench' misses --real --time 1s --json '$graph' size=512 >'$tmp/misses.json' &&
	test \$(wc -l <'$tmp/long.calls') -eq 6 && ! grep -q virtual '$tmp/long.calls'"
ok "their median and their range are told" jq -e '.pairs == 3 and .clock == "real" and .per_message.instructions == 1000 and
	.range.instructions == [1000, 1200]' "$tmp/misses.json"
ok "and stand in the table" sh -c ": >'$tmp/long.calls'; '$bench' misses --real --time 1s '$graph' | grep -q '^instructions .* 1000 to 1200 in 3 pairs'"
ok "two pairs are too few: code 2" code 2 "$bench" misses --real --pairs 2 "$graph"
ok "pairs in virtual time: code 2" code 2 "$bench" misses --pairs 5 "$graph"
ok "the table says what the model is of" sh -c "'$bench' misses --time 1s '$graph' | grep -q 'one processor'"
ok "no file: code 2" code 2 "$bench" misses
ok "two files: code 2" code 2 "$bench" misses "$graph" "$graph"
ok "a time that is none: code 2" code 2 "$bench" misses --time 5 "$graph"
echo 100 >"$tmp/long"
ok "a graph that ends by itself is told: code 4" code 4 "$bench" misses --time 1s "$graph"
ok "in one sentence" grep -q 'ends by itself' "$tmp/err"
: >"$tmp/long.none"
ok "totals that are not there: code 4" code 4 "$bench" misses --time 1s "$graph"
rm "$tmp/bin/valgrind"
if valgrind --quiet "$top_builddir/vp-run" --check "$graph" >/dev/null 2>&1; then
	real() {
		"$bench" misses --time 1ms --json "$graph" >"$tmp/real.json" || return 1
		jq -e '.per_message.instructions > 50 and .per_message.instructions < 20000 and
			.per_message.first_level_data_misses >= 0 and (.caches | length) == 3' "$tmp/real.json"
	}
	ok "a real run has misses and instructions" real
	# Two threads: by the real clock its instructions are those of who spun when.
	twice() {
		"$bench" misses --time 1ms --json "$echo" count=0 | jq .per_message >"$tmp/$1.json"
		jq -e '.instructions > 50' "$tmp/$1.json"
	}
	echo=$top_srcdir/graphs/udp-echo.lua
	ok "the same command" twice one
	ok "once more" twice two
	ok "says the same within 1 %" sh -c "jq -es '(.[0].instructions - .[1].instructions | fabs) < 0.01 * .[0].instructions' '$tmp/one.json' '$tmp/two.json'"
else
	skip "a real run has misses and instructions" "valgrind is not installed, or cannot run this build"
fi
done_testing
