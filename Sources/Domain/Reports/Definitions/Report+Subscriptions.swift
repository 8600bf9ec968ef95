// Reports that count subscriptions.
extension Report {
  static let subscriptions = Report(
    .subscriptions, "Subscriptions by state at the end of the bucket",
    [
      .count(
        "active", [.active], span: .closing,
        "Subscriptions in force whose running period is no trial; Apple's grace period included."),
      .count(
        "in_trial", [.inTrial], span: .closing, "Subscriptions in force whose running period is free."),
      .count("in_grace", [.inGrace], span: .closing, "Part of active or in_trial: in Apple's grace period."),
      .count("in_retry", [.inRetry], span: .closing, "Without access, while Apple retries the payment."),
      .count("at_risk", [.atRisk], span: .closing, "Part of active or in_trial: auto-renew is off."),
      .count(
        "awaiting_renewal", [.awaitingRenewal], span: .closing,
        "The period ended today with auto-renew on, and Apple has not reported a renewal."),
      .count(
        "committed", [.committed], span: .closing, "Part of active: in a commitment with monthly payments."),
      .count(
        "consent_pending", [.consentPending], span: .closing,
        "Part of active: the customer has not answered a price increase."),
      .count(
        "pending_downgrade", [.pendingDowngrade], span: .closing,
        "Part of active: a product of a lower level is planned for the next renewal."),
      .count(
        "unclaimed_active", [.unclaimedActive], span: .closing,
        "Part of active: no customer owns the purchase."),
      .count(
        "non_consumable_owned", [.nonConsumableOwned], span: .closing,
        "Non-consumables that are not revoked; never part of active."),
      .count(
        "season_running", [.seasonRunning], span: .closing,
        "Non-renewing subscriptions in the duration that the catalog states; never part of active."),
    ])

  /// The kinds that change ``subscriptions``' active count, as they enter the identity.
  package static let enteringKinds: [Posting.Kind] = [
    .startedPaid, .converted, .convertedFromRetry, .resubscribed, .recovered, .reversedIn, .moved,
  ]
  /// Those of ``enteringKinds`` with which a subscription can become active again.
  package static let returningKinds: [Posting.Kind] = [
    .converted, .convertedFromRetry, .recovered, .reversedIn,
  ]
  /// The kinds with which a subscription leaves the active ones, as they enter the identity. An offer without a
  /// payment is one, because a subscription in a free period is not active.
  package static let leavingKinds: [Posting.Kind] = [
    .lapsedVoluntary, .lapsedBilling, .lapsedOther, .refundedOut, .toFreeOffer,
  ]

  static let movements = Report(
    .movements, "Movements of active subscriptions",
    [
      .count("active_start", [.active], span: .opening, "Active subscriptions before the bucket."),
      .count("started_paid", [.startedPaid], "Began with a paid period; the payer never paid for the group."),
      .count("converted", [.converted, .convertedFromRetry], "First paid period after a trial."),
      .count("converted_from_retry", [.convertedFromRetry], "Part of converted: after a failed payment."),
      .count(
        "resubscribed", [.resubscribed], "Began with a paid period; the payer paid for the group before."),
      .count("recovered", [.recovered], "Paid again out of billing retry."),
      .count("lapsed_voluntary", [.lapsedVoluntary], "Ended by cancellation or refused consent."),
      .count("lapsed_billing", [.lapsedBilling], "Lost access because of a failed payment."),
      .count("lapsed_other", [.lapsedOther], "Ended for another reason, or none is known."),
      .count("refunded_out", [.refundedOut], "A refund cut the running period."),
      .count("to_free_offer", [.toFreeOffer], "A free offer period followed a paid one."),
      .count("reversed_in", [.reversedIn], "The reversal of a refund brought the running period back."),
      .count("moved", [.moved], "Came from another group of this report; negative: went to one."),
      .count("active_end", [.active], span: .closing, "Active subscriptions at the end of the bucket."),
      .count("trial_started", [.trialStarted], "Began with a free period."),
      .count("renewed", [.renewed], "A paid period followed a paid one without a lapse."),
      .count("intro_to_regular", [.introToRegular], "First standard period after paid offer periods."),
      .count("upgraded", [.upgraded], "Changed to a product of a higher level."),
      .count("downgraded", [.downgraded], "Changed to a product of a lower level."),
      .count("crossgraded", [.crossgraded], "Changed to a product of the same level."),
      .count("changed_product", [.changedProduct], "Changed to a product of an unknown level."),
      .count("downgrade_requested", [.downgradeRequested], "A product of a lower level was planned."),
      .count("downgrade_withdrawn", [.downgradeWithdrawn], "The plan was taken back."),
      .count(
        "crossgrade_requested", [.crossgradeRequested], "Another product of the same level was planned."),
      .count("crossgrade_withdrawn", [.crossgradeWithdrawn], "That plan was taken back."),
      .count("renewal_turned_off", [.renewalTurnedOff], "Auto-renew was turned off while in force."),
      .count(
        "renewal_turned_off_by_apple", [.renewalTurnedOff], reasons: [RenewalReason.apple],
        "Of renewal_turned_off, those by Apple, within an hour of its request about a refund."),
      .count("renewal_turned_on", [.renewalTurnedOn], "Auto-renew was turned on again while in force."),
      .count("in_trial_start", [.inTrial], span: .opening, "Trials before the bucket."),
      .count("trial_expired", [.trialExpired], "Trials that ended without a payment."),
      .count("trial_lapsed_billing", [.trialLapsedBilling], "Trials whose first payment failed."),
      .count("trial_refunded", [.trialRefunded], "Trials that Apple revoked, less those that it gave back."),
      .count(
        "trial_moved", [.trialMoved],
        "Trials that came from another group of this report; negative: went to one."),
      .count("in_trial_end", [.inTrial], span: .closing, "Trials at the end of the bucket."),
    ])

