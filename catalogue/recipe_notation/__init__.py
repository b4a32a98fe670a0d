"""How recipes are written: the file, its steps, and what runs of it reported."""
