"""The real thing: Kafka's own controller classes, asked questions. No rule of the protocol is here."""
