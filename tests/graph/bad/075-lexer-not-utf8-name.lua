local ÿþ = 5
