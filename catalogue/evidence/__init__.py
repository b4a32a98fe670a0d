"""How far each finding was shown in each release of Kafka, and the table of it."""
