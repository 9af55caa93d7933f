#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# untrusted.t - a stranger's file names nothing of this machine but what the command line gives, and the process that runs
# it may do no more than it has to; a graph that has its devices runs as another user, without any capability.

: "${top_srcdir:=$(cd "$(dirname "$0")/../.." && pwd)}"
. "$top_srcdir/tests/support/tap.sh"
run=$top_builddir/vp-run
unset VP_GRAPH_PATH
# Looking for leaks needs ptrace, which is forbidden to what is not trusted.
export ASAN_OPTIONS="${ASAN_OPTIONS:+$ASAN_OPTIONS:}detect_leaks=0"
cd "$tmp" || exit 1

# graph NAME TEXT: a graph file whose hosts have TEXT as their lowest driver.
graph() {
	cat >"$1.lua" <<-EOF
	local a = args { name = text { "mine", doc = "of what is outside" } }
	sink { port = 9, over = stack { udp {}, ip { addr = "10.0.0.1/8" }, arp {}, eth {}, $2 } }
	return graph "$1" { threading = ppc {} }
	EOF
}

# refused LINE WORDS OPTIONS...: with its place, and nothing was done.
refused() {
	line=$1 words=$2
	shift 2
	"$run" -d 1ms "$@" >out 2>&1
	[ $? -eq 3 ] && grep -q "$line.*$words" out || { cat out; return 1; }
}

# ---- what the file may name ------------------------------------------------------------------------

graph out 'pcap { out = "evil.pcap" }'
graph given 'pcap { out = a.name }'
graph part 'pcap { out = a.name .. "x" }'
graph tap 'tap { ifname = a.name }'
graph plain 'eth_mem {}'
ok "a driver of this machine" refused 'out.lua:2: pcap' '--untrusted=pcap allows it' --untrusted out.lua
ok "that is allowed, a file that it names itself" refused 'out.lua:2: pcap' "'out' names what is of this machine" --untrusted=pcap out.lua
ok "what an argument is by itself" refused 'given.lua:2: pcap' "'out' names what is" --untrusted=pcap given.lua
ok "and what it makes of one that was given" refused 'part.lua:2: pcap' "'out' names what is" --untrusted=pcap part.lua name=mi
ok "an interface" refused 'tap.lua:2: tap' "'ifname' names" --untrusted=tap tap.lua
ok "no such driver" refused 'command line' "no driver 'pcaq'" --untrusted=tap,pcaq,pcap plain.lua
ok "one that is of no machine" refused 'command line' "may use 'udp'" --untrusted=udp plain.lua
cat >http.lua <<E2
http { root = "/etc", over = stack { tcp {}, ip { addr = "10.0.0.1/8" }, arp {}, eth {}, eth_mem {} } }
return graph "http" { threading = ppc {} }
E2
ok "a directory to publish" refused 'http.lua:1: http' "'root' names" --untrusted http.lua
cat >machine.lua <<E2
sink { port = 9, over = stack { udp {}, ip { addr = "10.0.0.1/8" }, arp {}, eth {}, eth_mem {} } }
return graph "machine" { threading = ppc {}, clock = virtual { processors = 2, machine = "/etc/passwd" } }
E2
ok "a machine" refused 'machine.lua:2: clock' "'machine' names" --untrusted machine.lua
nothing() { [ ! -e evil.pcap ] && [ ! -e mine ]; }
ok "and none of them was made" nothing
allowed() { "$run" -d 1ms --untrusted=pcap given.lua name="$tmp/new.pcap" >out 2>&1 && [ -s new.pcap ] || { cat out; return 1; }; }
ok "what the command line gives" allowed
both() { "$run" --unsafe --untrusted plain.lua >out 2>&1; [ $? -eq 2 ] && grep -q "stranger" out; }
ok "unsafe and not trusted do not go together" both
heat() { "$run" --untrusted --heat=heat.svg plain.lua >out 2>&1; [ $? -eq 2 ] && grep -q "starts no program" out; }
ok "nor a picture that another program draws" heat
cat >print.lua <<'E2'
print("a\27[2Jb\0c\127")
print("d\xc2\x9b\xff\xc3\xa9")
return graph "x" {}
E2
shown() {
	"$run" --check --untrusted print.lua >out 2>&1
	grep -qF 'a\x1b[2Jb\x00c\x7f' out && grep -qF 'd\xc2\x9b\xff'"$(printf '\303\251')" out
}
ok "what it prints is no order to a terminal" shown

again() { refused 'given.lua:2: pcap' 'overwrite = true' given.lua name="$tmp/new.pcap"; }
ok "a file that is there is not overwritten" again
graph over 'pcap { out = a.name, overwrite = true }'
over() { echo old >new.pcap; "$run" -d 1ms over.lua name="$tmp/new.pcap" >out 2>&1 && ! grep -q old new.pcap || { cat out; return 1; }; }
ok "but where it shall be" over

