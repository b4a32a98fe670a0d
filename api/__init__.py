"""The Python interface: the functions and results that `import elrcheck` offers (docs/api.md)."""
