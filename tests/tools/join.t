#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# join.t - vp-run --join=ROOT:PORT: ranks that others started find each other; who is late, double, of another job or no
# rank at all is told, or turned away; how they end.

: "${top_srcdir:=$(cd "$(dirname "$0")/../.." && pwd)}"
. "$top_srcdir/tests/support/tap.sh"
. "$top_srcdir/tests/tools/ranks_lib.sh"
for tool in jq python3; do
	command -v $tool >/dev/null || skip_all "needs $tool"
done
run=$top_builddir/vp-run
ring=$top_srcdir/graphs/ncs-ring.lua
answers='[.nodes[] | select(.name == "load") | .counters.answers] | add'
port=$((12000 + $$ % 4000))              # hosts.t's begin at 20000
root=127.0.0.1:$port

# rank R OF ARG...: in the background, its process as $pid; what it prints is in out.R and err.R
rank() {
	r=$1
	of=$2
	shift 2
	VP_RANK=$r VP_RANKS=$of timeout 120 "$run" --join=$root "$@" >"$tmp/out.$r" 2>"$tmp/err.$r" &
	pid=$!
}
said() { grep -e "$2" "$tmp/err.$1"; }
shown() { cat "$tmp"/err.?; }
# all CODE PID...: each ends with that code
all() {
	want=$1
	all_did=0
	shift
	for one in "$@"; do
		wait "$one"
		ended=$?
		[ $ended -eq "$want" ] && continue
		echo "exit code $ended, not $want"
		shown
		all_did=1
	done
	return $all_did
}

around() {
	n=$1
	shift
	these=
	for i in $(seq $((n - 1)) -1 0); do             # the root comes last
		rank "$i" "$n" --json "$ring" dir="$tmp" count=20 "$@"
		these="$these $pid"
	done
	# shellcheck disable=SC2086
	all 0 $these && for i in $(seq 0 $((n - 1))); do
		jq -e "($answers) == 40" "$tmp/out.$i" || return 1
	done
}
ok "one alone" around 1
ok "a ring of three, by memory" around 3
ok "by datagrams of the kernel" around 3 interface=hostudp port=$((port + 4000)) flow=credit error=selective_repeat

cat >"$tmp/told.lua" <<'END'
local a = args { rank = uint { 9 }, ranks = uint { 9 }, peers = text { "" }, job = text { "" } }
error(("rank %d of %d, job %s, peers %s"):format(a.rank, a.ranks, a.job, a.peers))
END
told() {
	rank 0 2 "$tmp/told.lua"
	first=$pid
	rank 1 2 "$tmp/told.lua"
	all 3 $first $pid && said 1 "rank 1 of 2, job join-127.0.0.1-$port, peers 127.0.0.1,127.0.0.1"
}
ok "rank, ranks, job and peers are arguments; the root has the first failure's code" told

# By what launchers say: $1 to $3 are their rank, number and job, then more
launched() {
	a=$1 b=$2 c=$3
	shift 3
	env -i "$a=0" "$b=2" "$c=x/y" "$@" "$run" --join=:$port "$tmp/told.lua" >"$tmp/err.0" 2>&1 &
	first=$!
	env -i "$a=1" "$b=2" "$c=x/y" "$@" "$run" --join=:$port "$tmp/told.lua" >"$tmp/err.1" 2>&1
	wait $first
	shown
	said 1 "rank 1 of 2, job $job, peers 127.0.0.1,127.0.0.1"
}
job=x-y.0
ok "Slurm says where rank 0 is" launched SLURM_PROCID SLURM_NTASKS SLURM_JOB_ID SLURM_STEP_ID=0 \
	SLURM_JOB_NODELIST='127.0.0.[1-3],10.0.0.[07-9]'
ok "for its step first" launched SLURM_PROCID SLURM_NTASKS SLURM_JOB_ID SLURM_STEP_ID=0 SLURM_STEP_NODELIST=127.0.0.1,b \
	SLURM_JOB_NODELIST=10.0.0.7
