import AppStore
import Entitlements
import JSON
import TestSupport
import Testing

/// Access from grants, app installs, grace and shared purchases, and precedence among them.
@Suite struct AccessSourceTests {
  @Test("A grant entitles off-platform from its start to its end")
  func granted() {
    let facts = CustomerFacts(grants: [grant("G1", 10, 20)])
    #expect(fullPro(facts, on: 9).reason == .neverPurchased)
    #expect(fullPro(facts, on: 9).checkAgainAt == at(10))
    let running = fullPro(facts, on: 10)
    #expect(running.reason == .granted)
    #expect(running.code == 2)
    #expect(running.grantID == "G1")
    #expect(running.since == at(10))
    #expect(running.until == at(20))
    #expect(fullPro(facts, on: 20).reason == .grantEnded)
    #expect(fullPro(facts, on: 20).productState == .new)
  }

  @Test("A revoked grant ends at its revocation")
  func grantRevoked() {
    var revoked = grant("G1", 10)
    revoked.revokedAt = at(15)
    #expect(fullPro(CustomerFacts(grants: [revoked]), on: 14).isEntitled)
    #expect(fullPro(CustomerFacts(grants: [revoked]), on: 15).reason == .grantRevoked)
  }

  @Test("A purchase takes precedence over a grant of the same level, and the unbroken access spans both")
  func purchaseBeforeGrant() {
    let facts = CustomerFacts(transactions: [period(0...30)], grants: [grant("G1", 5, 60)])
    #expect(fullPro(facts, on: 10).reason == .subscriptionActive)
    #expect(fullPro(facts, on: 10).until == at(60))
    #expect(fullPro(facts, on: 40).reason == .granted)
    #expect(fullPro(facts, on: 40).since == at(0))
  }

  @Test("A grant of another entitlement grants nothing")
  func otherGrant() {
    let other = GrantFact(grantID: "G1", entitlement: "export", since: at(0))
    #expect(fullPro(CustomerFacts(grants: [other]), on: 5).reason == .neverPurchased)
  }

  @Test("Full access takes precedence over limited access, whichever ends later")
  func levels() {
    let facts = CustomerFacts(
      transactions: [period(0...90, "basic", line: "L1"), period(0...30, "yearly", line: "L2")])
    #expect(fullPro(facts, on: 10).accessLevel == .full)
    #expect(fullPro(facts, on: 10).until == at(30))
    #expect(fullPro(facts, on: 10).checkAgainAt == at(30))
    #expect(fullPro(facts, on: 40).accessLevel == .limited)
    #expect(fullPro(facts, on: 40).since == at(0))
    #expect(fullPro(facts, on: 40).until == at(90))
    #expect(fullPro(facts, on: 90).accessLevel == .none)
  }

  @Test(
    "A customer who got the app before it was free keeps paid access",
    arguments: [
      ("2.9", true), ("2.10", true), ("3", false), ("3.0.0", false), ("3.1", false), ("beta", false),
    ])
  func boughtBefore(version: String, owns: Bool) {
    let copy = AppTransactionFact(
      originalApplicationVersion: version, originalPurchaseDate: at(0), preorderDate: at(-40),
      signedDate: at(100))
    let facts = CustomerFacts(appTransactions: [copy])
    let status = evaluate(facts, entitlement: "archive", in: fullApp, at: at(5))
    #expect(status.isEntitled == owns)
    #expect(status.reason == (owns ? .boughtBeforeVersion : .neverPurchased))
    #expect(fullPro(facts, on: 5).accessLevel == (owns ? .limited : .none))
    // A pre-order grants nothing: the app was downloaded on day 0.
    #expect(!fullPro(facts, on: -1).isEntitled)
  }

  // Apple: originalApplicationVersion is CFBundleShortVersionString on macOS, and CFBundleVersion elsewhere.
  @Test(
    "A version rule of a platform replaces the rule of all others for app installs from there",
    arguments: [
      (PurchasePlatform.macOS, "2.9", true), (.macOS, "3.0", false), (.macOS, "119", false),
      (.iOS, "119", true), (.iOS, "120", false), (.iOS, "2.9", true), (.tvOS, "119", true),
      (.unrecognized("watchOS"), "119", true), (nil, "119", true), (nil, "120", false),
    ] as [(PurchasePlatform?, String, Bool)])
  func boughtBeforeOnPlatform(platform: PurchasePlatform?, version: String, owns: Bool) {
    func rule(_ version: String, _ platform: PurchasePlatform? = nil) -> BoughtBeforeVersion {
      BoughtBeforeVersion(
        version: AppVersion(version)!, platform: platform, entitlements: ["archive": .full])
    }
    let app = AppDefinition(
      id: "ocean", identity: fullApp.identity, environments: [.sandbox], products: [],
      boughtBefore: [rule("120"), rule("3.0", .macOS)])
    let install = AppTransactionFact(
      originalApplicationVersion: version, originalPurchaseDate: at(0), originalPlatform: platform,
      signedDate: at(100))
    let facts = CustomerFacts(appTransactions: [install])
    #expect(evaluate(facts, entitlement: "archive", in: app, at: at(5)).isEntitled == owns)
  }

