"""The reports of `elrcheck prove --check-certificate` and `--controller`."""
