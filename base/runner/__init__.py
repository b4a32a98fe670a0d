"""Tasks that run side by side, under one rule for Ctrl-C, processes that die, progress and answers on disk."""
