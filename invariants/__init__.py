"""Properties, lemmas and their proof."""
