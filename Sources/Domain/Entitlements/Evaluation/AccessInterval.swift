package import AppStore

/// A time span in which one fact grants access: from `start` up to, but not including, `end`.
struct AccessInterval {
  /// The rule that made the interval.
  enum Kind {
    /// The paid period of an auto-renewable subscription, up to a revocation or an upgrade.
    case subscription
    /// The time after the end of a period in which Apple has not reported the renewal yet.
    case renewalSlack
    /// Apple's billing grace period, from the end of the paid period to `gracePeriodExpiresDate`.
    case grace
    /// The operator's grace, from the end of the paid period for the days in the catalog.
    case operatorGrace
    /// A non-renewing subscription, for the duration in the catalog.
    case nonRenewing
    /// A non-consumable without a duration, up to a revocation.
    case nonConsumable
    /// A non-consumable with a duration in the catalog (WWDC18-704).
    case trial
    /// An app install from before the app became free (WWDC18-704).
    case boughtBefore
    /// A grant of the operator.
    case grant
    /// A purchase in another store.
    case external
    /// A renewal that an upgrade replaced before it began; always empty, and never the last access.
    case replaced
    /// A product type that grants no access; always empty.
    case nonEntitling
    /// A shared purchase whose entitlement the catalog does not share; always empty.
    case sharingDenied
  }

  /// The fact that grants the access, by its index in ``CustomerFacts``.
  enum Source {
    /// An index in ``CustomerFacts/transactions``.
    case transaction(Int)
    /// An index in ``CustomerFacts/grants``.
    case grant(Int)
    /// An index in ``CustomerFacts/appTransactions``.
    case appTransaction(Int)
  }

  let kind: Kind
  let level: AccessLevel
  let start: Instant
  /// Never before `start`; equal to it if the fact grants no access.
  let end: Instant
  let source: Source
  /// The tie-breaker among intervals of the same level: the lowest rank decides.
  let rank: Rank
  /// Whether a withdrawn consent of a parent or guardian ended it.
  private(set) var isEndedByConsent = false

  /// Own purchases come first; access through others continues after them.
  enum Rank: Int {
    case ownPurchase, ownApp, grant, shared, operatorGrace
  }

  /// Creates an interval of the transaction at `index`.
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

  /// The index in ``CustomerFacts/transactions`` of the transaction that grants it; `nil` for other sources.
  var transaction: Int? {
    if case .transaction(let index) = source { index } else { nil }
  }

  /// Whether it rests on a purchase, here or in another store.
  var isFromPurchase: Bool { transaction != nil || kind == .external }

  /// Whether the purchase was paid for this time.
  var isPaid: Bool {
    switch kind {
    case .subscription, .nonRenewing, .nonConsumable, .trial, .external: level > .none
    case .renewalSlack, .grace, .operatorGrace, .boughtBefore, .grant, .replaced, .nonEntitling,
      .sharingDenied:
      false
    }
  }

  /// Whether there is an instant at which it grants access. A purchase that was revoked before it started grants none.
  var grantsAccess: Bool { level > .none && start < end }

  /// Whether it follows a failed renewal.
  var isGrace: Bool { kind == .grace || kind == .operatorGrace }

  /// The interval up to the withdrawal of the consent; unchanged if it ended before.
  func ended(byConsentAt instant: Instant) -> AccessInterval {
    guard instant < end else { return self }
    var interval = AccessInterval(kind, level, from: start, to: instant, source, rank)
    interval.isEndedByConsent = true
    return interval
  }

  func covers(_ now: Instant) -> Bool { start <= now && now < end }

  /// Whether it takes precedence over `other`, which covers the same instant: higher level, then lower rank,
  /// then later end.
  func decides(before other: AccessInterval) -> Bool {
    guard level == other.level else { return level > other.level }
    guard rank == other.rank else { return rank.rawValue < other.rank.rawValue }
    // Before the failure of the renewal was reported, nothing but the renewal was expected.
    if kind == .renewalSlack, other.kind == .grace { return true }
    if kind == .grace, other.kind == .renewalSlack { return false }
    return end > other.end
  }
}

extension Instant {
  /// The end of access without an end.
  package static let openEnd = Instant.distantFuture

  /// `nil` for ``openEnd``.
  var bounded: Instant? { self == .openEnd ? nil : self }
}
