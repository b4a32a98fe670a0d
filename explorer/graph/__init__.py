"""The graph of all states: components, fair cycles, lassos, pictures."""
