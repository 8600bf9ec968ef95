internal import Callers
internal import Pages
internal import RPC
internal import Wire

/// The lists of things that wait for a person.
enum WorkQueue: String, Sendable, CaseIterable {
  case refunds, unclaimed
  case deadLetters = "dead-letters"
  case consents = "withdrawn-consents"
  case rejected, drift, contradictions, disagreements, migrations

  var title: String {
    switch self {
    case .refunds: Text.queueRefunds
    case .unclaimed: Text.queueUnclaimed
    case .consents: Text.queueConsents
    case .deadLetters: Text.queueDeadLetters
    case .rejected: Text.queueRejected
    case .drift: Text.queueDrift
    case .contradictions: Text.queueContradictions
    case .disagreements: Text.queueDisagreements
    case .migrations: Text.queueMigrations
    }
  }

  /// A hint about the contents and the purpose of the queue.
  var hint: String {
    switch self {
    case .refunds: Text.hintRefunds
    case .unclaimed: Text.hintUnclaimed
    case .consents: Text.hintConsents
    case .deadLetters: Text.hintDeadLetters
    case .rejected: Text.hintRejected
    case .drift: Text.hintDrift
    case .contradictions: Text.hintContradictions
    case .disagreements: Text.hintDisagreements
    case .migrations: Text.hintMigrations
    }
  }

  /// The text of an empty queue: what would be in it, and how it gets there.
  var empty: String {
    switch self {
    case .refunds: Text.emptyRefunds
    case .unclaimed: Text.emptyUnclaimed
    case .consents: Text.emptyConsents
    case .deadLetters: Text.emptyDeadLetters
    case .rejected: Text.emptyRejected
    case .drift: Text.emptyDrift
    case .contradictions: Text.emptyContradictions
    case .disagreements: Text.emptyDisagreements
    case .migrations: Text.emptyMigrations
    }
  }

  /// The heads of the table.
  var heads: [String] {
    switch self {
    case .refunds: RefundRow.heads
    case .unclaimed:
      [
        Text.purchase, Text.productHead, Text.when, Text.price, Text.appAccountToken, Text.candidates,
        Text.actions,
      ]
    case .deadLetters:
      [Text.webhook, Text.type, Text.subjectHead, Text.when, Text.attempts, Text.outcome]
    case .consents: [Text.appInstall, Text.state, Text.withdrawn, Text.settleBy, Text.customer, Text.actions]
    case .rejected: NotificationRow.heads
    case .drift: [Text.customer, Text.entitlement, Text.when, Text.before, Text.after]
    case .contradictions: [Text.customer, Text.type, Text.inWords, Text.transaction]
    case .disagreements:
      [
        Text.customer, Text.entitlement, Text.disagreement, Text.when, Text.statedByRevenueCat,
        Text.answeredHere,
      ]
    case .migrations:
      [
        Text.migration, Text.state, Text.progress, Text.started, Text.finished, Text.migrated, Text.unchanged,
        Text.rejectedHead, Text.retryable,
      ]
    }
  }

  /// The names of the columns in CSV, which programs read: not translated.
  var columns: [String] {
    switch self {
    case .refunds:
      [
        "state", "product_id", "transaction_id", "original_transaction_id", "customer_id", "requested_at",
        "answer_by", "reason", "state_reason",
      ]
    case .unclaimed:
      [
        "original_transaction_id", "product_id", "purchased_at", "price_milliunits", "currency",
        "app_account_token", "candidates",
      ]
    case .deadLetters:
      ["webhook", "kind", "type", "subject", "number", "occurred_at", "attempts", "outcome"]
    case .consents: ["app_transaction_id", "state", "withdrawn_at", "settle_by", "customer_ids"]
    case .rejected: ["received_at", "type", "subtype", "state", "reason", "explanation", "evidence_id"]
    case .drift: ["customer_id", "entitlement", "detected_at", "reason_before", "reason_after"]
    case .contradictions: ["customer_id", "kind", "transaction_id", "explanation"]
    case .disagreements:
      [
        "customer_id", "entitlement", "kind", "detected_at", "checked_at", "stated_until", "event_id",
        "event_type", "event_at", "reason", "until", "evidence_id",
      ]
    case .migrations:
      [
        "migration_id", "state", "started_at", "finished_at", "done", "total", "migrated", "unchanged",
        "rejected", "retryable", "error",
      ]
    }
  }

  static func isAnyOpen(to visit: Visit) -> Bool { allCases.contains { $0.isOpen(to: visit) } }

  func isOpen(to visit: Visit) -> Bool {
    self == .deadLetters ? visit.mayCall(Calls.listWebhooks) : visit.has(.read)
  }
}
