internal import AppStore
internal import Entitlements
internal import FamilySharing
internal import JSON
internal import Store

// The form of commands as evidence. Stored commands stay readable, so members are only added.
extension OperatorCommand {
  /// Encodes the command. `number` makes equal commands distinct, because equal bytes are one evidence.
  func encoded(number: EvidenceID) -> [UInt8] {
    var object: JSONObject = [
      "number": .number(JSONNumber(number.rawValue)), "actor": .string(actor), "command": .string(word),
    ]
    if !note.isEmpty { object["note"] = .string(note) }
    addAction(to: &object)
    return JSONValue.object(object).serialized()
  }

  private func addAction(to object: inout JSONObject) {
    switch action {
    case .move(let line, let from, let to):
      object["line"] = .string(line)
      object["from"] = .array(from.map(JSONValue.string))
      object["to"] = .string(to)
    case .merge(let from, let into):
      object["from"] = .string(from)
      object["to"] = .string(into)
    case .undo(let id):
      object["undone"] = .number(JSONNumber(id.rawValue))
    case .grant(let fact, let customerID):
      object["to"] = .string(customerID)
      object["grant"] = .object(JSONObject(fact))
    case .revokeGrant(let fact):
      object["grant"] = .object(JSONObject(fact))
    case .claimSeat(let seat, let customerID):
      object["seat"] = .object(JSONObject(seat))
      if let customerID { object["to"] = .string(customerID) }
    case .associateSeat(let seat, let customerID):
      object["seat"] = .string(seat)
      object["to"] = .string(customerID)
    case .releaseSeats(let seats, let instant):
      object["seats"] = .array(seats.map(JSONValue.string))
      object["at"] = .number(JSONNumber(instant.millisecondsSince1970))
    case .appleCall(let call):
      object["call"] = .object(JSONObject(call))
    case .consent(let isGiven, let customerID):
      object["to"] = .string(customerID)
      object["given"] = .bool(isGiven)
    case .fulfill(let fulfillment, let line):
      object["line"] = .string(line)
      object["fulfillment"] = .object(JSONObject(fulfillment))
    case .settleConsent(let install, let instant):
      object["install"] = .string(install)
      object["at"] = .number(JSONNumber(instant.millisecondsSince1970))
    case .registerToken(let token, let customerID):
      object["token"] = .string(token)
      object["to"] = .string(customerID)
    case .addNote(let text, let customerID, let at):
      object["to"] = .string(customerID)
      object["text"] = .string(text)
      object["at"] = .number(JSONNumber(at.millisecondsSince1970))
    case .deleteNote(let id, let customerID):
      object["to"] = .string(customerID)
      object["deleted"] = .number(JSONNumber(id.rawValue))
    case .setAttributes(let attributes, let customerID):
      object["to"] = .string(customerID)
      object["attributes"] = .array(
        attributes.map { .object(["name": .string($0.name), "value": .string($0.value)]) })
    case .erase(let customerIDs):
      object["customers"] = .array(customerIDs.map(JSONValue.string))
    }
  }

  /// The word for the kind of decision; part of the API.
  var word: String {
    switch action {
    case .move: "MOVE"
    case .merge: "MERGE"
    case .undo: "UNDO"
    case .grant: "GRANT"
    case .revokeGrant: "REVOKE_GRANT"
    case .claimSeat: "CLAIM_SEAT"
    case .associateSeat: "ASSOCIATE_SEAT"
    case .releaseSeats: "RELEASE_SEATS"
    case .appleCall: "APPLE_CALL"
    case .consent: "CONSUMPTION_CONSENT"
    case .fulfill: "FULFILL"
    case .settleConsent: "SETTLE_CONSENT"
    case .registerToken: "REGISTER_TOKEN"
    case .addNote: "ADD_NOTE"
    case .deleteNote: "DELETE_NOTE"
    case .setAttributes: "SET_ATTRIBUTES"
    case .erase: "ERASE"
    }
  }

