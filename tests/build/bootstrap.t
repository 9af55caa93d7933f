#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# bootstrap.t - what bootstrap says when it runs nothing, and when it cannot run.
set -u
: "${top_srcdir:=$(cd "$(dirname "$0")/../.." && pwd)}"
. "$top_srcdir/tests/support/tap.sh"
command -v bash >/dev/null || skip_all "no bash"
boot=$top_srcdir/bootstrap

says() {
	text=$1
	shift
	"$@" >"$tmp/out" 2>&1
	cat "$tmp/out"
	grep -qF -- "$text" "$tmp/out"
}

ok "--help fits a screen" sh -c "bash '$boot' --help | awk 'END { exit NR > 24 }'"
ok "--print names every package" sh -c "
	bash '$boot' --print >'$tmp/print'
	sed -e 's/#.*//' '$top_srcdir/packages.txt' | tr -d ' \t' | grep '^[^[]' >'$tmp/names'
	while read -r p; do grep -qwF -- \"\$p\" '$tmp/print' || { echo \$p; exit 1; }; done <'$tmp/names'"
ok "--print shows each step" sh -c "
	for w in 'apt-get update' 'autoreconf -fi' ../configure 'make -j' ./vp-run ./vp-bench 'make check' peers/build; do
		grep -qF -- \"\$w\" '$tmp/print' || { echo \$w; exit 1; }; done"
refuses "an unknown word is refused" bash "$boot" everything
ok "an unknown word is named" says "unknown word 'everything'" bash "$boot" everything
refuses "no word at all is refused" bash "$boot"

# A package list with a name that nobody has, and neither root nor sudo.
mkdir -p "$tmp/clone" "$tmp/bin"
cp "$boot" "$tmp/clone/"
printf '%s\n' '[build]' 'xkvp-no-such-package' '[tests]  # more' 'xkvp-no-such-test' '[peers]' 'xkvp-no-such-peer' >"$tmp/clone/packages.txt"
printf '#!/bin/sh\necho 1000\n' >"$tmp/bin/id"
printf '#!/bin/sh\nexit 1\n' >"$tmp/bin/dpkg-query"
chmod +x "$tmp/bin/id" "$tmp/bin/dpkg-query"
for c in bash sh sed tr dirname mkdir nproc printf grep cat wc tail find; do
	ln -s "$(command -v $c)" "$tmp/bin/$c" 2>/dev/null
done
ok "without root or sudo one sentence names the missing packages" says \
	"needs root or sudo: xkvp-no-such-package xkvp-no-such-test" env PATH="$tmp/bin" bash "$tmp/clone/bootstrap" check
needs() {
	env PATH="$tmp/bin" bash "$tmp/clone/bootstrap" "$1" 2>&1 | sed 's/.*sudo: //' | grep -qx "$2"
}
ok "run needs the first group alone" needs run xkvp-no-such-package
ok "peers needs the first and the last" needs peers 'xkvp-no-such-package xkvp-no-such-peer'

# A step that fails shows its name and the end of its output.
printf '#!/bin/sh\necho installed\n' >"$tmp/bin/dpkg-query"
printf '#!/bin/sh\necho the reason why; exit 1\n' >"$tmp/bin/autoreconf"
chmod +x "$tmp/bin/autoreconf"
refuses "a failing step fails" env PATH="$tmp/bin" bash "$tmp/clone/bootstrap" check
ok "a failing step is named" says "'autoreconf' failed" env PATH="$tmp/bin" bash "$tmp/clone/bootstrap" check
ok "and what it printed is shown" says "the reason why" env PATH="$tmp/bin" bash "$tmp/clone/bootstrap" check
done_testing
