#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# bench_report.t - vp-bench report: a page that needs nothing else, every text in it
# only a text, the same bytes each time; figures as files, and without gnuplot tables.
set -u
: "${top_srcdir:=$(cd "$(dirname "$0")/../.." && pwd)}"
. "$top_srcdir/tests/support/tap.sh"
. "$top_srcdir/tests/tools/bench_lib.sh"

"$bench" run --vp-run "$tmp/fake" "$tmp/b.lua" -o "$tmp/r.json" 2>"$tmp/err"
# The same with texts that mean something in HTML, Markdown, gnuplot and a shell.
evil="<script>alert(1)</script>&\"'|\`id\`\$(id)]]>{/Symbol a}\\\\n"
jq --arg e "$evil" '.benches[0] |= (.name = "t" + $e | .doc = $e | .source = $e | .file = $e |
	.settings.args = ["a=" + $e] | .shapes[0].doc = $e | .reference[0].doc = $e | .reference[0].unit = "Gbit/s" |
	.metric.doc = $e | .points[0].status = "failed" | .points[0].error = $e) |
	.environment.warnings += [$e] | .environment.kernel = $e' "$tmp/r.json" >"$tmp/evil.json"

# Every element closed, nothing that runs or fetches; prints what it found otherwise.
cat >"$tmp/check.py" <<'END'
import sys
from html.parser import HTMLParser
VOID = {"meta", "br", "rect", "use", "circle", "path", "feFlood", "feflood", "fecomposite"}
class P(HTMLParser):
    def __init__(self):
        super().__init__(convert_charrefs=True)
        self.open, self.bad, self.text, self.ids = [], [], "", []
    def handle_starttag(self, tag, attrs):
        self.note(tag, attrs)
        if tag not in VOID:
            self.open.append(tag)
    def handle_startendtag(self, tag, attrs):
        self.note(tag, attrs)
    def note(self, tag, attrs):
        if tag in {"script", "link", "iframe", "img", "object", "embed", "base", "form"}:
            self.bad.append(tag)
        for k, v in attrs:
            if k == "id":
                self.ids.append(v)
            if k.startswith("on") or (k in {"href", "src", "xlink:href"} and not v.startswith("#")):
                self.bad.append(f"{tag} {k}={v}")
    def handle_endtag(self, tag):
        if tag in VOID:
            return
        if not self.open or self.open.pop() != tag:
            self.bad.append("unmatched " + tag)
    def handle_data(self, data):
        self.text += data
p = P()
p.feed(open(sys.argv[1], encoding="utf-8").read())
p.close()
bad = p.bad + p.open
if len(set(p.ids)) != len(p.ids):
    bad.append("an id twice")
for want in sys.argv[2:]:
    if want not in p.text:
        bad.append("no text " + want)
print(bad)
sys.exit(bool(bad))
END
page() { python3 "$tmp/check.py" "$@"; }

ok "a page" code 0 "$bench" report "$tmp/r.json" -o "$tmp/r.html"
ok "is well formed, has no script and fetches nothing" page "$tmp/r.html" "two are as fast" "Gbit/s"
ok "has verdicts, reference, the machine and the command" sh -c "grep -q '>pass<' '$tmp/r.html' &&
	grep -q 'reference' '$tmp/r.html' && grep -q 'needs a moon' '$tmp/r.html' && grep -q 'page_bytes' '$tmp/r.html' &&
	grep -q 'vp-bench run .*b.lua --duration 2s' '$tmp/r.html'"
# Noise: n=2 is slower and faster by turns.
jq '.benches[0] |= (.shapes[0].at_least = 1 | .points[1].runs |= [to_entries[] | .value.metrics.gbit = (if .key % 2 == 0 then 0.02 else 0.06 end) | .value])' \
	"$tmp/r.json" >"$tmp/noise.json"
ok "what is undecided has its own colour and its own column" sh -c "'$bench' report '$tmp/noise.json' -o '$tmp/noise.html' &&
	grep -q '<span class=\"undecided\">undecided<' '$tmp/noise.html' && grep -q '<th>undecided</th>' '$tmp/noise.html' &&
	! grep -q '<span class=\"pass\">' '$tmp/noise.html'"
