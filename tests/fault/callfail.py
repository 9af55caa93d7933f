#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""callfail.py - the n-th call of a library fails, in every tool and over many graphs: nothing dies of it.

usage: callfail.py [--build DIR] [--source DIR] [--only WORD,...] [--class WORD,...] [--call NAME] [--sample N]
                   [--most N] [--few N] [--seed N] [--jobs N] [--at N] [--keep] [--list]

Each scene is a command.  It is run untouched, to count its calls of each class, and then again for n = 1 .. all:
the n-th call fails once, and, in another run, from then on (callfail.c).  What must be true of every run:

  - it ends by itself, with an exit code that its manual has: no signal, no hang, no abort of a library
  - where the code is not 0 there is a sentence on stderr
  - where the code is 0, and the command prints the same each time, it has printed all of it
  - no file, socket or shared memory is left; memory and descriptors are given back as in the untouched run

--sample N runs N cases of all, and --few N takes them from N scenes, drawn by --seed; --most N at most N of each scene, class and way.
--only, --class, --call: scenes whose names begin with a word, classes, calls of one name.  --at: this n alone, with its stack on stdout.
Ends with 1 where a case failed, or there is none: each is a line, with the words to run it again.
"""
import argparse
import concurrent.futures
import os
import random
import re
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time

CLASSES = ["memory", "threads", "files", "sockets", "io", "kernel", "removal"]
HELD = 2             # descriptors for signals: a command line that is refused ends with them open
SECONDS = 20         # a run that takes longer hangs
BYSTANDER = re.compile(r"workers are pinned to processors")
ASKS = """import socket
s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
s.settimeout(5)
s.sendto(b'hi', ('10.0.0.2', 7))
assert s.recv(9) == b'hi'
"""
BENCH = """local a = args { n = uint { 1, max = 9 } }
stack { load { to = "10.0.0.2", conns = a.n }, udp {}, ip { addr = "10.0.0.1/8" },
  arp { neighbours = { ["10.0.0.2"] = "02:00:00:00:00:02" } }, eth {}, eth_mem {}, peer_sink {} }
