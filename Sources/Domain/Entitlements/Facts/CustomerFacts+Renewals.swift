package import AppStore

// The renewal infos that are about a period.
extension CustomerFacts {
  /// The index of the history of a period's line; `nil` without renewal info.
  package func renewalHistory(of index: Int) -> Int? {
    renewalHistory(ofLine: transactions[index].originalTransactionID)
  }

  /// The index of the period that a renewal info describes: the one of its line that ends on its
  /// `renewalDate`, "when the most recent auto-renewable subscription purchase expires" (Apple, renewalDate).
  /// Apple renews up to a day early, so that period can start after the renewal info was signed. If no period
  /// ends then, because the date is missing or was moved by an extension, it is the latest period that had
  /// started when Apple signed, or the one that was charged early and ended then before its extension. Of several
  /// transactions about that period it is the first one; of several periods that end then, because a member left and
  /// came back, it is the last one that had started. A renewal that an upgrade replaced before it started is none: what
  /// was to follow it says nothing about the upgrade. A period that starts at the date or later is none either: the one
  /// before it is not stored.
  func period(describedBy signature: Int, of history: Int) -> Int? {
    let (signed, content) =
      (
        renewalHistories[history].signatures[signature].signedDate,
        renewalHistories[history].signatures[signature].content
      )
    // As numbers, because the comparison of optional instants costs ten times as much, and a line may have thousands.
    let date = renewalHistories[history].contents[content].renewalDate?.millisecondsSince1970
    var begunLast: Int?
    var match: Int?
    // By index, because an element has about 300 bytes and a dozen reference counts.
    for index in range(ofLine: renewalHistories[history].originalTransactionID).reversed() {
      let hasBegun = transactions[index].purchaseDate <= signed
      if let date, !isReplacedBeforeStart(index),
        ends(index, at: date)
          || !hasBegun && isCharged(index, at: signed)
            && transactions[index].firstEnd?.millisecondsSince1970 == date
      {
        if hasBegun { return beginning(ofPeriodAt: index) }
        match = match ?? index
      } else if hasBegun, match != nil {
        break
      }
      if begunLast == nil, hasBegun, !isReplacedBeforeStart(index) { begunLast = index }
    }
    if let match { return beginning(ofPeriodAt: match) }
    guard let begunLast,
      date.map({ transactions[begunLast].coverageStart.millisecondsSince1970 < $0 }) ?? true
    else { return nil }
    return beginning(ofPeriodAt: begunLast)
  }

  /// Whether Apple can have charged at `instant` for the period at `index`, which may start later.
  func isCharged(_ index: Int, at instant: Instant) -> Bool {
    transactions[index].purchaseDate.milliseconds(since: instant) <= Self.longestChargeLead
  }

  /// The renewal info that is in force for the period at `index` at `now`: the newest one, of those signed by
  /// then, that is not about an earlier period. After an early renewal it is about the next period.
  ///
  /// If it was signed before the period ended, and the period has ended, then the first one signed after the
  /// end takes its place: that one proves how the period ended. A failed payment, which Apple may report hours before
  /// the end, needs no proof. A failure that was over when Apple signed it (``reportsFailure(_:of:)``) is left out.
  package func renewal(of index: Int, at now: Instant) -> RenewalFact? {
    guard let (history, signature) = renewalSignature(of: index, at: now) else { return nil }
    let info = renewalHistories[history].document(signature)
    return info.hasFailed && !reportsFailure(signature, of: history) ? info.withoutFailure : info
  }

  /// The same renewal info as Apple signed it.
  func renewalDocument(of index: Int, at now: Instant) -> RenewalFact? {
    renewalSignature(of: index, at: now).map { renewalHistories[$0.history].document($0.signature) }
  }

  private func renewalSignature(of index: Int, at now: Instant) -> (history: Int, signature: Int)? {
    guard let history = renewalHistory(of: index) else { return nil }
    let start = transactions[beginning(ofPeriodAt: index)].coverageStart
    let newest = newestSignature(of: history, notBefore: start, at: now)
    if let end = transactions[index].expiresDate, end <= now,
      newest.map({ isExpectation($0, of: history, before: end) }) ?? true,
      let proof = firstSignature(of: history, after: end, about: start)
    {
      return (history, proof)
    }
    return newest.map { (history, $0) }
  }

