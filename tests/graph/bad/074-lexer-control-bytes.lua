local  = 5
