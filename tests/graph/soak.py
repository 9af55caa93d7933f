# SPDX-License-Identifier: BSD-2-Clause
"""Keeps threading architectures under load beside busy loops, one after the other, and judges each.

usage: soak.py [--seconds N] [--every N] [--busy N] [--out FOLDER] [--sanitized] BUILD GRAPH PRESET...
       soak.py --judge FILE...          judges samples once more

vp-ctl takes the samples.  Good is a run whose every kind of load gets on between any two of them; whose memory (resident,
and blocks and bytes of the runtime's allocator) does not grow after the first third, by the median of all slopes
(Theil and Sen), beyond what its own noise and a little for pools explain; that loses no datagram but those that a
drop counter has; in which no connection fails; and that ends with code 0 when it is told to.  A sanitizer keeps what
was freed: then resident memory is not judged.

FOLDER gets PRESET.json, the samples and the verdict, and soak.svg where gnuplot is installed.
"""
import argparse
import json
import os
import signal
import statistics
import subprocess
import sys
import tempfile
import time

LOADS = ("datagrams", "streams", "visits")
PATIENCE = 30                           # s in which every load must get on, however busy the machine
# Growth that is allowed: a part of what there is, and so much more.
FLAT = {"resident": (0.02, 5 << 19), "bytes": (0.02, 256 << 10), "blocks": (0.02, 32)}


def slope(points):
    """The median of the slopes of all pairs, and the median distance from that line."""
    slopes = [(y2 - y1) / (x2 - x1) for i, (x1, y1) in enumerate(points) for x2, y2 in points[i + 1:] if x2 > x1]
    if not slopes:
        return 0, 0
    m = statistics.median(slopes)
    b = statistics.median(y - m * x for x, y in points)
    return m, statistics.median(abs(y - m * x - b) for x, y in points)


def judge_memory(samples, kinds):
    start = samples[0]["at"] + (samples[-1]["at"] - samples[0]["at"]) / 3
    warm = [s for s in samples if s["at"] >= start]
    for what in kinds:
        share, more = FLAT[what]
        # Pools come by 2 MiB, so a few seconds have no slope yet.
        if what == "resident" and warm[-1]["at"] - warm[0]["at"] < 10:
            continue
        m, noise = slope([(s["at"], s[what]) for s in warm])
        grown = m * (warm[-1]["at"] - warm[0]["at"])
        allowed = share * warm[0][what] + more + 4 * noise
        if grown > allowed:
            yield "%s grew by %d in %d s, %d is allowed" % (what, grown, warm[-1]["at"] - warm[0]["at"], allowed)


def judge_progress(samples):
    for before, after in zip(samples, samples[1:]):
        for name in LOADS:
            if after["messages"][name] <= before["messages"][name]:
                yield "%s stood still from %.1f to %.1f s" % (name, before["at"], after["at"])


def judge_balance(end):
    node = {n["name"]: n for n in end["nodes"]}
    sent, came = node["datagrams"]["counters"]["messages"], node["datagrams"]["counters"]["answers"]
    dropped = sum(sum(n["drops"].values()) for name, n in node.items() if name.startswith("udp") or name[-2:] in ("u1", "u2"))
    if not 0 <= sent - came - dropped <= end["in_flight"]:
        yield "of %d datagrams %d came back and %d were dropped" % (sent, came, dropped)
    for name in ("streams", "visits"):
        for bad in ("refused", "reset", "failed"):
            if node[name]["counters"][bad] != 0:
                yield "%d connections of %s: %s" % (node[name]["counters"][bad], name, bad)


def judge(doc):
    bad = list(judge_memory(doc["samples"], doc.get("kinds", FLAT))) + list(judge_progress(doc["samples"]))
    if doc["code"] != 0:
        return bad + ["the run ended with %d: %s" % (doc["code"], doc["said"])]
    return bad + list(judge_balance(doc["end"]))


# ---- a run --------------------------------------------------------------------------------------------


class Run:
    def __init__(self, build, graph, preset, conns):
        self.ctl, self.folder = os.path.join(build, "vp-ctl"), tempfile.TemporaryDirectory()
        self.sock, self.conns = os.path.join(self.folder.name, "s"), conns
        self.said = open(os.path.join(self.folder.name, "err"), "w+")
        self.out = open(os.path.join(self.folder.name, "out"), "w+")
        self.p = subprocess.Popen(
            [os.path.join(build, "vp-run"), "--json", "--control=" + self.sock, graph, "preset=" + preset, "conns=%d" % conns],
            stdout=self.out, stderr=self.said)

    def wait_up(self):
        self.ask("--wait", "60s", "show", "runtime")
        self.began = time.monotonic()

    def ask(self, *args):
        return json.loads(subprocess.run([self.ctl, "-s", self.sock, "--timeout", "120s", "--json", *args], check=True,
                                         stdout=subprocess.PIPE).stdout)

    def resident(self):
        with open("/proc/%d/statm" % self.p.pid) as f:
            return int(f.read().split()[1]) * os.sysconf("SC_PAGESIZE")

    def sample(self):
        runtime, node = self.ask("show", "runtime"), {n["name"]: n for n in self.ask("snapshot")["nodes"]}
        return {"at": round(time.monotonic() - self.began, 3), "resident": self.resident(),
                "blocks": runtime["blocks"], "bytes": runtime["block_bytes"],
                "messages": {name: node[name]["counters"]["messages"] for name in LOADS},
                "drops": sum(sum(n["drops"].values()) for n in node.values())}

    def samples(self, seconds, every):
        last = self.sample()
        yield last
        while time.monotonic() - self.began < seconds:
            time.sleep(every)
            s = self.sample()
            while any(True for _ in judge_progress([last, s])) and s["at"] - last["at"] < PATIENCE:
                time.sleep(0.2)         # whose turn it was not yet, on a busy machine, is waited for
                s = self.sample()
            last = s
            yield s

    def end(self):
        self.p.send_signal(signal.SIGTERM)
        try:
            code = self.p.wait(120)
        except subprocess.TimeoutExpired:
            code = -signal.SIGKILL      # who calls sends it
        self.said.seek(0)
        self.out.seek(0)
        end = json.load(self.out) if code == 0 else {}
        return {"code": code, "said": self.said.read()[-1000:],
                "end": {"in_flight": 8 * self.conns, "nodes": [
                    {k: n[k] for k in ("name", "drops", "counters")} for n in end.get("nodes", [])]}}


