"""Experiments on the rules: changes that a property, the proof, a scenario or Kafka must notice."""
