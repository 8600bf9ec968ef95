package import AppStore

/// A customer's entitlements, purchases and grants over time: one lane for each.
///
/// A pure function of facts, catalog and a time span. At every instant of the span, the access lane of an entitlement has
/// the reason, level and deciding fact that ``evaluate(_:entitlement:in:at:)`` has. Segments of one lane never overlap.
package struct CustomerHistory: Hashable, Sendable {
  /// The subject of a lane.
  package enum Kind: Hashable, Sendable {
    case access(entitlement: String)
    /// The periods of a purchase that the customer made.
    case purchase(originalTransactionID: String)
    /// The periods of a purchase that a family member shares, or in which the customer has a seat.
    case shared(originalTransactionID: String)
    /// A grant of the operator, or a purchase in another store.
    case grant(id: String)
  }

  /// A time span with one answer.
  package struct Segment: Hashable, Sendable {
    /// Inclusive; before the start of the span for the first segment, if it began earlier.
    package let start: Instant
    /// Exclusive; after the end of the span for the last segment, if its end is known; `nil`: no known end.
    package let end: Instant?
    /// The reason of the answer within the span.
    package let reason: EntitlementReason
    /// The access that is granted.
    package let accessLevel: AccessLevel
    /// The payment mode of the deciding period.
    package let substate: EntitlementSubstate
    /// The transaction that decides; `nil` if none does.
    package let transaction: TransactionFact?
    /// The grant that decides; `nil` if none does.
    package let grantID: String?
    /// The product that decides, by the id of its store; empty for a grant of the operator; `nil` if none does.
    package let productID: String?
    /// The key of the fact that decides; `nil` if none does.
    package let decidingFact: DecidingFact?
  }

  /// An instant at which something happened to a purchase.
  package struct Mark: Hashable, Sendable {
    /// The kind of a mark. The raw values are part of the API.
    package enum Kind: String, Hashable, Sendable, CaseIterable {
      /// The first transaction of a purchase.
      case purchased = "PURCHASED"
      /// The beginning of a further period, also of a product of a lower level.
      case renewed = "RENEWED"
      /// A purchase of another product or billing plan that replaced the period before it at once. A change to a lower level
      /// waits for the next renewal, and is a renewal.
      case upgraded = "UPGRADED"
      /// A transaction was refunded in whole or in part, or a purchase in another store was refunded.
      case refunded = "REFUNDED"
      /// The customer lost a purchase that a family member shared (`FAMILY_REVOKE`).
      case sharingEnded = "SHARING_ENDED"
      /// The operator revoked a grant before its end.
      case grantRevoked = "GRANT_REVOKED"
    }

    /// The kind of the mark.
    package let kind: Kind
    /// When it happened, by Apple's document or the operator's command.
    package let at: Instant
    /// Empty for a grant.
    package let transactionID: String
  }

  /// A row of the picture.
  package struct Lane: Hashable, Sendable {
    /// The subject of the lane.
    package let kind: Kind
    /// In order of time, without overlaps.
    package let segments: [Segment]
    /// In order of time.
    package let marks: [Mark]
    /// The latest product of a purchase; empty for other lanes.
    package let productID: String
  }

  /// Access lanes by entitlement, then purchases by their first period, then grants by their start.
  package let lanes: [Lane]

  /// Computes the lanes of `facts` from `start` to `end` (inclusive), the instant that the history is about.
  package init(
    _ facts: borrowing CustomerFacts, in app: borrowing AppDefinition, from start: Instant, to end: Instant
  ) {
    let purchases = facts.purchases(in: app)
    var lanes = app.entitlements.map { entitlement in
      let segments = app.rules(of: entitlement).map { answerSegments(purchases, $0, start, end) } ?? []
      return Lane(kind: .access(entitlement: entitlement), segments: segments, marks: [], productID: "")
    }
    lanes += Self.purchaseLanes(purchases, in: app, start, end)
    lanes += facts.grants.sorted { ($0.since, $0.grantID) < ($1.since, $1.grantID) }
      .compactMap { Lane($0, start, end) }
    self.lanes = lanes
  }

  /// The lanes of the purchases that touch the span, by their first period.
  private static func purchaseLanes(
    _ purchases: CustomerFacts, in app: borrowing AppDefinition, _ start: Instant, _ end: Instant
  ) -> [Lane] {
    var lines: [String] = []
    for transaction in purchases.transactions where lines.last != transaction.originalTransactionID {
      lines.append(transaction.originalTransactionID)
    }
    var lanes: [(first: Instant, lane: Lane)] = []
    for line in lines {
      let facts = purchases.ofLine(line)
      guard let first = facts.transactions.first, first.accessStart <= end else { continue }
      let rules = EntitlementRules.ownership(ofAny: Set(facts.transactions.map(\.productID)), in: app)
      // A period that is over leaves a gap; one that the App Store still tries to charge does not.
      let segments = answerSegments(facts, rules, start, end)
        .filter { $0.accessLevel > .none || $0.reason == .billingRetry }
      let marks = marks(facts).filter { $0.at >= start && $0.at <= end }
        .sorted { ($0.at, $0.transactionID, $0.kind.rawValue) < ($1.at, $1.transactionID, $1.kind.rawValue) }
      guard !segments.isEmpty || !marks.isEmpty else { continue }
      let kind: Kind =
        first.isShared ? .shared(originalTransactionID: line) : .purchase(originalTransactionID: line)
      let latest = facts.transactions.indices.last {
        facts.transactions[$0].accessStart <= end && !facts.isWithdrawnBeforeStart($0)
      }
      let product = latest.map { facts.transactions[$0].productID } ?? first.productID
      lanes.append(
        (first.accessStart, Lane(kind: kind, segments: segments, marks: marks, productID: product)))
    }
    return lanes.sorted { $0.first < $1.first }.map(\.lane)
  }

  /// The marks of the transactions of one line. A renewal that was charged early and withdrawn before its period began
  /// has no beginning.
  private static func marks(_ facts: CustomerFacts) -> [Mark] {
    var marks: [Mark] = []
    var previous: TransactionFact?
    for (index, transaction) in facts.transactions.enumerated() {
      for time in transaction.earlierSeatTimes {
        marks.append(
          Mark(
            kind: transaction.beginning(after: previous), at: time.lowerBound,
            transactionID: transaction.transactionID))
        marks.append(
          Mark(kind: .sharingEnded, at: time.upperBound, transactionID: transaction.transactionID))
      }
      if !facts.isWithdrawnBeforeStart(index) {
        marks.append(
          Mark(
            kind: transaction.beginning(after: previous), at: transaction.purchaseDate,
            transactionID: transaction.transactionID))
        previous = transaction
      }
      if let revoked = transaction.revocationDate {
        let isSharing = transaction.revocationType == .familyRevoke || transaction.isShared
        marks.append(
          Mark(
            kind: isSharing ? .sharingEnded : .refunded, at: revoked,
            transactionID: transaction.transactionID))
      }
    }
    return marks
  }
}

