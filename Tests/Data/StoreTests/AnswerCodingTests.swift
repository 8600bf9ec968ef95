import AppStore
import Entitlements
import TestSupport
import Testing

@testable import Store

@Suite struct AnswerCodingTests {
  @Test("The stored order of reasons, product states and access levels only grows at the end")
  func persistedOrder() {
    #expect(
      AnswerCoding.reasons.map(\.rawValue) == [
        "SUBSCRIPTION_ACTIVE", "SUBSCRIPTION_NOT_RENEWING", "IN_GRACE_PERIOD", "NON_RENEWING_ACTIVE",
        "NON_CONSUMABLE_OWNED", "TRIAL_ACTIVE", "UNKNOWN_ENTITLEMENT", "NEVER_PURCHASED",
        "NOT_ENTITLING_TYPE", "BILLING_RETRY", "BILLING_LAPSED", "PRICE_INCREASE_NOT_ACCEPTED",
        "PRODUCT_UNAVAILABLE", "CANCELLED", "EXPIRED", "PRODUCT_CHANGED", "UPGRADED",
        "NON_RENEWING_ENDED", "TRIAL_ENDED", "REFUNDED_FOR_APP_ISSUE", "REFUNDED",
        "FAMILY_SHARING_ENDED", "BOUGHT_BEFORE_VERSION", "GRANTED", "IN_OPERATOR_GRACE_PERIOD",
        "UNKNOWN_PRODUCT", "FAMILY_SHARING_NOT_ALLOWED", "GRANT_ENDED", "GRANT_REVOKED", "AWAITING_RENEWAL",
        "CONSENT_RESCINDED", "EXTERNAL_PURCHASE_ACTIVE", "EXTERNAL_PURCHASE_ENDED",
        "EXTERNAL_PURCHASE_REFUNDED", "APP_RECEIPT_EXPIRED",
      ])
    #expect(AnswerCoding.productStates.map(\.rawValue) == ["NEW", "ACTIVE", "INACTIVE"])
    #expect(AnswerCoding.accessLevels.map(\.rawValue) == [0, 1, 2])
  }

  @Test("The bytes of a stored status never change")
  func goldenStatus() throws {
    let status = evaluate(CustomerFacts(), entitlement: "pro", in: app, at: instant(5))
    let bytes = StatusCoding.encode(status)
    #expect(
      bytes == [1, 15] + Array("NEVER_PURCHASED".utf8) + [11, 1, 48, 2, 1, 48, 3, 3] + Array("NEW".utf8))
    #expect(try StatusCoding.status(bytes) == status)
  }

  @Test("Decoding returns every encoded answer unchanged", arguments: UInt64(0)..<300)
  func roundTrip(seed: UInt64) throws {
    var random = SplitMix64(state: seed)
    let answers = randomAnswers(&random)
    let bytes = AnswerCoding.encode(answers)
    for (entitlement, timeline) in answers.timelines {
      for status in timeline.segments.map(\.status) {
        #expect(try StatusCoding.status(StatusCoding.encode(status)).deciding == status.deciding)
      }
      let ends = timeline.segments.compactMap(\.end)
      for now in [answers.start] + ends + ends.map({ $0.advanced(byMilliseconds: -1) }) {
        #expect(try find(entitlement, in: bytes, answers, at: now) == timeline.answer(at: now))
      }
    }
    #expect(try find("pro", in: bytes, answers, at: answers.start.advanced(byMilliseconds: -1)) == nil)
    #expect(try find("pr", in: bytes, answers, at: answers.start) == nil)
  }

  @Test("Decoding returns the transaction of an event unchanged", arguments: UInt64(0)..<100)
  func subject(seed: UInt64) throws {
    let subject = EventSubject(RandomFacts(seed: seed).transaction())
    #expect(try SubjectCoding.subject(SubjectCoding.encode(subject)) == subject)
  }

  @Test("Decoding returns the evidence of each answer", arguments: UInt64(0)..<100)
  func evidence(seed: UInt64) throws {
    var random = SplitMix64(state: seed)
    var numbers: [DecidingFact: EvidenceID] = [:]
    let answers = try randomAnswers(&random).addingEvidence { fact in
      guard random.next() % 4 > 0 else { return nil }
      numbers[fact] = EvidenceID(rawValue: Int64(random.next() >> 1))
      return numbers[fact]
    }
    let bytes = AnswerCoding.encode(answers)
    for (entitlement, timeline) in answers.timelines {
      for now in [answers.start] + timeline.segments.compactMap(\.end) {
        let found = try AnswerCoding.answer(
          in: bytes.span, to: entitlement, under: answers.fingerprint, at: now)
        #expect(found?.status == timeline.answer(at: now))
        #expect(found?.evidenceID == timeline.answer(at: now)?.decidingFact.flatMap { numbers[$0] })
      }
    }
    let ofTransactions = numbers.filter { if case .transaction = $0.key { true } else { false } }
    #expect(try AnswerCoding.transactionEvidence(in: bytes.span) == ofTransactions)
  }

  @Test("The bytes of format version 4 never change")
  func golden() throws {
    let facts = CustomerFacts(transactions: [fact(revoked: instant(90))])
    let answers = PrecomputedAnswers(facts, in: app, from: instant(5))
    let bytes = AnswerCoding.encode(answers)
    let fingerprint = withUnsafeBytes(of: app.fingerprint.littleEndian) { Array($0) }
    let neverPurchased: [UInt8] = [2, 0, 7]
    let owned: [UInt8] = [20, 228, 251, 49, 170, 1, 4, 0, 2, 76, 49, 2, 84, 49, 3, 112, 114, 111, 2, 1, 7]
    let refunded: [UInt8] = [8, 136, 145, 16, 20, 170, 1, 170, 1]
    var expected = [4] + fingerprint + [10]
    expected += [4] + Array("plus".utf8) + [3] + neverPurchased
    expected += [3] + Array("pro".utf8) + [30] + owned + refunded
    #expect(bytes == expected)
    // Cases are stored as indices into their lists, so new cases must be last.
    #expect(
      AnswerCoding.reasons == [
        .subscriptionActive, .subscriptionNotRenewing, .inGracePeriod, .nonRenewingActive,
        .nonConsumableOwned, .trialActive, .unknownEntitlement, .neverPurchased, .notEntitlingType,
        .billingRetry, .billingLapsed, .priceIncreaseNotAccepted, .productUnavailable, .cancelled, .expired,
        .productChanged, .upgraded, .nonRenewingEnded, .trialEnded, .refundedForAppIssue, .refunded,
        .familySharingEnded, .boughtBeforeVersion, .granted, .inOperatorGracePeriod, .unknownProduct,
        .familySharingNotAllowed, .grantEnded, .grantRevoked, .awaitingRenewal, .consentRescinded,
        .externalActive, .externalEnded, .externalRefunded, .appReceiptExpired,
      ])
    #expect(AnswerCoding.productStates == [.new, .active, .inactive])
    #expect(AnswerCoding.accessLevels == [.none, .limited, .full])
  }

  @Test("Answers of another version or fingerprint count as missing")
  func stale() throws {
    let answers = PrecomputedAnswers(CustomerFacts(transactions: [fact()]), in: app, from: instant(5))
    var bytes = AnswerCoding.encode(answers)
    #expect(try AnswerCoding.answer(in: bytes.span, to: "pro", under: 1, at: instant(9)) == nil)
    bytes[0] = 1
    #expect(try find("pro", in: bytes, answers, at: instant(9)) == nil)
    #expect(try find("pro", in: [], answers, at: instant(9)) == nil)
  }

  @Test("Decoding damaged bytes throws or returns an answer, without a crash", arguments: UInt64(0)..<200)
  func damaged(seed: UInt64) {
    var random = SplitMix64(state: seed)
    let answers = randomAnswers(&random)
    let whole = AnswerCoding.encode(answers)
    for _ in 0..<100 {
      var bytes = Array(whole.prefix(.random(in: 0...whole.count, using: &random)))
      for _ in 0..<2 where !bytes.isEmpty {
        bytes[.random(in: 0..<bytes.count, using: &random)] = .random(in: 0...255, using: &random)
      }
      for now in [answers.start, instant(.max)] {
        _ = try? find("pro", in: bytes, answers, at: now)
        _ = try? find("zoo", in: bytes, answers, at: now)
      }
    }
  }
}

