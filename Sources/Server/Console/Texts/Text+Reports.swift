internal import Pages
internal import Reports

// The catalog.
extension Text {
  static let catalogHint = "From the configuration, with the prices that Apple's documents had. Fingerprint:"
  static func storefronts(_ count: Int) -> String { count == 1 ? "1 storefront" : "\(count) storefronts" }
  static let noProducts =
    "No product is configured. Write the app's products into 'products' of the configuration."
  static let noEntitlements =
    "No entitlement is configured. Write what each product grants into its 'entitlements'."
  static let group = "Group"
  static let groupOfPurchase = "group"
  static let groupLevel = "Level"
  static let entitlements = "Entitlements"
  static let products = "Products"
  static let seenPrices = "Latest prices"
  static let problems = "Problems"
  static let noProblems =
    "No problem is known. Products that grant nothing are here, prices that differ, and purchases that do not fit the catalog."
  static func grantsNothing(_ product: String) -> String {
    "\(product) grants no entitlement, so its purchases change no answer. Write 'entitlements' into its configuration."
  }
  static func priceDiffers(_ product: String, _ configured: String, _ paid: String) -> String {
    "The configured price of \(product) is \(configured), but new customers pay \(paid). Correct 'price': retention advice compares by it."
  }
  static let allContradictions = "All contradictions"
}

// Reconciliation.
extension Text {
  static let reconciliation = "Reconciliation with Apple's reports"
  static let reconciliationHint =
    "What 'entitled reconcile --record' stored, for each of the last 60 days of Apple's reports. Their days are those of Pacific Time."
  static let noReconciliation =
    "No report of the last 60 days was compared. Download the reports from App Store Connect, then run 'entitled reconcile --record FILES'."
  static let latestReconciliation = "Last compared"
  static func reconciliation(of day: String) -> String { "Comparisons with Apple's reports of \(day)" }
  static let reconciliationRunsHint =
    "Each run of 'entitled reconcile --record' for this day, by report, the latest first. A later run may have had more files, or documents that arrived since."
  static let noReconciliationRuns =
    "No report of this day was compared. Download the reports from App Store Connect, then run 'entitled reconcile --record FILES'."
  static func run(_ number: Int64) -> String { "run \(number)" }
  static func earlierRuns(_ count: Int64) -> String {
    count == 1 ? "1 earlier run" : "\(count) earlier runs"
  }
  static let reconciliationTable = "Days and files"
  static let reconciliationHeads = [
    "Day", "Report", "Result", "Matched", "Explained", "Unexplained", "Unknown rows", "Compared", "Files",
  ]
  static let allMatched = "all matched"
  static let reconciledByRules = "explained by Apple's way of counting"
  static let leftOver = "something is not explained"
  static let notReconciled = "not compared"
  static func matched(_ count: Int64) -> String { "\(count) matched" }
  static func explained(_ count: Int64) -> String { "\(count) explained" }
  static func unexplained(_ count: Int64) -> String {
    count == 1 ? "1 unexplained difference" : "\(count) unexplained differences"
  }
  static func unknownRows(_ count: Int64) -> String { count == 1 ? "1 unknown row" : "\(count) unknown rows" }
}

// Reports.
extension Text {
  static let reports = "Reports"
  static let reportsHint =
    "Days are UTC. A day closes some hours after its end; evidence that arrives later makes a numbered revision."

  static func title(of chart: ReportChart) -> String {
    switch chart {
    case .mrr: "Monthly recurring revenue"
    case .active: "Active subscriptions"
    case .revenue: "Revenue and proceeds"
    case .retention: "Retention"
    case .trials: "Trials"
    case .billing: "Payments in trouble"
    case .churn: "Why they leave"
    case .lifetimeValue: "Realised lifetime value"
    case .storefronts: "Storefronts"
    case .paidYears: "Past one year"
    }
  }

  static func use(of chart: ReportChart) -> String {
    switch chart {
    case .mrr: "What moved the business. Amounts are prices for a month, one currency at a time."
    case .active: "See subscriptions at risk grow before they end."
    case .revenue: "Close the month. Proceeds are estimated: Apple's share of the price, without taxes."
    case .retention: "Compare months before and after a change of product, price or offer."
    case .trials: "Trials by the week in which they started, and their outcomes."
    case .billing: "Failed payments: what the grace period and billing retry recover."
    case .churn: "Billing is for operations, choice for product, price for pricing."
    case .lifetimeValue: "What a payer has paid by the end of each month: how much acquisition may cost."
    case .storefronts: "Where to set prices and to localise."
    case .paidYears:
      "Payers by days of paid service, and those past one year: Apple's share of their charges is lower."
    }
  }

