"""The searches (compiled, numpy, plain Python, random walks) and their results."""
