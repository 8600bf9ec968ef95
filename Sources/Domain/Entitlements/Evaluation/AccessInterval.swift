internal import AppStore

/// A stretch of time in which one fact gives access: from `start` up to, not including, `end`.
struct AccessInterval {
  /// What kind of access it is.
  enum Kind {
    case subscription
    /// From the end of a paid period to the end of Apple's billing grace period.
    case grace
    /// From the end of a paid period on, as long as the operator waits for the payment.
    case operatorGrace
    case nonRenewing
    case nonConsumable
    /// A non-consumable that the catalog gives a duration.
    case trial
    /// The app itself, from before it was free.
    case boughtBefore
    /// Given by the operator.
    case grant
    /// A type that gives nothing; always empty.
    case nonEntitling
    /// Shared, and the catalog gives nothing for that; always empty.
    case sharingDenied
  }

  /// The fact that gives it, by its place in ``CustomerFacts``.
  enum Source {
    case transaction(Int)
    case grant(Int)
    case appTransaction(Int)
  }

  let kind: Kind
  let level: AccessLevel
  let start: Instant
  /// Never before `start`; equal to it if the fact gives no access at all.
  let end: Instant
  let source: Source
  /// Which decides among those that give as much: the one with the lowest.
  let rank: Rank

  /// Who pays comes first: what they bought decides, and what others give carries on behind it.
  enum Rank: Int {
    case ownPurchase, ownApp, grant, shared, operatorGrace
  }

  /// Access by the transaction at `index`.
  init(
    _ kind: Kind, _ level: AccessLevel, from start: Instant, to end: Instant, by index: Int,
    isShared: Bool
  ) {
    self.init(
      kind, level, from: start, to: end, .transaction(index),
      kind == .operatorGrace ? .operatorGrace : isShared ? .shared : .ownPurchase)
  }

  init(
    _ kind: Kind, _ level: AccessLevel, from start: Instant, to end: Instant, _ source: Source, _ rank: Rank
  ) {
    self.kind = kind
    self.level = level
    self.start = start
    self.end = max(start, end)
    self.source = source
    self.rank = rank
  }

  /// The transaction that gives it, by its place in ``CustomerFacts/transactions``.
  var transaction: Int? {
    if case .transaction(let index) = source { index } else { nil }
  }

  func covers(_ now: Instant) -> Bool { start <= now && now < end }

  /// Whether it decides before `other`, which covers the same moment.
  func decides(before other: AccessInterval) -> Bool {
    guard level == other.level else { return level > other.level }
    guard rank == other.rank else { return rank.rawValue < other.rank.rawValue }
    return end > other.end
  }
}

extension Instant {
  /// The end of access that has none.
  static let openEnd = Instant(millisecondsSince1970: .max)

  /// `nil` for ``openEnd``.
  var bounded: Instant? { self == .openEnd ? nil : self }
}
