# SPDX-License-Identifier: BSD-2-Clause
# count.sh - instructions per message, counted by callgrind; for tests, after tap.sh.
#
#   flags_of NAME               a variable of the build's Makefile
#   countable                   ends the test where this build's numbers mean nothing
#   counted FILE ARGUMENTS...   "all driver sums answers calls" of one run of a graph that
#                               ends by itself; FILE is an absolute path
#   per_message N FILE ARG...   the same for a message: between count=N and count=2N, so that
#                               starting and ending drop out
#   $program, $march            what is counted, and what it is compiled for: the program that the build runs on a
#                               processor as valgrind shows, which is at most x86-64-v3; valgrind does not follow vp-run there
#   everywhere COMMAND...       counts what every processor of the kind runs, with nothing that better ones have
#
# driver: functions of drivers/mem and drivers/peer, which stand for a device and for the peer behind it;
# sums: those of base_csum, which copy and sum long data; what libc copies and clears counts
# for its caller; answers: all that is done in xk_input and below, where the device of the run
# brings what its peer answered; calls: of base_csum's functions from elsewhere.

flags_of() { sed -n "s/^$1 = *//p" "$top_builddir/Makefile" 2>/dev/null; }

has_variants() { grep -q '^variant_programs = ' "$top_builddir/Makefile" 2>/dev/null; }
program=$top_builddir/vp-run
march=$(flags_of XK_CFLAGS | grep -o -e '-march=[^ ]*')
if has_variants && [ -x "$program-x86-64-v3" ] && grep -qw avx2 /proc/cpuinfo; then
	program=$program-x86-64-v3 march=-march=x86-64-v3
fi
everywhere() {
	best=$program program=$top_builddir/vp-run
	VP_CPU=generic
	export VP_CPU
	"$@"
	status=$?
	unset VP_CPU
	program=$best
	return $status
}

countable() {
	command -v valgrind >/dev/null 2>&1 || skip_all "valgrind is not installed (package valgrind)"
	[ -f "$top_builddir/Makefile" ] || skip_all "run it in the folder of a build"
	case " $(flags_of XK_CPPFLAGS) $(flags_of XK_CFLAGS) " in
	*-fsanitize*) skip_all "this build has sanitizers" ;;
	*XK_DEBUG*) skip_all "this build checks owners (--enable-debug)" ;;
	*XK_NO_FASTPATH*) skip_all "this build has no fast paths (--disable-fastpath)" ;;
	*XK_COUNT_ATOMICS* | *XK_NO_TRACE*) skip_all "this build counts atomics or has no trace messages" ;;
	esac
	# What an older valgrind cannot read of a newer compiler's debug information ends it.
	valgrind --tool=none "$program" --version >"$tmp/readable" 2>&1 ||
		skip_all "valgrind cannot run this build: $(sed -n '/debuginfo reader/{s/^==[0-9]*== //p;q}' "$tmp/readable") (-gdwarf-4 may help)"
}

# A graph file may take 10 seconds to load, which on a busy machine it does; then once more.
ran() {
	for again in 1 2 3 4; do
		valgrind --tool=callgrind --fn-skip='__mem*' --callgrind-out-file="$tmp/cg" "$program" -d 10m "$@" >"$tmp/run" 2>&1
		grep -q 'workload complete$' "$tmp/run" && return 0
		grep -q 'ran longer than' "$tmp/run" || return 1
	done
	return 1
}

counted() {
	ran "$@" || { cat "$tmp/run" >&2; return 1; }
	# A function's own cost: lines of positions and costs, but for those after calls=.
	awk '
		function name_of(s, names) {
			match(s, /^\([0-9]+\)/)
			if (length(s) > RLENGTH) names[substr(s, 1, RLENGTH)] = substr(s, RLENGTH + 2)
			return substr(s, 1, RLENGTH)
		}
		/^(fl|fi|fe)=/ { id = name_of(substr($0, 4), file); if (/^fl=/) here = file[id]; next }
		/^cf[il]=/ { below = file[name_of(substr($0, 5), file)]; next }
		/^c?fn=/ { s = $0; sub(/^c?fn=/, "", s); called = name_of(s, name) }
		/^fn=/ { driver = here ~ /drivers\/(mem|peer)\//; sums = here ~ /base_csum/; below = here; next }
		/^calls=/ { skip = 1; if (below ~ /base_csum/ && !sums) calls += substr($1, 7); below = here; next }
		/^[-+*0-9][^ ]* [0-9]+$/ { if (!skip) { all += $2; if (driver) of += $2; if (sums) sum += $2 }
			else if (name[called] == "xk_input") up += $2; skip = 0 }
		END { printf "%d %d %d %d %d\n", all, of, sum, up, calls }' "$tmp/cg"
}

# Of so many runs: a worker that waits for the end on a busy machine does more, never less.
rounds=3
least() {
	for round in $(seq $rounds); do counted "$@" || return 1; done | sort -n | head -n 1
}

per_message() {
	messages=$1
	shift
	one=$(least "$@" count="$messages") && two=$(least "$@" count=$((2 * messages))) || return 1
	[ -n "$one" ] && [ -n "$two" ] || return 1
	echo "$one $two" | awk -v n="$messages" '{ for (i = 1; i <= 5; i++) printf "%.2f%s", ($(i + 5) - $i) / n, i < 5 ? " " : "\n" }'
}
