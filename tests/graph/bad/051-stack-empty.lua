-- expect: 2: stack: is empty
stack { }
return graph "g" { }
