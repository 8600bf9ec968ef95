/// All metrics of the service, in the order of a scrape and of docs/metrics.md. A test compares the names with those
/// in the sources.
package enum MetricCatalog {
  /// Every metric of the service; others are not exported.
  package static let families: [MetricFamily] =
    calls + edge + listeners + appStore + notifications + receipts
    + deliveries + verification + store + business + traces + process

  private static let calls = [
    MetricFamily(
      "entitled_grpc_calls_total", .counter, labels: ["method", "code"],
      help: "Completed API calls, gRPC and JSON, by method and status code."),
    MetricFamily(
      "entitled_grpc_call_seconds", .histogram, labels: ["method"], bounds: MetricFamily.callBounds,
      help: "Time from the complete request to the response; for streams, to their end."),
  ]

  private static let edge = [
    MetricFamily(
      "entitled_edge_requests_total", .counter, labels: ["route", "status"],
      help: "HTTP requests to the edge, by route and status."),
    MetricFamily(
      "entitled_edge_request_seconds", .histogram, labels: ["route"], bounds: MetricFamily.callBounds,
      help: "Time from the complete request to the response."),
  ]

  private static let listeners = [
    MetricFamily(
      "entitled_connections", .gauge, labels: ["listener"], help: "Open connections."),
    MetricFamily(
      "entitled_streams", .gauge, labels: ["listener"],
      help: "Open HTTP/2 calls, sampled once a second."),
    MetricFamily(
      "entitled_connections_rejected_total", .counter, labels: ["listener"],
      help: "Connections closed because of the connection limit."),
    MetricFamily(
      "entitled_unread_response_bytes", .gauge, help: "Bytes of responses that clients have not read."),
    MetricFamily(
      "entitled_unread_connections_reset_total", .counter,
      help: "Connections closed because of the limit of unread responses."),
    MetricFamily(
      "entitled_incomplete_request_bytes", .gauge, help: "Bytes of requests whose rest has not arrived."),
    MetricFamily(
      "entitled_incomplete_connections_reset_total", .counter,
      help: "Connections closed because of the limit of incomplete requests."),
  ]

  private static let appStore = [
    MetricFamily(
      "entitled_app_store_calls_total", .counter, labels: ["endpoint", "host", "outcome"],
      help: "Calls to Apple's servers, by endpoint, host and outcome."),
    MetricFamily(
      "entitled_app_store_call_seconds", .histogram, labels: ["endpoint", "host"],
      help: "Response time of Apple's servers."),
    MetricFamily(
      "entitled_app_store_rate_limit_wait_seconds", .histogram, labels: ["endpoint", "host"],
      help: "Time that calls to Apple waited for the local rate limiter."),
    MetricFamily(
      "entitled_app_store_rate_limit_calls", .gauge, labels: ["app", "environment", "endpoint"],
      help: "Calls that the rate limiter of an endpoint allows now; 0 means exhausted."),
    MetricFamily(
      "entitled_app_store_circuit_open", .gauge, labels: ["host"],
      help: "1 while the circuit breaker of a host is open, otherwise 0."),
    MetricFamily(
      "entitled_status_polls_total", .counter, labels: ["app", "environment", "outcome"],
      help: "Status polls, by outcome."),
    MetricFamily(
      "entitled_status_poll_backlog", .gauge, labels: ["app", "environment"],
      help: "Purchases with a due status poll."),
    MetricFamily(
      "entitled_token_conflicts_total", .counter, labels: ["app", "environment"],
      help: "Purchases that were linked to another customer than that of their appAccountToken."),
    MetricFamily(
      "entitled_contradictions_total", .counter, labels: ["kind"],
      help: "Contradictory facts, counted when they are written."),
    MetricFamily(
      "entitled_device_syncs_total", .counter, labels: ["app", "outcome"],
      help: "Requests of device sync, by outcome: OK or the reason of the refusal."),
  ]

  private static let notifications = [
    MetricFamily(
      "entitled_notifications_total", .counter, labels: ["version", "state"],
      help: "Notifications received, by version and state; duplicates as KNOWN."),
    MetricFamily(
      "entitled_notification_lag_seconds", .histogram, bounds: MetricFamily.lagBounds,
      help: "Time from Apple's signature to the arrival of notifications."),
    MetricFamily(
      "entitled_consumption_requests_total", .counter, labels: ["app", "environment"],
      help: "Consumption requests received from Apple."),
    MetricFamily(
      "entitled_consumption_requests_settled_total", .counter, labels: ["app", "environment", "outcome"],
      help: "Consumption requests that were answered, missed or refused."),
    MetricFamily(
      "entitled_consumption_requests_open", .gauge, labels: ["app", "environment"],
      help: "Consumption requests that can still be answered."),
    MetricFamily(
      "entitled_consumption_request_deadline_seconds", .gauge, labels: ["app", "environment"],
      help: "Earliest deadline of a request that can still be answered, in seconds since 1970; 0 for none."),
    MetricFamily(
      "entitled_external_tokens_unreported", .gauge, labels: ["app", "environment"],
      help: "External purchase tokens without an accepted report."),
    MetricFamily(
      "entitled_external_token_deadline_seconds", .gauge, labels: ["app", "environment"],
      help: "Time by which Apple expects the next report of a token, in seconds since 1970; 0 for none."),
    MetricFamily(
      "entitled_retention_requests_total", .counter, labels: ["app", "environment", "answer", "reason"],
      help: "Requests of Apple for a retention message, by answer and reason."),
    MetricFamily(
      "entitled_retention_answer_seconds", .histogram, bounds: MetricFamily.callBounds,
      help: "Time from the arrival of such a request to its answer."),
    MetricFamily(
      "entitled_retention_refusals_total", .counter, labels: ["reason"],
      help: "Requests for a retention message that are not Apple's, or not about the app."),
    MetricFamily(
      "entitled_retention_requests_lost_total", .counter, labels: ["app"],
      help: "Requests for a retention message that were answered but could not be stored."),
    MetricFamily(
      "entitled_retention_outcomes_total", .counter, labels: ["app", "environment", "outcome"],
      help: "Requests for a retention message whose outcome is final, by outcome."),
    MetricFamily(
      "entitled_consent_withdrawals_open", .gauge, labels: ["app", "environment"],
      help: "Withdrawn consents of parents or guardians that are not settled."),
    MetricFamily(
      "entitled_consent_withdrawal_deadline_seconds", .gauge, labels: ["app", "environment"],
      help:
        "Earliest deadline of a withdrawn consent that is not settled, in seconds since 1970; 0 for none."),
    MetricFamily(
      "entitled_imported_events_total", .counter, labels: ["app", "environment", "result"],
      help: "Events of RevenueCat's webhooks, by result."),
    MetricFamily(
      "entitled_import_refusals_total", .counter, labels: ["reason"],
      help: "Webhooks of RevenueCat that were refused or left out, by reason."),
    MetricFamily(
      "entitled_disagreements_open", .gauge, labels: ["app", "environment"],
      help: "Open disagreements between RevenueCat's events and the answers here."),
    MetricFamily(
      "entitled_notification_watermark_seconds", .gauge, labels: ["app", "environment"],
      help: "Time up to which all deliveries of Apple are accounted for, in seconds since 1970."),
    MetricFamily(
      "entitled_repairs_total", .counter, labels: ["app", "environment", "reason"],
      help: "Gap repairs, by reason."),
    MetricFamily(
      "entitled_repaired_notifications_total", .counter, labels: ["app", "environment", "reason"],
      help: "Notifications fetched from Apple's history that had not been delivered."),
    MetricFamily(
      "entitled_drifted_customers_total", .counter, labels: ["app", "environment", "reason"],
      help: "Customers whose stored state differed from Apple's, found by gap repairs."),
  ]

  private static let receipts = [
    MetricFamily(
      "entitled_receipts_total", .counter, labels: ["reason"],
      help: "Submitted legacy receipts, by outcome."),
    MetricFamily(
      "entitled_migrated_receipts_total", .counter, labels: ["reason"],
      help: "Receipts processed by migration jobs, by outcome."),
    MetricFamily(
      "entitled_receipt_refreshes_total", .counter, labels: ["outcome"],
      help: "Deferred lookups for receipts that were accepted without Apple, by outcome."),
    MetricFamily(
      "entitled_receipt_verification_mismatches_total", .counter,
      help: "Receipts whose local verification and Apple's endpoint disagreed."),
  ]

  private static let deliveries = [
    MetricFamily(
      "entitled_webhook_deliveries_total", .counter, labels: ["app", "kind", "webhook", "outcome"],
      help: "Webhook delivery attempts, by outcome."),
    MetricFamily(
      "entitled_webhook_delivery_seconds", .histogram, labels: ["app", "kind", "webhook"],
      help: "Response time of webhooks."),
    MetricFamily(
      "entitled_webhook_deliveries_pending", .gauge, labels: ["app", "kind", "webhook"],
      help: "Deliveries pending for a webhook."),
    MetricFamily(
      "entitled_webhook_delivery_lag_seconds", .gauge, labels: ["app", "kind", "webhook"],
      help: "Age of the oldest message that a webhook has not got: pending, in flight, or still in the log."),
    MetricFamily(
      "entitled_webhook_gone", .gauge, labels: ["app", "kind", "webhook"],
      help: "1 after a webhook responded with 410, until it is resumed, otherwise 0."),
    MetricFamily(
      "entitled_webhook_dead_letters_total", .counter, labels: ["app", "kind", "webhook"],
      help: "Deliveries whose last attempt failed."),
    MetricFamily(
      "entitled_webhook_dead_letters", .gauge, labels: ["app", "kind", "webhook"],
      help: "Stored dead letters."),
  ]

  private static let verification = [
    MetricFamily(
      "entitled_verification_failures_total", .counter, labels: ["kind", "reason"],
      help: "Signed documents that failed verification, by kind and reason.")
  ]

  private static let store = [
    MetricFamily(
      "entitled_store_commit_seconds", .histogram,
      help: "Time to write a batch and make it durable, including fsync."),
    MetricFamily(
      "entitled_store_commit_writes", .histogram, bounds: MetricFamily.countBounds,
      help: "Writes in one commit."),
    MetricFamily(
      "entitled_store_commit_failures_total", .counter, help: "Batches that could not be made durable."),
    MetricFamily("entitled_store_writes_queued", .gauge, help: "Writes queued for the next commit."),
    MetricFamily(
      "entitled_store_writable", .gauge,
      help:
        "1 if the last write succeeded, otherwise 0, also while a write waits for more than 5 seconds, or the database refuses to insert."
    ),
    MetricFamily(
      "entitled_rejected_bodies_dropped_total", .counter, labels: ["app"],
      help: "Bodies of rejected evidence dropped because of limits.max_rejected_bytes_per_day."),
    MetricFamily(
      "entitled_database_reachable", .gauge,
      help: "1 if the PostgreSQL database of the store answered within the last seconds, otherwise 0."),
    MetricFamily(
      "entitled_replicas", .gauge, help: "Processes that use the PostgreSQL database of the store."),
    MetricFamily(
      "entitled_leader", .gauge,
      help:
        "1 if this replica is the leader and executes what writes, otherwise 0; with several processes on one PostgreSQL database."
    ),
    MetricFamily(
      "entitled_leader_epoch", .gauge,
      help: "Number of takeovers up to that of the leader; 0 while no leader is known."),
    MetricFamily(
      "entitled_inbox_entries", .gauge, help: "Entries of the inbox without outcome, on the leader."),
    MetricFamily(
      "entitled_inbox_oldest_seconds", .gauge,
      help: "Age of the oldest inbox entry without outcome, on the leader."),
    MetricFamily(
      "entitled_inbox_entries_total", .counter, labels: ["kind"],
      help: "Entries of the inbox that this replica executed."),
    MetricFamily(
      "entitled_inbox_discarded_total", .counter, labels: ["kind"],
      help:
        "Audit entries and requests for retention messages that the database refuses, and that were discarded."
    ),
    MetricFamily(
      "entitled_inbox_seconds", .histogram,
      help: "Time from the read of an inbox entry to its stored outcome."),
    MetricFamily(
      "entitled_feed_lag_seconds", .histogram,
      help: "Time from a commit of another process to its effect on answers, by the clock of the database."),
    MetricFamily(
      "entitled_feed_silence_seconds", .gauge, help: "Time since the last answer of the database."),
    MetricFamily("entitled_store_bytes", .gauge, help: "Size of the store's files, in bytes."),
    MetricFamily(
      "entitled_disk_free_bytes", .gauge, help: "Free bytes on the disk of the data directory."),
  ]

  private static let business = [
    MetricFamily(
      "entitled_subscriptions", .gauge, labels: ["app", "environment", "product", "state", "day"],
      help:
        "Subscriptions by product and state, at the end of yesterday (UTC) and now, as in the report subscriptions."
    ),
    MetricFamily(
      "entitled_subscription_movements", .gauge, labels: ["app", "environment", "movement", "day"],
      help:
        "Subscriptions that started, renewed and ended, of yesterday and today, as in the report movements."),
    MetricFamily(
      "entitled_recurring_thousandths_per_year", .gauge, labels: ["app", "environment", "currency", "day"],
      help: "Annual recurring revenue in thousandths of the currency, at the end of yesterday and now."),
    MetricFamily(
      "entitled_revenue_thousandths", .gauge, labels: ["app", "environment", "currency", "day"],
      help: "Charges less refunds in thousandths of the currency, of yesterday and today."),
    MetricFamily(
      "entitled_report_identity_broken", .gauge, labels: ["app", "environment"],
      help:
        "Closed days whose movements do not explain their stocks ([reports](reports.md#days-closing-and-revisions)); 0 unless there is a defect."
    ),
    MetricFamily(
      "entitled_report_backlog", .gauge, labels: ["app", "environment"],
      help:
        "Purchases with evidence that is not in the [reports](reports.md#days-closing-and-revisions) yet."),
    MetricFamily(
      "entitled_report_lag_seconds", .gauge, labels: ["app", "environment"],
      help:
        "Age of the oldest evidence, expiry or other due time that is not in the reports yet; 0 if nothing waits."
    ),
    MetricFamily(
      "entitled_report_oldest_open_day_seconds", .gauge, labels: ["app", "environment"],
      help:
        "Time since the end of the last closed day: at most a day and close_after, unless the worker is late."
    ),
    MetricFamily(
      "entitled_report_revisions_total", .counter, labels: ["app", "environment", "cause"],
      help: "Revisions of closed days, by cause; one with two causes counts for each."),
    MetricFamily(
      "entitled_reconciliation_unexplained", .gauge, labels: ["app", "environment", "report"],
      help: "Unexplained differences to Apple's reports in the results that were recorded, by report."),
    MetricFamily(
      "entitled_segment_members", .gauge, labels: ["app", "environment", "segment"],
      help: "Rows of a saved segment."),
    MetricFamily(
      "entitled_report_cpu_microseconds_total", .counter,
      help: "CPU time of the worker that derives postings of reports, without commits."),
  ]

  private static let traces = [
    MetricFamily(
      "entitled_trace_spans_exported_total", .counter, help: "Spans that the collector of traces accepted."),
    MetricFamily(
      "entitled_trace_spans_dropped_total", .counter, labels: ["reason"],
      help: "Recorded spans that did not reach the collector, by reason."),
    MetricFamily("entitled_trace_spans_queued", .gauge, help: "Recorded spans that wait for their export."),
  ]

  private static let process = [
    MetricFamily(
      "entitled_worker_restarts_total", .counter, labels: ["worker"],
      help: "Restarts of background workers after an error."),
    MetricFamily(
      "entitled_log_lines_lost_total", .counter,
      help:
        "Log lines that were not written: the reader of the standard error had stopped reading, or its disk was full."
    ),
    MetricFamily(
      "entitled_build_info", .gauge, labels: ["version"], help: "Always 1; the label is the version."),
    MetricFamily("entitled_ready", .gauge, help: "1 while the server is ready, otherwise 0."),
    MetricFamily(
      "process_cpu_seconds_total", .counter, help: "CPU time of the process, in seconds."),
    MetricFamily("process_resident_memory_bytes", .gauge, help: "Resident memory of the process, in bytes."),
    MetricFamily("process_open_fds", .gauge, help: "Open file descriptors of the process."),
    MetricFamily("process_max_fds", .gauge, help: "Maximum number of open file descriptors."),
    MetricFamily(
      "process_start_time_seconds", .gauge, help: "Start time of the process, in seconds since 1970."),
  ]
}
