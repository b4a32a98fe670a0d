"""The search engine: kernel, store, search, graph, runs."""