def soak(o, preset):
    run = Run(o.build, o.graph, preset, o.conns)
    try:
        run.wait_up()
        samples = list(run.samples(o.seconds, o.every))
        kinds = [k for k in FLAT if k != "resident" or not o.sanitized]
        doc = {"preset": preset, "seconds": o.seconds, "busy": o.busy, "kinds": kinds, "samples": samples, **run.end()}
    finally:
        run.p.kill()
        run.p.wait()
    doc["bad"] = judge(doc)
    with open(os.path.join(o.out, preset + ".json"), "w") as f:
        json.dump(doc, f)
    return doc


# ---- what is told -------------------------------------------------------------------------------------


def row(doc):
    first, last = doc["samples"][len(doc["samples"]) // 3], doc["samples"][-1]
    span = last["at"] - first["at"] or 1
    return "| %s | %d | %s | %d | %.1f | %+d | %+d | %s |" % (
        doc["preset"], last["at"], " | ".join("%d" % ((last["messages"][n] - first["messages"][n]) / span) for n in LOADS),
        last["drops"], last["resident"] / 1048576, (last["resident"] - first["resident"]) / 1024, last["blocks"] - first["blocks"],
        "good" if not doc["bad"] else "; ".join(doc["bad"]))


def draw(out):
    """Of all presets that the folder has."""
    lines = []
    for name in sorted(n for n in os.listdir(out) if n.endswith(".json")):
        with open(os.path.join(out, name)) as f:
            d = json.load(f)
        if "samples" not in d:
            continue
        with open(os.path.join(out, d["preset"] + ".dat"), "w") as f:
            for before, s in zip(d["samples"], d["samples"][1:]):
                rate = sum(s["messages"][n] - before["messages"][n] for n in LOADS) / ((s["at"] - before["at"]) or 1)
                f.write("%g %g %g\n" % (s["at"], s["resident"] / 1048576, rate))
        lines.append((os.path.join(out, d["preset"] + ".dat"), d["preset"]))
    curves = lambda column: ", ".join('"%s" using 1:%d with lines title "%s"' % (f, column, name.replace("_", "\\\\_"))
                                      for f, name in lines)
    script = ('set terminal svg size 900,800; set output "%s"; set multiplot layout 2,1; set key outside\n'
              'set xlabel "s"; set yrange [0:*]; set ylabel "resident, MiB"; plot %s\n'
              'set ylabel "messages/s"; plot %s\n' % (os.path.join(out, "soak.svg"), curves(2), curves(3)))
    try:
        subprocess.run(["gnuplot"], input=script, text=True, check=True)
    except FileNotFoundError:
        print("# no gnuplot, no curve")


def options():
    p = argparse.ArgumentParser(usage=__doc__.split("\n\n")[1].removeprefix("usage: "))
    p.add_argument("--seconds", type=float, default=20)
    p.add_argument("--every", type=float, default=1)
    p.add_argument("--busy", type=int, default=os.cpu_count())
    p.add_argument("--conns", type=int, default=8)
    p.add_argument("--out", default=".")
    p.add_argument("--sanitized", action="store_true")
    p.add_argument("--judge", action="store_true")
    p.add_argument("what", nargs="+")
    o = p.parse_args()
    if not o.judge:
        o.build, o.graph, *o.what = o.what
        os.makedirs(o.out, exist_ok=True)
    return o


def main():
    o = options()
    busy = [] if o.judge else [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(o.busy)]
    docs = []
    print("| preset | s | datagrams/s | streams/s | visits/s | drops | MiB | KiB more | blocks more | |\n" + "|---" * 10 + "|")
    try:
        for one in o.what:
            doc = json.load(open(one)) if o.judge else soak(o, one)
            doc["bad"] = judge(doc)
            docs.append(doc)
            print(row(doc), flush=True)
    finally:
        for b in busy:
            b.kill()
            b.wait()
    if not o.judge:
        draw(o.out)
    sys.exit(any(d["bad"] for d in docs))


main()
