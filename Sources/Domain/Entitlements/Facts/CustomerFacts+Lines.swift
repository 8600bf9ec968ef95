package import AppStore

// The position of a transaction in its purchase line.
extension CustomerFacts {
  /// The indices of the transactions of a line.
  func range(ofLine originalTransactionID: String) -> Range<Int> {
    // By index, because an element has about 300 bytes and a dozen reference counts.
    let all = transactions.indices
    // Most customers have one line.
    if let last = all.last, transactions[0].originalTransactionID == originalTransactionID,
      transactions[last].originalTransactionID == originalTransactionID
    {
      return all
    }
    let start = all.firstInOrder { transactions[$0].originalTransactionID >= originalTransactionID }
    let rest = start..<all.endIndex
    return start..<rest.firstInOrder { transactions[$0].originalTransactionID > originalTransactionID }
  }

  /// The index of the history of a line; `nil` without renewal info.
  func renewalHistory(ofLine originalTransactionID: String) -> Int? {
    if renewalHistories.count == 1 {
      return renewalHistories[0].originalTransactionID == originalTransactionID ? 0 : nil
    }
    let index = renewalHistories.indices.firstInOrder {
      renewalHistories[$0].originalTransactionID >= originalTransactionID
    }
    guard index < renewalHistories.endIndex,
      renewalHistories[index].originalTransactionID == originalTransactionID
    else { return nil }
    return index
  }

  /// The index of the transaction that replaced the one at `index`: the first later purchase of the same
  /// line, or an upgrade with the same date. A renewal that is refunded or replaced before its period starts replaces nothing, as
  /// after an upgrade in the hours between charge and start. Several transactions can cover one period, for example after adding
  /// seats; they do not replace each other (Apple's `revokedSeatQuantity`: access ends when all of them are revoked).
  package func nextInLine(after index: Int) -> Int? {
    guard !transactions[index].isContradictory else { return firstInLine(afterEndOf: index) }
    let following = period(at: index).upperBound + 1
    var next = firstInLine(purchasedAfter: index, from: following)
    if following < next, isReplacement(next - 1, of: index) { return next - 1 }
    while next < transactions.endIndex,
      transactions[next].originalTransactionID == transactions[index].originalTransactionID
    {
      if !transactions[next].isContradictory, !isWithdrawnBeforeStart(next) { return next }
      next += 1
    }
    return nil
  }

  /// Whether the transaction at `last` is an upgrade that replaced the one at `index` at the instant of its purchase or
  /// renewal. It is the last one with that date, because the later of two has the greater id.
  private func isReplacement(_ last: Int, of index: Int) -> Bool {
    transactions[last].hasOtherPlan(than: transactions[index]) && !transactions[last].isContradictory
      && !isWithdrawnBeforeStart(last)
  }

  /// The first index from `next` on at which no transaction of the line has the purchase date of the one at `index`, which
  /// is before `next`.
  private func firstInLine(purchasedAfter index: Int, from next: Int) -> Int {
    let (line, date) = (transactions[index].originalTransactionID, transactions[index].purchaseDate)
    func isLater(_ other: Int) -> Bool {
      transactions[other].originalTransactionID != line || transactions[other].purchaseDate > date
    }
    // Most transactions have a date of their own, and receipts may have thousands with the same one.
    guard next < transactions.endIndex, !isLater(next) else { return next }
    return (next..<transactions.endIndex).firstInOrder(where: isLater)
  }

  /// The same for a transaction that ends before it begins, which replaces nothing itself. A member who joins in the grace
  /// period of the purchaser may get one, and the recovered payment after it begins earlier.
  private func firstInLine(afterEndOf index: Int) -> Int? {
    guard let end = transactions[index].expiresDate else { return nil }
    return range(ofLine: transactions[index].originalTransactionID).first {
      transactions[$0].purchaseDate >= end && !transactions[$0].isContradictory
    }
  }

  /// The transactions of the period at `index`: the one that began it, then those that added seats to it (Apple:
  /// additionalTransactionReason).
  package func period(at index: Int) -> ClosedRange<Int> {
    let first = beginning(ofPeriodAt: index)
    var last = index
    while last + 1 < transactions.endIndex, continues(last + 1, periodFrom: first) { last += 1 }
    return first...last
  }

  /// The index of the transaction that began the period at `index`; it is the first of those in ``period(at:)``.
  package func beginning(ofPeriodAt index: Int) -> Int {
    var first = index
    // Every evaluation asks, and most transactions add no seats.
    while first > 0, mayAdd(first) { first -= 1 }
    guard first < index else { return index }
    for next in (first + 1)...index where !continues(next, periodFrom: first) { first = next }
    return first
  }

