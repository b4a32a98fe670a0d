"""Renderers: turn a report object into text, JSON, CI formats or HTML. They compute nothing."""
