"""The least image of a packed state, in native code and in numpy."""