# ---- what the process may do ------------------------------------------------------------------------------

# Inside it, when it is asked by a signal: what opening files, and a program, gives.
cat >inside.c <<'E2'
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
static int started(const char *path)
{
	char *no[] = { NULL };
	int status = 0, pid = fork();
	if (pid == 0) {
		execve(path, no, no);
		_exit(errno);
	}
	waitpid(pid, &status, 0);
	return WEXITSTATUS(status);
}
static int opened(const char *path, int flags)
{
	int fd = open(path, flags, 0600), err = errno;
	if (fd >= 0)
		close(fd);
	return fd >= 0 ? 0 : err;
}
static void look(int sig)
{
	char line[200];
	(void)sig;
	int system = opened("/etc/passwd", O_RDONLY), given = opened("given.txt", O_RDONLY), other = opened("other.txt", O_RDONLY);
	int made = opened("made.txt", O_CREAT | O_WRONLY), run = started("/bin/true");
	int cut = truncate("other.txt", 1) < 0 ? errno : 0, rights = chmod("other.txt", 0600) < 0 ? errno : 0;
	int n = snprintf(line, sizeof line, "system %d given %d other %d made %d run %d cut %d rights %d\n", system, given, other, made,
			 run, cut, rights);
	int fd = 9;
	if (write(fd, line, (size_t)n) != n)
		_exit(77);
}
__attribute__((constructor)) static void begin(void) { signal(SIGUSR2, look); }
E2
# asked OPTIONS...: vp-run's process, once it runs, and what it says inside; it ends in order.
asked() {
	rm -f made.txt pipe said err status
	mkfifo pipe
	echo secret >other.txt
	echo mine >given.txt
	cat pipe >said &
	LD_PRELOAD=$tmp/inside.so "$run" --log '*:3' --stats 10ms plain.lua name=given.txt "$@" >out 2>err 9>pipe &
	pid=$!
	tries=0
	until grep -q 'messages/s' err || [ $((tries += 1)) -gt 3000 ] || ! kill -0 $pid 2>/dev/null; do sleep 0.01; done
	kill -USR2 $pid
	until grep -q run said || [ $((tries += 1)) -gt 6000 ] || ! kill -0 $pid 2>/dev/null; do sleep 0.01; done
	sed -n 's/^\(Uid\|CapPrm\|CapEff\|NoNewPrivs\|Seccomp\):[ \t]*/\1 /p' /proc/$pid/status >status
	kill -INT $pid
	wait $pid || { cat err; return 1; }
}
said() { grep -qx "$1" said || { cat said err; return 1; }; }
EACCES=13 EPERM=1
can_preload() { ${CC:-cc} -shared -fPIC -o inside.so inside.c 2>/dev/null && ! grep -q fsanitize= "$top_builddir/config.log"; }
trusted() { asked && said 'system 0 given 0 other 0 made 0 run 0 cut 0 rights 0'; }
untrusted() { asked --untrusted && said "system 0 given 0 other $EACCES made $EACCES run $EPERM cut $EPERM rights $EPERM" && grep -q 'NoNewPrivs 1' status; }
nobody() {
	chmod 777 .
	asked --user=nobody --control="$tmp/live" && said 'system 0 .* made 0 run .*' &&
		awk -v id="$(id -u nobody)" '$1 == "Uid" { bad = $2 != id || $3 != id || $4 != id || $5 != id }
			/^Cap/ { bad += $2 !~ /^0+$/; caps++ } END { exit bad || caps != 2 }' status && [ ! -e live ] && [ ! -e live.lock ] ||
		{ cat status; ls; return 1; }
}
if ! can_preload; then
	skip "what the process may do" "no compiler, or a sanitizer that comes first"
else
	ok "a file of one's own: the process may do all" trusted
	"$run" -d 1ms --untrusted plain.lua >out 2>err
	if grep -q 'not guard' err; then
		skip "a stranger's: no other file, no program" "$(grep -m 1 'not guard' err)"
	else
		ok "a stranger's: no other file, none made, no program" untrusted
	fi
	if [ "$(id -u)" -eq 0 ]; then
		ok "as another user: no capability, and nothing left behind" nobody
	else
		skip "as another user" "needs root"
	fi
fi
none() { "$run" --user=nosuch plain.lua >out 2>&1; [ $? -eq 2 ] && grep -q "no user 'nosuch'" out; }
ok "nobody of that name" none
if [ "$(id -u)" -eq 0 ]; then
	mkdir mine
	elsewhere() {
		"$run" --user=nobody --control="$tmp/mine/live" plain.lua >out 2>&1
		[ $? -eq 2 ] && grep -q 'nobody may not write in' out && [ -z "$(ls mine)" ] || { cat out; ls mine; return 1; }
	}
	ok "a socket where that user may not remove it" elsewhere
fi
done_testing
