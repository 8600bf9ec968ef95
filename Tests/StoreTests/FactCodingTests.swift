import AppStore
import Entitlements
import Store
import Testing

@Suite struct FactCodingTests {
  @Test("What was encoded is decoded as it was", arguments: UInt64(0)..<200)
  func roundTrip(seed: UInt64) throws {
    var random = SplitMix64(state: seed)
    let facts = CustomerFacts(
      transactions: (0..<Int.random(in: 0...12, using: &random)).map { _ in transaction(&random) },
      renewals: (0..<Int.random(in: 0...3, using: &random)).map { _ in renewal(&random) })
    #expect(try FactCoding.customerFacts(FactCoding.encode(facts)) == facts)
    for fact in facts.transactions {
      #expect(try FactCoding.transaction(FactCoding.encode(fact)) == fact)
    }
    for fact in facts.renewals {
      #expect(try FactCoding.renewal(FactCoding.encode(fact)) == fact)
    }
  }

  @Test("The bytes of version 1 never change: stores are full of them")
  func golden() throws {
    let fact = TransactionFact(
      transactionID: "T", originalTransactionID: "T", productID: "p", type: .nonConsumable,
      purchaseDate: Instant(millisecondsSince1970: 1000), expiresDate: Instant(millisecondsSince1970: 1001),
      ownership: .familyShared, signedDate: Instant(millisecondsSince1970: 999))
    let bytes: [UInt8] = [1, 0b1010, 1, 84, 1, 112, 2, 2, 0xD0, 0x0F, 1, 2]
    #expect(FactCoding.encode(fact) == bytes)
    #expect(try FactCoding.transaction(bytes) == fact)
    // Each known code is stored as its place in its list, so the lists may only grow at the end.
    #expect(
      ProductType.known == [
        .autoRenewableSubscription, .nonConsumable, .consumable, .nonRenewingSubscription,
      ])
    #expect(InAppOwnershipType.known == [.purchased, .familyShared, .assigned])
    #expect(RevocationType.known == [.refundFull, .refundProrated, .familyRevoke])
    #expect(OfferType.known == [.introductory, .promotional, .offerCode, .winBack])
    #expect(OfferDiscountType.known == [.freeTrial, .payAsYouGo, .payUpFront, .oneTime])
    #expect(RevocationReason.known == [.other, .appIssue])
    #expect(AutoRenewStatus.known == [.off, .on])
    #expect(PriceIncreaseStatus.known == [.pending, .accepted])
    #expect(
      ExpirationIntent.known == [
        .customerCancelled, .billingError, .priceIncreaseNotAccepted, .productUnavailable, .other,
      ])
  }

  @Test("Damaged bytes are reported, never guessed at and never a crash", arguments: UInt64(0)..<200)
  func damaged(seed: UInt64) {
    var random = SplitMix64(state: seed)
    let facts = CustomerFacts(transactions: (0..<3).map { _ in transaction(&random) })
    var bytes = FactCoding.encode(facts)
    let cut = Int.random(in: 0..<bytes.count, using: &random)
    #expect(throws: StoreError.self) { try FactCoding.customerFacts(Array(bytes[..<cut])) }
    for _ in 0..<50 {
      bytes[.random(in: 0..<bytes.count, using: &random)] = .random(in: 0...255, using: &random)
      _ = try? FactCoding.customerFacts(bytes)
    }
  }

  @Test("A version to come is refused by its number")
  func laterVersion() {
    #expect(throws: StoreError.corrupt("facts of version 2, and 1 is known")) {
      try FactCoding.customerFacts([2, 0, 0])
    }
  }
}

private func transaction(_ random: inout SplitMix64) -> TransactionFact {
  func maybe<Value>(_ value: @autoclosure () -> Value) -> Value? {
    Bool.random(using: &random) ? value() : nil
  }
  func instant() -> Instant { Instant(millisecondsSince1970: Int64(bitPattern: random.next()) >> 20) }
  let line = "L\(Int.random(in: 0...2, using: &random))"
  return TransactionFact(
    transactionID: maybe("T\(random.next() % 8)") ?? line, originalTransactionID: line,
    productID: "pro.\(random.next() % 2)", type: maybe(.autoRenewableSubscription) ?? .unrecognized("Ümläut"),
    purchaseDate: instant(), originalPurchaseDate: maybe(instant()), expiresDate: maybe(instant()),
    revocationDate: maybe(instant()), revocationReason: maybe(maybe(.appIssue) ?? .unrecognized(-7)),
    revocationType: maybe(maybe(.familyRevoke) ?? .unrecognized("")), isUpgraded: .random(using: &random),
    ownership: maybe(.assigned) ?? .unrecognized("X"), offerType: maybe(maybe(.winBack) ?? .unrecognized(99)),
    offerDiscountType: maybe(.payUpFront), subscriptionGroupID: maybe("G\(random.next() % 2)"),
    quantity: maybe(7) ?? 1, signedDate: instant())
}

private func renewal(_ random: inout SplitMix64) -> RenewalFact {
  func maybe<Value>(_ value: @autoclosure () -> Value) -> Value? {
    Bool.random(using: &random) ? value() : nil
  }
  func instant() -> Instant { Instant(millisecondsSince1970: Int64(bitPattern: random.next()) >> 20) }
  return RenewalFact(
    originalTransactionID: "L\(random.next() % 4)", productID: "p\(random.next() % 2)",
    autoRenewProductID: maybe("p\(random.next() % 2)"), autoRenewStatus: maybe(.on),
    isInBillingRetry: .random(using: &random), gracePeriodExpiresDate: maybe(instant()),
    expirationIntent: maybe(maybe(.billingError) ?? .unrecognized(-1)),
    priceIncreaseStatus: maybe(.accepted), renewalDate: maybe(instant()), signedDate: instant())
}

/// A small generator with a seed, so that a failure can be had again.
struct SplitMix64: RandomNumberGenerator {
  var state: UInt64

  mutating func next() -> UInt64 {
    state &+= 0x9E37_79B9_7F4A_7C15
    var mixed = state
    mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
    mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
    return mixed ^ (mixed >> 31)
  }
}
