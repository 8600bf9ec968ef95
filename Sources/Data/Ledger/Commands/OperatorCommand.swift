package import AppStore
internal import Bytes
package import Entitlements
package import FamilySharing
package import JSON
package import Store

/// An operator's decision about customers. It is evidence like Apple's documents.
///
/// It states the whole decision and depends on no rule or policy, so that replay has the same result.
package struct OperatorCommand: Hashable, Sendable {
  /// The kinds of decisions.
  package enum Action: Hashable, Sendable {
    /// Links the line to `to` and unlinks it from all in `from`. If `from` is empty, the owners keep it too.
    case move(line: String, from: [String], to: String)
    /// Moves all lines of `from` to `into`; later evidence of `from` is linked to `into`.
    case merge(from: String, into: String)
    /// Reverses another command.
    case undo(EvidenceID)
    /// Creates a grant.
    case grant(GrantFact, customerID: String)
    /// Revokes a grant.
    case revokeGrant(GrantFact)
    /// Claims a seat of a purchase, for a customer if one is given.
    case claimSeat(Seat, customerID: String?)
    /// Links a claimed seat to a customer.
    case associateSeat(String, customerID: String)
    /// Releases seats.
    case releaseSeats([String], at: Instant)
    /// Stores a call to Apple with its response.
    case appleCall(AppleCall)
    /// Gives or withdraws the consent to send consumption data to Apple.
    case consent(Bool, customerID: String)
    /// Binds an `appAccountToken`, in lower case, to a customer, and claims the purchases with that token.
    case registerToken(String, customerID: String)
    /// Acknowledges that units of a consumable purchase were delivered or taken back.
    case fulfill(Fulfillment, line: String)
    /// Settles the withdrawn consent of an app install, named by its `appTransactionId`.
    case settleConsent(String, at: Instant)
    /// Adds a note about a customer. The evidence of the command identifies it.
    case addNote(String, customerID: String, at: Instant)
    /// Deletes a note.
    case deleteNote(EvidenceID, customerID: String)
    /// Sets attributes of a customer, and removes those whose value is empty.
    case setAttributes([CustomerAttribute], customerID: String)
    /// Erases customers. `customerIDs` are the pseudonyms that replace theirs.
    case erase(customerIDs: [String])
  }

  /// The decision.
  package let action: Action
  /// The operator's user.
  package let actor: String
  /// The operator's reason.
  package let note: String

  /// Creates a command. `actor` and `note` may be empty.
  package init(_ action: Action, actor: String, note: String = "") {
    self.action = action
    self.actor = actor
    self.note = note
  }

  /// The grant that the command creates, changes or revokes.
  var grant: GrantFact? {
    switch action {
    case .grant(let fact, _), .revokeGrant(let fact): fact
    default: nil
    }
  }

  /// The ids of the customers that the command names.
  var customerIDs: [String] {
    switch action {
    case .move(_, let from, let to): from + [to]
    case .merge(let from, let into): [from, into]
    case .grant(_, let customerID), .consent(_, let customerID), .registerToken(_, let customerID):
      [customerID]
    case .addNote(_, let customerID, _), .deleteNote(_, let customerID), .setAttributes(_, let customerID):
      [customerID]
    case .erase(let customerIDs): customerIDs
    case .claimSeat(_, let customerID): customerID.map { [$0] } ?? []
    case .associateSeat(_, let customerID): [customerID]
    case .undo, .revokeGrant, .releaseSeats, .appleCall, .fulfill, .settleConsent: []
    }
  }

  /// The command with `pseudonym` instead of the customer's id, with other `tokens`, and without free text unless it
  /// is an erasure.
  func erasing(
    _ customerID: String, as pseudonym: String, tokens: [String: String]
  ) -> OperatorCommand {
    func renamed(_ id: String) -> String { id.hasSameBytes(as: customerID) ? pseudonym : id }
    let action: Action =
      switch action {
      case .move(let line, let from, let to): .move(line: line, from: from.map(renamed), to: renamed(to))
      case .merge(let from, let into): .merge(from: renamed(from), into: renamed(into))
      case .grant(let fact, let id): .grant(fact.erasing(customerID, as: pseudonym), customerID: renamed(id))
      case .revokeGrant(let fact): .revokeGrant(fact.erasing(customerID, as: pseudonym))
      case .claimSeat(let seat, let id): .claimSeat(seat, customerID: id.map(renamed))
      case .associateSeat(let seat, let id): .associateSeat(seat, customerID: renamed(id))
      case .appleCall(let call): .appleCall(call.anonymous)
      case .consent(let isGiven, let id): .consent(isGiven, customerID: renamed(id))
      case .addNote(_, let id, let at): .addNote("", customerID: renamed(id), at: at)
      case .deleteNote(let note, let id): .deleteNote(note, customerID: renamed(id))
      case .setAttributes(_, let id): .setAttributes([], customerID: renamed(id))
      // Apple's documents get the same token; replay needs it.
      case .registerToken(let token, let id):
        .registerToken(tokens[token] ?? token, customerID: renamed(id))
      case .undo, .erase, .releaseSeats, .fulfill, .settleConsent: action
      }
    // The operator wrote the note of an erasure about the erasure.
    let isErasure = if case .erase = action { true } else { false }
    return OperatorCommand(
      action, actor: actor.replacingActor(customerID, with: pseudonym),
      note: isErasure ? note.replacing(customerID, with: pseudonym) : "")
  }

  /// The command without the request id of a seat, or with another id of a delivery or of a purchase in another store, of
  /// one of `lines`.
  func erasingRequestIDs(of lines: Set<LineKey>, _ stored: StoredEvidence) -> OperatorCommand {
    func contains(_ id: String) -> Bool { lines.contains { $0.lineID == id } }
    switch action {
    case .claimSeat(let seat, let customerID) where contains(seat.seatID):
      return OperatorCommand(
        .claimSeat(seat.withoutRequestIdentifier, customerID: customerID), actor: actor, note: note)
    case .fulfill(let fulfillment, let line) where contains(line):
      let renamed = Fulfillment(
        transactionID: fulfillment.transactionID, fulfillmentID: "erased-\(stored.id.rawValue)",
        units: fulfillment.units, acknowledgedAt: fulfillment.acknowledgedAt)
      return OperatorCommand(.fulfill(renamed, line: line), actor: actor, note: note)
    case .grant(var fact, let customerID) where contains(fact.grantID) && fact.external != nil:
      // The same for all states of a purchase, so that replay recognizes them.
      fact.external?.externalID = "erased-\(fact.grantID)"
      return OperatorCommand(.grant(fact, customerID: customerID), actor: actor, note: note)
    default: return self
    }
  }
}