  static let trials = Report(
    .trials, "Trials by the day on which they started",
    [
      .count("started", [.trialStarted], ofCohort: true, "Trials that started in the bucket."),
      .count(
        "converted", [.converted, .convertedFromRetry], role: .numerator, ofCohort: true,
        "Of these, those with a paid period since."),
      .count(
        "ended", [.converted, .convertedFromRetry, .trialExpired, .trialRefunded], role: .denominator,
        ofCohort: true,
        "Of these, those that converted, expired or were refunded. Billing retry is not an end."),
      .count(
        "cancelled_within_a_day", [.trialExpired], reasons: ["CANCELLED_WITHIN_A_DAY"], ofCohort: true,
        "Expired; auto-renew was turned off within a day of the start."),
      .count(
        "cancelled_later", [.trialExpired], reasons: ["CANCELLED"], ofCohort: true,
        "Expired; auto-renew was turned off later."),
      .count(
        "expired_otherwise", [.trialExpired],
        reasons: ["CANCELLED_IN_GRACE", "PRICE_NOT_ACCEPTED", "PRODUCT_UNAVAILABLE", "OTHER", "UNKNOWN"],
        ofCohort: true, "Expired for another reason."),
      .count("revoked", [.trialRefunded], ofCohort: true, "Revoked by Apple, and not given back."),
      .count(
        "billing_failed", [.trialLapsedBilling], ofCohort: true,
        "The first payment failed; part of running until it is recovered."),
      .count(
        "running", [.trialStarted], ofCohort: true,
        less: [.converted, .convertedFromRetry, .trialExpired, .trialRefunded],
        "Started less ended."),
    ])

  static let billing = Report(.billing, "Failed payments and their recovery", failedPayments + recoveryTimes)

  private static let failedPayments: [ReportColumn] = [
    .count("grace_entered", [.graceEntered], "A failed payment with Apple's grace period."),
    .count("grace_recovered", [.graceRecovered], "Paid within it, without a loss of access."),
    .count("grace_ended", [.graceEnded], "It ended without a payment."),
    .count(
      "retry_entered", [.lapsedBilling, .trialLapsedBilling], "Access lost; Apple retries the payment."),
    .count("retry_recovered", [.recovered, .convertedFromRetry], "Paid out of billing retry."),
    .count("retry_lost", [.retryLost], "Billing retry ended without a payment: the final loss."),
    .count("retry_cancelled", [.retryCancelled], "Cancelled during billing retry."),
    .count("in_grace", [.inGrace], span: .closing, "In Apple's grace period at the end."),
    .count("in_retry", [.inRetry], span: .closing, "In billing retry at the end."),
    .count("grace_days", [.graceDays], "Whole days of access that the grace period saved."),
    .count("retry_days", [.retryDays], "Whole days without access before a payment out of billing retry."),
  ]

  private static let recoveryTimes = RecoveryTime.allCases.map { time in
    ReportColumn.count(time.column, [.recoveredPayment], reasons: [time.rawValue], time.definition)
  }