private func find(
  _ entitlement: String, in bytes: [UInt8], _ answers: PrecomputedAnswers, at now: Instant
) throws -> EntitlementStatus? {
  try AnswerCoding.answer(in: bytes.span, to: entitlement, under: answers.fingerprint, at: now)?.status
}

/// Returns answers to facts that cover every part of the format.
private func randomAnswers(_ random: inout SplitMix64) -> PrecomputedAnswers {
  let transactions = (0..<Int.random(in: 0...6, using: &random)).map { _ in
    let start = Int64.random(in: 0...100, using: &random) * 1_000_000
    let line = "L\(random.next() % 3)"
    return TransactionFact(
      transactionID: random.next() % 2 == 0 ? line : "T\(random.next() % 9)", originalTransactionID: line,
      productID: ["pro", "plus", "sub"].randomElement(using: &random)!,
      type: random.next() % 3 == 0 ? .nonConsumable : .autoRenewableSubscription,
      purchaseDate: instant(start), expiresDate: instant(start + 30_000_000),
      revocationDate: random.next() % 4 == 0 ? instant(start + 9_000_000) : nil,
      ownership: [.purchased, .familyShared, .unrecognized("Ümläut")].randomElement(using: &random)!,
      offerType: random.next() % 2 == 0 ? .introductory : nil, signedDate: instant(start),
      details: transactionDetails(&random))
  }
  let renewals = ["L0", "L1"].map { line in
    RenewalFact(
      originalTransactionID: line, productID: "sub",
      autoRenewProductID: ["sub", "pro", nil].randomElement(using: &random)!,
      autoRenewStatus: [.on, .off, nil].randomElement(using: &random)!,
      isInBillingRetry: random.next() % 2 == 0, gracePeriodExpiresDate: instant(60_000_000),
      priceIncreaseStatus: random.next() % 2 == 0 ? .pending : nil, signedDate: instant(50_000_000),
      details: renewalDetails(&random))
  }
  let grants = ["G1", "G2"].prefix(Int(random.next() % 3)).map { id in
    GrantFact(
      grantID: id, entitlement: "pro", accessLevel: random.next() % 2 == 0 ? .limited : .full,
      since: instant(20_000_000), until: random.next() % 2 == 0 ? instant(70_000_000) : nil,
      external: id == "G2"
        ? ExternalPurchase(source: "play", externalID: "GPA.1", productID: "gold", revision: 1) : nil)
  }
  let sold = AppDefinition(
    id: "ocean", identity: AppIdentity(bundleID: "com.example.ocean", appAppleID: nil),
    environments: [.sandbox],
    products: [
      ProductDefinition(productID: "pro", type: .nonConsumable, entitlements: ["pro", "pro.too", "zoo"]),
      ProductDefinition(productID: "plus", type: .nonConsumable, entitlements: ["plus", "zoo"]),
      ProductDefinition(
        productID: "sub", type: .autoRenewableSubscription, entitlements: ["pro", "pro.too"]),
    ], renewalPolicy: .standard)
  return PrecomputedAnswers(
    CustomerFacts(transactions: transactions, renewals: renewals, grants: grants), in: sold,
    from: instant(.random(in: 0...120, using: &random) * 1_000_000))
}

private func transactionDetails(_ random: inout SplitMix64) -> TransactionDetails {
  var details = TransactionDetails()
  details.billingPlanType = [.monthly, .unrecognized("WEEKLY"), nil].randomElement(using: &random)!
  if random.next() % 2 == 0 {
    details.commitment = .init(
      billingPeriodNumber: Int64(random.next() % 13), totalBillingPeriods: 12,
      expiresDate: random.next() % 2 == 0 ? instant(90_000_000) : nil,
      price: random.next() % 2 == 0 ? 47_880 : nil)
  }
  if random.next() % 2 == 0 { details.price = 3990 }
  if random.next() % 2 == 0 { details.currency = "EUR" }
  return details
}

private func renewalDetails(_ random: inout SplitMix64) -> RenewalDetails {
  var details = RenewalDetails()
  if random.next() % 2 == 0 { details.renewalPrice = Int64(random.next() % 100_000) }
  if random.next() % 2 == 0 { details.currency = "USD" }
  if random.next() % 2 == 0 { details.eligibleWinBackOfferIDs = ["best", ""] }
  return details
}
