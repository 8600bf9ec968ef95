internal import AppStore
internal import RPC
internal import Store
internal import Webhooks
internal import Wire

// Webhooks and deliveries as messages of the contract.

extension Webhook {
  /// A webhook with its backlog. It is gone after a response 410, which only `ResumeWebhook` ends, and fails while
  /// deliveries wait for another attempt.
  init(_ status: DeliveryAdmin.WebhookStatus) {
    self.init()
    name = status.settings.key.name
    kind = WebhookKind(status.settings.key.kind)
    url = status.settings.redactedURL
    cursor = status.cursor.position
    latestNumber = status.latestPosition
    pending = status.counts.pending
    deadLetters = status.counts.deadLetters
    oldestPendingAt = status.counts.oldestPendingAt.map(GoogleProtobuf.Timestamp.init)
    state =
      if status.cursor.goneAt != nil { .gone } else if pending > 0 { .failing } else { .healthy }
  }
}

extension WebhookKind {
  fileprivate init(_ kind: WebhookKey.Kind) {
    switch kind {
    case .events: self = .events
    case .notifications: self = .notifications
    }
  }
}

extension Wire.Delivery {
  /// `id` is the message id that the webhook receives.
  init(_ delivery: Store.Delivery, id: String) {
    self.init()
    number = delivery.position
    webhookId = id
    type = delivery.type
    environment = delivery.environment.map(Wire.Environment.init) ?? .unspecified
    subject = delivery.subject
    state = DeliveryState(delivery.state)
    attempts = Int32(clamping: delivery.attempts)
    outcome = delivery.outcome
    occurredAt = GoogleProtobuf.Timestamp(delivery.occurredAt)
    firstAttemptAt = delivery.firstAttemptAt.map(GoogleProtobuf.Timestamp.init)
    nextAttemptAt = delivery.dueAt.map(GoogleProtobuf.Timestamp.init)
  }
}

extension DeliveryState {
  fileprivate init(_ state: Store.Delivery.State) {
    switch state {
    case .pending: self = .pending
    case .deadLetter: self = .deadLetter
    }
  }
}

extension Store.Delivery.State {
  /// `nil` if the request does not filter by state.
  init?(_ state: DeliveryState) throws(Status) {
    switch state {
    case .pending: self = .pending
    case .deadLetter: self = .deadLetter
    case .unspecified: return nil
    case .unrecognized: throw .unknownValue(of: "state")
    }
  }
}