return bench "few" {
  doc = "few", source = "nowhere", graph = graph "g" { threading = up {} },
  sweep = { n = { 1, 2 } }, metric = "gbit",
}
"""


class Scene:
    """A command; {port}, {tmp} and {g} (the graphs) are put in.  victim: the program whose calls fail; but:
    classes in which it does not hold yet (docs/reliability.md)."""
    def __init__(self, name, words, codes, victim=None, same=False, root=False, also=(), but=()):
        self.name, self.words, self.codes = name, words.split("|") if "|" in words else words.split(), codes
        self.victim = victim or self.words[0]
        self.same, self.root, self.also, self.but = same, root, also, but


RUN = [0, 1, 2, 3, 4, 6]      # 5: something was not given back
SCENES = [
    Scene("ping", "vp-run --virtual {g}/ping.lua count=3", RUN, same=True),
    Scene("udp-echo", "vp-run -d 200ms {g}/udp-echo.lua conns=2 count=5", RUN),
    Scene("udp-tpc", "vp-run -d 200ms {g}/udp-presets.lua preset=tpc conns=2 count=3", RUN),
    Scene("udp-user", "vp-run -d 200ms {g}/udp-presets.lua threads=user conns=2 count=3 io_threads=1", RUN),
    Scene("tcp-echo", "vp-run -d 200ms {g}/tcp-echo.lua conns=2 count=3", RUN),
    Scene("tcp-blocking", "vp-run -d 200ms {g}/tcp-echo.lua conns=2 count=3 service=echo_blocking", RUN),
    Scene("tcp-transfer", "vp-run -d 200ms {g}/tcp-transfer.lua preset=lp conns=2 count=3", RUN),
    Scene("tcp-xdr", "vp-run -d 200ms {g}/tcp-xdr.lua preset=ips_conn conns=2 count=3", RUN),
    Scene("two-links", "vp-run -d 200ms {g}/two-links.lua conns=1 count=3 vps=2", RUN),
    Scene("hosttcp", "vp-run -d 200ms {g}/hosttcp-echo.lua conns=2 count=3 port={port}", RUN),
    Scene("hostudp", "vp-run -d 200ms {g}/hostudp-echo.lua preset=msgp conns=2 count=3 port={port}", RUN),
    Scene("shm", "vp-run -d 200ms {g}/shm-echo.lua conns=2 count=3 wait=200ms dir={tmp}", RUN),
    Scene("ncs", "vp-run --virtual {g}/ncs-echo.lua conns=2 count=3", RUN),
    Scene("atm", "vp-run -d 200ms {g}/ncs-atm.lua conns=2 count=3 size=1KiB rate=1Gbit/s", RUN),
    Scene("replay", "vp-run -d 200ms {g}/replay.lua file={in} out={tmp}/out.pcap fast=true", RUN, also=["out.pcap"]),
    Scene("served", "vp-run -d 20ms --control={tmp}/socket --json --capture=eth={tmp}/out.pcap "
          "{g}/udp-echo.lua conns=2 count=0", RUN, also=["out.pcap", "socket.lock"]),
    Scene("ranks", "vp-run -d 200ms --within=5s -n 2 {g}/ncs-ring.lua interface=hostudp", RUN),
    Scene("tap", "vp-run -d 20ms {g}/tap-echo.lua ifname=x{port}", RUN, root=True),
    Scene("packet", "vp-run -d 20ms {g}/packet-host.lua ifname=veth0 vps=2 ring=65536", RUN, root=True),
    Scene("xdp", "vp-run -d 20ms {g}/xdp-echo.lua ifname=veth0 vps=2", RUN, root=True),
    Scene("check", "vp-graph check {g}/udp-echo.lua", range(4), same=True),
    Scene("inspect", "vp-graph inspect tcp", range(4), same=True),
    Scene("inspect-file", "vp-graph inspect {g}/tcp-echo.lua", range(4), same=True),
    Scene("dot", "vp-graph dot {g}/two-links.lua", range(4), same=True),
    Scene("script", "vp-graph test {g}/tcp-script.lua {g}/tcp-script.pkt", range(4), same=True),
    Scene("meta", "vp-graph meta --format=json", range(4), same=True),
    Scene("ctl-graph", "vp-ctl --socket={serves} show graph", range(4), same=True),
    Scene("ctl-params", "vp-ctl --socket={serves} show params", range(4), same=True),
    Scene("ctl-sessions", "vp-ctl --socket={serves} show sessions", range(4)),
    Scene("ctl-metrics", "vp-ctl --socket={serves} metrics", range(4)),
    Scene("bench-list", "vp-bench list {few}", range(7), same=True),
    Scene("bench-plan", "vp-bench plan {few}", range(7), same=True),
    Scene("bench-run", "vp-bench run --quick --runs=1 -d 50ms --warmup=1ms -o {tmp}/out.json {few}", range(7),
          also=["out.json"], but=["threads"]),
    Scene("sim", "vp-sim -d 1ms {g}/seeds/salehi1995/fig04.lua streams=5", range(4), same=True),
    Scene("exec", "vp-exec|{g}/programs.lua|--at|a|python3|-S|-E|-c|" + ASKS, [0, 1, 125, 126, 127]),
]


def free_port():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


class Outcome:
    def __init__(self, code, out, err, left, calls, blocks, files, said):
        self.code, self.out, self.err, self.left = code, out, err, left
        self.calls, self.blocks, self.files, self.said = calls, blocks, files, said

    def sentence(self):
        return any(line.strip() and not BYSTANDER.search(line) for line in self.err.splitlines())

    def last_words(self):
        lines = [line for line in self.err.splitlines() if "panic: " in line] or self.err.splitlines()[-1:]
        return " / ".join(lines)[:300]


class Campaign:
    def __init__(self, o):
        self.o = o
        self.tmp = tempfile.mkdtemp(prefix="callfail.")
        self.graphs = os.path.join(o.source, "graphs")
        self.few = self.file("few.lua", BENCH)
        self.serves = os.path.join(self.tmp, "serves")
        self.capture = os.path.join(self.tmp, "in.pcap")
        self.good, self.server = {}, None

    def file(self, name, text):
        with open(os.path.join(self.tmp, name), "w") as f:
            f.write(text)
        return f.name

    def tool(self, name):
        return os.path.join(self.o.build, name)

    def begin(self):
        """What scenes stand on: a capture to play, a graph that is looked at."""
        env = dict(os.environ, XDG_RUNTIME_DIR=self.tmp)
        subprocess.run([self.tool("vp-run"), "--virtual", "--capture=mem=" + self.capture,
                        self.file("cap.lua", CAPTURED)], check=True, env=env, stdout=subprocess.DEVNULL,
                       stderr=subprocess.DEVNULL)
        self.server = subprocess.Popen(
            [self.tool("vp-run"), "--control=" + self.serves, os.path.join(self.graphs, "sock.lua")],
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, stdin=subprocess.DEVNULL)
        until = time.monotonic() + 30
        while not os.path.exists(self.serves) and time.monotonic() < until:
            time.sleep(0.02)

    def end(self):
        if self.server:
            self.server.send_signal(signal.SIGINT)
            self.server.wait(30)
        if self.o.keep:
            print("kept", self.tmp)
        else:
            shutil.rmtree(self.tmp, ignore_errors=True)

    # ---- one run -----------------------------------------------------------------

    def words(self, scene, folder):
        at = {"{g}": self.graphs, "{tmp}": folder, "{in}": self.capture, "{few}": self.few, "{serves}": self.serves}
        words = [self.tool(scene.words[0])] + scene.words[1:]
        if any("{port}" in w for w in words):
            at["{port}"] = str(free_port())
        for key, value in at.items():
            words = [w.replace(key, value) for w in words]
        return words

    def run(self, scene, kind, n, on):
        folder = tempfile.mkdtemp(dir=self.tmp)
        report, said = os.path.join(folder, ".report"), os.path.join(folder, ".said")
        env = dict(os.environ, LD_PRELOAD=os.path.abspath(self.o.preload), XK_FAIL_ONLY=scene.victim,
                   XK_FAIL_CLASS=kind, XK_FAIL_AT=str(n), XK_FAIL_REPORT=report, TMPDIR=folder, HOME=folder,
                   XDG_RUNTIME_DIR=folder)
        if on:
            env["XK_FAIL_ON"] = "1"
        if self.o.call:
            env["XK_FAIL_CALL"] = self.o.call
        if self.o.at:
            env["XK_FAIL_SAY"] = said
        with open(os.path.join(folder, ".out"), "w+b") as out, open(os.path.join(folder, ".err"), "w+b") as err:
            p = subprocess.Popen(self.words(scene, folder), cwd=folder, env=env, stdin=subprocess.DEVNULL,
                                 stdout=out, stderr=err, start_new_session=True)
            try:
                code = p.wait(SECONDS)
            except subprocess.TimeoutExpired:
                code = "hang"
                os.killpg(p.pid, signal.SIGKILL)
                p.wait()
            out.seek(0)
            err.seek(0)
            outcome = Outcome(code, out.read(), err.read().decode("utf-8", "replace"), self.left(scene, folder),
                              *self.reported(report, p.pid), self.text(said))
        shutil.rmtree(folder, ignore_errors=True)
        return outcome

    @staticmethod
    def text(path):
        try:
            with open(path) as f:
                return f.read()
        except OSError:
            return ""

    def reported(self, path, pid):
        """The most calls of a process, by class; blocks and files of the first one."""
        most, own = dict.fromkeys(CLASSES, 0), (None, None)
        for line in self.text(path).splitlines():
            number, blocks, files, *calls = map(int, line.split())
            most = {c: max(most[c], n) for c, n in zip(CLASSES, calls)}
            if number == pid:
                own = blocks, files
        return most, *own

    @staticmethod
    def left(scene, folder):
        names = [os.path.relpath(os.path.join(at, f), folder) for at, _, files in os.walk(folder) for f in files]
        return sorted(n for n in names if not n.startswith(".") and n not in scene.also)

    # ---- what is judged ------------------------------------------------------------

    def untouched(self, scene):
        """Calls by class; what comes out and stays when none fails, of two runs."""
        runs = [self.run(scene, CLASSES[0], 0, False) for _ in range(2)]
        for r in runs:
            if r.code not in scene.codes or r.blocks is None:
                raise SystemExit(f"callfail: {scene.name} alone: code {r.code}\n{r.err}")
        self.good[scene.name] = {
            "out": runs[0].out, "same": scene.same and runs[0].out == runs[1].out, "left": runs[0].left + runs[1].left,
            "blocks": max(r.blocks for r in runs), "files": max(r.files for r in runs)}
        return {c: max(r.calls[c] for r in runs) for c in CLASSES}

    def faults(self, scene, kind, r):
        good = self.good[scene.name]
        if r.code == "hang":
            return ["it hangs"]
        if r.code not in scene.codes:
            return [f"ends with {r.code}"]
        bad = []
        if r.code != 0 and not r.sentence():
            bad.append(f"code {r.code} without a sentence")
        if r.code == 0 and good["same"] and r.out != good["out"]:
            bad.append("code 0, and not all was printed")
        if kind != "removal" and set(r.left) - set(good["left"]):
            bad.append("left: " + " ".join(set(r.left) - set(good["left"])))
        if r.blocks is not None and r.blocks > good["blocks"]:
            bad.append(f"{r.blocks - good['blocks']} blocks of memory are not given back")
        if r.files is not None and r.files > good["files"] + HELD:
            bad.append(f"{r.files - good['files']} descriptors are not given back")
        return bad

    def one(self, case):
        scene, kind, n, on = case
        r = self.run(scene, kind, n, on)
        return case, r, self.faults(scene, kind, r)

    # ---- which ---------------------------------------------------------------------

    def scenes(self):
        for s in SCENES:
            if self.o.only and not any(s.name.startswith(w) for w in self.o.only.split(",")):
                continue
            if s.root and not any(name == "veth0" for _, name in socket.if_nameindex()):
                print(f"# {s.name}: needs root, and a network of its own")
            elif not os.access(self.tool(s.words[0]), os.X_OK):
                print(f"# {s.name}: {s.words[0]} is not built")
            else:
                yield s

    def cases(self):
        """In --sample's a scene is drawn first: those that are not drawn need not be counted."""
        kinds = [k for k in CLASSES if not self.o.kind or k in self.o.kind.split(",")]
        scenes, drawn, found = list(self.scenes()), random.Random(self.o.seed), []
        if self.o.few:
            scenes = drawn.sample(scenes, min(self.o.few, len(scenes)))
        for scene in scenes:
            calls = self.untouched(scene)
            if self.o.list:
                print(f"# {scene.name}: {calls}")
            found += [(scene, k, n, on) for k in kinds if k not in scene.but for on in (False, True) for n in self.spread(calls[k])]
        return drawn.sample(found, min(self.o.sample, len(found))) if self.o.sample else found

    def spread(self, total):
        if self.o.at:
            return [self.o.at]
        if not self.o.most or total <= self.o.most:
            return range(1, total + 1)
        return sorted(random.Random(self.o.seed).sample(range(1, total + 1), self.o.most))


