package import AppStore

/// The time a customer has paid for a subscription group. After one year Apple's commission falls from 30 %
/// to 15 %.
///
/// Free trials and the days of an extension do not count (Apple: Extending the renewal date for auto-renewable
/// subscriptions). A gap of up to 60 days pauses the count, a longer one resets it. A payment that is recovered in the
/// grace period leaves no gap. Periods whose documents are missing pause the count, however many they are: the customer
/// had the subscription, but nothing says which days were paid.
///
/// Apple's documents have no mark of an extension, and periods of one duration differ by up to three days. So an extension is
/// known only by a document from before it (``TransactionDetails/firstExpiresDate``); without one its days count.
package enum PaidService {
  /// Returns the milliseconds of paid service up to `now` in the periods at `indices`, which are of one
  /// group.
  static func milliseconds(
    _ indices: [Int], _ facts: borrowing CustomerFacts, upTo now: Instant
  ) -> Int64 {
    milliseconds(periods(indices, facts), upTo: now)
  }

  /// Returns the milliseconds of paid service up to `now` in periods of one group, which are in order.
  static func milliseconds(_ periods: [Period], upTo now: Instant) -> Int64 {
    var total: Int64 = 0
    var coveredUntil: Instant?
    for period in periods where period.start < now {
      let end = min(period.end, now)
      let from = max(period.start, coveredUntil ?? period.start)
      if let coveredUntil, period.start.milliseconds(since: coveredUntil) > maxPause { total = 0 }
      if period.isPaid { total += max(0, end.milliseconds(since: from)) }
      coveredUntil = max(end, coveredUntil ?? end)
    }
    guard let coveredUntil, now.milliseconds(since: coveredUntil) <= maxPause else { return 0 }
    return total
  }

  /// The longest gap that does not reset the count, in milliseconds.
  package static let maxPause: Int64 = 60 * Instant.millisecondsPerDay

  /// A time for which the customer had a subscription.
  package struct Period: Sendable {
    /// The purchase date of the period.
    package let start: Instant
    /// Exclusive; of a period that a refund cut short, the refund.
    package let end: Instant
    /// Whether it counts: it was neither a free trial nor an extension, and its documents are stored.
    package let isPaid: Bool
  }

  /// The times of the periods at `indices`, in order; the time that an extension added, and a long one without documents,
  /// are separate.
  package static func periods(_ indices: [Int], _ facts: borrowing CustomerFacts) -> [Period] {
    var periods: [Period] = []
    periods.reserveCapacity(indices.count)
    for index in indices
    where !facts.transactions[index].isShared && !facts.isReplacedBeforeStart(index) {
      let next = facts.nextInLine(after: index)
      let isPaid = facts.transactions[index].offerDiscountType != .freeTrial
      let start = facts.transactions[index].purchaseDate
      var end = max(start, facts.paidEnd(index, next))
      var recovered: Period?
      if let next, facts.recovery(index, next) == .inGracePeriod {
        // The payment is for this time, too.
        recovered = Period(
          start: end, end: facts.transactions[next].purchaseDate,
          isPaid: facts.transactions[next].offerDiscountType != .freeTrial)
      }
      if let next, let missing = facts.missingTime(from: end, index, next) { periods.append(missing) }
      if let firstEnd = facts.transactions[index].firstEnd, start < firstEnd, firstEnd < end {
        periods.append(Period(start: firstEnd, end: end, isPaid: false))
        end = firstEnd
      }
      periods.append(Period(start: start, end: end, isPaid: isPaid))
      if let recovered { periods.append(recovered) }
    }
    return periods.sorted { ($0.start, $0.end) < ($1.start, $1.end) }
  }
}

extension CustomerFacts {
  /// The time from the `end` of the period at `index` to the one at `next` if it would reset the count, and the documents about
  /// it are missing.
  fileprivate func missingTime(from end: Instant, _ index: Int, _ next: Int) -> PaidService.Period? {
    let start = transactions[next].purchaseDate
    guard start.milliseconds(since: end) > PaidService.maxPause,
      gap(after: index, before: next, slack: 0) == .missingPeriods
    else { return nil }
    return PaidService.Period(start: end, end: start, isPaid: false)
  }
}

/// The way in which a failed payment was recovered.
package enum Recovery {
  /// In Apple's grace period: the billing cycle stays the same and the time in between is paid.
  case inGracePeriod
  /// After the grace period: a new billing cycle starts on the day of the payment.
  case afterGracePeriod
}

extension CustomerFacts {
  /// Returns the way in which the payment of the period at `next` was recovered after the period at `index` ended;
  /// `nil` if it was paid on time or is a new purchase.
  ///
  /// Renewal info with a grace period decides. Without one, and afterwards, Apple reports only the dates of the periods: if the
  /// cycle was kept, the new period ends one period after the end of the old one, and not one period after the payment. An
  /// extension changes neither. The length of a trial or another offer may differ, so after or before one the calendar
  /// decides where it can.
  package func recovery(_ index: Int, _ next: Int) -> Recovery? {
    let payment = transactions[next].purchaseDate
    // Most periods follow without a gap, and the rest of the conditions copies both transactions.
    guard let expiry = transactions[index].expiresDate, expiry < payment,
      let end = transactions[next].firstEnd, transactions[index].revocationDate == nil,
      transactions[index].productID == transactions[next].productID,
      transactions[next].inDetails({ $0.transactionReason != .purchase })
    else { return nil }
    guard payment.milliseconds(since: expiry) <= transactions[index].billingRetryLength else { return nil }
    if let graceEnd = graceEnd(after: index) {
      return payment <= graceEnd ? .inGracePeriod : .afterGracePeriod
    }
    if transactions[index].offerType != transactions[next].offerType {
      let isKept = expiry.isWholePeriod(until: end)
      if isKept != payment.isWholePeriod(until: end) { return isKept ? .inGracePeriod : .afterGracePeriod }
    }
    let start = transactions[beginning(ofPeriodAt: index)].purchaseDate
    let length = (transactions[index].firstEnd ?? expiry).milliseconds(since: start)
    let kept = abs(end.milliseconds(since: expiry) - length)
    let restarted = abs(end.milliseconds(since: payment) - length)
    return kept < restarted ? .inGracePeriod : .afterGracePeriod
  }
}
