-- expect: 2: assignment to global 'host': write 'local host = ...'
function host() end
host()
return graph "g" { }
