"""Models as commands know them: declared by this package, or in a file that the user names."""
