package import AppStore
internal import Entitlements
package import Store

/// Schedules status polls: when to call Get All Subscription Statuses, because a subscription may have ended
/// or renewed without a notification (WWDC18-705, "status polling").
///
/// Renewal info that Apple signed, however it arrived, and each poll settle the state at all times before. So
/// where notifications arrive, there are no polls. A transaction alone settles nothing, whenever it was
/// signed: a device can have it signed again at any time, and it does not contain grace periods or failed
/// charges.
struct PollSchedule {
  private static let minute: Int64 = 60_000
  private static let hour = 60 * minute
  private static let day = 24 * hour

  /// Milliseconds after the end of a period at which to poll whether the subscription renewed: first at once and
  /// soon again, because the access of a customer who paid depends on it, then less often.
  private static let whileRenewalIsExpected: [Int64] = [0, 5 * minute]
  private static let afterEnd = [
    15 * minute, hour, 6 * hour, day, 3 * day, 7 * day, 16 * day, 30 * day, 60 * day,
  ]
  /// The same for a charge that is known to have failed. Apple recovers most charges in the first 16 days
  /// (WWDC19-302).
  private static let inBillingRetry = [
    day, 3 * day, 7 * day, 16 * day, 30 * day, 45 * day, 60 * day, 75 * day,
  ]

  /// Returns when to poll next; `nil` if the state is settled.
  ///
  /// `facts` are those of one line; `polledAt` is the time of the last poll.
  static func next(_ facts: CustomerFacts, polledAt: Instant?) -> Instant? {
    guard let (transaction, start) = facts.latestPeriod, let end = transaction.expiresDate else { return nil }
    // A refund ended it; its reversal and a new purchase have no schedule.
    guard transaction.revocationDate == nil else { return nil }
    // The first known transaction was renewed early, so the App Store has a period that decides access now. Each poll
    // gets the transaction signed again, a moment after the poll began.
    if facts.lacksPeriod(before: transaction),
      polledAt.map({ $0.advanced(byMilliseconds: minute) < transaction.signedDate }) ?? true
    {
      return transaction.signedDate
    }
    // Apple sends a member of a family a document for each period that is no longer shared, and one may be missing.
    if let revokedAt = facts.revocation(between: transaction.signedDate, and: start),
      polledAt.map({ $0 < revokedAt }) ?? true
    {
      return revokedAt
    }
    let signedAt = facts.renewals.first?.signedDate
    let settledAt = max(start, signedAt ?? .distantPast, polledAt ?? .distantPast)
    // The newest renewal info may be about the period before: Apple reports a failed charge when that period ends, also if a
    // later charge, before its end, was successful.
    let index = facts.transactions.firstIndex { $0.isSame(as: transaction) }
    let renewal = index.flatMap { facts.renewal(of: $0, at: .distantFuture) }
    let polls = PollSchedule(
      transaction: transaction, renewal: renewal, end: end, settledAt: settledAt
    ).polls
    // An old purchase that is submitted late was settled long ago.
    guard let last = polls.last, transaction.signedDate <= last else { return nil }
    return polls.first { $0 > settledAt }
  }

  /// Returns when to repeat a poll that was due at `due` and failed at `instant`: after a quarter of the time for which it
  /// is overdue, so that the pauses grow, between a minute and six hours.
  static func retry(of due: Instant, failedAt instant: Instant) -> Instant {
    let overdue = instant.milliseconds(since: due)
    guard overdue >= 0 else { return due }
    return instant.advanced(byMilliseconds: min(max(minute, overdue / 4), 6 * hour))
  }

  private let transaction: TransactionFact
  /// The latest renewal info about the period; `nil` if there is none.
  private let renewal: RenewalFact?
  /// The end of the paid period.
  private let end: Instant
  /// The last time at which Apple stated the state.
  private let settledAt: Instant

  /// All polls of the period in order, settled or not.
  private var polls: [Instant] {
    if transaction.isUpgraded {
      // The transaction that replaced it is missing.
      return untilRetryEnds(Self.afterEnd).map { after(transaction.signedDate, $0) }
    }
    guard let renewal else { return pollBeforeEnd + pollsAfterEnd }
    if renewal.isInBillingRetry || renewal.gracePeriodExpiresDate != nil {
      let endOfGrace = renewal.gracePeriodExpiresDate.map { [after($0, 15 * Self.minute)] } ?? []
      return (untilRetryEnds(Self.inBillingRetry).map { after(end, $0) } + endOfGrace).sorted()
    }
    guard renewal.signedDate < end || renewal.expirationIntent == nil else { return [] }
    return pollBeforeEnd + pollsAfterEnd
  }

  private var pollsAfterEnd: [Instant] {
    let expected = renewal?.autoRenewStatus == .off ? [] : Self.whileRenewalIsExpected
    return (expected + untilRetryEnds(Self.afterEnd)).map { after(end, $0) }
  }

