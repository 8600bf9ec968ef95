import AppStore
import Entitlements
import JSON
import TestSupport
import Testing

@Suite struct CustomerFactsTests {
  @Test("Facts are independent of insertion order and repetitions", arguments: UInt64(0)..<200)
  func order(seed: UInt64) {
    var random = SplitMix64(state: seed)
    let transactions = (0..<Int.random(in: 1...24, using: &random)).map { _ in randomFact(&random) }
    let renewals = (0..<3).map { _ in
      renewal(
        signed: .random(in: 0...8, using: &random) * 10, line: "L\(Int.random(in: 0...2, using: &random))"
      ) {
        $0.gracePeriodExpiresDate =
          Bool.random(using: &random) ? at(.random(in: 0...100, using: &random)) : nil
        $0.isInBillingRetry = .random(using: &random)
      }
    }
    let grants = (0..<4).map { _ in randomGrant(&random) }
    let apps = (0..<3).map { _ in randomAppTransaction(&random) }
    let straight = CustomerFacts(
      transactions: transactions, renewals: renewals, grants: grants, appTransactions: apps)
    let shuffled = CustomerFacts(
      transactions: (transactions + transactions.prefix(4)).shuffled(using: &random),
      renewals: (renewals + renewals).shuffled(using: &random),
      grants: (grants + grants).shuffled(using: &random),
      appTransactions: (apps + apps).shuffled(using: &random))
    #expect(straight == shuffled)
    var single = CustomerFacts()
    for transaction in transactions.shuffled(using: &random) { single.insert(transaction) }
    #expect(single.transactions == straight.transactions)
    let distinct = straight.transactions.shuffled(using: &random)
    #expect(CustomerFacts(distinct: distinct).transactions == straight.transactions)
    #expect(CustomerFacts(distinct: straight.transactions).transactions == straight.transactions)

    var merged = CustomerFacts(
      transactions: Array(transactions.dropFirst(3)), grants: Array(grants.suffix(3)), appTransactions: apps)
    merged.merge(
      CustomerFacts(transactions: Array(transactions.prefix(5)), renewals: renewals, grants: grants))
    #expect(merged == straight)
  }

  @Test("The evaluation equals a literal implementation of the interval rule", arguments: UInt64(0)..<100)
  func oracle(seed: UInt64) {
    var random = SplitMix64(state: seed &+ 1_000)
    let facts = CustomerFacts(transactions: (0..<8).map { _ in randomFact(&random) })
    for day in stride(from: Int64(-5), through: 120, by: 5) {
      let status = evaluate(facts, entitlement: "pro", in: app, at: at(day))
      #expect(status.isEntitled == slowly(facts, at(day)), "day \(day)")
      if status.isEntitled, let until = status.until {
        #expect(!slowly(facts, until))
        #expect(slowly(facts, until.advanced(byMilliseconds: -1)))
      }
    }
  }

  @Test("A repetition and an older document about a transaction change nothing")
  func repetition() {
    var facts = CustomerFacts()
    let newer = period(0...30).with { $0.signedDate = at(2) }
    let answers = [facts.insert(newer), facts.insert(newer), facts.insert(period(0...30))]
    #expect(answers == [true, false, false])
    #expect(facts.transactions == [newer])
  }

  @Test("A revoked grant stays revoked, and the later revocation wins")
  func grants() {
    let given = GrantFact(grantID: "G1", entitlement: "pro", since: at(0))
    var facts = CustomerFacts(grants: [given])
    var revoked = given
    revoked.revokedAt = at(5)
    var answers = [facts.insert(revoked), facts.insert(given)]
    revoked.revokedAt = at(7)
    answers.append(facts.insert(revoked))
    #expect(answers == [true, false, true])
    #expect(facts.grants == [revoked])
  }

  @Test(
    "A document without a required field is rejected with the field's name",
    arguments: [
      "transactionId", "originalTransactionId", "productId", "type", "purchaseDate", "signedDate",
      "expiresDate",
    ])
  func missing(field: String) throws {
    var json: JSONObject = [
      "transactionId": "1", "originalTransactionId": "1", "productId": "monthly",
      "type": "Auto-Renewable Subscription", "purchaseDate": 1, "expiresDate": 2, "signedDate": 1,
    ]
    #expect(throws: Never.self) { try TransactionFact(JWSTransactionDecodedPayload(json: json)) }
    json[field] = nil
    #expect(throws: FactError.missing(field: field)) {
      try TransactionFact(JWSTransactionDecodedPayload(json: json))
    }
  }
}

/// Facts with many equal dates, lines and signature dates.
private func randomFact(_ random: inout SplitMix64) -> TransactionFact {
  let start = Int64.random(in: 0...8, using: &random) * 10
  let line = "L\(Int.random(in: 0...2, using: &random))"
  let product = ["monthly", "yearly", "plus"].randomElement(using: &random)!
  return period(start...(start + .random(in: 0...4, using: &random) * 10), product, line: line).with {
    $0.transactionID = "T\(Int.random(in: 0...6, using: &random))"
    $0.signedDate = at(start + Int64.random(in: 0...1, using: &random))
    $0.revocationDate = Int.random(in: 0...4, using: &random) == 0 ? at(start + 5) : nil
    $0.details.price = [nil, 990, 1990].randomElement(using: &random)!
  }
}

private func randomGrant(_ random: inout SplitMix64) -> GrantFact {
  GrantFact(
    grantID: "G\(Int.random(in: 0...1, using: &random))", entitlement: "pro", since: at(0),
    revokedAt: Bool.random(using: &random) ? at(.random(in: 0...3, using: &random)) : nil,
    note: ["", "sorry"].randomElement(using: &random)!)
}

private func randomAppTransaction(_ random: inout SplitMix64) -> AppTransactionFact {
  AppTransactionFact(
    appTransactionID: ["", "70", "71"].randomElement(using: &random)!,
    originalApplicationVersion: ["1.0", "2.0"].randomElement(using: &random)!,
    receiptExpiresDate: [nil, at(5), at(9)].randomElement(using: &random)!,
    revocationDate: [nil, at(4), at(7)].randomElement(using: &random)!,
    signedDate: at(.random(in: 0...1, using: &random)))
}

/// A literal implementation of the interval rule for subscriptions without renewal info.
private func slowly(_ facts: CustomerFacts, _ now: Instant) -> Bool {
  facts.transactions.contains { fact in
    guard ["monthly", "yearly"].contains(fact.productID) else { return false }
    let line = facts.transactions.filter { $0.originalTransactionID == fact.originalTransactionID }
    // Of several with one date, an upgrade has the greatest id.
    let last = line.last { $0.purchaseDate == fact.purchaseDate }
    let next =
      line.filter { later in
        // A purchase that is refunded before its period starts replaces nothing.
        (later.purchaseDate > fact.purchaseDate || later == last && later.productID != fact.productID)
          && (later.revocationDate ?? later.purchaseDate) >= later.purchaseDate
      }
      .map(\.purchaseDate).min()
    let end = [fact.expiresDate, fact.revocationDate, next].compactMap { $0 }.min()!
    return fact.purchaseDate <= now && now < end
  }
}
