"""Models as commands know them: declared by a package or in a file, selected by names, listed."""
