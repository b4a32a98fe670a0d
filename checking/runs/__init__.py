"""The folder of a run: its name, its manifest, the checkpoint that a later run resumes."""
