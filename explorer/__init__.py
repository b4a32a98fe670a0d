"""The explicit-state search engine: native kernel, state store, searches, state graphs and run folders."""
