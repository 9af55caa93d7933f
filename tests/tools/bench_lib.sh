# SPDX-License-Identifier: BSD-2-Clause
# bench_lib.sh - a vp-run that is a script, for the tests of vp-bench.  After tap.sh.
#
# $tmp/fake answers like vp-run, in the time that $tmp/mode makes it: words of its
# own command line choose how fast a run is, so that nothing depends on a clock.
#   $tmp/b.lua     a bench with an axis n and an argument size
#   valid FILE SCHEMA   does it follow docs/schema/SCHEMA? (skips nothing: have_schema first)
bench=$top_builddir/vp-bench
[ -x "$bench" ] || skip_all "vp-bench is not built"

cat >"$tmp/b.lua" <<'END'
local a = args { n = uint { 1, max = 9 }, size = uint { 64, min = 1, max = 4000 } }
stack { load { to = "10.0.0.2", conns = a.n, size = a.size }, udp {}, ip { addr = "10.0.0.1/8" },
  arp { neighbours = { ["10.0.0.2"] = "02:00:00:00:00:02" } }, eth {}, eth_mem {}, peer_sink {} }
return bench "t" {
  doc = "a test", source = "nowhere", graph = graph "g" { threading = up { } },
  sweep = { n = { 1, 2 } }, metric = "gbit", columns = { "ns" },
  reference = { { at = { n = 1 }, value = 3, unit = "Gbit/s" }, { at = { n = 2 }, value = 4, unit = "Gbit/s" } },
  shape = { { doc = "two are as fast", a = { n = 2 }, over = { n = 1 }, at_least = 0.01 },
            { doc = "elsewhere", skip = "needs a moon" } },
}
END
# 1000 messages and up to 19 more, by a counter; size=128 loses a tenth of them.
cat >"$tmp/fake" <<END
#!/bin/sh
echo "\$*" >>"$tmp/calls"
k=\$(wc -l <"$tmp/calls")
n=\$((1000 + k * 7 % 20))
case "\$*" in *size=128*) n=\$((n * 9 / 10)) ;; esac
[ -f "$tmp/fake.extra" ] && . "$tmp/fake.extra"
cat <<JSON
{"schema":2,"measured_ns":1000000000,"warmup_ns":1000000,"seed":1,"messages":\$n,"bytes":\$((n * 4096)),"busiest":"s",
"nodes":[{"name":"s","drops":{}}],"workers":[{"user_ns":5,"sys_ns":1}],"vps":[{"messages":\$n}],
"connections":[{"node":"s","messages":\$n}],"fairness":[{"window_ns":10000000,"windows":5,"jain":1,"max_over_min":1,"starved":0}]}
JSON
END
chmod +x "$tmp/fake"

valid() {
	python3 -c 'import json,sys,jsonschema
jsonschema.validate(json.load(open(sys.argv[1])), json.load(open(sys.argv[2])))' "$1" "$top_srcdir/docs/schema/$2"
}
have_schema() { python3 -c 'import jsonschema' 2>/dev/null; }
# code WANT COMMAND...: stdout to $tmp/out, stderr to $tmp/err
code() {
	want=$1
	shift
	"$@" >"$tmp/out" 2>"$tmp/err"
	got=$?
	[ $got -eq "$want" ] || { echo "code $got"; cat "$tmp/out" "$tmp/err"; return 1; }
}
