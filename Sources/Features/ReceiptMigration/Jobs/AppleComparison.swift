internal import AppStore
internal import AppStoreClient
internal import AppleLookup
internal import Entitlements
internal import Ledger
package import Store

/// Compares customers' stored facts with the App Store's current state, without changing anything. It proves after a
/// migration that nothing is missing.
package struct AppleComparison: Sendable {
  /// A purchase whose stored state differs from Apple's response.
  package struct Mismatch: Hashable, Sendable {
    /// The kind of a mismatch; the raw value is the reason code of the contract.
    package enum Reason: String, Hashable, Sendable {
      /// The App Store has a transaction that is not stored.
      case unknownHere = "UNKNOWN_HERE"
      /// The stored transaction differs from the App Store's.
      case different = "DIFFERENT"
      /// The stored renewal info differs from the App Store's.
      case renewalDifferent = "RENEWAL_DIFFERENT"
      /// The App Store has no such purchase.
      case unknownToApple = "UNKNOWN_TO_APPLE"
    }

    /// The purchase.
    package let originalTransactionID: String
    /// Empty for a mismatch of a whole line.
    package let transactionID: String
    /// The kind of the mismatch.
    package let reason: Reason
  }

  private let intake: ReceiptIntake

  /// Compares by lookups through `intake`, with the lowest priority.
  package init(intake: ReceiptIntake) { self.intake = intake }

  /// Returns the mismatches of one customer; `nil` if a lookup failed, so that nothing can be said. Facts of other
  /// customers that share the Apple account are no mismatch.
  ///
  /// - Throws: ``ReceiptError/ledger(_:)``.
  package func mismatches(of customer: CustomerRecord) async throws(ReceiptError) -> [Mismatch]? {
    let lines = Set(customer.facts.transactions.map(\.originalTransactionID)).sorted()
    guard !lines.isEmpty else { return [] }
    var request = PurchaseLookup.Request(
      appID: customer.key.appID, environment: customer.key.environment, transactionID: "")
    request.priority = .backfill
    let history = await PurchaseHistory(of: lines, through: intake.lookup, request)
    guard history.failure == nil else { return nil }
    do throws(LedgerError) {
      let current = try intake.ledger.verifiedFacts(in: history.documents).undated
      // A line of the same Apple account may belong to another customer, or to none yet.
      let others = Set(current.transactions.map(\.originalTransactionID)).subtracting(lines)
      let known = try await intake.ledger.facts(of: others.map(customer.key.line), with: customer.facts)
      return history.unknownLines.map {
        Mismatch(originalTransactionID: $0, transactionID: "", reason: .unknownToApple)
      } + Self.mismatches(from: known.undated, to: current)
    } catch {
      throw .ledger(error)
    }
  }

  /// Returns the mismatches between stored and current facts, both without signature dates.
  static func mismatches(from stored: CustomerFacts, to current: CustomerFacts) -> [Mismatch] {
    var mismatches: [Mismatch] = []
    let known = Dictionary(
      stored.transactions.map { ([$0.originalTransactionID, $0.transactionID], $0) },
      uniquingKeysWith: { first, _ in first })
    for fact in current.transactions {
      let match = known[[fact.originalTransactionID, fact.transactionID]]
      guard match != fact else { continue }
      mismatches.append(
        Mismatch(
          originalTransactionID: fact.originalTransactionID, transactionID: fact.transactionID,
          reason: match == nil ? .unknownHere : .different))
    }
    let knownRenewals = Set(stored.renewals)
    for renewal in current.renewals where !knownRenewals.contains(renewal) {
      mismatches.append(
        Mismatch(
          originalTransactionID: renewal.originalTransactionID, transactionID: "", reason: .renewalDifferent))
    }
    return mismatches
  }
}