CAPTURED = """stack { icmp { name = "there" }, ip { addr = "10.9.0.2/24" }, arp {}, eth {},
  eth_mem { name = "mem", wire = "cable", mac = "02:00:00:00:00:01" } }
stack { ping { to = "10.9.0.2", count = 3 }, icmp { name = "here" }, ip { addr = "10.9.0.1/24" }, arp {}, eth {},
  eth_mem { name = "other", wire = "cable" } }
return graph "captured" { threading = up {} }
"""


def options():
    p = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    p.add_argument("--build", default=os.getcwd())
    p.add_argument("--source", default=os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))))
    p.add_argument("--preload")
    p.add_argument("--only", default="")
    p.add_argument("--class", dest="kind", default="")
    p.add_argument("--call", default="")
    p.add_argument("--sample", type=int, default=0)
    p.add_argument("--few", type=int, default=0)
    p.add_argument("--most", type=int, default=0)
    p.add_argument("--seed", type=int, default=1)
    p.add_argument("--jobs", type=int, default=2)
    p.add_argument("--at", type=int, default=0)
    p.add_argument("--keep", action="store_true")
    p.add_argument("--list", action="store_true")
    o = p.parse_args()
    o.build = os.path.abspath(o.build)
    o.preload = o.preload or os.path.join(o.build, "tests/fault/callfail.so")
    return o


def main():
    o = options()
    c = Campaign(o)
    failed, codes = 0, {}
    try:
        c.begin()
        cases = c.cases()
        with concurrent.futures.ThreadPoolExecutor(o.jobs) as pool:
            for (scene, kind, n, on), r, faults in pool.map(c.one, cases):
                codes[r.code] = codes.get(r.code, 0) + 1
                if o.at:
                    print(r.said, r.err, f"code {r.code}", sep="")
                if faults:
                    failed += 1
                    print(f"FAILED {scene.name} --class={kind} --at={n} {'from then on' if on else 'once'}: "
                          f"{'; '.join(faults)}: {r.last_words()}", flush=True)
    finally:
        c.end()
    print(f"# {len(cases)} cases, {failed} failed; codes " +
          ", ".join(f"{k}: {v}" for k, v in sorted(codes.items(), key=str)))
    return 1 if failed or not cases else 0


if __name__ == "__main__":
    sys.exit(main())
