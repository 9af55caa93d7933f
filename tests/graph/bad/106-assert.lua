-- expect: 2: one is not two
assert(1 == 2, "one is not two")