  private func install(
    _ version: String, bought day: Int64 = 0, until: Int64? = nil, signed: Int64 = 100
  ) -> AppTransactionFact {
    AppTransactionFact(
      originalApplicationVersion: version, originalPurchaseDate: at(day),
      receiptExpiresDate: until.map { at($0) }, signedDate: at(signed))
  }

  @Test("The license of an organization's app ends with its receipt, unless a later receipt extends it")
  func volumePurchase() {
    let first = install("2.0", until: 120)
    let facts = CustomerFacts(appTransactions: [first])
    let running = evaluate(facts, entitlement: "archive", in: fullApp, at: at(119))
    #expect(running.reason == .boughtBeforeVersion && running.until == at(120))
    #expect(running.checkAgainAt == at(120))
    let ended = evaluate(facts, entitlement: "archive", in: fullApp, at: at(120))
    #expect(!ended.isEntitled && ended.reason == .appReceiptExpired && ended.until == at(120))
    let renewed = install("2.0", until: 150, signed: 110)
    for receipts in [[first, renewed], [renewed, first]] {
      let facts = CustomerFacts(appTransactions: receipts)
      #expect(evaluate(facts, entitlement: "archive", in: fullApp, at: at(130)).until == at(150))
    }
    // A receipt after the end begins another time.
    let late = CustomerFacts(appTransactions: [install("2.0", until: 150, signed: 140), first])
    #expect(evaluate(late, entitlement: "archive", in: fullApp, at: at(130)).reason == .appReceiptExpired)
    #expect(evaluate(late, entitlement: "archive", in: fullApp, at: at(145)).since == at(140))
  }

  // StoreKit, AppTransaction.revocationDate; appTransactionId stays the same when the app is bought again.
  @Test(
    "Access of a customer who bought the app before ends with a refund of the app, until it is bought again")
  func refundedApp() throws {
    func install(signed day: Int64, revoked: Int64? = nil) throws -> AppTransactionFact {
      let json: JSONObject = [
        "appTransactionId": "7", "originalApplicationVersion": "2.0",
        "originalPurchaseDate": JSONValue(at(0)), "receiptCreationDate": JSONValue(at(day)),
        "revocationDate": revoked.map { JSONValue(at($0)) } ?? .null,
      ]
      return try AppTransactionFact(AppTransactionPayload(json: json))
    }
    let documents = [try install(signed: 1), try install(signed: 12, revoked: 10)]
    func status(_ documents: [AppTransactionFact], on day: Int64) -> EntitlementStatus {
      evaluate(
        CustomerFacts(appTransactions: documents), entitlement: "archive", in: fullApp, at: at(day))
    }
    for documents in [documents, documents.reversed()] {
      #expect(status(documents, on: 9).isEntitled && status(documents, on: 9).until == at(10))
      #expect(status(documents, on: 10).reason == .refunded && status(documents, on: 10).until == at(10))
    }
    // Nothing proves that the customer had the app again before Apple signed the next document without a revocation.
    let again = documents + [try install(signed: 30), try install(signed: 40)]
    for documents in [again, again.reversed(), [again[3], again[1], again[2], again[0]]] {
      #expect(status(documents, on: 9).until == at(10))
      #expect(status(documents, on: 29).reason == .refunded && status(documents, on: 29).until == at(10))
      #expect(status(documents, on: 41).reason == .boughtBeforeVersion)
      #expect(status(documents, on: 41).since == at(30))
      let steps = Explanation(
        CustomerFacts(appTransactions: documents), entitlement: "archive", in: fullApp, at: at(20)
      ).steps
      let step = try #require(
        steps.first { $0.sentence.contains("Apple revoked the purchase of the app on \(at(10))") })
      #expect(step.isDecisive)
      #expect(
        try CustomerFacts(appTransactions: [install(signed: 12, revoked: 10)]).contains(#require(step.fact)))
    }
  }

  @Test(
    "A revocation that is signed later ends the access before it, and an older document does not begin another one"
  )
  func lateRevocation() {
    func install(signed day: Int64, revoked: Int64? = nil) -> AppTransactionFact {
      AppTransactionFact(
        originalApplicationVersion: "2.0", originalPurchaseDate: at(0),
        revocationDate: revoked.map { at($0) }, signedDate: at(day))
    }
    // Apple signs a valid document until the revocation reaches all of its servers.
    let documents = [
      install(signed: 1), install(signed: 11), install(signed: 12, revoked: 10), install(signed: 30),
      install(signed: 31, revoked: 10),
    ]
    let facts = CustomerFacts(appTransactions: documents)
    #expect(facts == CustomerFacts(appTransactions: documents.reversed()))
    for day in [11, 20, 30, 40] as [Int64] {
      let status = evaluate(facts, entitlement: "archive", in: fullApp, at: at(day))
      #expect(status.reason == .refunded && status.until == at(10), "day \(day)")
    }
  }

