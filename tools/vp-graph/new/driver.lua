-- @NAME@.lua: what load sends comes back from @NAME@
@HEAD@stack { load { to = "10.0.0.2", port = 7, conns = 2, count = a.count, window = 1 }, @NAME@ {} }
return graph "@NAME@" { threading = presets[a.preset] }
