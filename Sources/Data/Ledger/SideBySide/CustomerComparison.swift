internal import AppStore
internal import Bytes
internal import CustomerImport
internal import Entitlements
internal import Store

/// The comparison of a customer's access in RevenueCat's events with the answers here. The same events decide about the
/// access of others, so these are compared together.
struct CustomerComparison: Sendable {
  /// The customers that were compared.
  private(set) var customers: [PendingComparison]
  private(set) var disagreements: [OpenDisagreement] = []
  /// The time of their next comparison; `nil` without an event.
  private(set) var next: Instant?

  /// An open disagreement is compared again after the time for which it has been open, within these bounds, and customers
  /// without one after a day, in milliseconds.
  private static let recheckBounds: ClosedRange<Int64> = 2_000...600_000
  /// The time for which the other system may be late to report an end, in milliseconds.
  private static let lateness: Int64 = 300_000

  /// Compares at `now`. Without `comparison` or `app`, events of the app are not compared, and have no disagreements.
  init(
    of pending: PendingComparison, _ comparison: AccessComparison?, in app: AppDefinition?, at now: Instant,
    _ reader: any StoreSnapshot
  ) throws(StoreError) {
    customers = [pending]
    let customer = pending.customer
    guard let app, let comparison else {
      let hasEvents = try !reader.importedEventIDs(naming: customer, limit: 1).isEmpty
      next = hasEvents ? now.advanced(byMilliseconds: Instant.millisecondsPerDay) : nil
      return
    }
    let connected = try ConnectedEvents(of: customer, reader)
    guard !connected.events.isEmpty else { return }
    let owner = try reader.finalMergeTarget(of: customer)
    for other in connected.events.compactMap(\.customerID).distinctIDs.map(customer.other)
    where other != customer {
      // Without all events, the access of other customers is not known.
      let target = try reader.finalMergeTarget(of: other)
      guard connected.isComplete || target == owner else { continue }
      if let comparison = try reader.comparison(of: other) { customers.append(comparison) }
    }
    var stated: [CustomerKey: [StatedAccess]] = [:]
    for access in comparison.access(statedBy: connected.events) {
      let target = try reader.finalMergeTarget(of: customer.other(access.customerID))
      if connected.isComplete || target == owner { stated[target, default: []].append(access) }
    }
    var ends: [Instant] = []
    for (owner, parts) in stated {
      ends += try compare(StatedAccess.joined(parts), of: owner, comparison, in: app, at: now, reader)
    }
    next = nextComparison(after: now, ends)
  }

  /// Compares what is stated about a customer and those who were merged into it: it has the purchases of all of them.
  ///
  /// - Returns: the ends of access on both sides.
  private mutating func compare(
    _ stated: [StatedAccess], of owner: CustomerKey, _ comparison: AccessComparison, in app: AppDefinition,
    at now: Instant, _ reader: any StoreSnapshot
  ) throws(StoreError) -> [Instant] {
    let facts = try reader.facts(of: owner) ?? CustomerFacts()
    var ends: [Instant] = []
    for access in stated {
      let status = evaluate(facts, entitlement: access.entitlement, in: app, at: now)
      ends += [access.deciding?.until, status.until].compactMap { $0 }
      let kind = comparison.disagreement(
        about: access, isEntitled: status.isEntitled, until: status.until, paidUntil: status.paidUntil,
        at: now)
      guard let kind else { continue }
      // One of several ids that were merged has the disagreement.
      let customer = owner.other(access.customerID)
      disagreements.append(
        OpenDisagreement(
          customer: customer, entitlement: access.entitlement, kind: kind,
          detectedAt: try reader.detectionTime(ofDisagreementAbout: access.entitlement, of: customer) ?? now,
          checkedAt: now,
          statedUntil: access.deciding?.until, eventID: access.deciding?.eventID ?? "",
          reason: status.reason, until: status.until,
          evidenceID: try reader.evidence(deciding: status, of: owner)))
    }
    return ends
  }

  /// When the customers are compared again: after the next end of access, and sooner the younger a disagreement is; after a
  /// day at the latest.
  private func nextComparison(after now: Instant, _ ends: [Instant]) -> Instant {
    var delay = Instant.millisecondsPerDay
    if let end = ends.filter({ $0 > now }).min() {
      delay = min(delay, end.milliseconds(since: now) + Self.lateness)
    }
    for open in disagreements {
      let age = now.milliseconds(since: open.detectedAt)
      delay = min(delay, max(Self.recheckBounds.lowerBound, min(Self.recheckBounds.upperBound, age)))
    }
    return now.advanced(byMilliseconds: delay)
  }
}