  /// Whether the transaction at `index` may add seats to the period of the one before it.
  private func mayAdd(_ index: Int) -> Bool {
    transactions[index].inDetails { $0.additionalTransactionReason != nil }
      && !transactions[index].beganPeriod
      && transactions[index].productID == transactions[index - 1].productID
      && transactions[index].originalTransactionID == transactions[index - 1].originalTransactionID
  }

  /// Whether the transaction at `index` adds seats to the period that began at `first` and has all transactions in
  /// between.
  private func continues(_ index: Int, periodFrom first: Int) -> Bool {
    mayAdd(index)
      && (transactions[index].addsSeats(toPeriodOf: transactions[first])
        || transactions[index].addsSeats(toPeriodOf: transactions[index - 1]))
  }

  /// The transaction that stands for the period at `index`: the first one that is not revoked, or the one that was
  /// revoked last. The period is revoked only if it is (Apple: revokedSeatQuantity).
  package func standing(ofPeriodAt index: Int) -> Int {
    let period = period(at: index)
    guard period.count > 1 else { return index }
    return period.first { transactions[$0].revocationDate == nil }
      ?? period.max { order(transactions[$0].revocationDate) < order(transactions[$1].revocationDate) }
      ?? index
  }

  /// Whether `transaction` was renewed before its period starts, and the period that was running then is missing.
  package func lacksPeriod(before transaction: TransactionFact) -> Bool {
    transaction.signedDate < transaction.purchaseDate
      && !transactions.contains {
        $0.originalTransactionID == transaction.originalTransactionID
          && $0.purchaseDate <= transaction.signedDate
          && $0.expiresDate.map { transaction.signedDate < $0 } ?? false
      }
  }

  /// The latest subscription period of facts about one line that was not withdrawn before it started: the transaction that
  /// stands for it, and its start; `nil` without one.
  package var latestPeriod: (transaction: TransactionFact, start: Instant)? {
    let all = transactions.indices
    let started = all.last { transactions[$0].isSubscription && !isWithdrawnBeforeStart($0) }
    guard var latest = started ?? all.last(where: { transactions[$0].isSubscription }) else { return nil }
    if transactions[latest].isContradictory {
      while let next = nextInLine(after: latest) { latest = next }
    }
    return (
      transactions[standing(ofPeriodAt: latest)], transactions[beginning(ofPeriodAt: latest)].purchaseDate
    )
  }

  /// The end of the period at `index`. While only one of the documents about an extension has arrived, the ends of its
  /// transactions differ, and the latest one counts. `nil` for a purchase without an expiry.
  package func end(ofPeriodAt index: Int) -> Instant? {
    period(at: index).compactMap { transactions[$0].expiresDate }.max()
  }

  /// When the period at `index` was cut: at its revocation or by the `next` purchase of its line.
  ///
  /// Until the upgrade of an upgraded period arrives, the first document that says so proves only that it was before its
  /// signature. Receipts have whole seconds, so one may seem to be older than the upgrade that it reports.
  package func cut(_ index: Int, _ next: Int?) -> Instant {
    var cut = transactions[index].revocationDate ?? .openEnd
    if let next { cut = min(cut, transactions[next].purchaseDate) }
    guard let upgraded = transactions[index].upgradedBy,
      upgraded.advanced(byMilliseconds: TransactionFact.receiptPrecision) < cut
    else { return cut }
    return upgraded
  }

  /// The end of the paid access at `index`; `next` as in ``cut(_:_:)``.
  func paidEnd(_ index: Int, _ next: Int?) -> Instant {
    min(transactions[index].expiresDate ?? transactions[index].purchaseDate, cut(index, next))
  }

  /// The payment mode of the period at `index`.
  func substate(_ index: Int) -> EntitlementSubstate {
    switch transactions[index].offerType {
    case nil, .unrecognized: .standard
    case .introductory:
      if case .freeTrial = transactions[index].offerDiscountType { .freeTrial } else { .introductoryOffer }
    case .promotional, .offerCode, .winBack, .retention: .subscriptionOffer
    }
  }
}