named() {
	env -i "$1=0" "$2=1" "$3=z" "$run" --join=$root "$tmp/told.lua" 2>&1 | grep "rank 0 of 1, job z, peers 127.0.0.1"
}
ok "Open MPI says which rank" named OMPI_COMM_WORLD_RANK OMPI_COMM_WORLD_SIZE PMIX_NAMESPACE
ok "so does PMI" named PMI_RANK PMI_SIZE PMI_JOBID
if command -v mpirun >/dev/null && mpirun --version 2>/dev/null | grep -q 'Open MPI'; then
	mpi() {
		timeout 120 mpirun --allow-run-as-root --oversubscribe -n 3 "$run" --join=$root "$ring" dir="$tmp" count=20 >"$tmp/out" 2>&1
		got=$?
		cat "$tmp/out"
		[ $got -eq 0 ] && [ "$(grep -c 'load .* answers 40' "$tmp/out")" -eq 3 ]
	}
	ok "mpirun starts three" mpi
else
	skip "mpirun starts three" "no mpirun of Open MPI"
fi
bare() { code 2 env -i "$@" "$run" --join=:$port "$tmp/told.lua"; }
ok "nobody says where rank 0 is" says "nobody has said where rank 0 is: say --join=ROOT:$port" bare VP_RANK=0 VP_RANKS=2
for bad in x x: x:0 x:65536 x:1y ""; do
	ok "'$bad' is no place" says "'$bad' is not ROOT:PORT" env VP_RANK=0 VP_RANKS=2 "$run" --join="$bad" "$tmp/told.lua"
done
ok "a host that nobody knows" says "no IPv4 address of host no.invalid" \
	env VP_RANK=0 VP_RANKS=2 "$run" --join=no.invalid:$port "$tmp/told.lua"
ok "a root that is elsewhere" says "rank 0 cannot wait at 192.0.2.1:$port" \
	env VP_RANK=0 VP_RANKS=2 "$run" --join=192.0.2.1:$port "$tmp/told.lua"
ok "--check meets nobody" says "is good" env VP_RANK=1 VP_RANKS=2 "$run" --join=$root --check "$ring" interface=hostudp

# Who does not come.
alone() {
	rank 0 3 --within=300ms "$ring"
	all 1 $pid && said 0 '^vp-run: 2 of 3 ranks did not come in 300ms: 1, 2$'
}
ok "the root alone tells whom it misses" alone
# Anew, with more time, where rank 1 has not had any before it was over.
missed() {
	for within in 3s 20s 80s; do
		rank 1 3 --within=$within "$ring"
		first=$pid
		rank 0 3 --within=$within "$ring"
		all 1 $first $pid && said 0 '^vp-run: 1 of 3 ranks did not come' || continue
		said 1 "^vp-run: rank 1 is refused by rank 0 at $root: 1 of 3 ranks did not come in $within: 2$"
		return
	done
	return 1
}
ok "so does who has come" missed
nobody() {
	rank 1 2 --within=300ms "$ring"
	all 1 $pid && said 1 "^vp-run: rank 1 does not reach rank 0 at $root in 300ms: "
}
ok "who finds no root says so" nobody
# The root's port, as the kernel writes it.
listens() { grep -q " 0100007F:$(printf %04X $port) 00000000:0000 0A" /proc/net/tcp; }
# opens OF ARG...: the root, its process as $first, which others find there
opens() {
	rank 0 "$@"
	first=$pid
	until_ok 60 listens
}
gives_up() {
	opens 2 "$ring" && kill -TERM $first
	all 1 $first && said 0 'ended before all ranks had come'
}
ok "a signal ends the wait" gives_up

