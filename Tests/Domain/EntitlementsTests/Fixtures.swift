import AppStore
import Entitlements
import TestSupport

/// An app with every product type; all but `plus` and the consumable grant `pro`.
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

/// The same app with every catalog feature: a product with limited access, the operator's grace, a legacy
/// version rule and family sharing policies.
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

/// The same app with a slack of one day, a tolerance of two days, and the next product in grace.
let patientApp = AppDefinition(
  id: "ocean", identity: app.identity, environments: [.sandbox], products: Array(fullApp.products.values),
  renewalPolicy: RenewalPolicy(
    slack: 86_400_000, clockTolerance: 172_800_000, graceEntitlements: .next))

/// One paid period of a subscription, by days.
func period(
  _ days: ClosedRange<Int64>, _ product: String = "monthly", line: String = "L1", id: String? = nil
) -> TransactionFact {
  TransactionFact(
    transactionID: id ?? "\(line)-\(days.lowerBound)", originalTransactionID: line, productID: product,
    type: .autoRenewableSubscription, purchaseDate: at(days.lowerBound), expiresDate: at(days.upperBound),
    signedDate: at(days.lowerBound))
}

/// One purchase that does not renew, with its own line.
func purchase(_ product: String, _ type: ProductType, on day: Int64, id: String? = nil) -> TransactionFact {
  let id = id ?? "\(product)-\(day)"
  return TransactionFact(
    transactionID: id, originalTransactionID: id, productID: product, type: type, purchaseDate: at(day),
    signedDate: at(day))
}

/// The renewal info of a line.
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

/// The answer for `pro` with every catalog feature.
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

/// A random customer with several lines, upgrades, refunds, grace, billing retry, purchases of every type and
/// future purchases. Many dates coincide.
func randomCustomer(_ random: inout SplitMix64) -> CustomerFacts {
  let subscriptions = (0..<Int.random(in: 0...8, using: &random)).map { _ in randomPeriod(&random) }
  let others = (0..<Int.random(in: 0...3, using: &random)).map { _ in randomPurchase(&random) }
  let renewals = (0..<9).map { randomRenewal(line: "L\($0 % 3)", &random) }
  return CustomerFacts(
    transactions: subscriptions + others, renewals: renewals.filter { _ in .random(using: &random) },
    grants: (0..<Int.random(in: 0...2, using: &random)).map { _ in randomGrant(&random) },
    appTransactions: random.one(in: 5) ? [randomAppTransaction(&random)] : [])
}

private func randomGrant(_ random: inout SplitMix64) -> GrantFact {
  let since = Int64.random(in: 0...16, using: &random) * 10
  var fact = grant("G\(Int.random(in: 0...1, using: &random))", since)
  if random.one(in: 2) { fact.accessLevel = .limited }
  if random.one(in: 3) { fact.until = at(since + 30) }
  if random.one(in: 3) { fact.revokedAt = at(since + .random(in: -1...4, using: &random) * 10) }
  return fact
}

private func randomAppTransaction(_ random: inout SplitMix64) -> AppTransactionFact {
  AppTransactionFact(
    originalApplicationVersion: ["1.0", "2.9.9", "3.0", "odd"].randomElement(using: &random)!,
    originalPurchaseDate: at(.random(in: 0...16, using: &random) * 10), signedDate: at(0))
}

private func randomPeriod(_ random: inout SplitMix64) -> TransactionFact {
  let start = Int64.random(in: 0...16, using: &random) * 10
  let line = "L\(Int.random(in: 0...2, using: &random))"
  let product = ["monthly", "yearly", "plus", "basic", "mystery"].randomElement(using: &random)!
  let days = start...(start + .random(in: 0...4, using: &random) * 10)
  return period(days, product, line: line, id: "\(line)-\(Int.random(in: 0...12, using: &random))").with {
    if random.one(in: 5) { $0.revocationDate = at(start + 5) }
    if random.one(in: 6) {
      ($0.isUpgraded, $0.signedDate) = (true, at(start + .random(in: 0...4, using: &random) * 10))
    }
    if random.one(in: 4) { $0.ownership = .familyShared }
    if random.one(in: 3) { $0.offerType = .introductory }
    if random.one(in: 3) { $0.offerDiscountType = .freeTrial }
    if random.one(in: 8) { $0.revocationReason = .appIssue }
    if random.one(in: 8) { $0.revocationType = .familyRevoke }
    if random.one(in: 8) { $0.details.commitment = .init(billingPeriodNumber: 12, totalBillingPeriods: 12) }
    if random.one(in: 6) { $0 = $0.arrived(at: at(start, hours: -30)) }
    if random.one(in: 9) {
      // A refund of some seats has no date.
      ($0.quantity, $0.revokedSeatQuantity, $0.revocationDate) = (2, 1, nil)
    }
    if random.one(in: 3) { $0.details.additionalTransactionReason = "SEAT_ADDITION" }
    if random.one(in: 4) { $0.details.transactionReason = .renewal }
  }
}

private func randomPurchase(_ random: inout SplitMix64) -> TransactionFact {
  let (product, type): (String, ProductType) = [
    ("season", .nonRenewingSubscription), ("season", .nonRenewingSubscription), ("trial", .nonConsumable),
    ("lifetime", .nonConsumable), ("odd", .consumable), ("monthly", .unrecognized("Novelty")),
  ].randomElement(using: &random)!
  let day = Int64.random(in: 0...16, using: &random) * 10
  return purchase(product, type, on: day, id: "P\(Int.random(in: 0...9, using: &random))").with {
    if random.one(in: 3) { $0.revocationDate = at(day + 20) }
    if random.one(in: 3) { $0.quantity = 2 }
  }
}

private func randomRenewal(line: String, _ random: inout SplitMix64) -> RenewalFact {
  let signed = Int64.random(in: 0...20, using: &random) * 10
  return renewal(signed: signed, line: line) {
    if random.one(in: 2) { $0.autoRenewStatus = random.one(in: 2) ? .on : .off }
    if random.one(in: 2) { $0.isInBillingRetry = true }
    if random.one(in: 2) { $0.gracePeriodExpiresDate = at(signed + 16) }
    if random.one(in: 3) { $0.priceIncreaseStatus = .pending }
    if random.one(in: 3) { $0.autoRenewProductID = "basic" }
    if random.one(in: 3) { $0.details.renewalPrice = 1990 }
    if random.one(in: 3) { $0.details.eligibleWinBackOfferIDs = ["back"] }
    if random.one(in: 2) { $0.renewalDate = at(signed + .random(in: -1...4, using: &random) * 10) }
    if random.one(in: 3) { $0.expirationIntent = ExpirationIntent.known.randomElement(using: &random) }
  }
}

extension SplitMix64 {
  fileprivate mutating func one(in count: Int) -> Bool { Int.random(in: 0..<count, using: &self) == 0 }
}
