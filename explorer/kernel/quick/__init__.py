"""The quick kernel of a program: an interpreter, its instructions, and the optimised kernel that follows it."""
