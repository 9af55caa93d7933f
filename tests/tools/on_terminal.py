# SPDX-License-Identifier: BSD-2-Clause
"""pty.py UNTIL COMMAND... - runs COMMAND with a terminal as its standard error until what it writes there has UNTIL,
ends it by SIGTERM, and writes all that the terminal got."""
import os, pty, signal, sys
until = sys.argv[1].encode().decode("unicode_escape").encode("latin-1")
pid, fd = pty.fork()
if pid == 0:
    os.execv(sys.argv[2], sys.argv[2:])
got, told = b"", False
while True:
    try:
        more = os.read(fd, 65536)
    except OSError:
        break
    if not more:
        break
    got += more
    if until in got and not told:
        told = True
        os.kill(pid, signal.SIGTERM)
_, status = os.waitpid(pid, 0)
sys.stdout.buffer.write(got)
sys.exit(os.waitstatus_to_exitcode(status))
