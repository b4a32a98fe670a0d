"""The search on Apache Spark: session, shipping the package, levels shared among executors."""
