import AppStore
import Entitlements
import Reports
import TestSupport

/// The app whose lives the definitions use as examples: a group `pro` with a weekly, a monthly, a premium monthly and
/// a yearly product.
enum World {
  static let app = app(reports: .standard)

  static func app(reports: ReportPolicy) -> AppDefinition {
    AppDefinition(
      id: "ocean-journal", identity: AppIdentity(bundleID: "com.example.ocean", appAppleID: nil),
      environments: [.production],
      products: [("weekly", 3), ("monthly", 2), ("premium", 1), ("yearly", 2)].map { productID, level in
        ProductDefinition(
          productID: productID, type: .autoRenewableSubscription, subscriptionGroup: "pro", level: level,
          entitlements: ["pro"])
      }, reports: reports)
  }

  /// The lives of the payers A to K, by name.
  static let payers: [String: CustomerFacts] = [
    "A": facts("A", [period("monthly", "09-05", "10-05"), period("monthly", "10-05", "11-05")]),
    "B": facts("B", [trial("yearly", "10-01", "10-08"), period("yearly", "10-08", "2027-10-08")]),
    "C": facts(
      "C", [trial("monthly", "10-03", "10-10")],
      [info("10-04", "10-10") { $0.autoRenewStatus = .off }]),
    "D": facts(
      "D", [period("monthly", "09-10", "10-10"), period("monthly", "10-21", "11-21")],
      [info("10-10", "10-10") { $0.isInBillingRetry = true }]),
    "E": facts(
      "E",
      [
        period("monthly", "09-12", "10-12"),
        period("monthly", "10-12", "11-12").with { $0.isUpgraded = true },
        period("premium", "10-20", "11-20"),
      ]),
    "F": facts(
      "F", [period("yearly", "2025-10-15", "10-15")], [info("09-20", "10-15") { $0.autoRenewStatus = .off }]),
    "G": facts("G", [period("weekly", "10-19", "10-26").with { $0.revocationDate = day("10-24") }]),
    "H": facts(
      "H",
      [
        german(period("monthly", "06-01", "07-01")),
        german(period("monthly", "10-25", "11-25")).with { $0.details.transactionReason = .purchase },
      ], [info("06-20", "07-01") { $0.autoRenewStatus = .off }]),
    "I": facts("I", [period("monthly", "10-05", "11-05").with { $0.ownership = .familyShared }]),
    "J": facts("J", [period("monthly", "10-28", "11-28")]),
    "K": facts(
      "K", [period("monthly", "09-18", "10-18"), period("monthly", "10-30", "11-18")],
      [
        info("10-18", "10-18") {
          $0.isInBillingRetry = true
          $0.gracePeriodExpiresDate = day("11-03")
        }
      ]),
  ]

  /// All postings of the payers as of `now`, each known when it happened.
  static func postings(
    at now: Instant, _ payers: [String: CustomerFacts] = payers
  ) -> [(posting: Posting, knownAt: Instant)] {
    payers.values.flatMap { facts in
      PayerPostings(facts, in: app, at: now).postings.map { ($0, $0.effectiveAt) }
    }
  }

  /// Noon of a day: `MM-DD` in 2026, or with its year.
  static func day(_ text: String) -> Instant {
    Instant(rfc3339: "\(text.count > 5 ? text : "2026-\(text)")T12:00:00Z")!
  }

  static func reportDay(_ text: String) -> ReportDay { ReportDay(day(text)) }

  static let prices: [String: Int64] = [
    "weekly": 2_990, "monthly": 9_990, "premium": 14_990, "yearly": 59_990,
  ]

  static func period(_ productID: String, _ start: String, _ end: String) -> TransactionFact {
    var fact = TransactionFact(
      transactionID: "", originalTransactionID: "", productID: productID, type: .autoRenewableSubscription,
      purchaseDate: day(start), expiresDate: day(end), signedDate: day(start))
    fact.details.price = prices[productID]
    fact.details.currency = "USD"
    fact.details.storefront = "USA"
    fact.details.transactionReason = .renewal
    return fact
  }

  static func trial(_ productID: String, _ start: String, _ end: String) -> TransactionFact {
    period(productID, start, end).with {
      ($0.offerType, $0.offerDiscountType, $0.details.price) = (.introductory, .freeTrial, 0)
    }
  }

  static func german(_ fact: TransactionFact) -> TransactionFact {
    fact.with { ($0.details.currency, $0.details.storefront) = ("EUR", "DEU") }
  }

  /// A renewal info signed on one day about the period that ends on another.
  static func info(
    _ signed: String, _ end: String, _ change: (inout RenewalFact) -> Void
  ) -> RenewalFact {
    var fact = RenewalFact(
      originalTransactionID: "", productID: "", autoRenewStatus: .on, renewalDate: day(end),
      signedDate: day(signed))
    change(&fact)
    return fact
  }

  static func facts(
    _ line: String, _ transactions: [TransactionFact], _ infos: [RenewalFact] = []
  ) -> CustomerFacts {
    CustomerFacts(
      transactions: transactions.enumerated().map { number, fact in
        fact.with { ($0.originalTransactionID, $0.transactionID) = (line, "\(line)\(number)") }
      },
      renewals: infos.map { info in
        var info = info
        (info.originalTransactionID, info.productID) = (line, transactions[0].productID)
        return info
      })
  }
}

/// The answer to a report about the world.
struct Answer {
  let report: Report
  let rows: [ReportTable.Row]

  init(
    _ name: Report.Name, _ from: String, _ to: String, by granularity: Granularity = .month,
    groupBy: [ReportQuery.Dimension] = [], knowledge: ReportQuery.Knowledge = .now,
    isOfProceeds: Bool = false, of postings: [(posting: Posting, knownAt: Instant)]
  ) throws {
    let query = ReportQuery(
      name, from: World.reportDay(from), to: World.reportDay(to), by: granularity, groupBy: groupBy,
      isOfProceeds: isOfProceeds, knowledge: knowledge)
    report = query.report
    rows = try ReportTable(query, query.sums(of: postings, closingAfter: ReportPolicy.standard.closeAfter))
      .rows
  }

  /// The values of the columns `names` in the row of a bucket; zeros without one.
  func callAsFunction(
    _ names: String..., on bucket: String, currency: String = "", age: Int64 = 0, groups: [String] = []
  ) -> [Int64] {
    let row = rows.first {
      $0.bucket == World.reportDay(bucket) && $0.currency == currency && $0.age == age && $0.groups == groups
    }
    return names.map { name in
      report.columns.firstIndex { $0.name == name }.flatMap { row?.values[$0] } ?? 0
    }
  }
}
