import AppStore
import Entitlements
import TestSupport

/// An app with every kind of product; all but `plus` and the consumable give `pro`.
let app = AppDefinition(
  id: "ocean", identity: AppIdentity(bundleID: "com.example.ocean", appAppleID: nil),
  environments: [.sandbox],
  products: [
    ProductDefinition(
      productID: "monthly", type: .autoRenewableSubscription, subscriptionGroup: "pro", level: 2,
      entitlements: ["pro"]),
    ProductDefinition(
      productID: "yearly", type: .autoRenewableSubscription, subscriptionGroup: "pro", level: 2,
      entitlements: ["pro"]),
    ProductDefinition(
      productID: "plus", type: .autoRenewableSubscription, subscriptionGroup: "pro", level: 1,
      entitlements: ["plus"]),
    ProductDefinition(productID: "lifetime", type: .nonConsumable, entitlements: ["pro"]),
    ProductDefinition(
      productID: "trial", type: .nonConsumable, duration: Period("P14D"), entitlements: ["pro"]),
    ProductDefinition(
      productID: "season", type: .nonRenewingSubscription, duration: Period("P90D"), entitlements: ["pro"]),
    ProductDefinition(productID: "shells", type: .consumable, entitlements: []),
    ProductDefinition(productID: "odd", type: .consumable, entitlements: ["pro"]),
  ])

/// The same app with a catalog that says everything that one can say: a cheaper product with limited access,
/// the operator's grace, a free version, policies for family members.
let fullApp = AppDefinition(
  id: "ocean", identity: app.identity, environments: [.sandbox],
  products: app.products.values.filter { $0.productID != "yearly" } + [
    ProductDefinition(
      productID: "yearly", type: .autoRenewableSubscription, subscriptionGroup: "pro", level: 2,
      accessLevels: ["pro": .full, "export": .full], operatorGrace: OperatorGrace(days: 20, access: .limited)),
    ProductDefinition(
      productID: "basic", type: .autoRenewableSubscription, subscriptionGroup: "pro", level: 3,
      accessLevels: ["pro": .limited], operatorGrace: OperatorGrace(days: 3, access: .full)),
  ],
  boughtBefore: [
    BoughtBeforeVersion(version: AppVersion("3.0")!, entitlements: ["pro": .limited, "archive": .full])
  ],
  familySharing: ["pro": .limited, "export": .deny])

/// One paid period of a subscription, by days.
func period(
  _ days: ClosedRange<Int64>, _ product: String = "monthly", line: String = "L1", id: String? = nil
) -> TransactionFact {
  TransactionFact(
    transactionID: id ?? "\(line)-\(days.lowerBound)", originalTransactionID: line, productID: product,
    type: .autoRenewableSubscription, purchaseDate: at(days.lowerBound), expiresDate: at(days.upperBound),
    signedDate: at(days.lowerBound))
}

/// One purchase of something that does not renew, with a line of its own.
func purchase(_ product: String, _ type: ProductType, on day: Int64, id: String? = nil) -> TransactionFact {
  let id = id ?? "\(product)-\(day)"
  return TransactionFact(
    transactionID: id, originalTransactionID: id, productID: product, type: type, purchaseDate: at(day),
    signedDate: at(day))
}

/// What Apple says of a line's renewal.
func renewal(
  signed day: Int64, line: String = "L1", _ change: (inout RenewalFact) -> Void = { _ in }
) -> RenewalFact {
  var fact = RenewalFact(originalTransactionID: line, productID: "monthly", signedDate: at(day))
  change(&fact)
  return fact
}

/// A grant of `pro` by days.
func grant(
  _ id: String = "G1", _ since: Int64, _ until: Int64? = nil, _ level: AccessLevel = .full
) -> GrantFact {
  GrantFact(
    grantID: id, entitlement: "pro", accessLevel: level, since: at(since), until: until.map { at($0) })
}

/// The answer for `pro` with the catalog that says everything.
func fullPro(_ facts: CustomerFacts, on day: Int64) -> EntitlementStatus {
  evaluate(facts, entitlement: "pro", in: fullApp, at: at(day))
}

/// The answer for `pro`.
func pro(
  _ transactions: [TransactionFact], _ renewals: [RenewalFact] = [], on day: Int64, hours: Int64 = 0
) -> EntitlementStatus {
  evaluate(
    CustomerFacts(transactions: transactions, renewals: renewals), entitlement: "pro", in: app,
    at: at(day, hours: hours))
}
