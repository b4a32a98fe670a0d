"""Rules of Kafka's partition broken on purpose: hazards, and changes that the proof judges."""