  /// Decodes a command; `nil` if this version does not support it.
  init?(_ bytes: [UInt8]) {
    guard let object = try? JSONValue(parsing: bytes).objectValue,
      let action = Action(object)
    else { return nil }
    self.init(action, actor: object.text("actor") ?? "", note: object.text("note") ?? "")
  }
}

extension OperatorCommand.Action {
  fileprivate init?(_ object: JSONObject) {
    switch object.text("command") {
    case "MOVE":
      guard let line = object.text("line"), let to = object.text("to") else { return nil }
      self = .move(line: line, from: object.texts("from"), to: to)
    case "MERGE":
      guard let from = object.text("from"), let into = object.text("to") else { return nil }
      self = .merge(from: from, into: into)
    case "SETTLE_CONSENT":
      guard let install = object.text("install"), let at = object.instant("at") else { return nil }
      self = .settleConsent(install, at: at)
    case "UNDO":
      guard let id = object["undone"]?.int64Value else { return nil }
      self = .undo(EvidenceID(rawValue: id))
    case "GRANT":
      guard let fact = object["grant"]?.objectValue.flatMap(GrantFact.init), let to = object.text("to")
      else { return nil }
      self = .grant(fact, customerID: to)
    case "REVOKE_GRANT":
      guard let fact = object["grant"]?.objectValue.flatMap(GrantFact.init) else { return nil }
      self = .revokeGrant(fact)
    case "APPLE_CALL":
      guard let call = object["call"]?.objectValue.flatMap(AppleCall.init) else { return nil }
      self = .appleCall(call)
    case "CONSUMPTION_CONSENT":
      guard let isGiven = object["given"]?.boolValue, let to = object.text("to") else { return nil }
      self = .consent(isGiven, customerID: to)
    case "FULFILL":
      guard let line = object.text("line"),
        let fulfillment = object["fulfillment"]?.objectValue.flatMap(Fulfillment.init)
      else { return nil }
      self = .fulfill(fulfillment, line: line)
    case "REGISTER_TOKEN":
      guard let token = object.text("token"), let to = object.text("to") else { return nil }
      self = .registerToken(token, customerID: to)
    case "ERASE": self = .erase(customerIDs: object.texts("customers"))
    default:
      guard let action = Self.seatAction(object) ?? Self.noteAction(object) else { return nil }
      self = action
    }
  }
}

extension JSONObject {
  fileprivate init(_ grant: GrantFact) {
    self = [
      "id": .string(grant.grantID), "entitlement": .string(grant.entitlement),
      "accessLevel": .number(JSONNumber(Int64(grant.accessLevel.rawValue))),
      "since": .number(JSONNumber(grant.since.millisecondsSince1970)), "actor": .string(grant.actor),
    ]
    if let until = grant.until { self["until"] = .number(JSONNumber(until.millisecondsSince1970)) }
    if let revoked = grant.revokedAt {
      self["revokedAt"] = .number(JSONNumber(revoked.millisecondsSince1970))
    }
    if !grant.note.isEmpty { self["note"] = .string(grant.note) }
    if let external = grant.external {
      self["source"] = .string(external.source)
      self["externalId"] = .string(external.externalID)
      self["productId"] = .string(external.productID)
      self["revision"] = .number(JSONNumber(external.revision))
    }
  }

  fileprivate func text(_ name: String) -> String? { self[name]?.stringValue }

  fileprivate func texts(_ name: String) -> [String] {
    (self[name]?.arrayValue ?? []).compactMap(\.stringValue)
  }

  fileprivate func instant(_ name: String) -> Instant? {
    self[name]?.int64Value.map(Instant.init(millisecondsSince1970:))
  }
}

extension JSONObject {
  fileprivate init(_ fulfillment: Fulfillment) {
    self = [
      "transaction": .string(fulfillment.transactionID), "id": .string(fulfillment.fulfillmentID),
      "units": .number(JSONNumber(fulfillment.units)),
      "at": .number(JSONNumber(fulfillment.acknowledgedAt.millisecondsSince1970)),
    ]
  }
}

