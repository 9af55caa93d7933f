# SPDX-License-Identifier: BSD-2-Clause
"""prom_check.py FILE [EARLIER] - is FILE the text format of Prometheus, version 0.0.4?

What promtool checks, and what is ours: every family has HELP and TYPE once, before its
samples, which stand together; no series comes twice; names begin with xkvp_; what is a counter
ends in _total, and none of EARLIER's has become less.  A histogram's buckets rise to +Inf, which
has what _count says.
"""
import re
import sys

NAME = r"[a-zA-Z_:][a-zA-Z0-9_:]*"
LABEL = r'([a-zA-Z_][a-zA-Z0-9_]*)="((?:[^"\\\n]|\\["\\n])*)"'
SAMPLE = re.compile(r"^(%s)(?:\{((?:%s,?)*)\})? (\S+)$" % (NAME, LABEL))


def fail(number, why):
    sys.exit("line %d: %s" % (number, why))


def read(path):
    """Every series with its value, and each family's type."""
    text = open(path, encoding="utf-8").read()
    if not text.endswith("\n"):
        sys.exit("the last line has no end")
    helps, types, series, closed, current = set(), {}, {}, set(), None
    for number, line in enumerate(text[:-1].split("\n"), 1):
        words = line.split(" ", 3)
        if words[0] == "#":
            if words[1] == "HELP":
                if words[2] in helps or len(words) < 4 or not words[3]:
                    fail(number, "HELP twice, or empty")
                helps.add(words[2])
            elif words[1] == "TYPE":
                if words[2] in types or words[3] not in ("counter", "gauge", "histogram"):
                    fail(number, "TYPE twice, or of no kind")
                types[words[2]] = words[3]
            else:
                fail(number, "a comment")
            if words[2] in closed:
                fail(number, "%s is spread out" % words[2])
            continue
        sample = SAMPLE.match(line)
        if not sample:
            fail(number, "not a sample: " + line)
        name, labels, value = sample.group(1), sample.group(2) or "", sample.group(sample.lastindex)
        keys = [k for k, _ in re.findall(LABEL, labels)]
        if len(keys) != len(set(keys)):
            fail(number, "a label twice")
        series_name = name
        family = re.sub("_(bucket|sum|count)$", "", name)
        if types.get(family) == "histogram":
            name = family
        if name not in helps or name not in types:
            fail(number, "%s has no HELP or no TYPE" % name)
        if name != current and current is not None:
            closed.add(current)
        if name in closed:
            fail(number, "%s is spread out" % name)
        current = name
        if not name.startswith("xkvp_"):
            fail(number, "%s does not begin with xkvp_" % name)
        if (types[name] == "counter") != name.endswith("_total"):
            fail(number, "%s is a %s" % (name, types[name]))
        if types[name] == "histogram" and series_name == name:
            fail(number, "a sample of a histogram as a whole")
        if (series_name, labels) in series:
            fail(number, "twice: " + line)
        series[series_name, labels] = float(value)
        if series[series_name, labels] < 0:
            fail(number, "negative: " + line)
    for family in types:
        if types[family] == "histogram":
            histogram(series, family)
    return series, types


def histogram(series, family):
    """Each series of the family, told apart by its labels but for le."""
    rows = {}
    for (name, labels), value in series.items():
        if name == family + "_bucket":
            bound = re.search('le="([^"]*)"', labels)
            if not bound:
                sys.exit("%s: a bucket without le" % family)
            rest = re.sub(',?le="[^"]*"', "", labels)
            rows.setdefault(rest, []).append((float(bound.group(1).replace("+Inf", "inf")), value))
    if not rows:
        sys.exit("%s has no buckets" % family)
    for labels, buckets in rows.items():
        bounds, counts = zip(*buckets)
        if list(bounds) != sorted(set(bounds)) or bounds[-1] != float("inf"):
            sys.exit("%s{%s}: the bounds do not rise to +Inf" % (family, labels))
        if list(counts) != sorted(counts):
            sys.exit("%s{%s}: a bucket has less than the one before" % (family, labels))
        if series.get((family + "_count", labels)) != counts[-1]:
            sys.exit("%s{%s}: _count is not what +Inf says" % (family, labels))
        if (family + "_sum", labels) not in series:
            sys.exit("%s{%s} has no _sum" % (family, labels))


def main():
    series, types = read(sys.argv[1])
    if not series:
        sys.exit("no samples")
    if len(sys.argv) > 2:
        before, _ = read(sys.argv[2])
        if set(before) != set(series):
            sys.exit("other series than before")
        for key, value in before.items():
            if types.get(key[0]) != "gauge" and series[key] < value:
                sys.exit("%s%s has become less" % key)


main()
