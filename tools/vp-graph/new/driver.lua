-- @NAME@.lua: what load sends comes back from @NAME@
local presets = { up = up {}, ppc = ppc {}, vppc = vppc { vps = 2 }, tpc = tpc { vps = 2 }, msgp = msgp {}, lp = lp {},
                  ips = ips {}, connp_l = connp_l {} }
local a = args {
  preset = enum { "vppc", choices = { "up", "ppc", "vppc", "tpc", "msgp", "lp", "ips", "connp_l" }, doc = "threading" },
  count  = uint { 1000, doc = "messages of each connection" },
}
stack { load { to = "10.0.0.2", port = 7, conns = 2, count = a.count, window = 1 }, @NAME@ {} }
return graph "@NAME@" { threading = presets[a.preset] }