# refused NUMBER OF TEXT ENV: another that comes hears TEXT, so does the root, and the job goes on
refused() {
	opens 2 --json "$ring" dir="$tmp" count=20
	env VP_RANK="$1" VP_RANKS="$2" "$4" timeout 60 "$run" --join=$root "$ring" >"$tmp/err.2" 2>&1
	got=$?
	rank 1 2 --json "$ring" dir="$tmp" count=20
	all 0 $first $pid && shown && [ $got -eq 1 ] && said 2 "is refused by rank 0 at $root: $3" && said 0 "is refused: $3"
}
ok "another root's rank" refused 1 3 "this job has 2 ranks, and it was told of 3" A=b
other_job() {
	export VP_JOB=ours
	refused 1 2 "it is of another job" VP_JOB=other
	got=$?
	unset VP_JOB
	[ $got -eq 0 ] && said 0 "^vp-run: this is job 'ours'$" && ! said 2 ours
}
ok "another job's; what this one is called it is not told" other_job
# count=0: until stopped.  met: both are there, and know each other
met() { [ "$(ls "$tmp"/join-*.10.0.0.?.0 2>/dev/null | wc -l)" -eq 2 ]; }
both() {
	rm -f "$tmp"/join-*.10.0.0.?.0
	rank 0 2 "$ring" dir="$tmp" count=0 "$@"
	first=$pid
	rank 1 2 "$ring" dir="$tmp" count=0 "$@"
	second=$pid
	until_ok 60 met && return
	kill -TERM $first $second
	return 1
}
twice() {
	both
	VP_RANK=1 VP_RANKS=2 timeout 60 "$run" --join=$root "$ring" >"$tmp/err.2" 2>&1
	got=$?
	kill -INT $first
	all 0 $first $second && shown && [ $got -eq 1 ] && said 2 "rank 1 is there already, at 127.0.0.1"
}
ok "a rank that is there already; a signal to the root ends all in order" twice

# killed WHOM OTHER TEXT: first or second is lost; its rank goes, and the other process says so
killed() {
	both
	victim=$(eval "echo \$$1") other=$(eval "echo \$$2")
	its=$(pids "$(pids "$victim")")
	kill -KILL "$(pids "$victim")" || kill -TERM $first $second
	wait "$victim"
	all 1 "$other" && shown && said "$4" "$3" && [ -n "$its" ] && over "$its"
}
ok "a rank that is killed ends the others" killed second first '^vp-run: rank 1 at 127.0.0.1 is lost' 0
ok "so does the root" killed first second '^vp-run: rank 0 at 127.0.0.1 is lost' 1
graph_killed() {
	both
	kill -KILL "$(pids "$(pids "$second")")" || kill -TERM $first $second
	wait "$second"
	got=$?
	all 1 $first && shown && [ $got -eq 1 ] && said 1 'rank 1 was killed by signal 9' && said 0 'rank 1 at 127.0.0.1 was killed by signal 9'
}
ok "so does one whose graph is" graph_killed

# Strangers: silent ones, more than are let in, such as say too little, too much, or nonsense.
cat >"$tmp/strangers.py" <<'END'
import os, random, re, signal, socket, struct, sys
port, mode = int(sys.argv[1]), sys.argv[2]
def come():
    return socket.create_connection(("127.0.0.1", port))
def hello(magic=b"xkvj", version=2, rank=1, ranks=2, job=b"", key=b""):
    return struct.pack(">4sIII64s32s", magic, version, rank, ranks, job, key)
def answer(said):
    s = come()
    s.sendall(said)
    try:
        return s.recv(300)
    except ConnectionError:
        return b""
random.seed(7)
if mode == "silent":
    those = [come() for _ in range(200)]
    print("there", flush=True)
    sys.stdin.read()
elif mode == "nonsense":
    for n in (1, 3, 4, 111, 112, 113, 5000):
        for _ in range(20):
            s = come()
            s.sendall(random.randbytes(n))
            s.close()
    for part in (1, 4, 111):
        s = come()
        s.sendall(hello()[:part])
        s.close()
elif mode == "hellos":
    assert b"another version" in answer(hello(version=1)[:80]), "version"
    assert b"rank 0 has none" in answer(hello(key=b"k")), "key"
    assert b"none of 2" in answer(hello(rank=2)), "rank"
    assert b"none of 2" in answer(hello(rank=0xffffffff)), "rank"
    assert b"there already" in answer(hello(rank=0)), "root"
    assert b"this job has 2" in answer(hello(ranks=0xffffffff)), "ranks"
    assert b"this job has 2" in answer(hello(ranks=0, rank=0)), "ranks"
    assert b"another job" in answer(hello(job=b"j" * 64)), "job without end"
    for _ in range(100):
        assert b"there already" in answer(hello(rank=0)), "root"
