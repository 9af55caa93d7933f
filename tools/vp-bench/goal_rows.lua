-- SPDX-License-Identifier: BSD-2-Clause
-- goal_rows.lua: the table of goals: what each measures, and where its target is.
--
-- A side is a probe (bench_goals_rows.c has them by name) and what it measures: a graph of
-- graphs/bench with arguments for vp-run, or the harness of a peer with one.  sense "time"
-- compares the reference with ours, "rate" ours with the reference, "value" ours alone, where
-- less is better.  two_cores: ours has two processors.  lacks: why there is nothing to measure.
-- A row over a range has points instead of two sides, each with a name and two sides of its own,
-- and says in `range` what they are; its worst point decides.
local goal_rows = {}

local function run(probe, graph, args, more)
  local side = { probe = probe, graph = graph, args = {} }
  for word in args:gmatch("%S+") do side.args[#side.args + 1] = word end
  for key, value in pairs(more or {}) do side[key] = value end
  return side
end

-- Harnesses, by their program: time of a message, messages a second, bytes; the faster of two.
-- `args` follow the time.
local function peer(name, arg, args) return { probe = "peer", peer = name, arg = arg, args = args } end
local function peer_rate(name, arg, beside)
  return { probe = "peer-rate", peer = name, arg = arg, beside = beside }
end
local function peer_bytes(name, arg) return { probe = "peer-bytes", peer = name, arg = arg } end
local function best(a, b, arg, args)
  return { probe = "best", peer = a, other = b, arg = arg, args = args }
end

-- Unmodified programs, by vp-exec and on the kernel's loopback.
local function programs(id, what, unit, target, stretch)
  return { id = "programs/" .. id, what = what, unit = unit, sense = "rate", target = target,
           stretch = stretch, ours = peer_rate("programs-exec", id),
           reference = peer_rate("programs-kernel", id) }
end

-- ---- ranges ---------------------------------------------------------------------------------

-- One point for each of as and each of bs.
local function each(as, bs, make)
  local points = {}
  for _, a in ipairs(as) do
    for _, b in ipairs(bs) do
      local p = make(a, b)
      p.name = ("%d/%d"):format(a, b)
      points[#points + 1] = p
    end
  end
  return points
end

local MTUS <const> = { 4352, 1500 }
local LWIP <const> = { [4352] = "lwip-tcp", [1500] = "lwip-tcp-1500" }
local LWIP_MANY <const> = { [4352] = "lwip-tcp-many", [1500] = "lwip-tcp-many-1500" }

-- Writes of these sizes, segments as long as the MTU takes.
local function writes(conns, sizes, lwip)
  return each(MTUS, sizes, function(mtu, size)
    return {
      ours = run("time", "tcp-both.lua",
        ("conns=%d size=%d mtu=%d mss=0 buffer=256KiB"):format(conns, size, mtu),
        { per = size, warmup = conns > 1 and 0.5 or nil }),
      reference = best(lwip[mtu], "smoltcp-tcp", tostring(conns), { tostring(size), tostring(mtu) }),
    }
  end)
end

local function turns()
  return each({ 32, 1024 }, { 16, 64, 128, 300, 1472 }, function(conns, size)
    return {
      ours = run("time", "udp-both.lua", ("conns=%d size=%d row=1"):format(conns, size)),
      reference = peer("lwip-udp", tostring(size), { tostring(conns) }),
    }
  end)
end

-- From how many hops each number of them is reached: few are lost in what else a message takes.
local SHORT <const> = { [2] = { 2, 10 }, [16] = { 8, 16 }, [64] = { 32, 64 } }

local function hops()
  return each({ 2, 16, 64 }, { 1, 32 }, function(n, unit)
    local few, many = table.unpack(SHORT[n])
    return {
      ours = run("hop", "udp-up.lua", ("burst=%d checksum=none"):format(unit), { few = few, many = many }),
      reference = peer("dpdk-graph", tostring(unit), { tostring(few), tostring(many) }),
    }
  end)
end

local function opens()
  local points = {}
  for i, n in ipairs { 1, 64, 4096 } do
    points[i] = {
      name = tostring(n), ours = run("time", "tcp-open.lua", ("conns=%d"):format(n), { warmup = 0.3 }),
      reference = { probe = "one" },
    }
  end
  return points
end

-- On the kernel's wires (tools/peers/wire): each way of `whats` over each of `sides` is a point.
local function wires(probe, whats, sides, reference)
  local points = {}
  for _, what in ipairs(whats) do
    for _, side in ipairs(sides) do
      points[#points + 1] = {
        name = #whats > 1 and side .. what:match("%-%a+$") or side,
        ours = { probe = probe, arg = what .. "/" .. side },
        reference = { probe = probe, arg = what .. "/" .. reference },
      }
    end
  end
  return points
end

-- ---- ncs ------------------------------------------------------------------------------------

-- Goodput of selective repeat under credit over a line that loses, over that of the line that does not; bars in per cent.
local function loss(percent, target, stretch)
  local args = "--virtual flow=credit error=selective_repeat"
  return {
    id = ("ncs/loss/%d"):format(percent),
    what = ("ncs, selective repeat: goodput where %d %% of frames are lost each way / none"):format(percent),
    unit = "bit/s", sense = "rate", target = target, stretch = stretch,
    note = "virtual time; 100 Mbit/s, 1 ms each way, 128 buffers, messages of 1 KiB",
    ours = run("goodput", "ncs-line.lua", ("%s loss=%d%%"):format(args, percent), { warmup = 1 }),
    reference = run("goodput", "ncs-line.lua", args, { warmup = 1 }),
  }
end

local function paces()
  local points = {}
  for i, mbit in ipairs { 1, 10, 100, 1000, 5000 } do
    points[i] = {
      name = tostring(mbit),
      ours = run("off-rate", "ncs-line.lua", ("--virtual flow=rate pace=%dMbit/s offered=%d rate=0bit/s tick=16us"):format(
        mbit, mbit * 135), { arg = tostring(mbit) }),
      reference = { probe = "one" },
    }
  end
  return points
end

-- What each control adds to a packet, alone and in pairs.
local function choices()
  local points = {}
  for _, c in ipairs { { "window", "none" }, { "credit", "none" }, { "none", "go_back_n" },
                       { "none", "selective_repeat" }, { "credit", "selective_repeat" } } do
    points[#points + 1] = {
      name = ("%s-%s"):format(c[1], c[2]),
      ours = run("choice", "../ncs-echo.lua", ("count=0 conns=1 size=1000 ahead=1 vps=1 flow=%s error=%s"):format(c[1], c[2])),
      reference = { probe = "one" },
    }
  end
  return points
end

-- An echo between two ranks by one program of MPI: its library is ours, or Open MPI.
local function ranks(bytes)
  return { name = tostring(bytes), ours = peer_rate("ranks-ncs", tostring(bytes)),
           reference = peer_rate("ranks-openmpi", tostring(bytes)) }
end

-- An echo through ncs over the host's sockets, beside one through these alone; both ends in one process.
local function socket(id, size, target, stretch)
  local graph = "../seeds/park1998/fig11.lua"
  return {
    id = id, what = ("ncs over the host kernel's UDP, an echo of %s / by the sockets alone"):format(size),
    unit = "ns", sense = "time", target = target, stretch = stretch,
    note = "stages that are calls, neither control; processor time of the process",
    ours = run("time", graph, ("kind=call size=%s"):format(size)),
    reference = run("time", graph, ("kind=socket size=%s"):format(size)),
  }
end

local ROWS <const> = {
  {
    id = "udp/lwip", what = "UDP 64 B send+receive, checksum and copies / lwIP",
    unit = "ns", sense = "time", target = 2.5, stretch = 4,
    ours = run("time", "udp-both.lua", "size=64 burst=32"),
    reference = peer("lwip-udp", "64"),
  },
  {
    id = "udp/turns", what = "UDP send+receive, frames of many connections in turn / lwIP",
    unit = "ns", sense = "time", target = 2.5, stretch = 4,
    range = "32 and 1024 connections, payload of 16, 64, 128, 300 and 1472 B",
    points = turns(),
  },
  {
    id = "udp/kernel", what = "UDP 64 B send+receive, checksum and copies / kernel loopback",
    unit = "ns", sense = "time", target = 40, stretch = 90,
    ours = run("time", "udp-both.lua", "size=64 burst=32"),
    reference = peer("kernel-udp", "64"),
  },
  {
    id = "tcp/kernel", what = "TCP 64 B send+receive, checksum and copies / kernel loopback",
    unit = "ns", sense = "time", target = 40, stretch = 90,
    note = "a write and a read of 64 B each in the kernel, a message of 64 B in the stream here",
    ours = run("time", "tcp-both.lua", "size=64 burst=32"),
    reference = peer("kernel-tcp", "64"),
  },
  {
    id = "tcp-bulk/1",
    what = "TCP bulk, MTU 4352, both ends on one core, 1 connection / best of lwIP and smoltcp",
    unit = "ns/4KiB", sense = "time", target = 2, stretch = 3,
    note = "buffers of 256 KiB, as lwIP has",
    ours = run("time", "tcp-both.lua", "conns=1 buffer=256KiB"),
    reference = best("lwip-tcp", "smoltcp-tcp", "1"),
  },
  {
    id = "tcp-bulk/3072", what = "the same, 3072 connections",
    unit = "ns/4KiB", sense = "time", target = 20, stretch = 30,
    ours = run("time", "tcp-both.lua", "conns=3072 buffer=256KiB"),
    reference = best("lwip-tcp-many", "smoltcp-tcp", "3072"),
  },
  {
    id = "tcp-write/1",
    what = "TCP bulk, writes of any size, both ends on one core, 1 connection / best of lwIP and smoltcp",
    unit = "ns/4KiB", sense = "time", target = 2, stretch = 4,
    range = "MTU 4352 and 1500, writes of 64, 512, 1024, 1448, 2048, 3000, 4000, 4095, 4096, 4097, " ..
      "8192, 16384 and 65536 B",
    points = writes(1, { 64, 512, 1024, 1448, 2048, 3000, 4000, 4095, 4096, 4097, 8192, 16384, 65536 }, LWIP),
  },
  {
    id = "tcp-write/384", what = "the same, 384 connections",
    unit = "ns/4KiB", sense = "time", target = 3, stretch = 6,
    range = "MTU 4352 and 1500, writes of 1448, 4096, 8192 and 65536 B",
    points = writes(384, { 1448, 4096, 8192, 65536 }, LWIP_MANY),
  },
  {
    id = "tcp-write/3072", what = "the same, 3072 connections",
    unit = "ns/4KiB", sense = "time", target = 15, stretch = 30,
    range = "MTU 4352 and 1500, writes of 1448, 4096, 8192 and 65536 B",
    points = writes(3072, { 1448, 4096, 8192, 65536 }, LWIP_MANY),
  },
  {
    id = "tcp-open", what = "TCP connection opened, 4 KiB sent, closed, both ends on one core",
    unit = "ns", sense = "value", target = 2000, stretch = 800,
    range = "1, 64 and 4096 connections at a time",
    points = opens(),
  },
  {
    id = "memcpy/send", what = "TCP 4 KiB down, share of plain memcpy, hot",
    unit = "ns", sense = "time", target = 0.4, stretch = 0.55,
    note = "one direction: payload copied in, checksum, every second segment acknowledged by " ..
      "a simulated receiver",
    ours = run("time", "tcp-down.lua", "size=4KiB"),
    reference = { probe = "memcpy" },
  },
  {
    id = "memcpy/receive", what = "TCP 4 KiB up, share of plain memcpy, data from memory",
    unit = "ns", sense = "time", target = 0.5, stretch = 0.65,
    note = "one direction: receive buffers twice the second-level cache, checksum, payload " ..
      "copied out",
    ours = run("time", "tcp-up.lua", "size=4KiB rxbuf=cold touch=copy"),
    reference = { probe = "memcpy-cold" },
  },
  {
    id = "hop/1", what = "one graph hop / rte_graph hop, vector 1",
    unit = "ns", sense = "time", target = 2.5, stretch = 5,
    note = "a hop is demux, a look at the first byte, and pop of one protocol on the way up, " ..
      "from the slope of 2 to 10 of them; rte_graph without its statistics",
    ours = run("hop", "udp-up.lua", "burst=1 checksum=none"),
    reference = peer("dpdk-graph", "1"),
  },
  {
    id = "hop/32", what = "one graph hop / rte_graph hop, vector 32",
    unit = "ns", sense = "time", target = 2, stretch = 4,
    note = "a hop as in hop/1",
    ours = run("hop", "udp-up.lua", "burst=32 checksum=good"),
    reference = peer("dpdk-graph", "32"),
  },
  {
    id = "hop/far", what = "one graph hop / rte_graph hop, in chains of any length",
    unit = "ns", sense = "time", target = 2, stretch = 4,
    range = "2, 16 and 64 hops (from the slope of 2 to 10, 8 to 16 and 32 to 64), units of 1 and 32",
    points = hops(),
  },
  {
    id = "demux/rte",
    what = "1 M flows, a burst of 32 keys to verified sessions / rte_hash, bulk 32",
    unit = "ns", sense = "time", target = 1.6, stretch = 2,
    note = "keys of 16 bytes in random order, all of both sides in huge pages, the session's " ..
      "first line read",
    ours = { probe = "demux" },
    reference = peer("dpdk-hash", "bulk"),
  },
  {
    id = "demux/rcu", what = "the same / rculfhash, one message after the other",
    unit = "ns", sense = "time", target = 23, stretch = 25,
    note = "rculfhash has no lookup of many: its next begins at the session of the one before; " ..
      "the bar is two lines of memory a key and nothing else (docs/goals.md)",
    ours = { probe = "demux" },
    reference = peer("urcu-hash", "chained"),
  },
  {
    id = "demux/rcu-burst", what = "the same / rculfhash in a loop over a burst",
    unit = "ns", sense = "time", target = 8, stretch = 8.8,
    note = "its lookups of a burst do not wait for one another; the bar is as demux/rcu's",
    ours = { probe = "demux" },
    reference = peer("urcu-hash", "loop"),
  },
  {
    id = "connections/3072", what = "TCP send 4 KiB, 3072 connections over 384",
    unit = "ns", sense = "time", target = 0.98, stretch = 0.995,
    ours = run("time", "tcp-down.lua", "conns=3072"),
    reference = run("time", "tcp-down.lua", "conns=384"),
  },
  {
    id = "connections/1M",
    what = "TCP send 4 KiB on 384 connections, beside 1 M silent ones over alone",
    unit = "ns", sense = "time", target = 0.8, stretch = 0.9,
    ours = run("idle", "tcp-idle.lua", "conns=384", { warmup = 15, idle = 1000000 }),
    reference = run("idle", "tcp-idle.lua", "conns=384"),
  },
  {
    id = "connections/active", what = "TCP send 4 KiB, 1 M connections in turn over 384",
    unit = "ns", sense = "time", target = 0.5, stretch = 0.65,
    note = "two messages of each connection at a time, so that none waits for its acknowledgement; " ..
      "all of them opened before",
    ours = run("active", "tcp-down.lua", "conns=1000000 burst=2 memory=4GiB patience=60s", { warmup = 10 }),
    reference = run("time", "tcp-down.lua", "conns=384 burst=2"),
  },
  {
    id = "memory", what = "memory of an established idle connection, the kernel's over ours",
    unit = "bytes", sense = "time", target = 12, stretch = 17,
    note = "resident bytes of 1 M connections of one end; four objects of the kernel's",
    ours = run("rest", "tcp-idle.lua", "conns=0", { warmup = 15, idle = 1000000 }),
    reference = peer_bytes("kernel-mem", "5000"),
  },
  {
    id = "policies/udp", what = "VPPC on one VP / null policies, UDP 64 B up",
    unit = "ns", sense = "time", target = 0.97, stretch = 0.99,
    ours = run("time", "udp-up.lua", "null=false"),
    reference = run("time", "udp-up.lua", "null=true"),
  },
  {
    id = "locked/udp", what = "locked operations per message after classification",
    unit = "operations", sense = "value", target = 0, stretch = 0,
    ours = run("locked", "udp-up.lua", "null=false"),
    reference = { probe = "one" },
  },
  {
    id = "policies/tcp", what = "VPPC on one VP / null policies, TCP 64 B up",
    unit = "ns", sense = "time", target = 0.97, stretch = 0.99,
    ours = run("time", "tcp-up.lua", "null=false"),
    reference = run("time", "tcp-up.lua", "null=true"),
  },
  {
    id = "locked/tcp", what = "locked operations per segment after classification, TCP",
    unit = "operations", sense = "value", target = 0, stretch = 0,
    ours = run("locked", "tcp-up.lua", "null=false"),
    reference = { probe = "one" },
  },
  {
    id = "cores/udp/64", what = "two cores / one, connection-parallel UDP 64 B",
    unit = "messages/s", sense = "rate", target = 1.9, stretch = 1.97, two_cores = true,
    ours = run("rate", "udp-down.lua", "vps=0 conns=96 burst=16 size=64", { workers = 2 }),
    reference = run("rate", "udp-down.lua", "vps=0 conns=96 burst=16 size=64", { workers = 1 }),
  },
  {
    id = "cores/udp/4096", what = "two cores / one, connection-parallel UDP 4 KiB",
    unit = "messages/s", sense = "rate", target = 1.9, stretch = 1.97, two_cores = true,
    ours = run("rate", "udp-down.lua", "vps=0 conns=96 burst=16 size=4KiB", { workers = 2 }),
    reference = run("rate", "udp-down.lua", "vps=0 conns=96 burst=16 size=4KiB", { workers = 1 }),
  },
  {
    id = "cores/tcp/64", what = "two cores / one, connection-parallel TCP 64 B",
    unit = "messages/s", sense = "rate", target = 1.9, stretch = 1.97, two_cores = true,
    ours = run("rate", "tcp-down.lua", "vps=0 conns=96 burst=16 size=64", { workers = 2 }),
    reference = run("rate", "tcp-down.lua", "vps=0 conns=96 burst=16 size=64", { workers = 1 }),
  },
  {
    id = "cores/tcp/4096", what = "two cores / one, connection-parallel TCP 4 KiB",
    unit = "messages/s", sense = "rate", target = 1.9, stretch = 1.97, two_cores = true,
    ours = run("rate", "tcp-down.lua", "vps=0 conns=96 burst=16 size=4KiB", { workers = 2 }),
    reference = run("rate", "tcp-down.lua", "vps=0 conns=96 burst=16 size=4KiB", { workers = 1 }),
  },
  {
    id = "bursts/udp/4096", what = "384 VPs: burst 1 / burst 16, UDP 4 KiB",
    unit = "ns", sense = "time", target = 0.9, stretch = 0.95,
    ours = run("time", "udp-down.lua", "vps=384 conns=3072 size=4KiB burst=1"),
    reference = run("time", "udp-down.lua", "vps=384 conns=3072 size=4KiB burst=16"),
  },
  {
    id = "bursts/udp/64", what = "384 VPs: burst 1 / burst 16, UDP 64 B",
    unit = "ns", sense = "time", target = 0.8, stretch = 0.88,
    ours = run("time", "udp-down.lua", "vps=384 conns=3072 size=64 burst=1"),
    reference = run("time", "udp-down.lua", "vps=384 conns=3072 size=64 burst=16"),
  },
  {
    id = "bursts/udp/fair",
    what = "384 VPs, burst 16, 3072 connections, 4 KiB: most / fewest messages in 1 s",
    unit = "max/min", sense = "value", target = 1.05, stretch = 1.01,
    note = "burst 16 is the fastest of bursts",
    ours = run("fair", "udp-down.lua", "vps=384 conns=3072 size=4KiB burst=16"),
    reference = { probe = "one" },
  },
  {
    id = "bursts/tcp/4096", what = "384 VPs: burst 1 / burst 16, TCP 4 KiB",
    unit = "ns", sense = "time", target = 0.9, stretch = 0.95,
    ours = run("time", "tcp-down.lua", "vps=384 conns=3072 size=4KiB burst=1"),
    reference = run("time", "tcp-down.lua", "vps=384 conns=3072 size=4KiB burst=16"),
  },
  {
    id = "bursts/tcp/64", what = "384 VPs: burst 1 / burst 16, TCP 64 B",
    unit = "ns", sense = "time", target = 0.8, stretch = 0.88,
    ours = run("time", "tcp-down.lua", "vps=384 conns=3072 size=64 burst=1"),
    reference = run("time", "tcp-down.lua", "vps=384 conns=3072 size=64 burst=16"),
  },
  {
    id = "bursts/tcp/fair",
    what = "384 VPs, burst 16, 3072 TCP connections, 4 KiB: most / fewest messages in 1 s",
    unit = "max/min", sense = "value", target = 1.05, stretch = 1.01,
    ours = run("fair", "tcp-down.lua", "vps=384 conns=3072 size=4KiB burst=16"),
    reference = { probe = "one" },
  },
  {
    id = "classify/native", what = "the native classifier, a frame to its flow / bpf_filter",
    unit = "ns", sense = "time", target = 8, stretch = 15,
    note = "bursts of 32 frames of one connection, each to its flow; bpf_filter says of each " ..
      "whether it is that connection's",
    ours = { probe = "native" },
    reference = { probe = "bpf-filter" },
  },
  {
    id = "classify/mixed", what = "the same, frames of 1024 connections in turn",
    unit = "ns", sense = "time", target = 4, stretch = 8,
    note = "a lookup for each frame; bpf_filter knows one connection",
    ours = { probe = "native", flows = 1024 },
    reference = { probe = "bpf-filter" },
  },
  {
    id = "classify/cbpf",
    what = "a classic BPF program of 17 instructions, our engine / bpf_filter",
    unit = "ns", sense = "time", target = 3, stretch = 5,
    note = "a filter of addresses, protocol and ports on frames of 64 B, the best of short " ..
      "stretches",
    ours = { probe = "cbpf" },
    reference = { probe = "bpf-filter" },
  },
  {
    id = "classify/filters", what = "one filter for each of 1024 users / one filter",
    unit = "ns", sense = "time", target = 0.67, stretch = 0.83,
    note = "filters as in classify/cbpf merged by mask, each frame for another user; at most " ..
      "1.5 times one's cost",
    ours = { probe = "many-filters" },
    reference = { probe = "one-filter" },
  },
  {
    id = "classify/arena",
    what = "a verdict of a program in the kernel, 256 in an arena / XDP test run for each",
    unit = "ns", sense = "time", target = 160, stretch = 180,
    note = "ours with headers going in and verdicts coming out; the bar is what a program of few " ..
      "instructions could reach (docs/goals.md)",
    ours = { probe = "arena" },
    reference = { probe = "xdp-run" },
  },
  {
    id = "checksum-copy", what = "copy fused with checksum / memcpy, 4 KiB hot",
    unit = "ns", sense = "time", target = 0.95, stretch = 1,
    ours = { probe = "csum-copy" },
    reference = { probe = "memcpy" },
  },
  {
    id = "checksum-copy/memory", what = "the same, data from memory: is the sum hidden under the copy?",
    unit = "ns", sense = "time", target = 0.83, stretch = 0.95,
    note = "at most 1.2 times the copy alone (Salehi 1995, 5.2)",
    ours = { probe = "csum-copy-cold" },
    reference = { probe = "memcpy-cold" },
  },
  {
    id = "overload/device",
    what = "goodput at 4 times the load that saturates / peak, what is too much missed by the " ..
      "device",
    unit = "ns", sense = "time", target = 0.95, stretch = 0.98,
    note = "processor time of a message that arrived; a ring of 16384 frames, which come " ..
      "whether they are taken or not",
    ours = run("overload", "overload.lua", "where=device", { arg = "missed" }),
    reference = run("peak", "overload.lua", "where=device", { arg = "missed" }),
  },
  {
    id = "overload/inbox",
    what = "the same, what is too much dropped at the classifier by the thread that reads the " ..
      "device",
    unit = "ns", sense = "time", target = 0.95, stretch = 0.98,
    note = "of the thread that the connections are on",
    ours = run("overload", "overload.lua", "where=classifier", { needs = "cores" }),
    reference = run("peak", "overload.lua", "where=classifier"),
  },
  {
    id = "timers", what = "1 M armed timers at a tick of 1 ms, per cent of a processor",
    unit = "%", sense = "value", target = 0.5, stretch = 0.2,
    note = "set for up to 120 s, each again when it fires; two slots of the third level",
    ours = { probe = "timers" },
    reference = { probe = "one" },
  },
  {
    id = "layers",
    what = "layer parallelism, 4 layers, 4 KiB, two processors / ACE's streams, a thread for " ..
      "each module",
    unit = "messages/s", sense = "rate", target = 5, stretch = 10, two_cores = true,
    note = "the receive half of UDP, the payload not looked at; messages by the wall clock; " ..
      "ours: four layers with their queues, run by two threads",
    ours = run("wall-rate", "layers.lua", "checksum=none threads=2 burst=128"),
    reference = peer_rate("ace-stream", "4096"),
  },
  {
    id = "layers/threads", what = "the same, ours with a thread for each layer, too",
    unit = "messages/s", sense = "rate", target = 5, stretch = 10, two_cores = true,
    ours = run("wall-rate", "layers.lua", "checksum=none"),
    reference = peer_rate("ace-stream", "4096"),
  },
  {
    id = "layers/beside", what = "the same as layers, beside a program that takes all it is given",
    unit = "messages/s", sense = "rate", target = 5, stretch = 10, two_cores = true,
    note = "a busy loop that runs on either processor while each side does",
    ours = run("wall-rate", "layers.lua", "checksum=none threads=2 burst=128", { beside = 1 }),
    reference = peer_rate("ace-stream", "4096", 1),
  },
  {
    id = "layers/sum", what = "the same, the payload summed by the transport",
    unit = "messages/s", sense = "rate", target = 5, stretch = 10, two_cores = true,
    ours = run("wall-rate", "layers.lua", "checksum=compute-ignore threads=2 burst=128"),
    reference = peer_rate("ace-stream", "4096+sum"),
  },
  {
    id = "wire/tcp",
    what = "TCP to and from the kernel's sockets, MTU 1500, writes of 64 KiB / the kernel with its offloads on veth",
    unit = "Gbit/s", sense = "rate", target = 0.8, stretch = 1.2,
    range = "TAP, AF_PACKET and AF_XDP on veth, either way, one connection",
    points = wires("wire-rate", { "tcp-in", "tcp-out" }, { "tap", "packet-v2", "xdp" }, "kernel"),
  },
  {
    id = "wire/tcp-cost",
    what = "the same, processor time of both ends and the kernel / the kernel's",
    unit = "s/GB", sense = "time", target = 1, stretch = 1.43,
    range = "TAP, AF_PACKET and AF_XDP on veth, either way, one connection",
    note = "all time that the two processors were not idle, less what others had before",
    points = wires("wire-cost", { "tcp-in", "tcp-out" }, { "tap", "packet-v2", "xdp" }, "kernel"),
  },
  {
    id = "wire/http",
    what = "HTTP requests of 1 KiB per second of the server's processor / nginx on veth",
    unit = "requests/s", sense = "rate", target = 2, stretch = 4,
    range = "TAP, AF_PACKET and AF_XDP on veth",
    note = "wrk on one processor; the other one's whole time counts, and what either receives is " ..
      "worked on at its own",
    points = wires("wire-rate", { "http" }, { "tap", "packet-v2", "xdp" }, "kernel"),
  },
  {
    id = "wire/udp",
    what = "UDP 64 B received per second of the receiver's processor time / a kernel socket on veth",
    unit = "messages/s", sense = "rate", target = 5, stretch = 10,
    range = "AF_PACKET and AF_XDP",
    note = "of the process that receives; the kernel's half runs on the sender's processor, for " ..
      "either side",
    points = wires("wire-rate", { "udp-sink" }, { "packet", "xdp" }, "kernel"),
  },
  {
    id = "lock-times",
    what = "UDP 64 B receive half, a lock for each message: its times not measured / measured",
    unit = "ns", sense = "time", target = 0.97, stretch = 0.99,
    note = "every lock is counted; of 64 that are taken one's time is measured",
    ours = run("time", "udp-up.lua", "burst=1 entry=lock"),
    reference = run("time", "udp-up.lua", "burst=1 entry=lock lock_times=false"),
  },
  loss(1, 0.97, 0.98),
  loss(5, 0.92, 0.94),
  loss(10, 0.85, 0.88),
  loss(30, 0.6, 0.66),
  {
    id = "ncs/rate", what = "ncs, rate control: how far off the rate that was asked for",
    unit = "%", sense = "value", target = 0.5, stretch = 0.3,
    range = "1, 10, 100, 1000 and 5000 Mbit/s, in virtual time",
    points = paces(),
  },
  {
    id = "ncs/choice", what = "ncs, what flow and error control add to a packet",
    unit = "ns", sense = "value", target = 15, stretch = 10,
    range = "window, credit, go-back-N, selective repeat, and credit with selective repeat",
    note = "processor time of an echo of 1000 B, less that with neither control, by its two packets",
    points = choices(),
  },
  socket("ncs/socket", "1B", 0.98, 0.99),
  socket("ncs/socket-65000", "65000B", 0.995, 1),
  {
    id = "ncs/echo", what = "ncs by shared memory, an echo of short messages / Open MPI",
    unit = "echoes/s", sense = "rate", target = 1.67, stretch = 2.9, two_cores = true,
    range = "8 and 40 B",
    note = "one program of MPI on either library; credit and selective repeat; at most 0.6 of the time",
    points = { ranks(8), ranks(40) },
  },
  {
    id = "ncs/echo-4096", what = "the same, 4 KiB",
    unit = "echoes/s", sense = "rate", target = 3.33, stretch = 6.7, two_cores = true,
    ours = peer_rate("ranks-ncs", "4096"), reference = peer_rate("ranks-openmpi", "4096"),
  },
  {
    id = "ncs/echo-65536", what = "the same, 64 KiB",
    unit = "echoes/s", sense = "rate", target = 1.82, stretch = 2.2, two_cores = true,
    ours = peer_rate("ranks-ncs", "65536"), reference = peer_rate("ranks-openmpi", "65536"),
  },
  {
    id = "ncs/echo-one", what = "ncs by shared memory, an echo of 8 B, both ranks on one processor / Open MPI",
    unit = "echoes/s", sense = "rate", target = 1.11, stretch = 2,
    ours = peer_rate("ranks-ncs", "8@one"), reference = peer_rate("ranks-openmpi", "8@one"),
  },
  programs("bulk", "iperf3, one connection, by vp-exec / the kernel's loopback", "B/s", 0.55, 0.8),
  programs("requests", "nginx and wrk, kept-alive requests of 1 KiB, by vp-exec / the kernel's loopback",
    "requests/s", 0.8, 1),
  programs("connections", "the same, a connection for each", "requests/s", 0.4, 0.6),
  {
    id = "programs/turns", what = "by vp-exec, 64 B to a program and back, the median",
    unit = "ns", sense = "value", target = 100000, stretch = 50000,
    ours = peer("programs-exec", "turns"), reference = { probe = "one" },
  },
  {
    id = "programs/call", what = "by vp-exec, a call that is answered (getsockname), the median",
    unit = "ns", sense = "value", target = 25000, stretch = 10000,
    ours = peer("programs-exec", "call"), reference = { probe = "one" },
  },
  {
    id = "programs/ppc", what = "iperf3 by vp-exec, a process for each connection / threads and locks",
    unit = "B/s", sense = "rate", target = 0.7, stretch = 0.9,
    ours = peer_rate("programs-exec", "bulk@ppc"), reference = peer_rate("programs-exec", "bulk"),
  },
}

function goal_rows.rows() return ROWS end

return goal_rows
