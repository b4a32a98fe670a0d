"""The document of every report: its blocks, and its judgements where it has any."""
