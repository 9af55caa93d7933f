#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# hosts.t - vp-run --hosts: ranks on other hosts by a remote shell.  The hosts are this machine, by scripts in the remote
# shell's place, and, where that may be, network namespaces with a cable between them.

: "${top_srcdir:=$(cd "$(dirname "$0")/../.." && pwd)}"
. "$top_srcdir/tests/support/tap.sh"
. "$top_srcdir/tests/tools/ranks_lib.sh"
command -v jq >/dev/null || skip_all "needs jq"
run=$top_builddir/vp-run
ring=$top_srcdir/graphs/ncs-ring.lua
answers='[.nodes[] | select(.name == "load") | .counters.answers] | add'

# rsh NAME: a remote shell as $VP_RSH, of what comes; $1 is the host, $2 the command.
rsh() {
	{ echo '#!/bin/sh' && cat; } >"$tmp/$1"
	chmod +x "$tmp/$1"
}
rsh here <<-'END'
	echo "welcome to $1"
	echo "its printer is out of paper" >&2
	printf 'no end of line'
	exec sh -c "$2"
END
rsh unknown <<-'END'
	case $1 in lost) echo "no such host: $1" >&2; exit 255 ;; esac
	exec sh -c "$2"
END
rsh silent <<-'END'
	case $1 in mute) sleep 600 ;; esac
	exec sh -c "$2"
END
# Goes away in the middle: what it stands before has no word any more.
rsh dropping <<-'END'
	case $1 in far) exec sh -c "echo \$\$ >$DROPPED; $2" ;; esac
	exec sh -c "$2"
END
rsh babbling <<-'END'
	printf '\nxkvp-rank 2\nwhat is this'
	exec sleep 600
END
rsh boundless <<-'END'
	printf '\nxkvp-rank 2\no\377\377\377\377'
	exec cat /dev/zero
END
# What it leaves behind has its outputs.
rsh leaving <<-'END'
	echo $$ >"$LEFT"
	sleep 200 &
	exec sh -c "$2"
END
rsh keyed <<-'END'
	export VP_KEY=another
	exec sh -c "$2"
END
rsh arguments <<-'END'
	echo "$# $1" >&2
	exec sh -c "$2"
END

# by SCRIPT OPTION...
by() {
	shell=$tmp/$1
	shift
	VP_RSH=$shell timeout 120 "$run" "$@" >"$tmp/out" 2>"$tmp/err"
	got=$?
	cat "$tmp/out" "$tmp/err"
	return $got
}
told() { grep -q -e "$1" "$tmp/err"; }

cat >"$tmp/told.lua" <<'END'
local a = args { rank = uint { 9 }, ranks = uint { 9 }, peers = text { "" }, x = text { "" } }
error(("rank %d of %d, x %s, peers %s"):format(a.rank, a.ranks, a.x, a.peers))
END
args() {
	by here --keep --hosts "one:2=10.0.0.1,two=10.0.0.2" "$tmp/told.lua" "x=it's \"\$HOME\" \\ * ;"
	[ $? -eq 3 ] && for i in 0 1 2; do
		grep -q "^\[$i\] .*rank $i of 3, x it's \"\$HOME\" \\\\ \* ;, peers 10.0.0.1,10.0.0.1,10.0.0.2" "$tmp/err" || return 1
	done
}
ok "a rank is told what it is, where all are, and what the user wrote" args
ok "its end is told with its host" told '^vp-run: rank 2 at two ended with code 3'
ok "what a login prints is shown" told '^\[2\] welcome to two'
ok "on both outputs" told '^\[1\] its printer is out of paper'
ok "an unfinished line, too" told '^\[0\] no end of line'
ok "VP_RSH may have arguments; the host and one command follow" sh -c "VP_RSH='$tmp/arguments -a' '$run' --hosts h=127.0.0.1 \
	'$tmp/told.lua' 2>&1 | grep '^\[0\] 3 -a'"

