-- expect: 2: 'os' is not available in graph files: they only describe
os.execute("true")
return graph "g" { }
