internal import AppStore
internal import Bytes
internal import CustomerImport
internal import Entitlements
internal import Store

/// The comparison of one customer's access in RevenueCat's events with the answers here.
struct CustomerComparison: Sendable {
  private(set) var disagreements: [OpenDisagreement] = []
  /// The time of the next comparison; `nil` without a statement about the customer.
  private(set) var next: Instant?
  /// The other customers that the same events name, such as one who received the purchases.
  private(set) var others: [CustomerKey] = []

  /// The maximum number of ids whose events are read, and of events of each.
  private static let maxIDs = 32
  private static let maxEvents = 500
  /// An open disagreement is compared again after the time for which it has been open, within these bounds, and another
  /// customer after a day, in milliseconds.
  private static let recheckBounds: ClosedRange<Int64> = 2_000...600_000
  /// The time for which the other system may be late to report an end, in milliseconds.
  private static let lateness: Int64 = 300_000

  /// Creates a result without statements.
  init() {}

  /// Compares at `now`.
  init(
    of customer: CustomerKey, _ comparison: AccessComparison, in app: AppDefinition, at now: Instant,
    _ reader: any StoreSnapshot
  ) throws(StoreError) {
    let owner = try reader.finalMergeTarget(of: customer)
    let found = comparison.access(statedBy: try Self.bodies(concerning: owner, reader))
    others = found.map(\.customerID).distinctIDs.map(customer.other).filter { $0 != customer }
    let stated = try Self.access(of: owner, in: found, reader)
    guard !stated.isEmpty else { return }
    var filter = DisagreementFilter(
      appID: customer.appID, environment: customer.environment, limit: .max)
    filter.customerID = customer.customerID
    let earlier = Dictionary(
      try reader.openDisagreements(filter).map { ($0.entitlement, $0.detectedAt) }, uniquingKeysWith: min)
    let facts = try reader.facts(of: owner) ?? CustomerFacts()
    var ends: [Instant] = []
    for access in stated {
      let status = evaluate(facts, entitlement: access.entitlement, in: app, at: now)
      ends += [access.deciding?.until, status.until].compactMap { $0 }.filter { $0 > now }
      let kind = comparison.disagreement(
        about: access, isEntitled: status.isEntitled, until: status.until, paidUntil: status.paidUntil,
        at: now)
      // One of several ids that were merged has the disagreement.
      guard let kind, customer.isAmong([access.customerID]) else { continue }
      disagreements.append(
        OpenDisagreement(
          customer: customer, entitlement: access.entitlement, kind: kind,
          detectedAt: earlier[access.entitlement] ?? now, checkedAt: now,
          statedUntil: access.deciding?.until, eventID: access.deciding?.eventID ?? "",
          reason: status.reason, until: status.until,
          evidenceID: try reader.evidence(deciding: status, of: owner)))
    }
    next = nextComparison(after: now, ends)
  }

  /// When the customer is compared again: after the next end of access, and sooner the younger a
  /// disagreement is; after a day at the latest.
  private func nextComparison(after now: Instant, _ ends: [Instant]) -> Instant {
    var delay = Instant.millisecondsPerDay
    if let end = ends.min() { delay = min(delay, end.milliseconds(since: now) + Self.lateness) }
    for open in disagreements {
      let age = now.milliseconds(since: open.detectedAt)
      delay = min(delay, max(Self.recheckBounds.lowerBound, min(Self.recheckBounds.upperBound, age)))
    }
    return now.advanced(byMilliseconds: delay)
  }

  /// What is stated about a customer and those who were merged into it: it has the purchases of all of them.
  private static func access(
    of owner: CustomerKey, in found: [StatedAccess], _ reader: any StoreSnapshot
  ) throws(StoreError) -> [StatedAccess] {
    var parts: [StatedAccess] = []
    for access in found {
      guard try reader.finalMergeTarget(of: owner.other(access.customerID)) == owner else { continue }
      parts.append(access)
    }
    return StatedAccess.joined(parts)
  }

  /// The bodies of the events of a customer, of those who were merged into it, and of all others that these events name:
  /// other ids of the customer, and the customers of transfers.
  private static func bodies(
    concerning customer: CustomerKey, _ reader: any StoreSnapshot
  ) throws(StoreError) -> [[UInt8]] {
    var (ids, next) = ([customer.customerID], 0)
    var bodies: [[UInt8]] = []
    while next < ids.count, next < maxIDs {
      let id = customer.other(ids[next])
      let found = try reader.importedEvents(naming: id, limit: maxEvents)
      next += 1
      bodies += found
      let named = found.flatMap { (try? RevenueCatEvent($0))?.allCustomerIDs ?? [] }
      for id in try reader.mergedCustomers(into: id) + named where !ids.containsID(id) { ids.append(id) }
    }
    return bodies
  }
}