elif mode == "keys":                     # the root has one
    for key in (b"", b"ours", b"ours!!", b"k" * 32):
        assert answer(hello(key=key)) == b"", "a stranger is told nothing"
elif mode == "many":                     # ranks that all come while the root does not run
    root = int(sys.argv[3])
    os.kill(root, signal.SIGSTOP)
    while not re.search(r"^State:\s*T", open(f"/proc/{root}/status").read(), re.M):
        os.sched_yield()
    those = [come() for _ in range(200)]
    for rank, s in enumerate(those, 1):
        s.sendall(hello(rank=rank, ranks=201))
    os.kill(root, signal.SIGCONT)
    for s in those:
        assert s.recv(33 + 4 * 201, socket.MSG_WAITALL)[:1] == b"l"
    for s in those:                      # the root's own rank fails, and ends the others
        assert s.recv(1) == b"e"
elif mode == "stopped":                  # a rank that waits when the root is ended
    s = come()
    s.sendall(hello(ranks=3))
    assert b"there already" in answer(hello(ranks=3))
    os.kill(int(sys.argv[3]), signal.SIGTERM)
    assert s.recv(1) == b"e"
elif mode == "speaks":                   # a rank that says what none does, once all are there
    s = come()
    s.sendall(hello())
    assert s.recv(41, socket.MSG_WAITALL)[:1] == b"l"
    s.sendall(b"?")
    s.recv(100)
elif mode == "early":                    # comes, and goes before the others
    s = come()
    s.sendall(hello(ranks=3))
    s.settimeout(0.2)
    try:
        s.recv(1)
    except TimeoutError:
        pass
elif mode in ("deaf", "garbage", "loud", "shut", "over"):     # it is the root
    with socket.create_server(("127.0.0.1", port)) as w:
        c = w.accept()[0]
        c.recv(112, socket.MSG_WAITALL)
        if mode == "garbage":
            c.sendall(b"HTTP/1.1 400 Bad Request\r\n\r\n")
        elif mode == "loud":
            c.sendall(b"r\xff" + b"\x1b[2J" * 100)
        elif mode == "over":
            c.sendall(b"e")
        elif mode == "deaf":
            c.recv(1)
