internal import Bytes
package import Entitlements
internal import FamilySharing
package import Store

/// The customers and purchases that a piece of evidence names, for people who look at it.
package struct EvidenceSubject: Hashable, Sendable {
  /// The word of the command, or the kind of evidence.
  package let word: String
  /// The customer who submitted it and the customers in a command.
  package let customerIDs: [String]
  /// The purchases, and other lines, whose facts it states.
  package let lineIDs: [String]
  /// The command; `nil` for other evidence.
  package let command: OperatorCommand?
  /// The transactions that it states.
  package let transactions: [TransactionFact]
  /// The renewal infos that it states.
  package let renewals: [RenewalFact]

  /// Decodes `evidence`.
  package init(_ evidence: Evidence) {
    var customerIDs = evidence.customerID.map { [$0] } ?? []
    var lineIDs: [String] = []
    var transactions: [TransactionFact] = []
    var renewals: [RenewalFact] = []
    var command: OperatorCommand?
    for item in EvidenceDecoder.decode(evidence) {
      if let lineID = item.lineID, !lineIDs.contains(lineID) { lineIDs.append(lineID) }
      switch item {
      case .transaction(let fact): transactions.append(fact)
      case .renewal(let fact): renewals.append(fact)
      case .command(let found):
        command = found
        lineIDs += found.lineIDs
        for id in found.customerIDs where !customerIDs.containsID(id) { customerIDs.append(id) }
      case .appTransaction, .endedSeatClaims, .notification, .rejectedNotification: break
      }
    }
    word = command?.word ?? evidence.kind.rawValue
    self.customerIDs = customerIDs
    self.lineIDs = lineIDs
    self.command = command
    self.transactions = transactions
    self.renewals = renewals
  }
}

extension OperatorCommand {
  /// The lines that the command names.
  fileprivate var lineIDs: [String] {
    switch action {
    case .move(let line, _, _), .fulfill(_, let line): [line]
    case .grant(let fact, _), .revokeGrant(let fact): [fact.grantID]
    case .claimSeat(let seat, _): [seat.seatID, seat.originalTransactionID]
    case .associateSeat(let seat, _): [seat]
    case .releaseSeats(let seats, _): seats
    case .appleCall(let call): call.originalTransactionID.isEmpty ? [] : [call.originalTransactionID]
    case .merge, .undo, .consent, .registerToken, .settleConsent, .addNote, .deleteNote, .setAttributes,
      .erase:
      []
    }
  }
}
