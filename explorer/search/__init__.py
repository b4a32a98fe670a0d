"""The searches: compiled, numpy, plain Python, random walks; what they count and find."""