  @Test("An install keeps two documents of a day and statement, whatever the order of arrival")
  func manyDocuments() {
    func hour(_ number: Int64) -> Instant { at(1).advanced(byMilliseconds: number * 3_600_000) }
    let documents = (0..<200).map { number in
      AppTransactionFact(
        originalApplicationVersion: "2.0", originalPurchaseDate: at(0),
        revocationDate: (40..<60).contains(number) ? hour(40) : nil, signedDate: hour(number))
    }
    let facts = CustomerFacts(appTransactions: documents)
    for _ in 0..<10 { #expect(CustomerFacts(appTransactions: documents.shuffled()) == facts) }
    // Nine or ten days, of which a few have documents of both kinds.
    #expect((15...26).contains(facts.appTransactions.first?.earlier.count ?? 0))
    for (number, isEntitled) in [(0, true), (39, true), (40, false), (59, false), (60, true), (199, true)] {
      let status = evaluate(facts, entitlement: "archive", in: fullApp, at: hour(Int64(number)))
      #expect(status.isEntitled == isEntitled, "hour \(number)")
    }
  }

  @Test("Each of several app installs without an id counts, in whatever order their receipts arrive")
  func severalInstalls() {
    let (old, new) = (install("2.0", bought: 3), install("4.0", bought: 60, signed: 200))
    for receipts in [[old, new], [new, old], [new, old, new]] {
      let facts = CustomerFacts(appTransactions: receipts)
      #expect(facts.appTransactions == [old, new])
      #expect(evaluate(facts, entitlement: "archive", in: fullApp, at: at(70)).isEntitled)
    }
  }

  @Test("The operator's grace grants limited access during billing retry and ends without new evidence")
  func operatorGrace() {
    let failed = renewal(signed: 31) { $0.isInBillingRetry = true }
    let facts = CustomerFacts(transactions: [period(0...30, "yearly")], renewals: [failed])
    let waiting = fullPro(facts, on: 40)
    #expect(waiting.reason == .inOperatorGracePeriod)
    #expect(waiting.accessLevel == .limited)
    #expect(waiting.code == 1)
    #expect(waiting.reason.subscriptionStatus == .billingRetry)
    #expect(waiting.until == at(50))
    #expect(waiting.actBy == at(50))
    #expect(fullPro(facts, on: 50).reason == .billingRetry)
    #expect(pro([period(0...30, "yearly")], [failed], on: 40).reason == .billingRetry)
  }

  @Test("Apple's grace takes precedence over the operator's grace, which continues after it")
  func bothGraces() {
    let failed = renewal(signed: 31) {
      $0.isInBillingRetry = true
      $0.gracePeriodExpiresDate = at(46)
    }
    let facts = CustomerFacts(transactions: [period(0...30, "yearly")], renewals: [failed])
    #expect(fullPro(facts, on: 40).reason == .inGracePeriod)
    #expect(fullPro(facts, on: 40).accessLevel == .full)
    #expect(fullPro(facts, on: 47).reason == .inOperatorGracePeriod)
    #expect(fullPro(facts, on: 47).until == at(50))
  }

  @Test("A cancelled subscription gets no operator's grace")
  func noGraceForCancelled() {
    let cancelled = renewal(signed: 31) { $0.expirationIntent = .customerCancelled }
    let facts = CustomerFacts(transactions: [period(0...30, "yearly")], renewals: [cancelled])
    #expect(fullPro(facts, on: 31).reason == .cancelled)
  }

  @Test("The family sharing policy limits or denies access by a shared purchase")
  func familyPolicy() {
    let shared = period(0...30, "yearly").with { $0.ownership = .familyShared }
    let facts = CustomerFacts(transactions: [shared])
    #expect(fullPro(facts, on: 5).accessLevel == .limited)
    let denied = evaluate(facts, entitlement: "export", in: fullApp, at: at(5))
    #expect(denied.reason == .familySharingNotAllowed)
    #expect(denied.until == nil)
    #expect(denied.productState == .new)
  }

  @Test("An own purchase takes precedence over a shared one, which continues without a gap after it")
  func ownBeforeShared() {
    let shared = period(0...90, "monthly", line: "S").with { $0.ownership = .familyShared }
    let facts = [period(0...30), shared]
    #expect(pro(facts, on: 10).deciding?.ownership == .purchased)
    #expect(pro(facts, on: 10).until == at(90))
    #expect(pro(facts, on: 10).checkAgainAt == at(30))
    #expect(pro(facts, on: 30).deciding?.ownership == .familyShared)
    #expect(pro(facts, on: 30).since == at(0))
  }

  // StoreKit, Transaction.MultiSeatInfo.revokedSeatQuantity: revocationDate appears only when every seat is revoked.
  @Test(
    "A refund of some seats keeps the purchaser's access; one with a date ends it, whatever its number of seats"
  )
  func seats() {
    let team = period(0...30).with {
      $0.quantity = 5
      $0.revokedSeatQuantity = 2
    }
    #expect(pro([team], on: 15).isEntitled)
    for seats in [nil, 2, 5] as [Int64?] {
      let refunded = team.with { ($0.revocationDate, $0.revokedSeatQuantity) = (at(10), seats) }
      #expect(pro([refunded], on: 9).isEntitled)
      #expect(pro([refunded], on: 15).reason == .refunded)
    }
  }
}
