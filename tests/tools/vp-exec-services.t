#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# vp-exec-services.t - services with processes, privileges and protocols of their own, at two hosts of a graph, clean
# and with 1 % of the frames lost: ssh, names, a database, a scan of ports.
set -u
: "${top_srcdir:=$(cd "$(dirname "$0")/../.." && pwd)}"
. "$top_srcdir/tests/support/tap.sh"
. "$top_srcdir/tests/tools/exec.sh"
. "$top_srcdir/tests/tools/exec_at.sh"

# told WANTED at's arguments...: that was the client's last line.
told() {
	told_want=$1
	shift
	at "$@" && grep -qxF -- "$told_want" "$tmp/out"
}

# ---- ssh: privileges are separated, a process for each session ------------------------------------------

sshd=$(command -v sshd)
mkdir "$tmp/ssh" && chmod 755 "$tmp" "$tmp/ssh"
cat >"$tmp/ssh/conf" <<EOF
ListenAddress 0.0.0.0
HostKey $tmp/ssh/host
PidFile none
UsePAM no
StrictModes no
AuthorizedKeysFile $tmp/ssh/key.pub
PasswordAuthentication no
Subsystem sftp internal-sftp
EOF
cat >"$tmp/ssh/client" <<EOF
IdentityFile $tmp/ssh/key
StrictHostKeyChecking no
UserKnownHostsFile $tmp/ssh/known
BatchMode yes
LogLevel ERROR
EOF
ssh="-F '$tmp/ssh/client'"
# Root's server wants an empty folder of its own, which the system makes when it starts the service.
cat >"$tmp/ssh/serve" <<EOF
if [ "\$(id -u)" = 0 ]; then
	mount -t tmpfs none /run && mkdir -m 755 /run/sshd || exit
fi
exec '$sshd' "\$@" -e -f '$tmp/ssh/conf'
EOF
serve="sh '$tmp/ssh/serve'"
[ "$(id -u)" = 0 ] && serve="unshare -m $serve"
server="$serve -D"
# This host's server takes our key, without a network.
lets_in() {
	for key in host key; do ssh-keygen -q -t ed25519 -N '' -f "$tmp/ssh/$key" </dev/null || return; done
	eval "ssh $ssh -o ProxyCommand=\"$serve -i\" b true" </dev/null
}
ssh_lacks() {
	all_of "$1" sshd ssh scp ssh-keygen || return 0
	if [ ! -e "$tmp/ssh/key" ]; then lets_in >"$tmp/ssh/says" 2>&1 && let_in=yes; fi
	[ -n "$let_in" ] && return 1
	skip "$1" "sshd does not let $(id -un) in: $(tail -n 1 "$tmp/ssh/says")"
}
let_in=
over_there="ssh $ssh b \"cat '$tmp/www/some'\" >'$tmp/got'"
there_and_back="scp $ssh '$tmp/www/some' b:'$tmp/there' && scp $ssh b:'$tmp/there' '$tmp/got'"
# A connection of a's goes to b's port 22 through b, from a port of a's loopback.
forward="ssh $ssh -f -L 127.0.0.1:2200:10.0.0.2:22 b \"while [ ! -e '$tmp/done' ]; do sleep 0.05; done\" &&
	ssh $ssh -p 2200 127.0.0.1 \"cat '$tmp/www/some'\" >'$tmp/got'; code=\$?; touch '$tmp/done'; exit \$code"
for loss in 0 1%; do
	name="ssh and sshd, loss $loss"
	ssh_lacks "$name" || ok "$name" same $loss connp_l "$server" 22 "$over_there"
done
name="scp there and back, a process for each connection"
ssh_lacks "$name" || ok "$name" same 0 ppc "$server" 22 "$there_and_back"
name="a port that ssh forwards"
ssh_lacks "$name" || ok "$name" same 0 connp_l "$server" 22 "$forward"

# ---- names, by a server of names --------------------------------------------------------------------------

# Its own user, as it would give up root's rights.
dnsmasq="dnsmasq -k -C /dev/null -u '$(id -un)' --pid-file= --no-resolv --no-hosts --log-facility=- \
--bind-interfaces --listen-address=10.0.0.2 --address=/example/10.1.2.3 --txt-record=t.example,hello"
dig="dig +timeout=1 +tries=20 +short"
i=0
while [ $i -lt 20 ]; do echo "n$i.example A"; i=$((i + 1)); done >"$tmp/questions"
names="$dig -f '$tmp/questions' @b | sort | uniq -c | sed 's/^ *//'"
text="$dig @10.0.0.2 t.example TXT && $dig +tcp @10.0.0.2 tcp.example A | sed 's/^/tcp /'"
for loss in 0 1%; do
	name="dig asks dnsmasq, loss $loss"
	all_of "$name" dnsmasq dig && ok "$name" told "20 10.1.2.3" $loss connp_l "$dnsmasq" 53 "$names"
done
name="dig asks dnsmasq by TCP, a process for each connection"
all_of "$name" dnsmasq dig && ok "$name" told "tcp 10.1.2.3" 0 ppc "$dnsmasq" 53 "$text"

# ---- nmap: connections that are refused, many at once --------------------------------------------------------

three="'$python' -c \"import signal, socket
held = [socket.create_server(('', port)) for port in (85, 88, 90)]
signal.pause()\""
scan="nmap -sT -Pn -n --max-retries 10 -p 80-99 10.0.0.2 -oG - 2>/dev/null | grep -o '[0-9]*/open/tcp' | paste -s"
tab=$(printf '\t')
for loss in 0 1%; do
	name="nmap -sT, loss $loss"
	all_of "$name" nmap &&
		ok "$name" told "85/open/tcp${tab}88/open/tcp${tab}90/open/tcp" $loss connp_l "$three" 90 "$scan"
done

# ---- PostgreSQL: a process for each client -----------------------------------------------------------------------

# Debian's servers are not in the path, and refuse root's rights.
for postgres in /usr/lib/postgresql/*/bin; do :; done
PATH=$PATH:$postgres
as=
[ "$(id -u)" = 0 ] && as="setpriv --reuid=65534 --regid=65534 --clear-groups"
database() {
	mkdir "$tmp/pg" && { [ -z "$as" ] || chown 65534:65534 "$tmp/pg"; } &&
		$as env HOME=/ initdb -D "$tmp/pg" -U postgres -A trust -N --locale=C && echo 'host all all 10.0.0.0/24 trust' >>"$tmp/pg/pg_hba.conf"
}
postgres="$as postgres -D '$tmp/pg' -c listen_addresses='*' -c fsync=off -c unix_socket_directories=''"
psql="unset PGOPTIONS PGSERVICE; PGHOST=b PGUSER=postgres PGDATABASE=postgres; export PGHOST PGUSER PGDATABASE"
# bank LOSS PRESET N: N transactions of each of 8 clients, and so many lines of their book
bank() {
	told $((8 * $3)) "$1" "$2" "$postgres" 5432 "$psql
		pgbench -i -s 1 -q && pgbench -n -c 8 -j 2 -t $3 && psql -Atc 'select count(*) from pgbench_history'" &&
		grep -q "actually processed: $((8 * $3))/$((8 * $3))" "$tmp/out"
}
name="a database"
if all_of "$name" postgres initdb psql pgbench ${as:+setpriv}; then
	ok "$name" database
	ok "pgbench, 8 clients" bank 0 connp_l 50
	ok "pgbench, 8 clients, loss 1%" bank 1% connp_l 2
fi
done_testing
