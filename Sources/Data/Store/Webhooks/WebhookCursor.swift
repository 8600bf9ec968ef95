package import AppStore

/// Where messages go out to: one receiver of one app.
package struct WebhookKey: Hashable, Sendable {
  /// What goes out.
  package enum Kind: String, Hashable, Sendable, CaseIterable {
    /// Changes of entitlements.
    case events = "EVENTS"
    /// Apple's notifications, as they came.
    case notifications = "NOTIFICATIONS"
  }

  /// The operator's name for the app.
  package let appID: String
  package let kind: Kind
  /// The operator's name for the receiver.
  package let name: String

  /// A receiver by its app, what it receives, and its name.
  package init(appID: String, kind: Kind, name: String) {
    self.appID = appID
    self.kind = kind
    self.name = name
  }
}

/// How far messages went out.
package struct WebhookCursor: Hashable, Sendable {
  /// The number of the last message that was sent or stands among the deliveries: a sequence of events, or
  /// the number of a notification's evidence.
  package var position: Int64
  /// When the receiver said that it wants no more; `nil` if it did not.
  package var goneAt: Instant?

  /// An outlet that got as far as `position`.
  package init(position: Int64, goneAt: Instant? = nil) {
    self.position = position
    self.goneAt = goneAt
  }
}

/// A message that did not arrive yet. What arrived is remembered by ``Outlet/position`` alone.
package struct Delivery: Hashable, Sendable {
  /// Whether it is tried again.
  package enum State: String, Hashable, Sendable, CaseIterable {
    case waiting = "WAITING"
    /// Given up.
    case dead = "DEAD"
  }

  /// The number of the event, or of the notification's evidence.
  package let position: Int64
  package let environment: Environment?
  /// The customer, or the purchase line: messages about one of these arrive in their order.
  package var subject: String
  /// What happened, in a word.
  package let type: String
  /// When it happened, or was learned.
  package let happenedAt: Instant
  package var state: State
  /// How often it was tried.
  package var attempts: Int
  /// `nil` if it never was.
  package var firstAttemptAt: Instant?
  /// When it is tried next; `nil` while another one of its subject comes first, and once it is dead.
  package var dueAt: Instant?
  /// What came of the last attempt; empty before the first.
  package var outcome: String

  /// A delivery that was not tried yet.
  package init(
    position: Int64, environment: Environment?, subject: String, type: String, happenedAt: Instant,
    dueAt: Instant?
  ) {
    self.position = position
    self.environment = environment
    self.subject = subject
    self.type = type
    self.happenedAt = happenedAt
    state = .waiting
    attempts = 0
    firstAttemptAt = nil
    self.dueAt = dueAt
    outcome = ""
  }
}

/// How many messages did not arrive.
package struct DeliveryCounts: Hashable, Sendable {
  package var waiting: Int64
  package var dead: Int64
  /// When the oldest of those that wait happened; `nil` if none waits.
  package var waitingSince: Instant?

  /// Counts of one outlet.
  package init(waiting: Int64, dead: Int64, waitingSince: Instant?) {
    self.waiting = waiting
    self.dead = dead
    self.waitingSince = waitingSince
  }
}
