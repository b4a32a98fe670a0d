"""Answers of complete searches, kept for later ones."""
