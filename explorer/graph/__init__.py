"""State graphs: strongly connected components, fair cycles, lassos, graph files."""
