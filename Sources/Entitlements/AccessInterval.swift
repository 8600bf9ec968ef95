internal import AppStore

/// A stretch of time in which one transaction gives access: from `start` up to, not including, `end`.
struct AccessInterval {
  /// What kind of access it is.
  enum Kind {
    case subscription
    /// From the end of a paid period to the end of the billing grace period.
    case grace
    case nonRenewing
    case nonConsumable
    /// A non-consumable that the catalog gives a duration.
    case trial
    /// A type that gives nothing; always empty.
    case nothing
  }

  let kind: Kind
  let start: Instant
  /// Never before `start`; equal to it if the transaction gives no access at all.
  let end: Instant
  /// Its place in ``CustomerFacts/transactions``.
  let transaction: Int

  init(_ kind: Kind, from start: Instant, to end: Instant, by transaction: Int) {
    self.kind = kind
    self.start = start
    self.end = max(start, end)
    self.transaction = transaction
  }

  func covers(_ now: Instant) -> Bool { start <= now && now < end }
}

extension Instant {
  /// The end of access that has none.
  static let openEnd = Instant(millisecondsSince1970: .max)

  /// `nil` for ``openEnd``.
  var bounded: Instant? { self == .openEnd ? nil : self }
}