END
strangers() { timeout 60 python3 "$tmp/strangers.py" $port "$@"; }
# beside MODE: the job comes together though those are there, or were
beside() {
	opens 2 --json "$ring" dir="$tmp" count=20
	strangers "$1"
	got=$?
	rank 1 2 --json "$ring" dir="$tmp" count=20
	all 0 $first $pid && shown && [ $got -eq 0 ]
}
nonsense() { beside nonsense && said 0 'warning: 1[0-9][0-9] connections to the root were of no rank'; }
ok "nonsense is turned away, and counted" nonsense
hellos() { beside hellos && [ "$(said 0 ' is refused: ' | wc -l)" -eq 16 ]; }
ok "hellos that cannot be are refused, and told so often, no more" hellos
keys() {
	export VP_KEY='ours!'
	beside keys && said 0 'warning: 4 connections to the root were of no rank' && ! said 0 'is refused'
	got=$?
	unset VP_KEY
	return $got
}
ok "who has another key, or none, is turned away without a word" keys
no_key() {
	opens 2 --json "$ring" dir="$tmp" count=20
	VP_KEY='' rank 1 2 --json "$ring" dir="$tmp" count=20
	all 0 $first $pid
}
ok "who comes with an empty VP_KEY has the root's" no_key
# One whose graph does not come up: the others wait for it, and say which it is.
slow_graph "$tmp/slow.lua"
never_up() {
	rm -f "$tmp/never"
	mkfifo "$tmp/never"
	rank 0 2 --unsafe --within=2s "$tmp/slow.lua" dir="$tmp"
	first=$pid
	rank 1 2 --unsafe --within=2s "$tmp/slow.lua" dir="$tmp"
	until_ok 60 said 0 '^vp-run: rank 1 at 127.0.0.1 did not come up in 2s'
	got=$?
	timeout 60 sh -c "echo >'$tmp/never'"   # it is let go
	all 1 $first && wait $pid && [ $got -eq 0 ]
}
ok "a rank whose graph is not up in time is told by its number" never_up
early() {
	opens 3 --json "$ring" dir="$tmp" count=20
	strangers early && until_ok 60 said 0 '^vp-run: rank 1 at 127.0.0.1 went before all had come'
	got=$?
	rank 1 3 --json "$ring" dir="$tmp" count=20
	second=$pid
	rank 2 3 --json "$ring" dir="$tmp" count=20
	all 0 $first $second $pid && [ $got -eq 0 ]
}
ok "a rank that has gone may come again" early
silent() {
	opens 2 --json "$ring" dir="$tmp" count=20
	mkfifo "$tmp/fifo"
	timeout 60 python3 "$tmp/strangers.py" $port silent <"$tmp/fifo" >"$tmp/there" &
	these=$!
	exec 3>"$tmp/fifo"
	until_ok 60 grep -q there "$tmp/there"
	rank 1 2 --json "$ring" dir="$tmp" count=20
	all 0 $first $pid
	got=$?
	exec 3>&-
	wait $these
	[ $got -eq 0 ]
}
ok "two hundred that are silent keep no rank out" silent
# against MODE CODE OF FILE: those come to a root of FILE, which ends with that code
against() {
	opens "$3" "$4" && strangers "$1" "$(pids $first)"
	got=$?
	all "$2" $first && [ $got -eq 0 ]
}
many() { against many 3 201 "$tmp/told.lua" && ! said 0 'went before\|of no rank'; }
ok "two hundred ranks that come at once are all let in" many
ok "a root that is ended tells who waits" against stopped 1 3 "$ring"
speaks() {
	opens 2 "$ring" dir="$tmp" count=0
	strangers speaks
	all 1 $first && said 0 'rank 1 at 127.0.0.1 says what no rank does'
}
ok "a rank that says what none does is lost" speaks
# with MODE TEXT: the root is not what it should be
with() {
	strangers "$1" &
	other=$!
	until_ok 60 listens
	rank 1 2 --within="${3:-60s}" "$ring"
	all 1 $pid && said 1 "$2" && ! grep "$(printf '\033')" "$tmp/err.1"
	got=$?
	wait $other
	return $got
}
ok "a root that is none" with garbage "who waits at $root is no rank 0"
ok "one that writes to terminals" with loud 'is refused by rank 0'
ok "one that does not answer" with deaf 'does not answer' 1s
ok "one that is ended" with over "rank 0 at $root has ended before all had come"
ok "one that hangs up" with shut 'went before all had come'

# A machine of its own, whose kernel gives who connects the root's port and no other: $1 is that, $2 the program.
cat >"$tmp/own.sh" <<'END'
ip link set lo up && echo "$1 $1" >/proc/sys/net/ipv4/ip_local_port_range || exit 9
export VP_RANKS=2
VP_RANK=1 "$2" --join=127.0.0.1:$1 --within=300ms "$3"
[ $? -eq 1 ] && ! VP_RANK=0 "$2" --join=127.0.0.1:$1 --within=300ms "$3"
END
own() {
	unshare -rn sh "$tmp/own.sh" $port "$run" "$ring" 2>"$tmp/err.1"
	got=$?
	shown
	[ $got -eq 0 ] && said 1 "rank 1 does not reach rank 0 at $root in 300ms: " && said 1 '1 of 2 ranks did not come in 300ms: 1$'
}
if unshare -rn ip link set lo up 2>"$tmp/why"; then
	ok "who is connected to itself has not found the root, nor keeps its place" own
else
	skip "who is connected to itself" "no network namespace can be made: $(head -n 1 "$tmp/why")"
fi
done_testing
