import Testing
import Transport

@Suite struct ConnectionBudgetTests {
  @Test("Each listener gets the configured number if the descriptors suffice")
  func enough() throws {
    let budget = try ConnectionBudget(limit: 1 << 20, open: 50, configured: 10_000, others: 2)
    #expect((budget.grpc, budget.edge, budget.other) == (10_000, 10_000, 10_000))
  }

  @Test(
    "Few descriptors are shared so that all connections together leave some free", arguments: 98...2_000,
    0...2)
  func few(limit: Int, others: Int) throws {
    let budget = try ConnectionBudget(limit: limit, open: 50, configured: 10_000, others: others)
    #expect(budget.grpc >= budget.edge && budget.edge >= budget.other && budget.other > 0)
    let left = limit - 50 - budget.grpc - budget.edge - others * budget.other
    #expect(left >= 36)
  }

  @Test("A limit that is too low is an error that names what is needed")
  func tooLow() {
    #expect {
      _ = try ConnectionBudget(limit: 80, open: 50, configured: 10_000, others: 0)
    } throws: {
      ($0 as? ConnectionBudgetError)?.needed == 98
    }
  }
}
