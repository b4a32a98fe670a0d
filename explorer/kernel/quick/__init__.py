"""The quick kernel of a program: an interpreter, its instructions, and the good kernel that follows it."""
