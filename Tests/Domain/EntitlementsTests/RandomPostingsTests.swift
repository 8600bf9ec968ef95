import AppStore
import Entitlements
import Reports
import TestSupport
import Testing

@Suite struct RandomPostingsTests {
  @Test(
    "Movements explain the stocks of random histories, and no stock is negative", arguments: UInt64(0)..<200)
  func anyCustomer(seed: UInt64) {
    var random = SplitMix64(state: seed &+ 11_000)
    let facts = randomCustomer(&random)
    let now = at(.random(in: 0...300, using: &random))
    check(facts, at: now)
    // As if each purchase had replaced one of the others.
    var replaced = CustomerFacts(
      transactions: facts.transactions.map { fact in
        let previous = ["L0": "L2", "L1": "L0", "L2": "L1"][fact.originalTransactionID]
        return fact.with { $0.details.previousOriginalTransactionID = previous }
      })
    for history in facts.renewalHistories { replaced.insert(history) }
    check(replaced, at: now)
  }

  private func check(_ facts: CustomerFacts, at now: Instant) {
    let postings = PayerPostings(facts, in: fullApp, at: now).postings
    #expect(postings.allSatisfy { $0.effectiveAt <= now })
    var balance: [Instant: [Posting.Dimensions: Int64]] = [:]
    var stocks: [Posting.Kind: [Instant: Int64]] = [:]
    for posting in postings {
      if posting.kind.isStock {
        stocks[posting.kind, default: [:]][posting.effectiveAt, default: 0] += posting.count
      }
      let sign: Int64 =
        switch posting.kind {
        case .active: -1
        case let kind where Report.enteringKinds.contains(kind): 1
        case let kind where Report.leavingKinds.contains(kind): -1
        // Until the day closes with a lapse or a renewal.
        case .awaitingRenewal: -1
        default: 0
        }
      balance[posting.effectiveAt, default: [:]][posting.dimensions, default: 0] += sign * posting.count
    }
    for (instant, sums) in balance {
      for (dimensions, sum) in sums { #expect(sum == 0, "\(instant) \(dimensions)") }
    }
    for (kind, changes) in stocks {
      var sum: Int64 = 0
      for (instant, change) in changes.sorted(by: { $0.key < $1.key }) {
        sum += change
        #expect(sum >= 0, "\(kind) at \(instant)")
      }
    }
  }
}
