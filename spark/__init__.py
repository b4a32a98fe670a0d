"""Distributed search on Apache Spark: comes with issue 4; nothing here yet."""