  /// Whether a renewal info was signed before a period ended at `end`, and its renewal had not failed by then.
  private func isExpectation(_ signature: Int, of history: Int, before end: Instant) -> Bool {
    renewalHistories[history].signatures[signature].signedDate < end
      && !reportsFailure(signature, of: history)
  }

  /// When renewal info that was signed in the future counts for the line of the period at `index`; `nil` if there
  /// is none.
  func nextRenewalInfo(of index: Int, after now: Instant) -> Instant? {
    renewalHistory(of: index).flatMap { renewalHistories[$0].changes(after: now).min() }
  }

  /// The newest signature in force at `now` that describes a period which starts at `start` or later.
  private func newestSignature(of history: Int, notBefore start: Instant, at now: Instant) -> Int? {
    var examined: Int?
    for index in renewalHistories[history].signatures.indices.reversed() {
      let signature = renewalHistories[history].signatures[index]
      // An earlier repetition is about the same period, or about an earlier one.
      guard signature.inForceFrom <= now, signature.content != examined else { continue }
      examined = signature.content
      if let described = period(describedBy: index, of: history),
        transactions[described].coverageStart >= start
      {
        return index
      }
    }
    return nil
  }

  /// The first signature at `end` or later that describes the period which starts at `start`.
  private func firstSignature(of history: Int, after end: Instant, about start: Instant) -> Int? {
    var first: Int?
    for index in renewalHistories[history].signatures.indices.reversed() {
      guard renewalHistories[history].signatures[index].signedDate >= end else { break }
      if let described = period(describedBy: index, of: history),
        transactions[described].coverageStart == start
      {
        first = index
      }
    }
    return first
  }
}

extension CustomerFacts {
  /// The time after the period at `index` in which its renewal is on and neither the renewal nor its failure is
  /// reported, at most `slack` milliseconds; `nil` if there is none. `next` is the next period of its line.
  ///
  /// Commitments have none: Apple stops the plan when a payment fails (Apple, Supporting monthly subscriptions
  /// with a 12-month commitment). A renewal that was charged early, and refunded or no longer shared before it started,
  /// is reported, too.
  func renewalSlack(_ index: Int, _ next: Int?, _ slack: Int64) -> Range<Instant>? {
    guard slack > 0, let expiry = transactions[index].expiresDate,
      !transactions[index].isContradictory, transactions[index].details.commitment == nil,
      transactions[index].details.billingPlanType != .monthly
    else { return nil }
    let cut = cut(index, next)
    guard expiry < cut, var end = renewalReport(index, after: expiry) else { return nil }
    end = min(end, cut, expiry.advanced(byMilliseconds: slack))
    guard expiry < end, !isRevokedBeforeStart(anyAfter: index, in: expiry..<end) else { return nil }
    return expiry..<end
  }

  /// Whether a later transaction of the line was to start in `span` and was revoked before.
  private func isRevokedBeforeStart(anyAfter index: Int, in span: Range<Instant>) -> Bool {
    var other = index + 1
    while other < transactions.endIndex, transactions[other].purchaseDate < span.upperBound,
      transactions[other].originalTransactionID == transactions[index].originalTransactionID
    {
      if transactions[other].isRevokedBeforeStart, span.contains(transactions[other].purchaseDate) {
        return true
      }
      other += 1
    }
    return false
  }

