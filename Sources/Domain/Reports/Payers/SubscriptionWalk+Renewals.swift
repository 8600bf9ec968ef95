internal import AppStore
internal import Entitlements

/// Apple's reports about the next renewal of one subscription, in times.
struct RenewalTimes {
  /// By the start of the period that they describe.
  private let reports: [Instant: [RenewalReport]]
  /// The products of the next periods.
  private let nextProductIDs: Set<String>

  /// - lines: the purchases of the subscription.
  init(_ lines: [String], _ facts: borrowing CustomerFacts) {
    var reports: [Instant: [RenewalReport]] = [:]
    var nextProductIDs: Set<String> = []
    for line in lines {
      for report in facts.renewalReports(ofLine: line) {
        reports[report.periodStart, default: []].append(report)
        if let next = report.nextProductID { nextProductIDs.insert(next) }
      }
    }
    self.reports = reports
    self.nextProductIDs = nextProductIDs
  }

  /// Whether a report names another product than `productID` for a next period. Most subscriptions have no such plan.
  func mayPlan(otherThan productID: String) -> Bool { nextProductIDs.contains { $0 != productID } }

  var isEmpty: Bool { reports.isEmpty }

  /// The reports about the periods with these starts, in the order in which they came into force.
  func reports(ofPeriods starts: [Instant]) -> [RenewalReport] {
    if reports.isEmpty { return [] }
    let found = starts.flatMap { reports[$0] ?? [] }
    return starts.count == 1 ? found : found.sorted { $0.inForceFrom < $1.inForceFrom }
  }

  /// The times in which the last one of reports in their order matches, in order.
  static func times(
    in reports: [RenewalReport], where matches: (RenewalReport) -> Bool
  ) -> [(start: Instant, end: Instant)] {
    var times: [(start: Instant, end: Instant)] = []
    var since: Instant?
    for report in reports {
      if matches(report) {
        since = since ?? report.inForceFrom
      } else if let start = since {
        times.append((start, report.inForceFrom))
        since = nil
      }
    }
    if let since { times.append((since, .openEnd)) }
    return times
  }
}

extension SubscriptionWalk {
  /// Records added seats and the times with renewal off, with an unanswered price increase and with a planned downgrade, up to
  /// the end of access. After an early charge, Apple reports about the next period already.
  mutating func addRenewalTimes(
    _ period: SubscriptionPeriod, _ next: SubscriptionPeriod?, until end: Instant
  ) {
    // Most subscriptions have no reports that matter, and then need no list.
    let starts =
      renewals.isEmpty ? [] : [period.start] + period.withdrawn + (next.map { [$0.start] } ?? [])
    let reports = renewals.reports(ofPeriods: starts)
    addAmounts(of: period, reports, until: end)
    if reports.isEmpty { return }
    if period.commitment?.isEnding ?? true {
      for off in RenewalTimes.times(in: reports, where: \.isOff) where off.start < end {
        span(.atRisk, period, max(off.start, inForceSince), min(off.end, end))
        if off.start > inForceSince {
          let isByApple = isTurnedOffByApple(at: off.start)
          flow(.renewalTurnedOff, period, at: off.start) { posting in
            posting.reason = isByApple ? RenewalReason.apple : ""
          }
        }
        if off.end > inForceSince, off.end < end { flow(.renewalTurnedOn, period, at: off.end) { _ in } }
      }
    }
    guard !period.isTrial else { return }
    for asked in RenewalTimes.times(in: reports, where: \.awaitsConsent) where asked.start < end {
      span(.consentPending, period, max(asked.start, inForceSince), min(asked.end, end))
    }
    addDowngrades(period, next, reports, until: end)
    addPlans(of: period, during: period, until: end)
    if let next { addPlans(of: next, during: period, until: end) }
  }

  /// Records the times in which a downgrade was planned for the next renewal.
  private mutating func addDowngrades(
    _ period: SubscriptionPeriod, _ next: SubscriptionPeriod?, _ reports: [RenewalReport], until end: Instant
  ) {
    let productID = period.dimensions.productID
    guard renewals.mayPlan(otherThan: productID) else { return }
    let described =
      period.withdrawn.isEmpty
      ? reports : renewals.reports(ofPeriods: [period.start] + (next.map { [$0.start] } ?? []))
    let downgrades = RenewalTimes.times(in: described) {
      app.isDowngrade(from: productID, to: $0.nextProductID ?? productID)
    }
    for plan in downgrades where plan.start < end {
      span(.pendingDowngrade, period, max(plan.start, inForceSince), min(plan.end, end))
    }
  }

