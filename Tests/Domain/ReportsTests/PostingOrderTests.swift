import AppStore
import Entitlements
import Reports
import TestSupport
import Testing

/// The order of a payer's postings, in which a store compares them with the standing ones.
@Suite struct PostingOrderTests {
  @Test("The cohorts of a payer with several groups are in the order of the groups")
  func groups() {
    var facts = CustomerFacts()
    for (line, group) in zip(["L1", "L2", "L3", "L4", "L5"], ["d", "b", "e", "a", "c"]) {
      let bought = World.period("other", "10-05", "11-05").with { $0.subscriptionGroupID = group }
      facts.merge(World.facts(line, [bought]))
    }
    let postings = PayerPostings(facts, in: World.app, at: World.day("10-31")).postings
    let joined = postings.filter { $0.kind == .payerJoined }.map(\.dimensions.group)
    #expect(joined == ["a", "b", "c", "d", "e"])
    // All are new, and the order stays the same.
    let difference = PostingDifference(standing: [], derived: postings)
    #expect(difference.added == postings && difference.removed.isEmpty)
    #expect(difference.standing == postings.map(\.fingerprint))
    let same = PostingDifference(standing: difference.standing, derived: postings)
    #expect(same.added.isEmpty && same.removed.isEmpty && same.standing == difference.standing)
  }
}
