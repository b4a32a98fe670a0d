"""The search on Apache Spark: sessions, shipping of the package, levels distributed over executors."""
