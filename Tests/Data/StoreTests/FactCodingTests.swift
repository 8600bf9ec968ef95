import AppStore
import Entitlements
import Store
import TestSupport
import Testing

@Suite struct FactCodingTests {
  @Test("Decoding returns the encoded facts unchanged", arguments: UInt64(0)..<200)
  func roundTrip(seed: UInt64) throws {
    let facts = RandomFacts(seed: seed).customerFacts()
    #expect(try FactCoding.customerFacts(FactCoding.encode(facts)) == facts)
    var decoder = FactCoding.LineDecoder()
    for fact in facts.transactions {
      #expect(try FactCoding.transaction(FactCoding.encode(fact)) == fact)
      let next = try decoder.transaction(FactCoding.encode(fact))
      #expect(next == fact)
    }
    for history in facts.renewalHistories {
      #expect(try FactCoding.renewals(FactCoding.encode(history)) == history)
    }
    for fact in facts.grants { #expect(try FactCoding.grant(FactCoding.encode(fact)) == fact) }
    for fact in facts.appTransactions {
      #expect(try FactCoding.appTransaction(FactCoding.encode(fact)) == fact)
    }
  }

  @Test("A decoder of several transactions confuses no texts of one length")
  func textsOfOneLength() throws {
    var decoder = FactCoding.LineDecoder()
    let ids = [
      "2000000012345678", "2000000012345678", "2000000012345679", "3000000012345679", "T", "ÄÖÜÄÖÜÄÖ",
    ]
    let tokens = [nil, "20000000123456789", "20000000123456789", nil, "2", "ÄÖÜÄÖÜÄÖ"]
    for (line, token) in zip(ids, tokens) {
      var fact = TransactionFact(
        transactionID: "T", originalTransactionID: line, productID: "p", type: .nonConsumable,
        purchaseDate: at(1), signedDate: at(2))
      fact.details.appAccountToken = token
      let decoded = try decoder.transaction(FactCoding.encode(fact))
      #expect(decoded == fact)
    }
  }

  @Test(
    "A refund keeps its percentage, or has the nearest possible one",
    arguments: [Int64.min, -1, 0, 1, 99_999, 100_000, 100_001, .max])
  func refundPercentages(percentage: Int64) throws {
    var fact = TransactionFact(
      transactionID: "T", originalTransactionID: "T", productID: "p", type: .nonConsumable,
      purchaseDate: at(1), signedDate: at(2))
    fact.details.refunds = [
      .init(date: at(3), percentage: percentage),
      .init(date: at(4), percentage: percentage, isAppIssue: true),
    ]
    let decoded = try FactCoding.transaction(FactCoding.encode(fact))
    #expect(decoded == fact)
    #expect(
      decoded.details.refunds.map(\.percentage)
        == Array(repeating: min(max(0, percentage), 100_000), count: 2))
  }

  @Test("The bytes of format version 1 never change")
  func golden() throws {
    let fact = TransactionFact(
      transactionID: "T", originalTransactionID: "T", productID: "p", type: .nonConsumable,
      purchaseDate: Instant(millisecondsSince1970: 1000), expiresDate: Instant(millisecondsSince1970: 1001),
      ownership: .familyShared, signedDate: Instant(millisecondsSince1970: 999))
    let bytes: [UInt8] = [1, 0b1010, 1, 84, 1, 112, 2, 2, 0xD0, 0x0F, 1, 2]
    #expect(FactCoding.encode(fact) == bytes)
    #expect(try FactCoding.transaction(bytes) == fact)
    #expect(
      FactCoding.encode(CustomerFacts(transactions: [fact])) == [1, 1] + bytes.dropFirst() + [0, 0, 0])
    // Known codes are stored as indices into their lists, so new codes must be last.
    #expect(
      ProductType.known == [
        .autoRenewableSubscription, .nonConsumable, .consumable, .nonRenewingSubscription,
      ])
    #expect(InAppOwnershipType.known == [.purchased, .familyShared, .assigned])
    #expect(RevocationType.known == [.refundFull, .refundProrated, .familyRevoke, .assignmentRevoke])
    #expect(OfferType.known == [.introductory, .promotional, .offerCode, .winBack, .retention])
    #expect(OfferDiscountType.known == [.freeTrial, .payAsYouGo, .payUpFront, .oneTime])
    #expect(RevocationReason.known == [.other, .appIssue])
    #expect(AutoRenewStatus.known == [.off, .on])
    #expect(PriceIncreaseStatus.known == [.pending, .accepted])
    #expect(TransactionReason.known == [.purchase, .renewal])
    #expect(BillingPlanType.known == [.billedUpfront, .monthly])
    #expect(PurchasePlatform.known == [.iOS, .macOS, .tvOS, .visionOS])
    #expect(InvitationManagement.known == [.apple, .developer])
    #expect(
      ExpirationIntent.known == [
        .customerCancelled, .billingError, .priceIncreaseNotAccepted, .productUnavailable, .other,
      ])
  }

  @Test("A repeated renewal info takes a few bytes")
  func repetition() {
    func size(_ repetitions: Int64) -> Int {
      var facts = CustomerFacts()
      for number in 0..<repetitions {
        var fact = RandomFacts(seed: 5).renewal()
        fact.signedDate = instant(1_700_000_000_000 + number * 21_600_000)
        facts.insert(fact, knownAt: fact.signedDate.advanced(byMilliseconds: 900))
      }
      return FactCoding.encode(facts).count
    }
    #expect(size(1001) - size(1) < 9 * 1000)
  }

  @Test("Decoding damaged bytes throws, without a crash", arguments: UInt64(0)..<200)
  func damaged(seed: UInt64) {
    var random = SplitMix64(state: seed)
    let facts = CustomerFacts(transactions: (0..<3).map { RandomFacts(seed: seed + $0).transaction() })
    var bytes = FactCoding.encode(facts)
    let cut = Int.random(in: 0..<bytes.count, using: &random)
    #expect(throws: StoreError.self) { try FactCoding.customerFacts(Array(bytes[..<cut])) }
    for _ in 0..<50 {
      bytes[.random(in: 0..<bytes.count, using: &random)] = .random(in: 0...255, using: &random)
      _ = try? FactCoding.customerFacts(bytes)
    }
  }

  @Test("Another format version is rejected by its number")
  func otherVersion() {
    #expect(throws: StoreError.corrupt("unknown format version 2 of facts")) {
      try FactCoding.customerFacts([2, 0, 0])
    }
  }
}
