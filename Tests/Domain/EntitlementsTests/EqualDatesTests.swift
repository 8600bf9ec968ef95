import AppStore
import Entitlements
import TestSupport
import Testing

/// Purchases of equal dates, such as an upgrade at the instant of a renewal. Receipts may have very many: the cost grows with
/// their number, not with its square.
@Suite("Purchases of equal dates") struct EqualDatesTests {
  /// Periods of one line that begin and end together; each is cancelled, and no upgrade explains it.
  private func periods(_ count: Int, isUpgraded: Bool = false) -> [TransactionFact] {
    (0..<count).map { number in
      var fact = period(0...30, "plus", line: "1", id: String(100_000 + number))
      fact.details.isFromReceipt = true
      fact.isUpgraded = isUpgraded
      if !isUpgraded { fact.revocationDate = at(10) }
      return fact
    }
  }

  @Test("The search for upgrades in a receipt")
  func upgrades() {
    let growth = Growth.ofEightfold(1_000, prepare: { periods($0) }) { facts in
      #expect(facts.withUpgradesMarked.count == facts.count)
    }
    #expect(growth < Growth.bound)
  }

  @Test("The evaluation", arguments: [false, true])
  func evaluation(isUpgraded: Bool) {
    func facts(_ count: Int) -> CustomerFacts {
      CustomerFacts(
        transactions: periods(count, isUpgraded: isUpgraded) + [period(31...61, "plus", line: "1")])
    }
    let growth = Growth.ofEightfold(1_000, prepare: facts) { facts in
      #expect(evaluate(facts, entitlement: "plus", in: app, at: at(40)).isEntitled)
    }
    #expect(growth < Growth.bound)
  }

  @Test("The comparison with the facts before a write")
  func changes() {
    let growth = Growth.ofEightfold(1_000, prepare: { CustomerFacts(transactions: periods($0)) }) { facts in
      let change = FactsChange(from: CustomerFacts(), to: facts, by: .evidence)
      #expect(change.purchases.count == facts.transactions.count)
    }
    #expect(growth < Growth.bound)
  }

  @Test(
    "Of a purchase or renewal and an upgrade at the same instant the upgrade stays, with and without isUpgraded",
    arguments: [false, true])
  func upgradeAtOnce(isMarked: Bool) {
    let old = period(30...60, id: "2").with { $0.isUpgraded = isMarked }
    let documents = [
      period(0...30, id: "1"), old, period(30...90, "plus", id: "3"),
    ]
    for facts in [documents, documents.reversed()] {
      #expect(pro(facts, on: 29).isEntitled)
      for day: Int64 in [30, 45, 60] {
        #expect(pro(facts, on: day).reason == .upgraded && pro(facts, on: day).until == at(30), "day \(day)")
        let facts = CustomerFacts(transactions: facts)
        #expect(evaluate(facts, entitlement: "plus", in: app, at: at(day)).isEntitled, "day \(day)")
      }
    }
  }
}
