-- expect: 5: unexpected symbol near 'return'
stack {
  udp { },

return graph "g" { }
