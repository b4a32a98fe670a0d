"""Nodes of a document as typed values: dataclasses, and values of the model's types."""
