"""Files of Kafka's answers, and the comparison of the model with them without Java."""
