extension Posting {
  /// The subject that a posting counts. The raw values are stored: never change one, and never use one again.
  package enum Kind: Int64, Hashable, Sendable, CaseIterable {
    // Stocks. The amounts of `active` are the recurring revenue, those of `committed` the instalments to come.
    /// Subscriptions in a paid period, in Apple's grace period included; billing retry and trials excluded.
    case active = 1
    /// Subscriptions whose running period is free.
    case inTrial = 2
    /// Part of `active` or `inTrial`: in Apple's grace period.
    case inGrace = 3
    /// Subscriptions without access whose payment Apple retries.
    case inRetry = 4
    /// Part of `active` or `inTrial`: auto-renew is off.
    case atRisk = 5
    /// Subscriptions whose period ended with auto-renew on, and whose renewal Apple has not reported.
    case awaitingRenewal = 6
    /// Part of `active`: in a commitment with monthly payments.
    case committed = 7
    /// Payers with a year of paid service in a group.
    case pastOneYear = 8
    /// Non-consumables that are not revoked; never part of `active`.
    case nonConsumableOwned = 9
    /// Part of `active`: the customer has not answered a price increase.
    case consentPending = 10
    /// Part of `active`: a product of a lower level is planned for the next renewal.
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
    /// A subscription began with a free period.
    case trialStarted = 20
    /// A subscription began with a paid period; the payer never paid for the group.
    case startedPaid = 21
    /// The first paid period after a trial.
    case converted = 22
    /// Part of `converted`: the first payment had failed.
    case convertedFromRetry = 23
    /// A subscription began with a paid period; the payer paid for the group before.
    case resubscribed = 24
    /// A payment succeeded out of billing retry.
    case recovered = 25
    /// A paid period followed a paid one without a lapse.
    case renewed = 26
    /// A payment of a commitment after the first one.
    case instalmentPaid = 27
    /// The product changed to one of a higher level.
    case upgraded = 28
    /// The product changed to one of a lower level.
    case downgraded = 29
    /// The product changed to one of the same level.
    case crossgraded = 30
    /// The product changed, and the catalog states no levels; or its price did for another cause.
    case changedProduct = 31
    /// Auto-renew was turned off while the subscription was in force.
    case renewalTurnedOff = 32
    /// Auto-renew was turned on again while the subscription was in force.
    case renewalTurnedOn = 33
    /// A paid period ended by cancellation, or because consent to a price increase was refused.
    case lapsedVoluntary = 34
    /// Access ended because a payment failed; `recovered` or `retryLost` may follow.
    case lapsedBilling = 35
    /// A paid period ended for another reason, or none is known.
    case lapsedOther = 36
    /// A refund cut the running period.
    case refundedOut = 37
    /// A free offer period followed a paid one, so the subscription is no longer `active`.
    case toFreeOffer = 38
    /// The first period at the regular price after paid offer periods.
    case introToRegular = 39
    /// A trial ended without a payment.
    case trialExpired = 40
    /// The first payment after a trial failed.
    case trialLapsedBilling = 41
    /// Apple revoked a trial; with a negative count, it gave the trial back.
    case trialRefunded = 42
    /// A subscription under other dimensions: one posting takes it from the old ones, another adds it to the new.
    case moved = 43
    /// The recurring revenue of a subscription rose; the reason is the cause.
    case expansion = 44
    /// The recurring revenue of a subscription fell; the reason is the cause.
    case contraction = 45
    /// A subscription that a refund had ended, and that the reversal of the refund brought back.
    case reversedIn = 46
    /// As `moved`, of trials.
    case trialMoved = 47
    /// A product of a lower level was planned for the next renewal.
    case downgradeRequested = 48
    /// The plan of a product of a lower level was taken back.
    case downgradeWithdrawn = 49
    /// A renewal moved recurring revenue to the exchange rate of another day. It changes no amount without conversion.
    case rateChanged = 50
    /// A circumstance before the end of a paid period; the reason is a ``LapseContext``.
    case lapsedAfter = 51
    /// A cancellation that ended a subscription; the reason is a ``CancellationTime``.
    case cancelledAfter = 52
    /// Another product of the same level was planned for the next renewal.
    case crossgradeRequested = 53
    /// The plan of another product of the same level was taken back.
    case crossgradeWithdrawn = 54

    // Failed payments.
    /// A payment failed, and Apple's grace period began.
    case graceEntered = 60
    /// The payment succeeded in the grace period, without a loss of access.
    case graceRecovered = 61
    /// The grace period ended without a payment.
    case graceEnded = 62
    /// Billing retry ended without a payment: the final loss.
    case retryLost = 63
    /// Auto-renew was turned off during billing retry, which ended it; the reason is `REFUND` if a refund did.
    case retryCancelled = 64
    /// Days of access that Apple's grace period saved, when the payment succeeded.
    case graceDays = 65
    /// Days without access before a payment out of billing retry.
    case retryDays = 66
    /// A payment that succeeded after it had failed; the reason is a ``RecoveryTime``.
    case recoveredPayment = 67

    // Money.
    /// A charged transaction, with its price.
    case charge = 80
    /// A refund on its day, with a negative amount; ``RefundReason`` has its reasons.
    case refund = 81
    /// The estimated return of the unused part of a period after an upgrade: negative, as Apple states none.
    case upgradeCredit = 82
    /// A paid transaction without a price.
    case unpriced = 83
    /// A charge after one year of paid service: Apple keeps 15 % of it.
    case chargeAfterYear = 84
    /// The reversal of a refund, on the day of Apple's notification.
    case refundReversed = 85

    // Paid service.
    /// A payer reached one year of paid service in a group.
    case yearReached = 90
    /// The first charge at Apple's lower commission.
    case firstChargeAfterYear = 91
    /// A payer lost the year after 60 days without a subscription of the group.
    case yearReset = 92

    // Cohorts.
    /// The first paid period of a subscription, which gives it its cohort.
    case joinedCohort = 100
    /// A subscription of a cohort began its n-th paid period.
    case periodReached = 101
    /// A refunded transaction, on the day of its purchase.
    case refundOfPurchase = 102
    /// The first charge of a payer in a currency. The first one of all gives the payer a cohort.
    case payer = 103
    /// In cells only: payers with a charge in a bucket.
    case payersOfBucket = 104
    /// An active subscription of a cohort; its age is the month in which it came or went.
    case activeOfCohort = 105
    /// The first paid subscription of a payer in a group, which gives the payer a cohort.
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
    /// A consumption request of Apple.
    case refundAsked = 120
    /// Apple accepted the operator's answer.
    case refundAnswered = 121
    /// Apple refunded the transaction after the request.
    case refundGranted = 122
    /// Apple declined the refund (`REFUND_DECLINED`).
    case refundDeclined = 123
    /// Apple reversed a refund that it had granted after a request.
    case refundGrantReversed = 124

    // Withdrawn consents of parents or guardians, by the day of the withdrawal.
    /// A parent or guardian withdrew the consent.
    case consentWithdrawn = 130
    /// The operator settled the withdrawal.
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