# each NAME COUNT: JSON of so many ranks, each with all its answers
each() { jq -e "length == $1 and all(.[]; ($answers) == 40)" "$tmp/out"; }
# around N OPTIONS ARG...: the ring with those, of N ranks
around() {
	n=$1
	options=$2
	shift 2
	# shellcheck disable=SC2086
	by unknown $options --json "$ring" dir="$tmp" count=20 "$@" && each "$n"
}
logins_key() {
	by keyed --hosts a:2=127.0.0.1,b=127.0.0.1 --json "$ring" dir="$tmp" count=20 interface=hostudp port=$((port + 100)) flow=credit \
		error=selective_repeat && each 3 || return 1
	echo 'error("its key is \"" .. os.getenv("VP_KEY") .. "\"")' >"$tmp/keyed.lua"
	VP_KEY='ours!' by keyed --hosts a:2=127.0.0.1 --keep --unsafe "$tmp/keyed.lua"
	[ "$(grep -c '^\[[01]\] .*:1: its key is "ours!"' "$tmp/err")" -eq 2 ]
}
port=$((20000 + $$ % 12000))
ok "a login's VP_KEY is not the job's" logins_key
ok "a ring of one host" around 3 "--hosts h:3=127.0.0.1"
printf '# hosts\n\na:2=127.0.0.1   # two\nb:4=127.0.0.1\n' >"$tmp/hosts"
ok "-n takes so many, hosts in a file" around 3 "--hosts $tmp/hosts -n 3"
ok "datagrams of the kernel between them" around 3 "--hosts a:2=127.0.0.1,b=127.0.0.1" interface=hostudp port=$port flow=credit \
	error=selective_repeat
lines() {
	by unknown --hosts a:2=127.0.0.1 "$ring" dir="$tmp" count=20 && grep -q '^\[0\] load .* answers 40\(,.*\)*$' "$tmp/out" &&
		grep -q '^\[1\] load .* answers 40\(,.*\)*$' "$tmp/out" && ! grep -v '^\[[01]\] ' "$tmp/out"
}
ok "lines begin with the rank" lines
many() { by unknown --hosts a:20=127.0.0.1 --json --keep "$tmp/told.lua"; [ "$(grep -c '^\[[0-9]*\] .*rank [0-9]* of 20' "$tmp/err")" -eq 20 ]; }
ok "more ranks of a host than come at a time" many

# What does not come up, or goes.
fails() { text=$1; shift; by "$@"; [ $? -eq 1 ] && told "$text"; }
endless() { fails "$@" "$ring" dir="$tmp" count=0; }
ok "a host that is not there" endless '^vp-run: rank 1 at lost did not come up: its remote shell ended with code 255' \
	unknown --hosts good=10.0.0.1,lost=10.0.0.2
ok "and what was said of it" told '^\[1\] no such host: lost'
ok "a host that does not answer" endless '^vp-run: rank 1 at mute did not come up in 300ms' \
	silent --within=300ms --hosts good=10.0.0.1,mute=10.0.0.2
ok "a remote shell that is not there" endless 'did not come up: its remote shell ended with code 127' nobody --hosts h=127.0.0.1
ok "a program that is no agent" endless 'what comes is not of its agent' babbling --hosts h=127.0.0.1
ok "one without bounds" endless 'what comes is not of its agent' boundless --hosts h=127.0.0.1
# stray OPTION...: from a folder that is gone nobody can begin
program=$(readlink -f "$run")
stray() {
	mkdir "$tmp/gone"
	(cd "$tmp/gone" && rmdir "$tmp/gone" && VP_RSH=$tmp/here timeout 60 "$program" "$@" --hosts a:10=127.0.0.1 \
		"$tmp/told.lua" >"$tmp/out" 2>"$tmp/err")
	got=$?
	cat "$tmp/err"
	[ $got -eq 1 ] && told '^vp-run: cannot start rank 0 at a: '
}
cannot() { stray "$@" && [ "$(grep -c '^vp-run: cannot start rank' "$tmp/err")" -eq "$count" ]; }
count=1
ok "a remote shell that cannot begin ends all" cannot
count=10
ok "with --keep others are tried, and nobody is waited for" cannot --keep
left() {
	LEFT=$tmp/left by leaving --hosts h=127.0.0.1 --json "$ring" dir="$tmp" count=20 && each 1 &&
		told '^vp-run: warning: rank 0 at h has ended, and its remote shell does not'
	got=$?
	[ $got -eq 0 ] || kill -KILL -"$(cat "$tmp/left")"
	return $got
}
ok "what a remote shell leaves behind is not waited for" left

