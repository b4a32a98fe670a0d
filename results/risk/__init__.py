"""The reports of `elrcheck risk` and `assess`, and the table of findings by release."""
