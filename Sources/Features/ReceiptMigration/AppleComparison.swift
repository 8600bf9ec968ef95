internal import AppStore
internal import AppStoreClient
internal import AppleLookup
internal import Entitlements
internal import Ledger
package import Store

/// Compares what is known of customers with what Apple says now. Changes nothing.
package struct AppleComparison: Sendable {
  /// A difference.
  package struct Mismatch: Hashable, Sendable {
    /// What differs.
    package enum Reason: String, Hashable, Sendable {
      /// Apple tells of a transaction of which nothing is known here.
      case unknownHere = "UNKNOWN_HERE"
      /// Apple says something else of a transaction.
      case different = "DIFFERENT"
      /// Apple says something else of what becomes of a subscription.
      case renewalDifferent = "RENEWAL_DIFFERENT"
      /// Apple knows no such purchase.
      case unknownToApple = "UNKNOWN_TO_APPLE"
    }

    package let originalTransactionID: String
    /// Empty if it is not about one transaction.
    package let transactionID: String
    package let reason: Reason
  }

  private let intake: ReceiptIntake

  /// Compares through the clients of `intake`.
  package init(intake: ReceiptIntake) { self.intake = intake }

  /// The differences of one customer; `nil` if Apple could not be asked.
  ///
  /// - Throws: what the ledger throws, as a ``ReceiptError``.
  package func drifts(of customer: CustomerRecord) async throws(ReceiptError) -> [Mismatch]? {
    let lines = Set(customer.facts.transactions.map(\.originalTransactionID)).sorted()
    guard !lines.isEmpty else { return [] }
    var question = PurchaseLookup.Request(
      appID: customer.key.appID, environment: customer.key.environment, transactionID: "")
    question.priority = .backfill
    let history = await PurchaseHistory(of: lines, through: intake.lookup, question)
    guard history.failure == nil else { return nil }
    do throws(LedgerError) {
      let said = try intake.ledger.verifiedFacts(in: history.documents).undated
      // A line of the same Apple account may be another customer's, or nobody's yet.
      let others = Set(said.transactions.map(\.originalTransactionID)).subtracting(lines)
      let known = try await intake.ledger.facts(of: others.map(customer.key.line), with: customer.facts)
      return history.unknownLines.map {
        Mismatch(originalTransactionID: $0, transactionID: "", reason: .unknownToApple)
      } + Self.drifts(from: known.undated, to: said)
    } catch {
      throw .ledger(error)
    }
  }

  /// What Apple says otherwise. Both sides without the dates of signatures.
  static func drifts(from known: CustomerFacts, to said: CustomerFacts) -> [Mismatch] {
    var drifts: [Mismatch] = []
    for fact in said.transactions {
      let ours = known.transactions.first {
        $0.transactionID == fact.transactionID && $0.originalTransactionID == fact.originalTransactionID
      }
      guard ours != fact else { continue }
      drifts.append(
        Mismatch(
          originalTransactionID: fact.originalTransactionID, transactionID: fact.transactionID,
          reason: ours == nil ? .unknownHere : .different))
    }
    for renewal in said.renewals where !known.renewals.contains(renewal) {
      drifts.append(
        Mismatch(
          originalTransactionID: renewal.originalTransactionID, transactionID: "", reason: .renewalDifferent))
    }
    return drifts
  }
}
