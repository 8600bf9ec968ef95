import AppStore
import Entitlements
import TestSupport
import Testing

/// One document.
private enum Document: Hashable {
  case transaction(TransactionFact)
  case renewal(RenewalFact)
  case grant(GrantFact)

  func arrive(at facts: inout CustomerFacts) {
    switch self {
    case .transaction(let fact): facts.insert(fact)
    case .renewal(let fact): facts.insert(fact)
    case .grant(let fact): facts.insert(fact)
    }
  }
}

@Suite struct EvidenceOrderTests {
  @Test(
    "Answers are independent of order, repetitions and partial arrival",
    arguments: UInt64(0)..<UInt64(lifeCount(short: 60)))
  func order(seed: UInt64) {
    var random = SplitMix64(state: seed &+ 17_000)
    let documents = documents(&random)
    let seed = random.next()
    if let smallest = shrunk(documents, while: { !orderIsIrrelevant($0, seed) }) {
      Issue.record("the order of these matters: \(smallest)")
    }
  }

  @Test("An outdated document changes no answer", arguments: UInt64(0)..<UInt64(lifeCount(short: 60)))
  func monotonic(seed: UInt64) {
    var random = SplitMix64(state: seed &+ 19_000)
    let documents = documents(&random)
    if let smallest = shrunk(documents, while: { !olderIsIgnored($0) }) {
      Issue.record("an older document counts among these: \(smallest)")
    }
  }

  private func orderIsIrrelevant(_ documents: [Document], _ seed: UInt64) -> Bool {
    var random = SplitMix64(state: seed)
    let straight = answers(facts(documents))
    let mixed = (documents + documents.prefix(3)).shuffled(using: &random)
    let cut = Int.random(in: 0...documents.count, using: &random)
    var prefixThenRest = facts(Array(documents[..<cut]))
    prefixThenRest.merge(facts(Array(documents[cut...])))
    return answers(facts(mixed)) == straight && answers(prefixThenRest) == straight
  }

  private func olderIsIgnored(_ documents: [Document]) -> Bool {
    let known = facts(documents)
    let older = known.transactions.map { fact in
      fact.with {
        $0.signedDate = $0.signedDate.advanced(byMilliseconds: -1)
        $0.revocationDate = at(0)
        $0.expiresDate = at(500)
        // The first report of an upgrade counts.
        $0.isUpgraded = false
      }
    }
    var again = known
    for fact in older { again.insert(fact) }
    return answers(again) == answers(known)
  }

  private func facts(_ documents: [Document]) -> CustomerFacts {
    var facts = CustomerFacts()
    for document in documents { document.arrive(at: &facts) }
    return facts
  }

  private func answers(_ facts: CustomerFacts) -> [EntitlementStatus] {
    stride(from: Int64(-5), through: 260, by: 15).flatMap { day in
      [fullApp, patientApp].map { evaluate(facts, entitlement: "pro", in: $0, at: at(day)) }
    }
  }

  /// Documents of two customers about the same lines, with receipts about some of the transactions.
  private func documents(_ random: inout SplitMix64) -> [Document] {
    (0..<2).flatMap { _ in
      let customer = randomCustomer(&random)
      let receipts = customer.transactions.filter { _ in Int.random(in: 0..<3, using: &random) == 0 }
        .map { receipt($0, &random) }
      return (customer.transactions + receipts).map(Document.transaction)
        + customer.renewals.map(Document.renewal) + customer.grants.map(Document.grant)
    }
  }

  /// The entry of a receipt about a transaction, which may be cancelled; made before or after its signature.
  private func receipt(_ fact: TransactionFact, _ random: inout SplitMix64) -> TransactionFact {
    let madeAfter = Int64.random(in: -1...3, using: &random) * 5
    let isCancelled = Bool.random(using: &random)
    return fact.with {
      $0.signedDate = $0.signedDate.advanced(byDays: madeAfter)
      $0.revocationDate = isCancelled ? $0.signedDate : nil
      $0.revocationType = nil
      $0.revokedSeatQuantity = nil
      $0.details = TransactionDetails()
      $0.details.isFromReceipt = true
    }
  }

  /// A minimal subset of `documents` for which `fails` holds, found by leaving out one at a time; `nil` if it
  /// does not hold for all of them.
  private func shrunk(_ documents: [Document], while fails: ([Document]) -> Bool) -> [Document]? {
    guard fails(documents) else { return nil }
    for index in documents.indices {
      var fewer = documents
      fewer.remove(at: index)
      if let smallest = shrunk(fewer, while: fails) { return smallest }
    }
    return documents
  }
}