extension Seat {
  fileprivate var withoutRequestIdentifier: Seat {
    Seat(
      seatID: seatID, originalTransactionID: originalTransactionID, seatClaimID: seatClaimID,
      claimedAt: claimedAt, releasedAt: releasedAt)
  }
}

extension GrantFact {
  /// The grant without free text, and with `pseudonym` instead of the customer as its actor.
  func erasing(_ customerID: String, as pseudonym: String) -> GrantFact {
    var fact = self
    (fact.note, fact.actor) = ("", actor.replacingActor(customerID, with: pseudonym))
    return fact
  }
}

/// A call to Apple that an operator made, with Apple's response.
package struct AppleCall: Hashable, Sendable {
  /// The RPC that the operator called, such as `ExtendRenewalDate`.
  package let method: String
  /// The purchase; empty for a call about several.
  package let originalTransactionID: String
  /// The transaction; empty for a call about the whole purchase.
  package let transactionID: String
  /// The HTTP method and path of the request to Apple; empty in calls that were stored before it was.
  package let target: String
  /// The body of the request to Apple; for an image, its size and hash.
  package let request: JSONObject
  /// Apple's response; for an error, Apple's code and message.
  package var answer: JSONObject

  /// The RPC that answers a consumption request.
  package static let sendConsumptionInformation = "SendConsumptionInformation"
  /// The RPC that answers one in version 1.
  package static let sendConsumptionInformationV1 = "SendConsumptionInformationV1"
  /// The RPC that reports an external purchase token.
  package static let sendExternalPurchaseReport = "SendExternalPurchaseReport"

  package init(
    method: String, originalTransactionID: String, transactionID: String = "", target: String = "",
    request: JSONObject, answer: JSONObject
  ) {
    self.method = method
    self.originalTransactionID = originalTransactionID
    self.transactionID = transactionID
    self.target = target
    self.request = request
    self.answer = answer
  }

  /// Whether the call answers a consumption request.
  var answersConsumptionRequest: Bool {
    [Self.sendConsumptionInformation, Self.sendConsumptionInformationV1].contains(method)
  }

  /// Apple's error as ``answer``.
  package static func refusal(_ code: APIErrorCode, message: String) -> JSONObject {
    ["errorCode": .number(JSONNumber(code.rawValue)), "errorMessage": .string(message)]
  }

  /// Whether Apple returned an error.
  var isRefused: Bool { answer["errorCode"] != nil }

  /// The call without anything that may identify a person.
  var anonymous: AppleCall {
    AppleCall(
      method: method, originalTransactionID: originalTransactionID, transactionID: transactionID,
      request: [:], answer: answer["errorCode"].map { ["errorCode": $0] } ?? [:])
  }
}

extension JSONObject {
  /// The form of a call in its evidence.
  init(_ call: AppleCall) {
    self = [
      "method": .string(call.method), "purchase": .string(call.originalTransactionID),
      "request": .object(call.request), "answer": .object(call.answer),
    ]
    if !call.transactionID.isEmpty { self["transaction"] = .string(call.transactionID) }
    if !call.target.isEmpty { self["target"] = .string(call.target) }
  }
}

extension AppleCall {
  /// Decodes a call; `nil` if the method is missing.
  init?(_ object: JSONObject) {
    guard let method = object["method"]?.stringValue else { return nil }
    self.init(
      method: method, originalTransactionID: object["purchase"]?.stringValue ?? "",
      transactionID: object["transaction"]?.stringValue ?? "", target: object["target"]?.stringValue ?? "",
      request: object["request"]?.objectValue ?? [:],
      answer: object["answer"]?.objectValue ?? [:])
  }
}
