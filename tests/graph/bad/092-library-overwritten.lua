-- expect: 3: the library 'math' cannot be changed
string.format = nil
math.foo = 3
return graph "g" { }
