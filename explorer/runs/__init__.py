"""Folders of runs, and the checkpoints from which a run resumes."""
