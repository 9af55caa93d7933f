#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""suites.py - CPython's own tests of sockets, by the kernel and under vp-exec, compared test by test.

usage: suites.py compare EXPECTED UNDER MODULE[:PATTERN]...
       suites.py some MODULE      what `compare` begins, here or under UNDER, a command: the tests that stdin names

A test that passes by the kernel passes under vp-exec, too, or EXPECTED has a line for it: a pattern of its name, a tab,
and why.  A test that fails is tried once more, alone.  Code 1: another one fails twice; or, where no pattern is
given, a line of EXPECTED for these modules has no test that needs it.  A line for each module says how many passed.
XK_SUITE_PATIENCE is how many seconds without a verdict end a process: the test that has begun "hangs".
"""
import fnmatch
import os
import queue
import shlex
import subprocess
import sys
import threading
import unittest

AT_ONCE = 100        # tests of a process
PATIENCE = float(os.environ.get("XK_SUITE_PATIENCE", "30"))


# ---- in a process of its own: runs tests ------------------------------------------------------

class Verdicts(unittest.TestResult):
    """A line as a test begins, and one as it ends: the first that was not good."""
    def __init__(self, out, wanted):
        super().__init__()
        self.out, self.wanted, self.of_class = out, set(wanted), "skipped"

    def say(self, *words):
        print(*words, sep="\t", file=self.out, flush=True)

    def startTest(self, test):
        super().startTest(test)
        self.verdict, self.why = "ok", ""
        self.wanted.discard(test.id())
        self.say("begins", test.id())

    def stopTest(self, test):
        super().stopTest(test)
        self.say("ended", test.id(), self.verdict, self.why)

    def note(self, test, verdict, why):
        if isinstance(test, unittest.TestCase):
            if self.verdict in ("ok", "skipped"):
                self.verdict, self.why = verdict, " ".join(why.split())[:150]
        else:                                       # of a class, before its first test
            self.of_class = verdict

    def addError(self, test, err):
        self.note(test, "fails", f"{err[0].__name__}: {err[1]}")

    addFailure = addError

    def addSubTest(self, test, subtest, err):
        if err is not None:
            self.addError(test, err)

    def addSkip(self, test, reason):
        self.note(test, "skipped", reason)

    def addUnexpectedSuccess(self, test):
        self.note(test, "fails", "succeeds")

    def end(self):
        for name in self.wanted:                    # their classes were not begun
            self.say("ended", name, self.of_class, "")


def tests_of(suite):
    for t in suite:
        if isinstance(t, unittest.TestSuite):
            yield from tests_of(t)
        else:
            yield t


def all_of(module):
    import test.support
    test.support.use_resources = ["network"]
    return list(tests_of(unittest.defaultTestLoader.loadTestsFromName("test." + module)))


def some(module):
    wanted = sys.stdin.read().split("\n")
    verdicts = Verdicts(os.fdopen(os.dup(1), "w"), wanted)
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)    # what tests print is no verdict
    unittest.TestSuite(t for t in all_of(module) if t.id() in set(wanted)).run(verdicts)
    verdicts.end()
    os._exit(0)                                     # whatever threads a failed test has left


# ---- begins them --------------------------------------------------------------------------------

class Process:
    """Tests in a process, under a command; their verdicts as they come."""
    def __init__(self, under, module, names):
        self.p = subprocess.Popen(
            under + [sys.executable, os.path.abspath(__file__), "some", module],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        self.p.stdin.write("\n".join(names))
        self.p.stdin.close()
        self.lines = queue.Queue()
        threading.Thread(target=self.read, daemon=True).start()

    def read(self):
        for line in self.p.stdout:
            self.lines.put(line.rstrip("\n").split("\t"))
        self.lines.put(["over"])

    def next(self):
        try:
            return self.lines.get(timeout=PATIENCE)
        except queue.Empty:
            return ["late"]

    def end(self):
        self.p.terminate()
        try:
            self.p.wait(10)
        except subprocess.TimeoutExpired:
            self.p.kill()
            self.p.wait()


def one_process(under, module, names, found):
    """As far as it comes; what it was at when it ended of itself, or hung, has that verdict."""
    p, at = Process(under, module, names), names[0]
    while (line := p.next())[0] in ("begins", "ended"):
        at = line[1]
        if line[0] == "ended":
            found[at] = line[2], line[3]
            at = None
    if at is not None and at not in found:
        found[at] = ("hangs" if line[0] == "late" else "dies"), ""
    p.end()


def verdicts_of(under, module, names):
    found = {}
    while left := [n for n in names if n not in found]:
        one_process(under, module, left[:AT_ONCE], found)
    return found


# ---- compares ---------------------------------------------------------------------------------

def expected_of(path, modules):
    with open(path) as f:
        rows = [line.rstrip("\n").split("\t") for line in f if line.strip() and not line.startswith("#")]
    return [(pattern, why) for pattern, why in rows if any(pattern.startswith(m + ".") or pattern.startswith("*") for m in modules)]


def compare(path, under, words):
    modules = dict((w.split(":", 1) + ["*"])[:2] for w in words)
    expected, needed, bad = expected_of(path, modules), set(), 0
    for module, wanted in modules.items():
        names = [t.id() for t in all_of(module)]
        names = [n for n in names if fnmatch.fnmatchcase(n, f"test.{module}.{wanted}")]
        kernel = verdicts_of([], module, names)
        passed = [n for n in names if kernel[n][0] == "ok"]
        ours = verdicts_of(under, module, passed)
        again = 0
        for n in passed:
            why = [(p, w) for p, w in expected if fnmatch.fnmatchcase(n, "test." + p)]
            if ours[n][0] != "ok" and not why:
                again += 1
                one_process(under, module, [n], ours)
            if ours[n][0] != "ok":
                needed.update(p for p, _ in why)
                bad += not why
                print(f"# {n[5:]}: {' '.join(ours[n])}: {why[0][1] if why else 'NOT EXPECTED'}")
        good = sum(ours[n][0] == "ok" for n in passed)
        bad += not passed
        print(f"# {module}: {len(names)} tests, {len(passed)} pass by the kernel, {good} of them under vp-exec,"
              f" {again} at the second try or not", flush=True)
    for pattern, _ in expected:
        if pattern not in needed and not any(":" in w for w in words):
            print(f"# {pattern}: is expected, and no test needs it")
            bad += 1
    return bad


if __name__ == "__main__":
    if sys.argv[1] == "some":
        some(sys.argv[2])
    sys.exit(compare(sys.argv[2], shlex.split(sys.argv[3]), sys.argv[4:]) != 0)