ok "a banner at the top tells of it" sh -c "grep -q '<p class=\"banner\">Undecided: 1 of 2 expected shapes' '$tmp/noise.html' && ! grep -q 'class=\"banner\">Undecided' '$tmp/r.html'"
ok "medians and extremes are in the table, and what is odd below it" sh -c "grep -q '<th>median</th><th>min to max</th>' '$tmp/noise.html' &&
	grep -q '0.02 to 0.06' '$tmp/noise.html'"
jq '.benches[0].settings.runs_max = 1' "$tmp/noise.json" >"$tmp/wide.json"
ok "intervals that were not reached are counted at the top" sh -c "'$bench' report --markdown '$tmp/wide.json' |
	grep -A2 'interval not reached | result' | tail -n 1 | grep -q '| 1 | [^|]*wide.json |' && '$bench' report --markdown '$tmp/wide.json' | grep -q '^\*\*Too wide: the intervals of 1 of 2 points'"
ok "single runs, too, in their order" sh -c "grep -q '<th>single runs</th>' '$tmp/noise.html' &&
	grep -q '>0.02 0.06 0.02 0.06' '$tmp/noise.html'"
ok "texts stay texts" sh -c "'$bench' report '$tmp/evil.json' -o '$tmp/evil.html' && python3 '$tmp/check.py' '$tmp/evil.html' '<script>'"
ok "the same bytes each time" sh -c "'$bench' report '$tmp/evil.json' | cmp - '$tmp/evil.html'"
ok "two results on a page" sh -c "'$bench' report '$tmp/r.json' '$tmp/evil.json' -o '$tmp/two.html' && python3 '$tmp/check.py' '$tmp/two.html'"
ok "Markdown, texts stay texts there" sh -c "'$bench' report --markdown '$tmp/evil.json' >'$tmp/evil.md' &&
	! grep -v '^    ' '$tmp/evil.md' | grep '<script' && grep '^| \*\*pass\*\* | &lt;script' '$tmp/evil.md'"
"$bench" compare --vp-run "$tmp/fake" "$tmp/b.lua" --vs size=128 --runs 8 -o "$tmp/ab.json" >"$tmp/out" 2>"$tmp/err"
ok "both sides of a comparison" sh -c "'$bench' report '$tmp/ab.json' >'$tmp/ab.html' &&
	grep -q '>slower<' '$tmp/ab.html' && grep -q 'vp-bench compare .*--vs .*size=128' '$tmp/ab.html'"