  /// Records during a running period that another product was planned for the renewal after the period `described`, and that the
  /// plan was taken back. A period that is charged before it begins can have another plan.
  private mutating func addPlans(
    of described: SubscriptionPeriod, during period: SubscriptionPeriod, until end: Instant
  ) {
    let productID = described.dimensions.productID
    guard renewals.mayPlan(otherThan: productID) else { return }
    let reports = renewals.reports(ofPeriods: [described.start])
    let downgrades = RenewalTimes.times(in: reports) {
      app.isDowngrade(from: productID, to: $0.nextProductID ?? productID)
    }
    for plan in downgrades where plan.start < end {
      addPlan(plan, .downgradeRequested, .downgradeWithdrawn, period, until: end)
    }
    let crossgrades = RenewalTimes.times(in: reports) {
      app.isCrossgrade(from: productID, to: $0.nextProductID ?? productID)
    }
    for plan in crossgrades where plan.start < end {
      addPlan(plan, .crossgradeRequested, .crossgradeWithdrawn, period, until: end)
    }
  }

  /// Records that another product was planned for the next renewal, and that the plan was taken back.
  private mutating func addPlan(
    _ plan: (start: Instant, end: Instant), _ requested: Posting.Kind, _ withdrawn: Posting.Kind,
    _ period: SubscriptionPeriod, until end: Instant
  ) {
    if plan.start > inForceSince { flow(requested, period, at: plan.start) { _ in } }
    if plan.end > inForceSince, plan.end < end { flow(withdrawn, period, at: plan.end) { _ in } }
  }

  /// Records the end of a period by a cancellation, and how long after the start of the subscription it was.
  mutating func loseByCancellation(_ period: SubscriptionPeriod) {
    let reports = renewals.reports(ofPeriods: [period.start])
    guard let off = RenewalTimes.times(in: reports, where: \.isOff).last else {
      return lose(.lapsedVoluntary, "CANCELLED", at: period.expires)
    }
    if !period.isTrial, !period.hasReversedRefund(at: off.start) {
      let days = off.start.milliseconds(since: stintStart) / ReportDay.length
      flow(.cancelledAfter, period, at: period.expires) { posting in
        posting.reason = CancellationTime(days: days).rawValue
      }
    }
    let isSoon = off.start.milliseconds(since: period.start) <= ReportDay.length
    lose(.lapsedVoluntary, isSoon ? "CANCELLED_WITHIN_A_DAY" : "CANCELLED", at: period.expires)
  }

  /// Records what preceded the end of a paid period.
  mutating func addLapseContexts(_ period: SubscriptionPeriod, hasFailed: Bool, at end: Instant) {
    guard !period.isTrial else { return }
    var contexts: [LapseContext] = hasFailed ? [.failedPayment] : []
    let reports = renewals.reports(ofPeriods: [period.start]).filter { $0.inForceFrom <= end }
    if reports.contains(where: \.awaitsConsent) { contexts.append(.priceIncrease) }
    // The last report about a period that ends is about its end, so a plan counts if any report had it.
    let productID = period.dimensions.productID
    if reports.contains(where: { app.isDowngrade(from: productID, to: $0.nextProductID ?? productID) }) {
      contexts.append(.plannedDowngrade)
    }
    for context in contexts {
      flow(.lapsedAfter, period, at: end) { posting in posting.reason = context.rawValue }
    }
  }
}

extension SubscriptionWalk {
  /// The time before or after its request about a refund in which Apple reports that it turned auto-renew
  /// off, in milliseconds.
  private static let requestTolerance: Int64 = 3_600_000

  /// Whether Apple turned auto-renew off at an instant: it does so when a customer requests a refund.
  private func isTurnedOffByApple(at instant: Instant) -> Bool {
    refundRequests.contains { abs(instant.milliseconds(since: $0)) <= Self.requestTolerance }
  }
}

extension SubscriptionPeriod {
  /// Whether the period was refunded at an instant. Apple's reversal of the refund leaves auto-renew off.
  fileprivate func hasReversedRefund(at instant: Instant) -> Bool {
    reversedRefunds.contains { $0.start <= instant && instant <= $0.end }
  }
}

/// The reasons of ``Posting/Kind/renewalTurnedOff``; a customer has none.
enum RenewalReason {
  static let apple = "APPLE"
}

extension AppDefinition {
  func isDowngrade(from old: String, to new: String) -> Bool {
    guard old != new, let from = products[old]?.level, let to = products[new]?.level else { return false }
    // Level 1 is the highest.
    return to > from
  }

  func isCrossgrade(from old: String, to new: String) -> Bool {
    guard old != new, let from = products[old]?.level, let to = products[new]?.level else { return false }
    return to == from
  }
}
