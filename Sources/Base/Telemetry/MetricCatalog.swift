/// All metrics of the service, in the order in which a scrape and docs/metrics.md list them. A name that is
/// counted anywhere must be here; a test compares.
package enum MetricCatalog {
  package static let families: [MetricFamily] =
    calls + edge + listeners + appStore + notifications + receipts
    + deliveries + verification + store + process

  private static let calls = [
    MetricFamily(
      "entitled_grpc_calls_total", .counter, labels: ["method", "code"],
      help: "Calls of the contract that ended, over gRPC and as JSON, by method and status code."),
    MetricFamily(
      "entitled_grpc_call_seconds", .histogram, labels: ["method"], bounds: MetricFamily.callBounds,
      help: "How long calls took from the whole request to the answer; for streams, until their end."),
  ]

  private static let edge = [
    MetricFamily(
      "entitled_edge_requests_total", .counter, labels: ["route", "status"],
      help: "Requests to the edge, by route and HTTP status."),
    MetricFamily(
      "entitled_edge_request_seconds", .histogram, labels: ["route"], bounds: MetricFamily.callBounds,
      help: "How long requests to the edge took from the whole request to the answer."),
  ]

  private static let listeners = [
    MetricFamily(
      "entitled_connections", .gauge, labels: ["listener"], help: "Connections that are open."),
    MetricFamily(
      "entitled_streams", .gauge, labels: ["listener"],
      help: "Calls that were open on HTTP/2 connections when they were last looked at, at most a second ago."),
    MetricFamily(
      "entitled_connections_rejected_total", .counter, labels: ["listener"],
      help: "Connections that were closed because there were too many."),
  ]

  private static let appStore = [
    MetricFamily(
      "entitled_app_store_calls_total", .counter, labels: ["endpoint", "host", "outcome"],
      help: "Calls of Apple's servers, by endpoint, host and what came of them."),
    MetricFamily(
      "entitled_app_store_call_seconds", .histogram, labels: ["endpoint", "host"],
      help: "How long Apple's servers took to answer."),
    MetricFamily(
      "entitled_app_store_rate_limit_wait_seconds", .histogram, labels: ["endpoint", "host"],
      help: "How long calls of Apple's servers waited for their turn within Apple's rate limits."),
    MetricFamily(
      "entitled_app_store_rate_limit_calls", .gauge, labels: ["app", "environment", "endpoint"],
      help: "Calls that the budget of an endpoint allows at once; 0: used up."),
    MetricFamily(
      "entitled_app_store_circuit_open", .gauge, labels: ["host"],
      help: "1 while a host is not called because it failed too often, else 0."),
    MetricFamily(
      "entitled_status_polls_total", .counter, labels: ["app", "environment", "outcome"],
      help: "Times that Apple was asked for the status of a purchase whose period ended."),
    MetricFamily(
      "entitled_status_poll_backlog", .gauge, labels: ["app", "environment"],
      help: "Purchases that Apple is to be asked about and was not yet."),
    MetricFamily(
      "entitled_contradictions_total", .counter, labels: ["kind"],
      help: "Facts that do not fit together, counted when they were written."),
  ]

  private static let notifications = [
    MetricFamily(
      "entitled_notifications_total", .counter, labels: ["version", "state"],
      help: "Notifications that arrived, by version and by what became of them; repetitions as KNOWN."),
    MetricFamily(
      "entitled_notification_lag_seconds", .histogram, bounds: MetricFamily.lagBounds,
      help: "How long after Apple had signed them notifications arrived."),
    MetricFamily(
      "entitled_consumption_requests_total", .counter, labels: ["app", "environment"],
      help: "Times that Apple asked how much was used, since a customer wants the money back."),
    MetricFamily(
      "entitled_consumption_requests_settled_total", .counter, labels: ["app", "environment", "outcome"],
      help: "Such questions that were answered, missed or refused."),
    MetricFamily(
      "entitled_consumption_requests_open", .gauge, labels: ["app", "environment"],
      help: "Such questions that can still be answered."),
    MetricFamily(
      "entitled_notification_watermark_seconds", .gauge, labels: ["app", "environment"],
      help: "Until when all of Apple's deliveries are accounted for, in seconds since 1970."),
    MetricFamily(
      "entitled_repairs_total", .counter, labels: ["app", "environment", "reason"],
      help: "Times that a gap in the deliveries was filled from Apple's history."),
    MetricFamily(
      "entitled_repaired_notifications_total", .counter, labels: ["app", "environment", "reason"],
      help: "Notifications that came from Apple's history and had not been delivered."),
    MetricFamily(
      "entitled_drifted_customers_total", .counter, labels: ["app", "environment", "reason"],
      help: "Customers about whom the service was wrong until a gap was filled."),
  ]

  private static let receipts = [
    MetricFamily(
      "entitled_receipts_total", .counter, labels: ["reason"],
      help: "Legacy receipts that were handed in, by what came of them."),
    MetricFamily(
      "entitled_migrated_receipts_total", .counter, labels: ["reason"],
      help: "Receipts that migration jobs worked off, by what came of them."),
    MetricFamily(
      "entitled_receipt_refreshes_total", .counter, labels: ["outcome"],
      help: "Times that Apple was asked later about a receipt that had been taken in without it."),
    MetricFamily(
      "entitled_receipt_verification_mismatches_total", .counter,
      help: "Receipts that verified here and not at Apple's endpoint, or the other way round."),
  ]

  private static let deliveries = [
    MetricFamily(
      "entitled_webhook_deliveries_total", .counter, labels: ["app", "kind", "webhook", "outcome"],
      help: "Attempts to deliver events to others, by what came of them."),
    MetricFamily(
      "entitled_webhook_delivery_seconds", .histogram, labels: ["app", "kind", "webhook"],
      help: "How long others took to answer."),
    MetricFamily(
      "entitled_webhook_deliveries_pending", .gauge, labels: ["app", "kind", "webhook"],
      help: "Events that wait to be delivered."),
    MetricFamily(
      "entitled_webhook_delivery_lag_seconds", .gauge, labels: ["app", "kind", "webhook"],
      help: "For how long the oldest event that waits has waited."),
    MetricFamily(
      "entitled_webhook_dead_letters_total", .counter, labels: ["app", "kind", "webhook"],
      help: "Events that were given up."),
    MetricFamily(
      "entitled_webhook_dead_letters", .gauge, labels: ["app", "kind", "webhook"],
      help: "Events that were given up and are kept."),
  ]

  private static let verification = [
    MetricFamily(
      "entitled_verification_failures_total", .counter, labels: ["kind", "reason"],
      help: "Signed documents that were not believed, by kind and reason.")
  ]

  private static let store = [
    MetricFamily(
      "entitled_store_commit_seconds", .histogram,
      help: "How long it took to write a batch and make it durable, fsync included."),
    MetricFamily(
      "entitled_store_commit_writes", .histogram, bounds: MetricFamily.countBounds,
      help: "How many writes shared one commit."),
    MetricFamily(
      "entitled_store_commit_failures_total", .counter, help: "Batches that could not be made durable."),
    MetricFamily("entitled_store_writes_queued", .gauge, help: "Writes that wait for the next commit."),
    MetricFamily(
      "entitled_store_writable", .gauge, help: "1 if the last attempt to write worked, else 0."),
    MetricFamily("entitled_store_bytes", .gauge, help: "Bytes of the store's files."),
    MetricFamily(
      "entitled_disk_free_bytes", .gauge, help: "Bytes that are free where the data directory is."),
  ]

  private static let process = [
    MetricFamily(
      "entitled_build_info", .gauge, labels: ["version"], help: "Always 1; the label is the version."),
    MetricFamily("entitled_ready", .gauge, help: "1 while calls are answered, else 0."),
    MetricFamily(
      "process_cpu_seconds_total", .counter, help: "CPU that the process has used, in seconds."),
    MetricFamily("process_resident_memory_bytes", .gauge, help: "Memory that the process has."),
    MetricFamily("process_open_fds", .gauge, help: "Open files and sockets of the process."),
    MetricFamily("process_max_fds", .gauge, help: "How many it may have."),
    MetricFamily(
      "process_start_time_seconds", .gauge, help: "When the process started, in seconds since 1970."),
  ]
}
