package import AppStore

/// A failed renewal payment and the access that renewal infos granted after it.
package struct FailedRenewal {
  /// The index of the period whose renewal failed.
  package let period: Int
  /// When the access starts, if auto-renew was off before in the same failure; `nil`: at the end of the period.
  let start: Instant?
  /// The latest end of Apple's grace period that a renewal info granted; `nil` without one.
  package fileprivate(set) var graceEnd: Instant?
  /// The product of the failed renewal, as reported last.
  var nextProductID: String?
  /// When auto-renew was turned off, which ends the subscription at once; `nil` if it was not.
  package fileprivate(set) var turnedOffAt: Instant?
  /// When renewal info about a later period was first in force; `nil` if none was.
  package fileprivate(set) var followedAt: Instant?

  /// Adds renewal info about the same failure. Billing retry without a grace period ends the grace period that
  /// was granted before, if that lasts longer.
  fileprivate mutating func add(_ info: borrowing RenewalFact, from instant: Instant) {
    nextProductID = info.autoRenewProductID ?? nextProductID
    if let end = info.gracePeriodExpiresDate {
      graceEnd = max(graceEnd ?? end, end)
    } else {
      graceEnd = graceEnd.map { min($0, instant) }
    }
  }
}

extension CustomerFacts {
  /// The failed renewals of a line that its renewal infos report, in the order of the signatures.
  package func failedRenewals(_ history: Int) -> [FailedRenewal] {
    // By index, because an element has a dozen reference counts.
    let contents = renewalHistories[history].contents.indices
    guard contents.contains(where: { renewalHistories[history].contents[$0].hasFailed }) else { return [] }
    var failures: [FailedRenewal] = []
    var open: FailedRenewal?
    var turnedOff: Int?
    var examined: (content: Int, hasFailed: Bool)?
    for index in renewalHistories[history].signatures.indices {
      let signature = renewalHistories[history].signatures[index]
      let info = renewalHistories[history].contents[signature.content]
      let hasFailed = reportsFailure(index, of: history)
      if let examined, examined == (signature.content, hasFailed), info.renewalDate != nil { continue }
      examined = (signature.content, hasFailed)
      guard hasFailed || open != nil, let period = period(describedBy: index, of: history),
        open.map({ transactions[$0.period].coverageStart <= transactions[period].coverageStart }) ?? true
      else { continue }
      if var other = open, other.period != period {
        other.followedAt = signature.inForceFrom
        failures.append(other)
        open = nil
      }
      if hasFailed {
        let start = turnedOff == period ? signature.inForceFrom : nil
        var failure = open ?? FailedRenewal(period: period, start: start)
        failure.add(info, from: signature.inForceFrom)
        open = failure
      }
      if info.autoRenewStatus == .off, var failure = open {
        failure.turnedOffAt = signature.inForceFrom
        failures.append(failure)
        open = nil
        turnedOff = period
      }
    }
    return failures + (open.map { [$0] } ?? [])
  }

  /// The periods whose renewal failed, by their indices, each with the end of the time in which the App Store retries the
  /// payment.
  package var retriesOfFailedPayments: [Int: Instant] {
    let failures = renewalHistories.indices.flatMap(failedRenewals)
    return Dictionary(
      failures.map { failure in
        let expiry = end(ofPeriodAt: failure.period) ?? transactions[failure.period].purchaseDate
        let retryEnd = expiry.advanced(byMilliseconds: transactions[failure.period].billingRetryLength)
        return (failure.period, min(retryEnd, failure.turnedOffAt ?? .openEnd))
      }, uniquingKeysWith: max)
  }

  /// Whether a renewal info reports that the payment after the period that it describes failed.
  ///
  /// Apple announces a failed attempt when the old period ends, also if a later attempt in the hours before succeeded.
  /// The subscription's `renewalDate` is then the end of the new period, which is paid. Apple tries to renew in the last
  /// 24 hours of a period, so a failure that is reported earlier is the one that was recovered.
  func reportsFailure(_ signature: Int, of history: Int) -> Bool {
    let (signed, content) =
      (
        renewalHistories[history].signatures[signature].signedDate,
        renewalHistories[history].signatures[signature].content
      )
    guard renewalHistories[history].contents[content].hasFailed else { return false }
    guard let date = renewalHistories[history].contents[content].renewalDate,
      date.milliseconds(since: signed) > Self.longestChargeLead
    else { return true }
    return !range(ofLine: renewalHistories[history].originalTransactionID).contains {
      (ends($0, at: date.millisecondsSince1970) || transactions[$0].firstEnd == date)
        && isCharged($0, at: signed)
    }
  }
}

extension CustomerFacts {
  /// The next renewal of each line with renewal info, as the newest one about its latest period has it.
  ///
  /// Apple may sign a failure after a later payment was successful. One about an earlier period, or about the payment for the
  /// latest one, is left out.
  package var currentRenewals: [RenewalFact] {
    renewals.map { newest in
      let line = range(ofLine: newest.originalTransactionID)
      let period = line.last { !isWithdrawnBeforeStart($0) && !transactions[$0].isContradictory }
      guard let index = period ?? line.last else { return newest }
      return renewal(of: index, at: .distantFuture) ?? newest.withoutFailure
    }
  }
}

extension RenewalFact {
  /// Whether it reports a failed renewal payment.
  var hasFailed: Bool { isInBillingRetry || gracePeriodExpiresDate != nil }

  /// The same without a failed payment.
  var withoutFailure: RenewalFact {
    var info = self
    info.isInBillingRetry = false
    info.gracePeriodExpiresDate = nil
    info.expirationIntent = nil
    return info
  }
}