  static let churnReasons = Report(
    .churnReasons, "Ends of active subscriptions by reason",
    [
      .count(
        "lapsed", [.lapsedVoluntary, .lapsedBilling, .lapsedOther, .refundedOut], "All ends of paid periods."),
      .count(
        "cancelled_within_a_day", [.lapsedVoluntary], reasons: ["CANCELLED_WITHIN_A_DAY"],
        "Auto-renew was turned off within a day of the last period's start."),
      .count("cancelled", [.lapsedVoluntary], reasons: ["CANCELLED"], "Auto-renew was turned off later."),
      .count(
        "cancelled_in_grace", [.lapsedVoluntary], reasons: ["CANCELLED_IN_GRACE"],
        "Cancelled in Apple's grace period."),
      .count(
        "price_not_accepted", [.lapsedVoluntary], reasons: ["PRICE_NOT_ACCEPTED"],
        "A price increase was not accepted."),
      .count("billing", [.lapsedBilling], "A payment failed."),
      .count("refund", [.refundedOut], "A refund cut the running period."),
      .count(
        "product_unavailable", [.lapsedOther], reasons: ["PRODUCT_UNAVAILABLE"], "The product was withdrawn."),
      .count("other", [.lapsedOther], reasons: ["OTHER"], "Another reason."),
      .count("unknown", [.lapsedOther], reasons: ["UNKNOWN"], "Apple reported neither renewal nor end."),
    ]
      + LapseContext.allCases.map { context in
        .count(context.column, [.lapsedAfter], reasons: [context.rawValue], context.definition)
      }
      + CancellationTime.allCases.map { time in
        .count(time.column, [.cancelledAfter], reasons: [time.rawValue], time.definition)
      })

  static let churnRate = Report(
    .churnRate, "Active subscriptions that left",
    [
      .count(
        "active_start", [.active], span: .opening, role: .denominator,
        "Active subscriptions before the bucket."),
      .count(
        "left", [.firstEndOfOpening], role: .numerator,
        "Of active_start, those that left at least once: gross churn."),
      .derived(
        "lost", ["active_start", "others"], minus: ["active_end"], unit: .count,
        "Of active_start, those that are not active at the end: net churn."),
      .count(
        "others", [.activeOutsideOpening],
        "Active at the end of the bucket, and not before it."),
      .count("active_end", [.active], span: .closing, "Active subscriptions at the end of the bucket."),
      .count(
        "early_lost", [.earlyLost],
        "Began in the bucket, and are not active at its end; not part of left."),
    ])

  static let retentionByMonth = Report(
    .retentionByMonth,
    "Subscriptions that are active at the end of the n-th month, by month of the first payment",
    hasAges: true,
    [
      .count(
        "active", [.activeOfCohort], role: .numerator, ofCohort: true,
        "Subscriptions of the cohort that are active at the end of the n-th month after its month."),
      .count("subscriptions", [.joinedCohort], role: .denominator, "Subscriptions of the cohort."),
    ])

  static let retentionOfPayers = Report(
    .retentionOfPayers,
    "Payers with an active subscription at the end of the n-th month, by month of the first one",
    hasAges: true,
    [
      .count(
        "active", [.payerActiveOfCohort], role: .numerator, ofCohort: true,
        "Payers of the cohort with any active subscription of the group then, returns included."),
      .count(
        "payers", [.payerJoined], role: .denominator, ofCohort: true,
        "Payers of the cohort, by their first paid subscription of the group."),
    ])

  static let retention = Report(
    .retention, "Subscriptions that reached their n-th paid period, by month of the first one", hasAges: true,
    [
      .count(
        "reached", [.periodReached], role: .numerator, ofCohort: true,
        "Subscriptions of the cohort whose n-th paid period began."),
      .count(
        "had_time", [.joinedCohort], role: .denominator,
        "Subscriptions of the cohort whose n-1 first periods are over."),
    ])

  static let paidYears = Report(
    .paidYears, "Payers with one year of paid service in a group",
    [
      .count("past_one_year", [.pastOneYear], span: .closing, "Payers past one year at the end."),
      .count("year_reached", [.yearReached], "Reached one year."),
      .count("first_charge_at_85", [.firstChargeAfterYear], "First charge at Apple's lower commission."),
      .count("year_reset", [.yearReset], "Lost the year after 60 days without a subscription."),
      .count(
        "charges_at_85", [.chargeAfterYear], role: .numerator,
        "Charges after one year of paid service, of which Apple keeps 15 %."),
      .count(
        "charges", [.charge], role: .denominator, reasons: ["SUBSCRIPTION"],
        "Charges of subscriptions."),
    ]
      + PaidDays.allCases.map { band in
        .count(band.column, [.paidDays], span: .closing, reasons: [band.rawValue], band.definition)
      })
}
