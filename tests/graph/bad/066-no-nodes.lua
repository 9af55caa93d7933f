-- expect: 2: graph: there is no node in it
return graph "g" { }
