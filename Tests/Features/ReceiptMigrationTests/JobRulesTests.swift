import AppStore
import Entitlements
import TestSupport
import Testing

@testable import ReceiptMigration

/// The line after which a migration job resumes.
@Suite struct ProgressWatermarkTests {
  private func line(_ number: Int64) -> InputLine {
    InputLine(number: number, position: number * 10, length: 9, record: .failure(.nothingToMigrate))
  }

  @Test("The watermark stays before the first line in flight, whichever later ones are done")
  func order() {
    var mark = ProgressWatermark(line: 4, position: 50)
    // The last one has two lines; empty lines have no result.
    for (number, end) in [(5, 5), (7, 7), (9, 10)] as [(Int64, Int64)] {
      mark.begin(line(number), lineCount: end, position: end * 10)
    }
    mark.finish(line(9))
    mark.finish(line(7))
    #expect(mark.line == 4 && mark.position == 50 && !mark.isComplete)
    mark.finish(line(5))
    #expect(mark.line == 10 && mark.position == 100 && mark.isComplete)
  }
}

/// The comparison of stored facts with Apple's.
@Suite struct AppleComparisonTests {
  private typealias Mismatch = AppleComparison.Mismatch

  private func transaction(_ id: String, ends day: Int64) -> TransactionFact {
    TransactionFact(
      transactionID: id, originalTransactionID: "1", productID: "pro", type: .autoRenewableSubscription,
      purchaseDate: at(day - 30), expiresDate: at(day), signedDate: at(0))
  }

  private func renewal(_ status: AutoRenewStatus) -> RenewalFact {
    RenewalFact(originalTransactionID: "1", productID: "pro", autoRenewStatus: status, signedDate: at(0))
  }

  @Test("Equal facts have no mismatch")
  func equal() {
    let facts = CustomerFacts(transactions: [transaction("1", ends: 30)], renewals: [renewal(.on)])
    #expect(AppleComparison.mismatches(from: facts, to: facts).isEmpty)
  }

  @Test("The comparison of a long history costs no square of its length")
  func growth() {
    let growth = Growth.ofEightfold(1_000) { count in
      (0..<count).map { transaction("\($0)", ends: Int64($0)) }
    } work: { transactions in
      let stored = CustomerFacts(transactions: transactions.reversed())
      let current = CustomerFacts(transactions: transactions)
      #expect(AppleComparison.mismatches(from: stored, to: current).isEmpty)
    }
    #expect(growth < Growth.bound)
  }

  @Test("A transaction that is not stored, one that differs, and another renewal are different mismatches")
  func mismatches() {
    let stored = CustomerFacts(
      transactions: [transaction("1", ends: 30), transaction("2", ends: 60)], renewals: [renewal(.on)])
    let current = CustomerFacts(
      transactions: [transaction("1", ends: 30), transaction("2", ends: 61), transaction("3", ends: 91)],
      renewals: [renewal(.off)])
    #expect(
      AppleComparison.mismatches(from: stored, to: current) == [
        Mismatch(originalTransactionID: "1", transactionID: "2", reason: .different),
        Mismatch(originalTransactionID: "1", transactionID: "3", reason: .unknownHere),
        Mismatch(originalTransactionID: "1", transactionID: "", reason: .renewalDifferent),
      ])
  }
}