# Ranks are below agents, which are the remote shells here.
ranks() { for agent in $(pids $starter); do pids "$agent"; done; }
all_there() { [ "$(ls "$tmp"/*.10.0.0.?.0 2>/dev/null | wc -l)" -eq 2 ]; }
starts() {
	rm -f "$tmp"/*.10.0.0.?.0
	shell=$tmp/$1
	shift
	DROPPED=$tmp/dropped VP_RSH=$shell "$run" --hosts near=10.0.0.1,far=10.0.0.2 "$@" "$ring" dir="$tmp" count=0 \
		>"$tmp/out" 2>"$tmp/err" &
	starter=$!
	until_ok 60 all_there && return
	cat "$tmp/err"
	kill -TERM $starter                              # nobody waits for it in vain
	return 1
}
ends() {
	wait $starter
	got=$?
	cat "$tmp/err"
	return $got
}
interrupted() {
	starts unknown && these=$(ranks) && kill -INT $starter
	ends && [ "$(grep -c 'load .*messages' "$tmp/out")" -ge 2 ] && [ "$(echo $these | wc -w)" -eq 2 ] && over $these
}
ok "SIGINT ends all in order, and tables come" interrupted
asked() {
	starts unknown && kill -USR1 $starter
	until_ok 60 grep -q '^\[0\] load' "$tmp/err" && until_ok 60 grep -q '^\[1\] load' "$tmp/err"
	got=$?
	kill -TERM $starter
	ends && [ $got -eq 0 ]
}
asked_well() { asked && grep -q '^\[1\] load' "$tmp/err"; }
ok "SIGUSR1 asks all" asked_well
killed() {
	starts unknown "$@"
	these=$(ranks)
	first=${these%%
*}
	kill -KILL "$first" || kill -TERM $starter
	! ends && told 'rank [01] at \(near\|far\) was killed by signal 9' && over $these
}
ok "a rank that is killed ends all" killed
dropped() {
	starts dropping
	these=$(ranks)
	kill -KILL "$(cat "$tmp/dropped")" || kill -TERM $starter
	! ends && told '^vp-run: rank 1 at far is lost: its remote shell was killed by signal 9' && over $these
}
ok "a host that is lost ends all" dropped
orphaned() {
	starts unknown
	these=$(ranks)
	kill -KILL $starter
	wait $starter
	[ "$(echo $these | wc -w)" -eq 2 ] && over $these
}
ok "ranks whose starter is killed end" orphaned

# An agent that does nothing is not waited for: it is ended by force, ten seconds and two later.
rsh deaf <<-'END'
	trap '' INT TERM
	printf '\nxkvp-rank 2\n'
	echo $$ >>"$DROPPED"
	while :; do sleep 600; done
END
deaf() {
	rm -f "$tmp/dropped"
	DROPPED=$tmp/dropped VP_RSH=$tmp/deaf "$run" --hosts h=127.0.0.1 "$ring" >"$tmp/out" 2>"$tmp/err" &
	starter=$!
	until_ok 60 test -s "$tmp/dropped"
	kill -INT $starter
	! ends && told '^vp-run: rank 0 at h is lost' && over "$(cat "$tmp/dropped")"
}
ok "an agent that does not end is ended by force" deaf

# The remote shell goes with its starter; what it has begun elsewhere hears that the connection is gone.
rsh elsewhere <<-'END'
	setsid sh -c "echo \$\$ >>$DROPPED; $2"
	exit
END
cut_off() {
	rm -f "$tmp/dropped"
	starts elsewhere
	agents=$(cat "$tmp/dropped")
	these=$(for agent in $agents; do pids "$agent"; done)
	kill -KILL $starter
	wait $starter
	[ "$(echo $these | wc -w)" -eq 2 ] && over $these $agents
	got=$?
	# shellcheck disable=SC2086
	[ $got -eq 0 ] || kill -KILL $these $agents
	return $got
}
ok "ranks whose connection is gone end" cut_off

# Wrong usage.
wrong() {
	text=$1
	shift
	by unknown "$@" "$ring"
	[ $? -eq 2 ] && told "$text"
}
for bad in ":2" "a:0" "a:x" "a:1025" "-v=10.0.0.1" "a;b" "a@" "a:1:2"; do
	ok "'$bad' is no host" wrong "option --hosts: '$bad' is not HOST" --hosts "$bad"
done
ok "no host" wrong "no host is in ''" --hosts ""
ok "an address that is none" wrong "has no IPv4 address behind '='" --hosts a=300.1.1.1
ok "a host that is there twice" wrong "'a:2' is there twice" --hosts a=10.0.0.1,a:2
ok "more ranks than places" wrong '3 ranks, where there is room for 2' --hosts a:2=10.0.0.1 -n 3
ok "a host whose address is not known" wrong 'no IPv4 address of host no-such-host.invalid' --hosts no-such-host.invalid
ok "a loop's address that others would take for their own" wrong 'host a is 127.0.0.1, where b does not find it' \
	--hosts a=127.0.0.1,b=10.0.0.2
ok "a file that is not there" wrong "cannot read $tmp/none" --hosts "$tmp/none"
printf 'a:2\nb:c\n' >"$tmp/hosts"
ok "a file's bad line" wrong "$tmp/hosts:2: 'b:c' is not HOST" --hosts "$tmp/hosts"
for bad in "--within=1s" "--hosts a --join" "--hosts a --control=x" "--hosts a --within=0s" "--hosts a --within=x" "--agent=1/2"; do
	# shellcheck disable=SC2086
	ok "$bad is wrong usage" code 2 "$run" $bad "$ring"
done
ok "--check checks one" says "is good" "$run" --hosts a:2=127.0.0.1 --check "$ring" interface=hostudp

# Two hosts that are network namespaces with a cable between them.
net1=xkvp-$$-1 net2=xkvp-$$-2
cable() {
	ip netns add $net1 && ip netns add $net2 && ip link add name v0 netns $net1 type veth peer name v0 netns $net2 &&
		ip -n $net1 addr add 10.77.0.1/24 dev v0 && ip -n $net2 addr add 10.77.0.2/24 dev v0 &&
		for net in $net1 $net2; do
			ip -n $net link set lo up && ip -n $net link set v0 up || return 1
		done
}
rsh namespace <<-'END'
	exec ip netns exec "$1" sh -c "$2"
END
across() {
	by namespace --hosts $net1=10.77.0.1,$net2=10.77.0.2 --json "$ring" interface=hostudp flow=credit error=selective_repeat \
		count=20 && each 2 && ip -n $net1 -s -j link show dev v0 | jq -e '.[0].stats64.rx.bytes > 400000'
}
if [ "$(id -u)" -ne 0 ] || ! command -v ip >/dev/null; then
	skip "two network namespaces" "needs root and ip"
elif ! cable 2>"$tmp/why"; then
	skip "two network namespaces" "they cannot be made here: $(head -n 1 "$tmp/why")"
else
	ok "two network namespaces" across
fi
ip netns del $net1 2>/dev/null
ip netns del $net2 2>/dev/null
done_testing
