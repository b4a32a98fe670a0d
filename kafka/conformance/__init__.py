"""`elrcheck conform`: the rules of the model compared with Kafka's own classes, answer by answer."""