extension TransactionFact {
  /// Whether this transaction only adds seats to the period of an earlier one.
  ///
  /// Both end together. While only one of the documents about an extension has arrived, or if the extension left out a
  /// refunded transaction, their ends differ by whole days; then it adds seats if it was bought during the period and
  /// covers less than all of it. After a refund of the period, even a reversed one, a purchase begins another period:
  /// see ``beganPeriod`` and ``coversWholePeriod(like:)``.
  package func addsSeats(toPeriodOf first: TransactionFact) -> Bool {
    guard details.additionalTransactionReason != nil, !beganPeriod, productID == first.productID,
      originalTransactionID == first.originalTransactionID, let end = first.expiresDate
    else { return false }
    if expiresDate == end { return true }
    guard first.details.additionalTransactionReason != nil || first.signedDate < purchaseDate,
      let ownEnd = expiresDate, endsWholeDaysApart(from: first),
      ownEnd.milliseconds(since: purchaseDate) < end.milliseconds(since: first.purchaseDate)
    else { return false }
    return details.transactionReason != .renewal
      && (first.purchaseDate..<max(first.purchaseDate, end)).contains(purchaseDate)
      && (first.revocationDate.map { purchaseDate < $0 } ?? true) && !coversWholePeriod(like: first)
  }

  /// Whether the transaction covers exactly one period from its purchase on, as a purchase after a refund does. Added
  /// seats end with the period that they were added to, at the time of day at which that one began, and are bought at
  /// any other.
  private func coversWholePeriod(like first: TransactionFact) -> Bool {
    guard let end = expiresDate, let firstEnd = first.expiresDate else { return false }
    // The first period may have been extended, so it has at least its length.
    let length = Period.ofSubscriptions.first { period in
      first.purchaseDate.ends(ofPeriod: period).contains { $0 <= firstEnd }
    }
    return length.map { purchaseDate.ends(ofPeriod: $0).contains(end) } ?? false
  }

  /// Whether the ends may differ because of an extension, which is by whole days (Apple: extendByDays), except for daylight
  /// saving time. The days of periods shorter than a week, as Apple's sandbox has them, have any length.
  private func endsWholeDaysApart(from first: TransactionFact) -> Bool {
    guard let ownEnd = expiresDate, let firstEnd = first.expiresDate else { return false }
    let (hour, day) = (Int64(3_600_000), Instant.millisecondsPerDay)
    let rest = abs(ownEnd.milliseconds(since: firstEnd)) % day
    return firstEnd.milliseconds(since: first.purchaseDate) < 7 * day || [0, hour, day - hour].contains(rest)
  }

  /// The time for which Apple retries a failed renewal of the period, in milliseconds; see ``BillingRetry``.
  package var billingRetryLength: Int64 {
    isOfCommitment ? BillingRetry.ofCommitment : BillingRetry.ofPlainSubscription
  }

  /// Whether it is a monthly payment of a commitment: the billing plan of a product beside the one that is paid up front.
  package var isOfCommitment: Bool { inDetails { $0.commitment != nil || $0.billingPlanType == .monthly } }

  /// Whether it is of another product than `other`, or of the other billing plan of the same product.
  package func hasOtherPlan(than other: borrowing TransactionFact) -> Bool {
    productID != other.productID || isOfCommitment != other.isOfCommitment
  }
}

extension Period {
  /// The durations of auto-renewable subscriptions, longest first.
  fileprivate static let ofSubscriptions = ["P1Y", "P6M", "P3M", "P2M", "P1M", "P1W"].compactMap {
    Period($0)
  }
}

extension Instant {
  /// Whether a period of a subscription that begins at this instant may end at `end`.
  func isWholePeriod(until end: Instant) -> Bool {
    Period.ofSubscriptions.contains { ends(ofPeriod: $0).contains(end) }
  }

  /// The possible ends of a period that begins at this instant: Apple reckons days and months in Pacific time, which is
  /// an hour ahead in summer.
  fileprivate func ends(ofPeriod period: Period) -> [Instant] {
    let hour: Int64 = 3_600_000
    return [0, -8 * hour].flatMap { offset in
      let end = advanced(byMilliseconds: offset).advanced(by: period).advanced(byMilliseconds: -offset)
      return [-hour, 0, hour].map(end.advanced(byMilliseconds:))
    }
  }
}

/// The times for which Apple retries a failed renewal, in milliseconds.
enum BillingRetry {
  /// WWDC19-302.
  static let ofPlainSubscription: Int64 = 60 * Instant.millisecondsPerDay
  /// Apple, Supporting monthly subscriptions with a 12-month commitment.
  static let ofCommitment: Int64 = 90 * Instant.millisecondsPerDay
}
