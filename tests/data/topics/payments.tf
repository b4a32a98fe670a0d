resource "kafka_topic" "payments" {
  name               = "payments"
  partitions         = 3
  replication_factor = 3
  config             = { "min.insync.replicas" = "1" }
}
