"""The behaviour of the Kafka controller and brokers, in plain pure Python."""
