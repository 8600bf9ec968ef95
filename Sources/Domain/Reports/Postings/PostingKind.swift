extension Posting {
  /// The subject that a posting counts. The raw values are stored: never change one, and never use one again.
  package enum Kind: Int64, Hashable, Sendable, CaseIterable {
    // Stocks. The amounts of `active` are the recurring revenue, those of `committed` the instalments to come.
    case active = 1
    case inTrial = 2
    case inGrace = 3
    case inRetry = 4
    case atRisk = 5
    case awaitingRenewal = 6
    case committed = 7
    case pastOneYear = 8
    case nonConsumableOwned = 9
    case consentPending = 10
    case pendingDowngrade = 11
    /// Part of `active`: no customer owns the purchase.
    case unclaimedActive = 12
    /// Non-renewing subscriptions in the duration that the catalog states.
    case seasonRunning = 13
    /// Payers by the days of paid service in a group; the reason is a ``PaidDays``.
    case paidDays = 14
    /// Amounts only: the recurring revenue if all subscriptions in force renew as Apple's documents announce.
    case expectedAnnual = 15

    // Movements of subscriptions. Their amounts are the movements of recurring revenue.
    case trialStarted = 20
    case startedPaid = 21
    case converted = 22
    case convertedFromRetry = 23
    case resubscribed = 24
    case recovered = 25
    case renewed = 26
    case instalmentPaid = 27
    case upgraded = 28
    case downgraded = 29
    case crossgraded = 30
    case changedProduct = 31
    case renewalTurnedOff = 32
    case renewalTurnedOn = 33
    case lapsedVoluntary = 34
    case lapsedBilling = 35
    case lapsedOther = 36
    case refundedOut = 37
    case toFreeOffer = 38
    case introToRegular = 39
    case trialExpired = 40
    case trialLapsedBilling = 41
    case trialRefunded = 42
    /// A subscription under other dimensions: one posting takes it from the old ones, another adds it to the new.
    case moved = 43
    case expansion = 44
    case contraction = 45
    /// A subscription that a refund had ended, and that the reversal of the refund brought back.
    case reversedIn = 46
    /// As `moved`, of trials.
    case trialMoved = 47
    case downgradeRequested = 48
    case downgradeWithdrawn = 49
    /// A renewal moved recurring revenue to the exchange rate of another day. It changes no amount without conversion.
    case rateChanged = 50
    /// A circumstance before the end of a paid period; the reason is a ``LapseContext``.
    case lapsedAfter = 51
    /// A cancellation that ended a subscription; the reason is a ``CancellationTime``.
    case cancelledAfter = 52
    case crossgradeRequested = 53
    case crossgradeWithdrawn = 54

    // Failed payments.
    case graceEntered = 60
    case graceRecovered = 61
    case graceEnded = 62
    case retryLost = 63
    case retryCancelled = 64
    /// Days of access that Apple's grace period saved, when the payment succeeded.
    case graceDays = 65
    /// Days without access before a payment out of billing retry.
    case retryDays = 66
    /// A payment that succeeded after it had failed; the reason is a ``RecoveryTime``.
    case recoveredPayment = 67

    // Money.
    case charge = 80
    case refund = 81
    case upgradeCredit = 82
    /// A paid transaction without a price.
    case unpriced = 83
    /// A charge after one year of paid service: Apple keeps 15 % of it.
    case chargeAfterYear = 84
    case refundReversed = 85

    // Paid service.
    case yearReached = 90
    case firstChargeAfterYear = 91
    case yearReset = 92

    // Cohorts.
    case joinedCohort = 100
    case periodReached = 101
    case refundOfPurchase = 102
    case payer = 103
    /// In cells only: payers with a charge in a bucket.
    case payersOfBucket = 104
    /// An active subscription of a cohort; its age is the month in which it came or went.
    case activeOfCohort = 105
    case payerJoined = 106
    /// A payer of a cohort with an active subscription of the group.
    case payerActiveOfCohort = 107
    /// In cells only: what is active, and was not at the start of the bucket.
    case activeOutsideOpening = 108
    /// In cells only: the first end in a bucket of a subscription that was active at its start.
    case firstEndOfOpening = 109
    /// In cells only: the end of a subscription that began in the bucket, less those that came back in it.
    case earlyLost = 110

    // Refund requests, by the day on which Apple asked for consumption data. The reason is Apple's.
    case refundAsked = 120
    /// Apple accepted the operator's answer.
    case refundAnswered = 121
    case refundGranted = 122
    case refundDeclined = 123
    /// Apple reversed a refund that it had granted after a request.
    case refundGrantReversed = 124

    // Withdrawn consents of parents or guardians, by the day of the withdrawal.
    case consentWithdrawn = 130
    case consentSettled = 131
    /// The deadline passed before the operator settled the withdrawal.
    case consentOverdue = 132

    /// The name in exports: `trialStarted` as `TRIAL_STARTED`.
    package var name: String {
      "\(self)".reduce(into: "") { name, character in
        name += (character.isUppercase ? "_" : "") + character.uppercased()
      }
    }

    /// Whether reports add it up over all days.
    package var isStock: Bool { rawValue < 20 }
  }
}

/// The reason of a posted refund: `FULL`, `PRORATED` or `SEATS`, with ``oneTime`` before it for a one-time purchase, and
/// ``appIssue`` after it if Apple named an issue with the app.
package enum RefundReason {
  /// The beginning of the reason of a refund of a one-time purchase.
  package static let oneTime = "ONE_TIME_"
  /// The end of the reason of a refund for which Apple named an issue with the app.
  package static let appIssue = "_APP_ISSUE"
  private static let kinds = ["FULL", "PRORATED", "SEATS"]

  /// All reasons of refunds of these kinds; `nil`: of all kinds.
  static func all(
    _ kinds: [String]? = nil, isOneTime: Bool? = nil, isAppIssue: Bool? = nil
  ) -> Set<String> {
    let starts = [("", false), (oneTime, true)].filter { isOneTime ?? $0.1 == $0.1 }.map(\.0)
    let ends = [("", false), (appIssue, true)].filter { isAppIssue ?? $0.1 == $0.1 }.map(\.0)
    return Set(
      starts.flatMap { start in (kinds ?? Self.kinds).flatMap { kind in ends.map { start + kind + $0 } } })
  }

  /// Whether a refund with this reason is one of the whole price.
  package static func isFull(_ reason: String) -> Bool {
    reason.hasPrefix("FULL") || reason.hasPrefix(oneTime + "FULL")
  }
}
