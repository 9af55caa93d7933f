-- expect: 3: 'rawset' is not available in graph files: they only describe
-- expect: 3: '_G' is not available in graph files: they only describe
rawset(_G, "x", 1)
return graph "g" { }
