package import Entitlements
package import FamilySharing
package import Store

/// The result of a command, or of its dry run.
package struct CommandResult: Hashable, Sendable {
  /// The evidence id of the command; `nil` if there was nothing to do.
  package var evidenceID: EvidenceID?
  /// The events, in order.
  package var events: [StoredEvent] = []
  /// The owners of the purchase before.
  package var previousCustomerIDs: [String] = []
  /// The ids of the purchases that moved.
  package var lines: [String] = []
  /// The grant; ``customer`` is its owner.
  package var grant: GrantFact?
  /// The seat; ``customer`` is its holder.
  package var seat: Seat?
  package var customer: CustomerKey?
  /// The number of rows that lost an erased customer's id.
  package var erasedRows: Int64 = 0
  /// All facts of ``customer`` after the command.
  package var facts = CustomerFacts()
  /// What the ledger records after the commit.
  var effects: [LedgerEffect] = []

  /// The id by which the command can be undone; empty if there was nothing to do.
  package var transferID: String { evidenceID.map(Self.transferID) ?? "" }

  private static let prefix = "transfer-"

  static func transferID(of evidence: EvidenceID) -> String { "\(prefix)\(evidence.rawValue)" }

  /// The evidence id in a ``transferID``; `nil` if it is malformed.
  static func evidenceID(ofTransfer id: String) -> EvidenceID? {
    guard id.hasPrefix(prefix) else { return nil }
    return Int64(id.dropFirst(prefix.count)).map(EvidenceID.init(rawValue:))
  }
}
