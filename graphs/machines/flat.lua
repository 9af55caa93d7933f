-- SPDX-License-Identifier: BSD-2-Clause
-- A machine that is none: 100 ns for each message or timer, and nothing for anything else.  What graphs are run on under
-- the virtual clock when no machine is named; on one processor that is vp-run --virtual.
local none = "defined: nothing but messages costs"

return machine "flat" {
  doc = "100 ns a message, nothing else",
  graph = {
    message = { 0.1, source = "assumed: the cost of a message or timer that the virtual clock of one thread charges" },
    unit = { 0, source = none },
    lock = { 0, source = none },
    lock_moved = { 0, source = none },
    handover = { 0, source = none },
    wake = { 0, source = none },
    context = { 0, source = none },
    yield = { 0, source = none },
    slice = { 0, source = "defined: who runs is not interrupted" },
  },
}