extension TransactionFact {
  /// The first start of access in its period.
  fileprivate var accessStart: Instant { earlierSeatTimes.first?.lowerBound ?? purchaseDate }

  /// How it began, after the `previous` transaction of its line. Apple may never state that the previous period was
  /// upgraded; then the time of the purchase decides, as for ``EntitlementReason/upgraded``. A purchase after a refund
  /// replaced nothing.
  fileprivate func beginning(after previous: TransactionFact?) -> CustomerHistory.Mark.Kind {
    if let previous, previous.hasOtherPlan(than: self), previous.type == .autoRenewableSubscription,
      previous.isUpgraded
        || previous.expiresDate.map({ purchaseDate < $0 }) ?? false && !previous.isRefunded(before: self)
    {
      return .upgraded
    }
    return transactionReasonIsPurchase ? .purchased : .renewed
  }

  /// Whether it was refunded before `purchase`. Apple refunds the rest of an upgraded period at the moment of the upgrade.
  private func isRefunded(before purchase: TransactionFact) -> Bool {
    revocationDate.map { purchase.purchaseDate.milliseconds(since: $0) > 1_000 } ?? false
  }

  /// Whether the customer bought it; otherwise it is a renewal. Documents from before Apple introduced the reason are
  /// distinguished by their id.
  private var transactionReasonIsPurchase: Bool {
    switch details.transactionReason {
    case .purchase?: true
    case .renewal?: false
    default: transactionID == originalTransactionID
    }
  }
}

extension CustomerHistory.Lane {
  /// `nil` if the grant does not touch the span.
  fileprivate init?(_ grant: GrantFact, _ start: Instant, _ end: Instant) {
    let segments = grant.access.reversed()
      .filter { $0.state.since <= end && max(start, $0.state.since) < $0.end }
      .map { state, until in
        CustomerHistory.Segment(
          start: max(start, state.since), end: until == .openEnd ? nil : until,
          reason: state.external == nil ? .granted : .externalActive, accessLevel: state.accessLevel,
          substate: .standard, transaction: nil, grantID: grant.grantID,
          productID: state.external?.productID ?? "",
          decidingFact: .grant(grant.grantID, revision: state.revision))
      }
    guard !segments.isEmpty else { return nil }
    let revoked = grant.revokedAt.flatMap { $0 >= start && $0 <= end ? $0 : nil }
    let kind: CustomerHistory.Mark.Kind = grant.external == nil ? .grantRevoked : .refunded
    self.init(
      kind: .grant(id: grant.grantID), segments: segments,
      marks: revoked.map { [.init(kind: kind, at: $0, transactionID: "")] } ?? [], productID: "")
  }
}

/// The part of an answer that makes a segment.
private struct SegmentKey: Equatable {
  let reason: EntitlementReason
  let level: AccessLevel
  let substate: EntitlementSubstate
  let fact: DecidingFact?
  /// States of a purchase in another store differ by it only.
  let productID: String?

  init(_ status: EntitlementStatus) {
    reason = status.reason
    level = status.accessLevel
    substate = status.substate
    fact = status.decidingFact
    productID = status.productID
  }
}

/// The answers under `rules` from `start` to `end`, and the expected end of the last one.
private func answerSegments(
  _ facts: CustomerFacts, _ rules: EntitlementRules, _ start: Instant, _ end: Instant
) -> [CustomerHistory.Segment] {
  let intervals = AccessIntervals(facts, rules)
  let transactions = Dictionary(
    facts.transactions.map { ("\($0.originalTransactionID) \($0.transactionID)", $0) },
    uniquingKeysWith: { first, _ in first })
  var segments: [CustomerHistory.Segment] = []
  var (status, since) = (evaluate(facts, intervals, at: start), start)
  func add(until end: Instant?) {
    let key = status.deciding.map { "\($0.originalTransactionID) \($0.transactionID)" }
    segments.append(
      .init(
        start: since, end: end, reason: status.reason, accessLevel: status.accessLevel,
        substate: status.substate, transaction: key.flatMap { transactions[$0] }, grantID: status.grantID,
        productID: status.productID, decidingFact: status.decidingFact))
  }
  for instant in intervals.changeInstants(after: start, facts) {
    let next = evaluate(facts, intervals, at: instant)
    guard SegmentKey(next) != SegmentKey(status) else { continue }
    add(until: instant)
    guard instant <= end else { return segments }
    (status, since) = (next, instant)
  }
  add(until: nil)
  return segments
}