if command -v gnuplot >/dev/null 2>&1; then
	ok "figures are in the page" sh -c "test \$(grep -c '</svg>' '$tmp/r.html') -ge 2"
	jq '(.benches[0].points[1].runs[].metrics.gbit) *= 10' "$tmp/r.json" >"$tmp/apart.json"
	ok "each with a sentence" sh -c "'$bench' report '$tmp/apart.json' -o '$tmp/apart.html' &&
		grep -qE '<p>From n = 1 to 2 it goes from 0.03[0-9]* to 0.3[0-9]*, [0-9.]* of it; their intervals do not meet\.' '$tmp/apart.html'"
	ok "that says when noise may be all of it" sh -c "grep -q 'From n = 1 to 2 .*; their intervals overlap: it may be chance\.' '$tmp/noise.html'"
	ok "in Markdown, too" sh -c "mkdir -p '$tmp/said' && '$bench' report '$tmp/apart.json' --svg '$tmp/said' -o '$tmp/said/p.md' &&
		grep -q '^From n = 1 to 2 it goes from ' '$tmp/said/p.md' && grep -q '^The shapes are furthest apart at n = ' '$tmp/said/p.md'"
	# The same along processors: twice as many do at best twice as much, whatever the reference says.
	jq '(.benches[0] | .x) = "cpus" | .benches[0].axes = ["cpus"] | (.benches[0].points[].at) |= {cpus: .n} | (.benches[0].reference[] | .at, .ours | objects) |= {cpus: .n}' \
		"$tmp/apart.json" >"$tmp/cpus.json"
	ok "over processors there is an ideal line" sh -c "mkdir -p '$tmp/cpus' && '$bench' report '$tmp/cpus.json' --svg '$tmp/cpus' -o '$tmp/cpus/p.md' &&
		grep -q '>ideal<' '$tmp/cpus/t-1.svg' && ! grep -q '>ideal<' '$tmp/said/t-1.svg'"
	# Two percentiles of one time, ten times apart: on a linear axis they were without metric.
	jq '.benches[0] |= (.metric = {name: "rtt.p50", unit: "us", better: "lower", doc: "t"} | .columns = [{name: "rtt.p99", unit: "us", better: "lower", doc: "t"}] | .reference = [] | .shapes = [] |
		.points[].runs[].metrics = {"rtt.p50": 3, "rtt.p99": 30} | .points[].metrics = {"rtt.p50": {mean: 3, lo: 3, hi: 3, median: 3, min: 3, max: 3}, "rtt.p99": {mean: 30, lo: 30, hi: 30, median: 30, min: 30, max: 30}})' \
		"$tmp/r.json" >"$tmp/percentiles.json"
	ok "percentiles are on a logarithmic axis, and their sentence says how far apart they are" sh -c "mkdir -p '$tmp/pc' && '$bench' report '$tmp/percentiles.json' --svg '$tmp/pc' -o '$tmp/pc/p.md' &&
		grep -q '^p50 and p99 are furthest apart at n=[12]: .* 10 times as much' '$tmp/pc/p.md' && grep -q '[> ]10<' '$tmp/pc/t-1.svg' && ! grep -q '[> ]0<' '$tmp/pc/t-1.svg'"
	ok "figures as files, linked by the page" sh -c "mkdir -p '$tmp/d' && '$bench' report '$tmp/r.json' --svg '$tmp/d/f' -o '$tmp/d/p.md' &&
		test -s '$tmp/d/f/t-1.svg' && grep -q '](f/t-1.svg)' '$tmp/d/p.md'"
	ok "each run is a dot" sh -c "mkdir -p '$tmp/dots' && '$bench' report '$tmp/noise.json' --svg '$tmp/dots' -o '$tmp/dots/p.md' &&
		test \$(grep -o '<use xlink:href' '$tmp/dots/t-1.svg' | wc -l) -ge 14"
	# Crosses are of two points, and of the key.
	ok "a cross is the median" sh -c "grep -q '>median<' '$tmp/dots/t-1.svg' && test \$(grep -o 'Pt0.' '$tmp/dots/t-1.svg' | wc -l) -ge 4"
	ok "each is XML of its own" python3 -c "import glob, sys, xml.dom.minidom as m
files = glob.glob('$tmp/d/f/*.svg')
[m.parse(f) for f in files]
sys.exit(not files)"
	jq '(.benches[0].points[].runs[].metrics.gbit) *= 1e9 | (.benches[0].points[].metrics.gbit | .[]?) |= (if type == "number" then . * 1e9 else . end)' "$tmp/r.json" >"$tmp/large.json"
	ok "large numbers at an axis are short" sh -c "mkdir -p '$tmp/large' && '$bench' report '$tmp/large.json' --svg '$tmp/large' -o '$tmp/large/p.md' &&
		grep -qE '[0-9] [MG]<' '$tmp/large/t-1.svg' && ! grep -qE '[0-9]e[+]' '$tmp/large/t-1.svg' && ! grep -qE '[0-9] [kMG]<' '$tmp/d/f/t-1.svg'"
	ok "a folder of files that cannot be: code 5" code 5 "$bench" report "$tmp/r.json" --svg "$tmp/no/such"
else
	skip "figures" "gnuplot is not installed"
fi
ok "without gnuplot: tables, and it is said" sh -c "PATH='$tmp/nowhere' '$bench' report '$tmp/r.json' >'$tmp/plain.html' 2>'$tmp/err' &&
	grep -q 'There are no figures here' '$tmp/plain.html' && ! grep -q '<svg' '$tmp/plain.html' && grep -q 'tables only' '$tmp/err'"
ok "what is no result: code 5" code 5 "$bench" report "$tmp/b.lua"
ok "no result at all: code 2" code 2 "$bench" report
if [ -c /dev/full ]; then
	ok "a full disk: code 5" code 5 "$bench" report "$tmp/r.json" -o /dev/full
fi

# ---- measured beside simulated ------------------------------------------------------------------

