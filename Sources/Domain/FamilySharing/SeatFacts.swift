internal import AppStore
package import Entitlements

// The facts of a seat.
extension CustomerFacts {
  /// Returns the facts of a seat: each period of the purchase from the claim on, as an `ASSIGNED` transaction
  /// of the seat's own line, without price and offer.
  ///
  /// While there are fewer seats than claims, the oldest claims have access and the others wait for a
  /// released or additional seat. Of several times with access in one period the transaction begins with the last one,
  /// and ``TransactionDetails/earlierSeatTimes`` has the others. The purchaser's access is not affected. A seat that is
  /// claimed, or free again, after a failed payment has the rest of the grace period: as for a member who joins then,
  /// its transaction begins after the expiry.
  ///
  /// - `self`: all facts of the purchase.
  /// - `seats`: all claims of this purchase, including `seat`.
  package func assigned(to seat: Seat, among seats: [Seat]) -> CustomerFacts {
    let capacity = SeatCapacity(self)
    let earlier = EarlierClaims(than: seat, among: seats)
    let purchase = withoutCopies
    let retries = purchase.retriesOfFailedPayments
    var periods = SeatPeriods()
    for (index, transaction) in purchase.transactions.enumerated()
    where !purchase.isWithdrawnBeforeStart(index) {
      let start = max(seat.claimedAt, transaction.purchaseDate)
      let retryEnd = retries[purchase.beginning(ofPeriodAt: index)]
      let endOfSeats = purchase.endOfSeats(at: index, retriedUntil: retryEnd)
      let end = min(endOfSeats, seat.releasedAt ?? .distantFuture)
      let times =
        start < end ? earlier.accessTimes(to: capacity.steps(at: index), from: start, until: end) : []
      if times.first?.lowerBound != transaction.purchaseDate { periods.end(at: transaction.purchaseDate) }
      guard !times.isEmpty else { continue }
      periods.append(transaction.assigned(to: seat, in: times, of: endOfSeats), hasFailed: retryEnd != nil)
    }
    if let releasedAt = seat.releasedAt { periods.end(at: releasedAt) }
    var facts = CustomerFacts(transactions: periods.transactions)
    // Renewal infos without a transaction are a contradiction, and a claim that never had a seat is none.
    guard !facts.transactions.isEmpty else { return facts }
    for history in renewalHistories {
      // Later renewal infos are about time in which the claim has no seat.
      for (index, signature) in history.signatures.enumerated()
      where signature.signedDate < seat.releasedAt ?? .distantFuture {
        facts.insert(history.document(index).assigned(to: seat), knownAt: signature.knownAt)
      }
    }
    return facts
  }
}

extension CustomerFacts {
  /// The end of the time in which the seats of the transaction at `index` may have access, unless they are taken before: its
  /// paid time, and after a failed payment that in which the App Store retries it. The catalog and the renewal infos say
  /// for how much of that there is a grace period.
  fileprivate func endOfSeats(at index: Int, retriedUntil retryEnd: Instant?) -> Instant {
    let end = transactions[index].expiresDate ?? transactions[index].purchaseDate
    return min(max(end, retryEnd ?? end), cut(index, nextInLine(after: index)))
  }
}

/// The claims of a purchase that get its seats before another one.
private struct EarlierClaims {
  private let count: Int64
  /// In ascending order.
  private let releases: [Instant]

  init(than seat: Seat, among seats: [Seat]) {
    let earlier = seats.filter { $0.precedes(seat) }
    count = Int64(earlier.count)
    releases = earlier.compactMap(\.releasedAt).sorted()
  }