  // The form.
  static let fromDay = "From"
  static let toDay = "To"
  static let bucketLength = "By"
  static let knowledge = "Numbers"
  static let knownAt = "As known on"
  static let convertTo = "Convert to"
  static let noCurrency = "none"
  static let convertedHint =
    "Amounts are converted with the configured rates of their days. Without conversion, every number opens its customers."
  static let noteDay = "Mark a day"
  static let noteText = "Name of the mark"
  static let asKnownNow = "as known now"
  static let asFirstClosed = "as first closed"
  static let asKnownThen = "as known then"
  static func name(of granularity: Granularity) -> String {
    switch granularity {
    case .day: "day"
    case .week: "week"
    case .month: "month"
    case .quarter: "quarter"
    case .year: "year"
    }
  }

  // The page.
  static let daysAreUTC = "Days in UTC"
  static let closedUntil = "Closed until"
  static let oneCurrency = "Currency:"
  static let numbers = "Numbers"
  static let definitions = "Definitions"
  static let revisions = "Revisions of these days"
  static let noRevisions =
    "No closed day of these has changed. Evidence about a closed day that arrives later makes a revision."
  static let noReportRows =
    "Nothing happened in these days. Purchases, renewals and refunds are counted soon after their documents arrive; choose other days, or fewer conditions."
  static let day = "Day"
  static let revisionNumber = "Revision"
  static let knownWith = "Known with the closing of"
  static let causes = "Causes, with postings"
  static let bucket = "From"
  static let age = "Age"
  static let cohort = "Began in"
  static let openBucket = "open"
  static let closed = "closed"
  static func revised(_ count: Int64) -> String { count == 1 ? "1 revision" : "\(count) revisions" }
  static func aMonth(_ name: String) -> String { "\(name) a month" }
  static func share(_ percent: Int64, of number: Int64) -> String { "\(percent) % of \(number)" }
  static func of(_ number: Int64) -> String { "of \(number)" }
  static func period(_ number: Int64) -> String { "period \(number)" }
  static func month(_ number: Int64) -> String { "month \(number)" }

  // Series and axes.
  static let mrr = "MRR"
  static func movementsOfMRR(_ currency: String) -> String { "Movements, \(currency) a month" }
  static func mrrAtTheEnd(_ currency: String) -> String { "MRR at the end, \(currency) a month" }
  static func otherMovements(_ currency: String) -> String {
    "From and to other products and storefronts, and reversed refunds, \(currency) a month"
  }
  static let mrrInOwnCurrency = "MRR in its currency"
  static let subscriptionsInForce = "Subscriptions in force, trials included"
  static let renewing = "renewing"
  static let active = "active"
  static let proceeds = "proceeds"
  static func revenueIn(_ currency: String) -> String { "Charges and refunds, \(currency)" }
  static let trialsByStart = "Trials by start"
  static let conversion = "Conversion of ended trials"
  static let failedPayments = "Failed payments and recoveries"
  static let atTheEnd = "At the end"
  static let endedSubscriptions = "Ended subscriptions"
  static let sharesOfEnds = "Of these, by reason"
  static let payersAtTheEnd = "Payers by days of paid service"
  static func name(of band: PaidDays) -> String {
    switch band {
    case .upTo90: "up to 90 days"
    case .upTo180: "91–180 days"
    case .upTo364: "181–364 days"
    case .year: "365 days or more"
    }
  }
  static let payersOverTheYear = "Reached, and lost after 60 days"
  static let chargesAt85 = "Charges at Apple's lower share"
  static let recoveries = "Recovered payments by days since the failure"
  static let daysToRecovery = "Days from the failure to the payment, of all recovered payments"
  static func name(of time: RecoveryTime) -> String {
    switch time {
    case .underOneDay: "0 days"
    case .oneToThree: "1–3 days"
    case .fourToSeven: "4–7 days"
    case .eightToSixteen: "8–16 days"
    case .seventeenToTwentyEight: "17–28 days"
    case .twentyNineToSixty: "29–60 days"
    case .overSixty: "61 or more"
    }
  }
  static func perPayer(_ currency: String) -> String { "Paid so far, \(currency) for each payer" }
  static let refundsTitle = "Refunds"
  static func retentionOf(_ product: String) -> String {
    "Subscriptions of \(product) that reached a paid period"
  }

  // The purchases behind a value.
  static func behind(_ column: String, _ bucket: String, _ currency: String) -> String {
    "Behind \(column): \(bucket)\(currency.isEmpty ? "" : ", \(currency)")"
  }
  static let behindHint = "The purchases whose parts add up to the value."
  static let noReportPurchasesYet =
    "None of the first purchases is behind this value; the next page looks at others."
  static let noReportPurchases =
    "No purchase is behind this value. It has changed since the chart was drawn, or its day was chosen differently."
  static let partOfValue = "Part"
}
