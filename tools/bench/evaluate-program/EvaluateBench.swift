internal import AppStore
internal import Entitlements
internal import Glibc

/// The Swift side of `tools/bench/evaluate`.
///
///     evaluate-bench TRANSACTIONS SECONDS     evaluates one customer with TRANSACTIONS transactions repeatedly
@main enum EvaluateBench {
  static func main() {
    let arguments = CommandLine.arguments.dropFirst()
    guard arguments.count == 2, let count = Int(arguments[1]), count > 0,
      let seconds = Double(arguments[2])
    else {
      print("usage: evaluate-bench TRANSACTIONS SECONDS")
      exit(2)
    }
    let facts = subscriber(periods: count)
    let instants = instants(count)
    var (evaluations, entitled) = (0, 0)
    let start = cpuSeconds
    while cpuSeconds - start < seconds {
      for instant in instants {
        if evaluate(facts, entitlement: "pro", in: app, at: instant).isEntitled { entitled += 1 }
      }
      evaluations += instants.count
    }
    let spent = cpuSeconds - start
    // Each instant is in a paid period or in a gap, half of them in each.
    guard entitled * 2 == evaluations else {
      print("\(entitled) of \(evaluations) answers were yes; half of them should be")
      exit(1)
    }
    print("evaluations=\(evaluations) cpu_seconds=\(spent)")
  }

  private static let month: Int64 = 30 * 86_400_000
  private static let first = Instant(millisecondsSince1970: 1_600_000_000_000)

  private static let app = AppDefinition(
    id: "bench", identity: AppIdentity(bundleID: "com.example.bench", appAppleID: nil),
    environments: [.sandbox],
    products: ["monthly", "yearly"].map { productID in
      ProductDefinition(
        productID: productID, type: .autoRenewableSubscription, subscriptionGroup: "pro", level: 1,
        accessLevels: ["pro": .full], operatorGrace: OperatorGrace(days: 3, access: .limited))
    })

  /// A subscriber for `months` months, each paid by half: every other fortnight is a gap.
  private static func subscriber(periods: Int) -> CustomerFacts {
    let transactions = (0..<Int64(periods)).map { number in
      let start = first.advanced(byMilliseconds: number * month)
      var details = TransactionDetails()
      details.price = 4_990
      details.currency = "USD"
      details.storefront = "USA"
      details.webOrderLineItemID = "\(1_000_000_000 + number)"
      return TransactionFact(
        transactionID: "\(2_000_000_000 + number)", originalTransactionID: "2000000000",
        productID: number % 6 < 3 ? "monthly" : "yearly", type: .autoRenewableSubscription,
        purchaseDate: start, expiresDate: start.advanced(byMilliseconds: month / 2),
        subscriptionGroupID: "20001", signedDate: start, details: details)
    }
    let renewal = RenewalFact(
      originalTransactionID: "2000000000", productID: "monthly", autoRenewProductID: "monthly",
      autoRenewStatus: .on, signedDate: transactions.last?.purchaseDate ?? first)
    return CustomerFacts(transactions: transactions, renewals: [renewal])
  }

  /// An instant in the paid and one in the unpaid half of the first, a middle and the last month.
  private static func instants(_ count: Int) -> [Instant] {
    [0, Int64(count) / 2, Int64(count) - 1].flatMap { number in
      [month / 4, month * 3 / 4].map { first.advanced(byMilliseconds: number * month + $0) }
    }
  }

  private static var cpuSeconds: Double {
    var time = timespec()
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time)
    return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
  }
}
