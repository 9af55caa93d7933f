-- expect: 2: error() was called with a table
error({ code = 5 })
