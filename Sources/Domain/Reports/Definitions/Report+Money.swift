// Reports that add up money.
extension Report {
  static let recurringRevenue = Report(
    .recurringRevenue, "Annual recurring revenue and its movements; MRR is a twelfth", isByCurrency: true,
    [
      .money(
        "opening", [.active, .rateChanged], unit: .moneyPerYear, span: .opening,
        "Recurring revenue before the bucket."),
      .money(
        "new", [.startedPaid, .converted, .convertedFromRetry], unit: .moneyPerYear, reasons: ["", "FIRST"],
        "First paid period of the payer in the group."),
      .money(
        "reactivation", [.resubscribed, .converted, .convertedFromRetry], unit: .moneyPerYear,
        reasons: ["", "RETURN"], "The payer paid for the group before."),
      .money("recovered", [.recovered], unit: .moneyPerYear, "Paid again out of billing retry."),
      .money("expansion", [.expansion], unit: .moneyPerYear, "More for the same subscription."),
      .money("contraction", [.contraction], unit: .moneyPerYear, "Less for the same subscription."),
      .money("moved", [.moved], unit: .moneyPerYear, "From another group of this report; negative: to one."),
      .money("churn_voluntary", [.lapsedVoluntary], unit: .moneyPerYear, "Ended by the customer."),
      .money("churn_billing", [.lapsedBilling], unit: .moneyPerYear, "Ended by a failed payment."),
      .money(
        "churn_other", [.lapsedOther, .toFreeOffer], unit: .moneyPerYear, "Ended otherwise, or free now."),
      .money("churn_refund", [.refundedOut], unit: .moneyPerYear, "Ended by a refund."),
      .money("reversed", [.reversedIn], unit: .moneyPerYear, "Back after the reversal of a refund."),
      .money(
        "closing", [.active, .rateChanged], unit: .moneyPerYear, span: .closing,
        "Recurring revenue at the end (ARR): price of the running period x periods in a year."),
      .derived(
        "exchange", ["closing"],
        minus: [
          "opening", "new", "reactivation", "recovered", "expansion", "contraction", "moved",
          "churn_voluntary",
          "churn_billing", "churn_other", "churn_refund", "reversed",
        ], unit: .moneyPerYear, ofConversion: true,
        "With convert_to: what other rates at renewals and rounding changed; no movement."),
      .money(
        "closing_of_others", [.activeOutsideOpening], unit: .moneyPerYear,
        "Of closing: subscriptions that were not active before the bucket."),
      .derived(
        "retained", ["closing"], minus: ["closing_of_others"], unit: .moneyPerYear,
        "Of closing: subscriptions that were active before the bucket; by opening, net revenue retention."),
      .count("active", [.active], span: .closing, "Active subscriptions of the currency at the end."),
      .money(
        "expected", [.expectedAnnual], unit: .moneyPerYear, span: .closing,
        "What closing would be if all subscriptions and trials in force ended their period: the announced price of each with auto-renew on."
      ),
    ])

  static let recurringChanges = Report(
    .recurringChanges, "Expansion and contraction of recurring revenue; the dimension reason has the causes",
    isByCurrency: true,
    [
      .money("expansion", [.expansion], unit: .moneyPerYear, "More for the same subscription."),
      .money("contraction", [.contraction], unit: .moneyPerYear, "Less for the same subscription."),
      .money(
        "net", [.expansion, .contraction], unit: .moneyPerYear, "Expansion and contraction together."),
      .count("expanded", [.expansion], "Changes to a higher price."),
      .count("contracted", [.contraction], "Changes to a lower price."),
    ])

  static let revenue = Report(
    .revenue, "Charges and refunds", isByCurrency: true,
    [
      .money("gross", [.charge], "Prices of all charges, usually with tax."),
      .money("refunds", [.refund], "Refunds, negative, on the day of the refund."),
      .money("reversals", [.refundReversed], "Reversed refunds, on the day of the reversal."),
      .money("net", [.charge, .refund, .refundReversed], role: .numerator, "Gross, refunds and reversals."),
      .count("payers", [.payersOfBucket], role: .denominator, "Payers with a charge in the bucket."),
      .count("charges", [.charge], "Charged transactions."),
      .money("upgrade_credit", [.upgradeCredit], "Estimated returns of unused periods after upgrades."),
      .count("unpriced", [.unpriced], "Transactions for which Apple sent no price; part of no amount."),
    ])