  /// The delays during billing retry, and one an hour after its end, which is later in a commitment.
  private func untilRetryEnds(_ delays: [Int64]) -> [Int64] {
    let length = transaction.billingRetryLength
    return delays.filter { $0 < length } + [length + Self.hour]
  }

  /// One poll shortly before the end, if the state was not settled in the last day, because Apple charges in
  /// these hours. With auto-renew off there is no charge.
  private var pollBeforeEnd: [Instant] {
    guard after(settledAt, Self.day) < end, renewal?.autoRenewStatus != .off else { return [] }
    return [after(end, -30 * Self.minute)]
  }

  /// `instant` plus a delay, which shrinks with periods shorter than a week, as Apple's sandbox has them.
  private func after(_ instant: Instant, _ milliseconds: Int64) -> Instant {
    let week = 7 * Self.day
    let period = max(0, end.milliseconds(since: transaction.purchaseDate))
    guard period < week else { return instant.advanced(byMilliseconds: milliseconds) }
    return instant.advanced(byMilliseconds: milliseconds / 1_000 * period / (week / 1_000))
  }
}

extension CustomerFacts {
  /// When Apple last revoked a transaction of the line after it signed the latest one and before that starts; `nil` if it
  /// did not. A period that is charged early is signed before it starts.
  fileprivate func revocation(between signed: Instant, and start: Instant) -> Instant? {
    transactions.compactMap(\.revocationDate).filter { signed < $0 && $0 < start }.max()
  }
}

extension Instant {
  /// Before everything that Apple signed.
  fileprivate static let distantPast = Instant(millisecondsSince1970: 0)
}

// The polls themselves, which another component makes.
extension EvidenceLedger {
  /// Checks again whether lines are due for a poll at `instant`, and reschedules those that are not. Check
  /// and schedule are one write, because a notification between them would settle the line.
  ///
  /// - Returns: the lines that are due.
  /// - Throws: ``LedgerError/store(_:)``.
  package func stillDue(_ lines: [LineKey], by instant: Instant) async throws(LedgerError) -> [LineKey] {
    try await write { store throws(StoreError) in
      var due: [LineKey] = []
      for line in lines {
        let next = PollSchedule.next(try store.facts(of: line), polledAt: try store.lastPoll(of: line))
        if let next, next <= instant {
          due.append(line)
        } else {
          try store.schedulePoll(of: line, at: next)
        }
      }
      return due
    }
  }

  /// Postpones polls of lines that failed at `instant`, each by its own backoff, so that others come first. Durable on
  /// return. Evidence about a line schedules it again.
  ///
  /// - Throws: ``LedgerError/store(_:)``.
  package func postponePolls(of lines: [LineKey], at instant: Instant) async throws(LedgerError) {
    try await write { store throws(StoreError) in
      for line in lines {
        let due = PollSchedule.next(try store.facts(of: line), polledAt: try store.lastPoll(of: line))
        try store.schedulePoll(of: line, at: due.map { PollSchedule.retry(of: $0, failedAt: instant) })
      }
    }
  }

  /// Schedules the lines again whose polls were recorded after `instant`, as if they had not been polled: the clock was
  /// ahead, so that these polls would settle times that have not come.
  ///
  /// - Throws: ``LedgerError/store(_:)``.
  package func discardPolls(
    after instant: Instant, of appID: String, in environment: Environment
  ) async throws(LedgerError) {
    let batchSize = 1_000
    var last: ScheduledPoll?
    repeat {
      // Others can write while these are searched.
      let polls = try await read { [last] reader throws(StoreError) in
        try reader.polls(
          recordedAfter: instant, of: appID, in: environment, following: last, limit: batchSize)
      }
      last = polls.count < batchSize ? nil : polls.last
      guard !polls.isEmpty else { return }
      try await write { store throws(StoreError) in
        for line in polls.map(\.line) where try store.lastPoll(of: line).map({ $0 > instant }) ?? false {
          try store.recordPoll(of: line, at: .distantPast)
          try store.schedulePoll(of: line, at: PollSchedule.next(try store.facts(of: line), polledAt: nil))
        }
      }
    } while last != nil
  }

  /// Records polls of lines that began at `instant`, and schedules the next. Durable on return. After a crash before
  /// it, the lines are still due and polled again.
  ///
  /// - Throws: ``LedgerError/store(_:)``.
  package func recordPolls(of lines: [LineKey], at instant: Instant) async throws(LedgerError) {
    try await write { store throws(StoreError) in
      // A line without a scheduled poll gets none because it was polled.
      for line in lines where try store.recordPoll(of: line, at: instant) {
        let next = PollSchedule.next(try store.facts(of: line), polledAt: instant)
        try store.schedulePoll(of: line, at: next)
      }
    }
  }
}
