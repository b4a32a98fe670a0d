"""What the Kafka controller and brokers do, in plain pure Python."""