  /// When a renewal info first reported, after the end of the period at `index`, that it did not renew; the open
  /// end if none did, and `nil` if one reported it before.
  private func renewalReport(_ index: Int, after expiry: Instant) -> Instant? {
    guard let history = renewalHistory(of: index) else { return .openEnd }
    let start = transactions[beginning(ofPeriodAt: index)].purchaseDate
    var isExpected = true
    var examined: (content: Int, hasFailed: Bool)?
    for signature in renewalHistories[history].signatures.indices {
      let content = renewalHistories[history].signatures[signature].content
      let info = renewalHistories[history].contents[content]
      let hasFailed = reportsFailure(signature, of: history)
      if let examined, examined == (content, hasFailed), info.renewalDate != nil { continue }
      examined = (content, hasFailed)
      guard let described = period(describedBy: signature, of: history),
        transactions[described].purchaseDate == start
      else { continue }
      let from = renewalHistories[history].signatures[signature].inForceFrom
      let hasEnded = info.expirationIntent != nil && hasFailed == info.hasFailed
      let expects = info.autoRenewStatus != .off && !hasFailed && !hasEnded
      if from <= expiry {
        isExpected = expects
      } else if !isExpected {
        return nil
      } else if !expects {
        return from
      }
    }
    return isExpected ? .openEnd : nil
  }

  /// When the purchase at `index` starts to grant access: on its purchase date, or when it arrived, if that was
  /// at most the policy's tolerance earlier by the service's clock. An early renewal starts when the period
  /// before it ends. If that period is not known, the renewal counts from its arrival, because Apple renews only a
  /// subscription that is running.
  func accessStart(_ index: Int, _ policy: RenewalPolicy) -> Instant {
    let bought = transactions[index].purchaseDate
    guard let arrived = transactions[index].arrivedEarlyAt else { return bought }
    let isFirst =
      index == 0
      || transactions[index - 1].originalTransactionID != transactions[index].originalTransactionID
    if isFirst, case .renewal? = transactions[index].details.transactionReason,
      bought.milliseconds(since: arrived) <= Self.longestChargeLead
    {
      return arrived
    }
    guard bought.milliseconds(since: arrived) <= policy.clockTolerance else { return bought }
    // A purchase during a period, such as an upgrade, does not wait for its end.
    if case .purchase? = transactions[index].details.transactionReason { return arrived }
    let isRenewal = !isFirst && transactions[index - 1].expiresDate.map { arrived < $0 } ?? false
    return isRenewal ? bought : arrived
  }

  /// The times in which the renewal infos about the period at `index` had auto-renew off.
  package func timesWithRenewalOff(_ index: Int) -> [(start: Instant, end: Instant)] {
    let start = transactions[beginning(ofPeriodAt: index)].purchaseDate
    return timesWithRenewalOff(ofLine: transactions[index].originalTransactionID)[start] ?? []
  }

  /// When auto-renew of a line was last turned off by `now`; `nil` if no renewal info says so, or a later one about the same
  /// period has it on. Apple signs the same state again in each response.
  package func renewalTurnedOff(ofLine originalTransactionID: String, by now: Instant) -> Instant? {
    timesWithRenewalOff(ofLine: originalTransactionID).values.joined()
      .filter { $0.start <= now && now < $0.end }.map(\.start).max()
  }

  /// The times in which renewal infos had auto-renew off, by the purchase date of the period that they are about.
  package func timesWithRenewalOff(
    ofLine originalTransactionID: String
  ) -> [Instant: [(start: Instant, end: Instant)]] {
    guard let history = renewalHistory(ofLine: originalTransactionID),
      renewalHistories[history].contents.contains(where: { $0.renewalStatus == .off })
    else { return [:] }
    var times: [Instant: [(start: Instant, end: Instant)]] = [:]
    var open: [Instant: Instant] = [:]
    for signature in renewalHistories[history].signatures.indices {
      let content = renewalHistories[history].signatures[signature].content
      let isOff = renewalHistories[history].contents[content].renewalStatus == .off
      guard isOff || !open.isEmpty, let described = period(describedBy: signature, of: history) else {
        continue
      }
      let from = renewalHistories[history].signatures[signature].inForceFrom
      let period = transactions[described].purchaseDate
      if isOff {
        open[period] = open[period] ?? from
      } else if let since = open.removeValue(forKey: period) {
        times[period, default: []].append((since, from))
      }
    }
    for (period, since) in open { times[period, default: []].append((since, .openEnd)) }
    return times
  }
}