  static let refunds = Report(
    .refunds, "Refunds by day, and refunded purchases by purchase day", isByCurrency: true,
    [
      .count("refunds", [.refund], "Refunded transactions, by the day of the refund."),
      .money("amount", [.refund], "Their prices, negative."),
      .money("full", [.refund], reasons: RefundReason.all(["FULL"]), "Of the amount, full refunds."),
      .money(
        "prorated", [.refund], reasons: RefundReason.all(["PRORATED"]), "Of the amount, prorated refunds."),
      .money("seats", [.refund], reasons: RefundReason.all(["SEATS"]), "Of the amount, refunds of seats."),
      .count(
        "app_issue_refunds", [.refund], reasons: RefundReason.all(isAppIssue: true),
        "Of the refunds, those for an issue with the app, as Apple's revocationReason states."),
      .money(
        "app_issue_amount", [.refund], reasons: RefundReason.all(isAppIssue: true), "Their prices, negative."),
      .count("reversals", [.refundReversed], "Reversed refunds, by the day of the reversal."),
      .money("reversed_amount", [.refundReversed], "Their prices."),
      .count(
        "refunded_purchases", [.refundOfPurchase], role: .numerator, ofCohort: true,
        "Transactions of the bucket that are refunded by now."),
      .count("purchases", [.charge], role: .denominator, "Charged transactions of the bucket."),
    ])

  static let refundRequests = Report(
    .refundRequests, "Refund requests by the day on which Apple asked for consumption data",
    [
      .count("asked", [.refundAsked], ofCohort: true, "Requests of Apple (CONSUMPTION_REQUEST)."),
      .count(
        "answered", [.refundAnswered], ofCohort: true, "Of these, those whose answer Apple accepted."),
      .count(
        "granted", [.refundGranted], role: .numerator, ofCohort: true, "Of these, those that Apple refunded."),
      .count(
        "declined", [.refundDeclined], ofCohort: true,
        "Of these, those that Apple declined (REFUND_DECLINED)."),
      .count(
        "decided", [.refundGranted, .refundDeclined], role: .denominator, ofCohort: true,
        "Granted and declined requests."),
      .count(
        "reversed", [.refundGrantReversed], ofCohort: true,
        "Of granted, those whose refund Apple reversed."),
      .count(
        "open", [.refundAsked], ofCohort: true, less: [.refundGranted, .refundDeclined],
        "Asked less decided; a request without a decision stays open."),
    ])

  static let lifetimeValue = Report(
    .lifetimeValue, "Realised lifetime value by the month of the payer's first charge", isByCurrency: true,
    hasAges: true,
    [
      .money(
        "net", [.charge, .refund, .refundReversed, .upgradeCredit], role: .numerator, ofCohort: true,
        "Prices less refunds and upgrade credits of the cohort up to the end of its n-th month."),
      .count(
        "payers", [.payer], role: .denominator, ofCohort: true,
        "Payers of the cohort that were charged in the currency up to the end of its n-th month."),
      .money("gross", [.charge], ofCohort: true, "Of the net amount, prices."),
      .money(
        "refunds", [.refund, .refundReversed], ofCohort: true,
        "Of the net amount, refunds less reversals, negative."),
      .money(
        "upgrade_credit", [.upgradeCredit], ofCohort: true,
        "Of the net amount, estimated returns after upgrades, negative."),
      .money(
        "net_of_month", [.charge, .refund, .refundReversed, .upgradeCredit], ofCohort: true, ofOneAge: true,
        "Net amount of the n-th month alone; by that of month 0 it is revenue retention."),
    ])

  private static let oneTimeTypes: Set<String> = [
    "CONSUMABLE", "NON_CONSUMABLE", "NON_RENEWING_SUBSCRIPTION",
  ]

  static let oneTime = Report(
    .oneTime, "One-time purchases", isByCurrency: true,
    [
      .count("purchases", [.charge], reasons: oneTimeTypes, "Charged one-time purchases."),
      .money("gross", [.charge], reasons: oneTimeTypes, "Their prices."),
      .money("consumables", [.charge], reasons: ["CONSUMABLE"], "Of these, consumables."),
      .money("non_consumables", [.charge], reasons: ["NON_CONSUMABLE"], "Of these, non-consumables."),
      .money(
        "non_renewing", [.charge], reasons: ["NON_RENEWING_SUBSCRIPTION"],
        "Of these, non-renewing subscriptions."),
      .money(
        "refunds", [.refund], reasons: RefundReason.all(isOneTime: true),
        "Refunds of one-time purchases, negative, on the day of the refund."),
      .money(
        "reversals", [.refundReversed], reasons: RefundReason.all(isOneTime: true),
        "Reversed refunds of one-time purchases, on the day of the reversal."),
    ])

  static let commitments = Report(
    .commitments, "Commitments with monthly payments", isByCurrency: true,
    [
      .count("committed", [.committed], span: .closing, "Subscriptions in a commitment at the end."),
      .money("remainder", [.committed], span: .closing, "Instalments that are still to come."),
      .count("instalments", [.instalmentPaid], "Instalments paid, but for the first of a commitment."),
    ])
}
