"""Renderers: a report object in, text, JSON, CI formats or HTML out. They compute nothing."""