extension Fulfillment {
  fileprivate init?(_ object: JSONObject) {
    guard let transactionID = object.text("transaction"), let id = object.text("id"),
      let units = object["units"]?.int64Value, let at = object.instant("at")
    else { return nil }
    self.init(transactionID: transactionID, fulfillmentID: id, units: units, acknowledgedAt: at)
  }
}

extension GrantFact {
  fileprivate init?(_ object: JSONObject) {
    guard let id = object.text("id"), let entitlement = object.text("entitlement"),
      let level = object["accessLevel"]?.int64Value.flatMap({ AccessLevel(rawValue: Int($0)) }),
      let since = object.instant("since")
    else { return nil }
    self.init(
      grantID: id, entitlement: entitlement, accessLevel: level, since: since,
      until: object.instant("until"), revokedAt: object.instant("revokedAt"),
      note: object.text("note") ?? "", actor: object.text("actor") ?? "")
    guard let source = object.text("source"), let externalID = object.text("externalId"),
      let revision = object["revision"]?.int64Value
    else { return }
    external = ExternalPurchase(
      source: source, externalID: externalID, productID: object.text("productId") ?? "", revision: revision)
  }
}

extension OperatorCommand.Action {
  /// A seat command; `nil` for others.
  fileprivate static func seatAction(_ object: JSONObject) -> OperatorCommand.Action? {
    switch object["command"]?.stringValue {
    case "CLAIM_SEAT":
      guard let seat = object["seat"]?.objectValue.flatMap(Seat.init) else { return nil }
      return .claimSeat(seat, customerID: object["to"]?.stringValue)
    case "ASSOCIATE_SEAT":
      guard let seat = object["seat"]?.stringValue, let customerID = object["to"]?.stringValue else {
        return nil
      }
      return .associateSeat(seat, customerID: customerID)
    case "RELEASE_SEATS":
      guard let instant = object["at"]?.int64Value else { return nil }
      let seats = (object["seats"]?.arrayValue ?? []).compactMap(\.stringValue)
      return .releaseSeats(seats, at: Instant(millisecondsSince1970: instant))
    default: return nil
    }
  }
}

extension OperatorCommand.Action {
  /// A command about notes or attributes; `nil` for others.
  fileprivate static func noteAction(_ object: JSONObject) -> OperatorCommand.Action? {
    guard let customerID = object.text("to") else { return nil }
    switch object.text("command") {
    case "ADD_NOTE":
      guard let text = object.text("text"), let at = object.instant("at") else { return nil }
      return .addNote(text, customerID: customerID, at: at)
    case "DELETE_NOTE":
      guard let id = object["deleted"]?.int64Value else { return nil }
      return .deleteNote(EvidenceID(rawValue: id), customerID: customerID)
    case "SET_ATTRIBUTES":
      let attributes = (object["attributes"]?.arrayValue ?? []).compactMap { value -> CustomerAttribute? in
        guard let object = value.objectValue, let name = object.text("name") else { return nil }
        return CustomerAttribute(name: name, value: object.text("value") ?? "")
      }
      return .setAttributes(attributes, customerID: customerID)
    default: return nil
    }
  }
}

extension JSONObject {
  fileprivate init(_ seat: Seat) {
    self = [
      "id": .string(seat.seatID), "purchase": .string(seat.originalTransactionID),
      "request": .string(seat.requestIdentifier),
      "claimedAt": .number(JSONNumber(seat.claimedAt.millisecondsSince1970)),
    ]
    if let claim = seat.seatClaimID { self["seatClaimId"] = .string(claim) }
  }
}

extension Seat {
  fileprivate init?(_ object: JSONObject) {
    guard let id = object["id"]?.stringValue, let purchase = object["purchase"]?.stringValue,
      let claimedAt = object["claimedAt"]?.int64Value
    else { return nil }
    self.init(
      seatID: id, originalTransactionID: purchase, seatClaimID: object["seatClaimId"]?.stringValue,
      requestIdentifier: object["request"]?.stringValue ?? "",
      claimedAt: Instant(millisecondsSince1970: claimedAt))
  }
}
