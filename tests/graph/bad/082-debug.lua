-- expect: 2: 'debug' is not available in graph files: they only describe
debug.sethook()
return graph "g" { }
