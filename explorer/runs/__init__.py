"""Run folders, and the checkpoints from which a run resumes."""
