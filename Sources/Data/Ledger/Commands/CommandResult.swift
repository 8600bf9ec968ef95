package import Entitlements
package import FamilySharing
package import Store

/// What came of a command, or would come of it.
package struct CommandResult: Hashable, Sendable {
  /// The number under which the command is kept; `nil` if there was nothing to do.
  package var evidenceID: EvidenceID?
  /// What changed, in order.
  package var events: [StoredEvent] = []
  /// Who had the purchase before, if anybody.
  package var previousCustomerIDs: [String] = []
  /// The purchases that changed hands.
  package var lines: [String] = []
  /// The grant that it is about, and whose it is.
  package var grant: GrantFact?
  /// The seat that it is about; ``customer`` is whose it is.
  package var seat: Seat?
  package var customer: CustomerKey?
  /// How many rows lost the person.
  package var erasedRows: Int64 = 0
  /// What is known of ``customer`` now.
  package var facts = CustomerFacts()

  /// Names the decision, to take it back; empty if nothing was decided.
  package var transferID: String { evidenceID.map(Self.transferID) ?? "" }

  private static let prefix = "transfer-"

  static func transferID(of evidence: EvidenceID) -> String { "\(prefix)\(evidence.rawValue)" }

  /// The evidence of the decision that ``transferID`` names; `nil` if it names none.
  static func evidenceID(ofTransfer id: String) -> EvidenceID? {
    guard id.hasPrefix(prefix) else { return nil }
    return Int64(id.dropFirst(prefix.count)).map(EvidenceID.init(rawValue:))
  }
}
