"""Concurrent tasks, under one rule for Ctrl-C, dead processes, progress and answers on disk."""