mkdir -p "$tmp/seeds"
cat >"$tmp/seeds/papers.json" <<'END'
{"papers": [{"id": "paper1", "source": "a test", "folder": "paper1", "entries": [{"name": "f", "title": "t", "files": ["m.lua"]}],
  "beside": [{"measured": "m.lua", "simulated": "s.lua", "at": {"transport": "udp"}, "over": {"n": "1"}}]}]}
END
"$bench" run --vp-run "$tmp/fake" "$tmp/b.lua" --runs 12 -o "$tmp/r.json" 2>"$tmp/err"
# made FILE.lua SCALE JQ: n processors do n - 1 times SCALE more, within a per cent.
made() {
	jq --arg f "x/paper1/$1.lua" --argjson by "$2" '.benches[0].file = $f | .benches[0].points |= map((.at.n | tonumber) as $n | .runs |=
		map(.metrics.gbit = 10 * (1 + ($n - 1) * $by) * (1 + (.block % 3) / 300)))'" | $3" "$tmp/r.json"
}
made m 0.9 . >"$tmp/m.json"
made s 1 '.benches[0] |= (.settings.simulated = true | .axes += ["transport"] | .points = [.points[] | .at.transport = ("udp", "tcp")])' >"$tmp/s.json"
beside() { "$bench" report --beside --seeds "$tmp/seeds" -o "$tmp/b.md" "$@"; }
ok "measured stands beside simulated" beside "$tmp/m.json" "$tmp/s.json"
ok "at the points that both have, with both speed-ups and how far off" sh -c "cat '$tmp/b.md'; grep -c '^| 2 |' '$tmp/b.md' | grep -qx 1 && ! grep -q '^| 1 |' '$tmp/b.md' &&
	grep -q '^| 2 | 19.06 .*| 20.07 .*| 1.9 | 2 | +5 % |\$' '$tmp/b.md'"
ok "it says what was measured where" grep -q '^Measured on .*, commit .*; simulated, commit .*; speed-ups over n=1' "$tmp/b.md"
made s 0.9 '.benches[0] |= (.settings.simulated = true | .axes += ["transport"] | .points |= map(.at.transport = "udp"))' >"$tmp/t.json"
ok "a speed-up within the interval is told" sh -c "'$bench' report --beside --seeds '$tmp/seeds' -o '$tmp/b.md' '$tmp/m.json' '$tmp/t.json' && grep -q '+0 %, within the interval' '$tmp/b.md'"
ok "in HTML, too" sh -c "'$bench' report --beside --seeds '$tmp/seeds' -o '$tmp/b.html' '$tmp/m.json' '$tmp/s.json'"
ok "which is a page" page "$tmp/b.html" "m.lua beside s.lua" "the simulator is off by"
ok "without one of the two there is nothing" code 2 beside "$tmp/m.json"
ok "and it is said" grep -q 'no result of a measured file stands beside' "$tmp/err"
jq 'del(.benches[0].settings.simulated)' "$tmp/s.json" >"$tmp/t.json"
ok "what was measured does not pass for simulated" code 2 beside "$tmp/m.json" "$tmp/t.json"
ok "without a catalogue: code 2" code 2 "$bench" report --beside --seeds "$tmp/nowhere" "$tmp/m.json" "$tmp/s.json"
ok "--beside draws nothing" code 2 "$bench" report --beside --svg "$tmp/svg" "$tmp/m.json"
mkdir -p "$tmp/repro/runs" "$tmp/graphs"
cp "$top_srcdir/docs/reproduction/fill" "$tmp/repro/" && cp "$tmp/m.json" "$tmp/repro/runs/paper1-a.json"
mkdir -p "$tmp/docs" && mv "$tmp/repro" "$tmp/docs/reproduction" && mv "$tmp/seeds" "$tmp/graphs/seeds"
printf 'head\n\n<!-- begin beside:paper1 -->\n\nold\n\n<!-- end -->\n\n<!-- begin beside:paper2 -->\n\nkept\n\n<!-- end -->\n' >"$tmp/page.md"
ok "a page is filled with it" sh -c "sh '$tmp/docs/reproduction/fill' '$bench' '$tmp/s.json' '$tmp/page.md' && grep -q '| +5 % |' '$tmp/page.md' && ! grep -q old '$tmp/page.md' && grep -q kept '$tmp/page.md'"
done_testing
