local presets = { up = up {}, ppc = ppc {}, vppc = vppc { vps = 2 }, tpc = tpc { vps = 2 }, msgp = msgp {}, lp = lp {},
                  ips = ips {}, connp_l = connp_l {} }
local a = args {
  preset = enum { "vppc", choices = { "up", "ppc", "vppc", "tpc", "msgp", "lp", "ips", "connp_l" }, doc = "threading" },
  count  = uint { 1000, doc = "messages of each connection" },
}
