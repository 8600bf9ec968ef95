package import AppStore

/// Identifies one webhook of one app.
package struct WebhookKey: Hashable, Sendable {
  /// The kind of messages.
  package enum Kind: String, Hashable, Sendable, CaseIterable {
    /// Entitlement events.
    case events = "EVENTS"
    /// Apple's notifications, forwarded unchanged.
    case notifications = "NOTIFICATIONS"
  }

  /// The operator's name for the app.
  package let appID: String
  package let kind: Kind
  /// The operator's name for the webhook.
  package let name: String

  /// Creates a key from its parts.
  package init(appID: String, kind: Kind, name: String) {
    self.appID = appID
    self.kind = kind
    self.name = name
  }
}

/// The position of one webhook in its log of messages.
package struct WebhookCursor: Hashable, Sendable {
  /// The position of the last message that was delivered or stored as a ``Delivery``: an event's sequence, or
  /// a notification's evidence id.
  package var position: Int64
  /// The time at which the receiver answered 410; `nil` if it accepts messages.
  package var goneAt: Instant?

  /// Creates a cursor at `position`.
  package init(position: Int64, goneAt: Instant? = nil) {
    self.position = position
    self.goneAt = goneAt
  }
}

/// A message that a webhook has not accepted yet. Delivered messages leave no row: ``WebhookCursor/position``
/// covers them.
package struct Delivery: Hashable, Sendable {
  /// Whether delivery is attempted again.
  package enum State: String, Hashable, Sendable, CaseIterable {
    /// It waits for its first or next attempt.
    case pending = "PENDING"
    /// All attempts failed; kept so that the operator can inspect and resend it.
    case deadLetter = "DEAD_LETTER"
  }

  /// The event's sequence, or the notification's evidence id.
  package let position: Int64
  package let environment: Environment?
  /// The customer id or original transaction id; part of the ordering key.
  package var subject: String
  /// The event type or notification type.
  package let type: String
  /// The time of the event.
  package let occurredAt: Instant
  package var state: State
  /// The number of attempts.
  package var attempts: Int
  /// `nil` before the first attempt.
  package var firstAttemptAt: Instant?
  /// The time of the next attempt; `nil` for a dead letter, and while an earlier message has the same
  /// ordering key.
  package var dueAt: Instant?
  /// The result of the last attempt; empty before the first.
  package var outcome: String

  /// Creates a delivery without attempts.
  package init(
    position: Int64, environment: Environment?, subject: String, type: String, occurredAt: Instant,
    dueAt: Instant?
  ) {
    self.position = position
    self.environment = environment
    self.subject = subject
    self.type = type
    self.occurredAt = occurredAt
    state = .pending
    attempts = 0
    firstAttemptAt = nil
    self.dueAt = dueAt
    outcome = ""
  }
}

/// The number of undelivered messages of one webhook.
package struct DeliveryCounts: Hashable, Sendable {
  /// Those that wait for an attempt.
  package var pending: Int64
  /// Those that were given up after all attempts.
  package var deadLetters: Int64
  /// The time of the oldest pending message's event; `nil` if none is pending.
  package var oldestPendingAt: Instant?

  /// Creates counts from their parts.
  package init(pending: Int64, deadLetters: Int64, oldestPendingAt: Instant?) {
    self.pending = pending
    self.deadLetters = deadLetters
    self.oldestPendingAt = oldestPendingAt
  }
}
