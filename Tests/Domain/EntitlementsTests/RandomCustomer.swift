import AppStore
import Entitlements
import TestSupport

/// A customer to whom everything happened: several lines, upgrades, refunds, grace and retry, purchases of
/// every type, and some that have not begun yet. Many dates coincide.
func randomCustomer(_ random: inout SplitMix64) -> CustomerFacts {
  let subscriptions = (0..<Int.random(in: 0...8, using: &random)).map { _ in randomPeriod(&random) }
  let others = (0..<Int.random(in: 0...3, using: &random)).map { _ in randomPurchase(&random) }
  let renewals = (0..<3).map { randomRenewal(line: "L\($0)", &random) }
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
  return period(days, product, line: line, id: "T\(Int.random(in: 0...12, using: &random))").with {
    if random.one(in: 5) { $0.revocationDate = at(start + 5) }
    if random.one(in: 6) { $0.isUpgraded = true }
    if random.one(in: 4) { $0.ownership = .familyShared }
    if random.one(in: 3) { $0.offerType = .introductory }
    if random.one(in: 3) { $0.offerDiscountType = .freeTrial }
    if random.one(in: 8) { $0.revocationReason = .appIssue }
    if random.one(in: 8) { $0.revocationType = .familyRevoke }
    if random.one(in: 8) { $0.details.commitment = .init(billingPeriodNumber: 12, totalBillingPeriods: 12) }
    if random.one(in: 9) {
      $0.quantity = 2
      $0.revokedSeatQuantity = 1
    }
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
