import Testing
import Wire

@testable import Console

/// The outcome of comparisons with Apple's reports, whose numbers callers store.
@Suite struct ReconciliationOutcomeTests {
  private func day(_ matched: Int64 = 0, _ explained: Int64 = 0, _ unexplained: Int64 = 0, unknown: Int64 = 0)
    -> ReconciledDay
  {
    .with {
      ($0.matched, $0.explained) = (matched, explained)
      ($0.unexplained, $0.unknownRows) = (unexplained, unknown)
    }
  }

  @Test("The outcome of several days is that of the worst")
  func worst() {
    let clean = ReconciliationOutcome([day(3), day(4, 1)])
    #expect((clean.matched, clean.explained, clean.isClean, clean.sign) == (7, 1, true, "≈"))
    #expect(ReconciliationOutcome([day(3), day(4, 1, 2)]).sign == "✕")
    #expect(!ReconciliationOutcome([day(3), day(unknown: 1)]).isClean)
    #expect(ReconciliationOutcome([]).isClean)
  }

  @Test("Numbers that no sum can hold have an outcome, because a trap would end the process")
  func extremes() {
    let largest = day(.max, .max, .max, unknown: .max)
    for results in [[largest], [largest, largest], [day(1, 1, 1, unknown: 1), largest, largest]] {
      let outcome = ReconciliationOutcome(results)
      #expect(outcome.matched == .max && outcome.explained == .max && outcome.unknownRows == .max)
      #expect(!outcome.isClean && !outcome.name.isEmpty)
    }
  }
}
