-- expect: 2: unexpected symbol near '@'
@@@ what