  /// The times between `start` and `end`, in order, in which fewer of these claims are held than there are seats.
  func accessTimes(
    to steps: [SeatCapacity.Step], from start: Instant, until end: Instant
  ) -> [Range<Instant>] {
    let changes = (steps.map(\.start) + releases).filter { start < $0 && $0 < end }.sorted()
    var (released, seats) = (releases[...], steps[...])
    var current: Int64 = 0
    var (times, since): ([Range<Instant>], Instant?) = ([], nil)
    for instant in [start] + changes {
      while let first = released.first, first <= instant { released.removeFirst() }
      while let first = seats.first, first.start <= instant {
        current = first.count
        seats.removeFirst()
      }
      let held = count - Int64(releases.count - released.count)
      if held < current {
        since = since ?? instant
      } else if let begun = since {
        times.append(begun..<instant)
        since = nil
      }
    }
    return times + (since.map { [$0..<end] } ?? [])
  }
}

/// The periods of a seat.
private struct SeatPeriods {
  private(set) var transactions: [TransactionFact] = []
  /// Whether the payment after the last period failed, so that access may have continued.
  private var hasFailed = false

  /// Adds a transaction, after those of earlier periods.
  mutating func append(_ transaction: TransactionFact, hasFailed: Bool) {
    transactions.append(transaction)
    self.hasFailed = hasFailed
  }

  /// The longest renewal slack of a configuration, in milliseconds.
  private static let longestSlack = Instant.millisecondsPerDay

  /// Ends the last period at `instant`, from which on the claim has no seat. Its access may have continued after the
  /// period, in a grace period or while the renewal was awaited.
  mutating func end(at instant: Instant) {
    guard let end = transactions.last?.expiresDate,
      hasFailed || instant.milliseconds(since: end) < Self.longestSlack
    else { return }
    for index in transactions.indices.reversed() {
      guard transactions[index].expiresDate == end else { return }
      guard transactions[index].purchaseDate <= instant else { continue }
      transactions[index].takeSeat(at: instant)
    }
  }
}

extension TransactionFact {
  /// The period as the seat has it, in `times`, the last of which a seat that is not taken has until `endOfSeats`.
  fileprivate func assigned(
    to seat: Seat, in times: [Range<Instant>], of endOfSeats: Instant
  ) -> TransactionFact {
    let access = times.last ?? endOfSeats..<endOfSeats
    var fact = TransactionFact(
      transactionID: transactionID, originalTransactionID: seat.seatID, productID: productID, type: type,
      purchaseDate: access.lowerBound, expiresDate: expiresDate, revocationDate: revocationDate,
      revocationReason: revocationReason, revocationType: revocationType, isUpgraded: isUpgraded,
      ownership: .assigned, subscriptionGroupID: subscriptionGroupID, signedDate: signedDate)
    fact.details.additionalTransactionReason = details.additionalTransactionReason
    fact.details.wasWithoutAdditions = details.wasWithoutAdditions
    fact.details.upgradeReportedAt = details.upgradeReportedAt
    // A failed payment of a commitment ends the access of its seats at once, too.
    fact.details.billingPlanType = details.commitment == nil ? details.billingPlanType : .monthly
    fact.details.earlierSeatTimes = times.dropLast()
    if access.upperBound < endOfSeats { fact.takeSeat(at: access.upperBound) }
    return fact
  }

  /// Ends it at `instant`, unless it was revoked before.
  fileprivate mutating func takeSeat(at instant: Instant) {
    guard instant < revocationDate ?? .distantFuture else { return }
    revocationDate = instant
    revocationType = .familyRevoke
  }
}

extension RenewalFact {
  /// The renewal info without the fields that concern the payer.
  fileprivate func assigned(to seat: Seat) -> RenewalFact {
    var fact = RenewalFact(
      originalTransactionID: seat.seatID, productID: productID, autoRenewProductID: autoRenewProductID,
      autoRenewStatus: autoRenewStatus, isInBillingRetry: isInBillingRetry,
      gracePeriodExpiresDate: gracePeriodExpiresDate, expirationIntent: expirationIntent,
      renewalDate: renewalDate, signedDate: signedDate)
    if let plan = details.billingPlanType { fact.details.billingPlanType = plan }
    return fact
  }
}
