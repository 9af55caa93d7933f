-- expect: 4: unfinished long comment (starting at line 2) near <eof>
--[[ never closed
return graph "g" { }
