#!/bin/sh
# test.sh - @NAME@ under several threading presets: every message is answered, none is left over (exit code 5 of vp-run).
cd "$(dirname "$0")" || exit 1
VP_PLUGIN_PATH=.
export VP_PLUGIN_PATH
vp-graph inspect @NAME@ >/dev/null || exit 1
for preset in up ppc vppc tpc msgp lp ips connp_l; do
	out=$(vp-run @NAME@.lua preset=$preset count=1000) || { echo "not ok $preset"; exit 1; }
	echo "$out" | grep -q 'load .*answers 2000' || { echo "$out"; echo "not ok $preset: answers"; exit 1; }
	echo "ok $preset"
done
# Held to the contract, too; what a driver here sends comes back to who sent it, as its own graph expects.
grep -q '[.]is_driver' @NAME@.c && set -- --graph @NAME@.lua
vp-graph test @NAME@ "$@" || { echo "not ok conformance"; exit 1; }
