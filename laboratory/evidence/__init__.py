"""For documents and tests, not shipped: hunts, pages of evidence, lemmas as properties, coverage."""
