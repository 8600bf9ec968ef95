package import AppStore
package import Entitlements
package import FamilySharing
package import Store

/// Something that the operator decided about customers: evidence like what Apple signs.
///
/// It says all that was decided and leaves nothing to rules that may change, so that replaying it gives what
/// it gave.
package struct OperatorCommand: Hashable, Sendable {
  /// What is to be done.
  package enum Action: Hashable, Sendable {
    /// The line becomes `to`'s and is no longer that of those in `from`. If there are none, whoever had it
    /// goes on having it.
    case move(line: String, from: [String], to: String)
    /// All that `from` has becomes `into`'s, and so does what comes for `from` later.
    case merge(from: String, into: String)
    /// What another command changed is changed back.
    case undo(EvidenceID)
    /// The customer is given an entitlement without a purchase. `key` finds the grant again.
    case grant(GrantFact, customerID: String, key: String)
    /// A grant is taken back.
    case revokeGrant(GrantFact)
    /// A seat of a purchase is claimed, for a customer if one is known.
    case claimSeat(Seat, customerID: String?)
    /// A seat that was claimed is this customer's.
    case associateSeat(String, customerID: String)
    /// Seats are given back.
    case releaseSeats([String], at: Instant)
    /// Apple was asked to do something, and answered.
    case appleCall(AppleCall)
    /// The customer agrees that Apple is told how much of a purchase was used, or no longer does.
    case consent(Bool, customerID: String)
    /// The person is taken out of all that is remembered. `customerIDs` are what stands in their place.
    case erase(customerIDs: [String])
  }

  /// What is to be done.
  package let action: Action
  /// Who decided it.
  package let actor: String
  /// Why, in the operator's words.
  package let note: String

  /// A decision by its parts.
  package init(_ action: Action, actor: String, note: String = "") {
    self.action = action
    self.actor = actor
    self.note = note
  }

  /// The customers that it names.
  var customerIDs: [String] {
    switch action {
    case .move(_, let from, let to): from + [to]
    case .merge(let from, let into): [from, into]
    case .grant(_, let customerID, _), .consent(_, let customerID): [customerID]
    case .erase(let customerIDs): customerIDs
    case .claimSeat(_, let customerID): customerID.map { [$0] } ?? []
    case .associateSeat(_, let customerID): [customerID]
    case .undo, .revokeGrant, .releaseSeats, .appleCall: []
    }
  }

  /// The same without a person: `pseudonym` in the place of the name, and no words of anybody's.
  func erasing(_ customerID: String, as pseudonym: String) -> OperatorCommand {
    func renamed(_ id: String) -> String { id == customerID ? pseudonym : id }
    let action: Action =
      switch action {
      case .move(let line, let from, let to): .move(line: line, from: from.map(renamed), to: renamed(to))
      case .merge(let from, let into): .merge(from: renamed(from), into: renamed(into))
      case .grant(let fact, let id, _): .grant(fact.withoutNote, customerID: renamed(id), key: "")
      case .revokeGrant(let fact): .revokeGrant(fact.withoutNote)
      case .claimSeat(let seat, let id): .claimSeat(seat, customerID: id.map(renamed))
      case .associateSeat(let seat, let id): .associateSeat(seat, customerID: renamed(id))
      case .appleCall(let call): .appleCall(call.anonymous)
      case .consent(let isGiven, let id): .consent(isGiven, customerID: renamed(id))
      case .undo, .erase, .releaseSeats: action
      }
    return OperatorCommand(action, actor: actor)
  }
}

extension GrantFact {
  fileprivate var withoutNote: GrantFact {
    var fact = self
    fact.note = ""
    return fact
  }
}

extension Evidence.Kind {
  /// A decision of the operator's, as JSON.
  package static let operatorCommand = Evidence.Kind(rawValue: "OPERATOR_COMMAND")
}

extension Evidence.Source {
  /// A call of the operator's.
  package static let operatorCall = Evidence.Source(rawValue: "OPERATOR")
}
