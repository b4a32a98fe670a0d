"""`elrcheck trace`, `explain` and `replay`: one trace shown, compared, shortened, explained."""
