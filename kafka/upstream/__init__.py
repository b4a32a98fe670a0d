"""`export upstream`: a finding as an issue, a test and a change for Kafka's own repository."""
