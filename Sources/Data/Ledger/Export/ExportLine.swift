internal import AppStore
internal import Bytes
internal import FamilySharing
internal import JSON
internal import Store

/// One line of an export: what it is, and its members.
///
/// What Apple has a name for has Apple's name and form; our own dates are RFC 3339.
struct ExportLine {
  /// Whose something is.
  struct Place {
    let app: String
    let environment: Environment
    /// `nil`: nobody's yet.
    let customerID: String?
  }

  let kind: String
  private let members: JSONObject

  init(_ kind: String, _ members: [(String, JSONValue?)]) {
    self.kind = kind
    self.members = JSONObject(present: members)
  }

  /// What somebody has, or nobody yet.
  init(_ kind: String, at place: Place, _ members: [(String, JSONValue?)]) {
    self.init(
      kind,
      [
        ("app", .string(place.app)), ("environment", .string(place.environment.rawValue)),
        ("customerId", place.customerID.map(JSONValue.string)),
      ] + members)
  }

  /// The line.
  var json: JSONObject {
    var json: JSONObject = ["kind": .string(kind)]
    for (name, value) in members { json[name] = value }
    return json
  }
}

extension ExportLine {
  /// A document or an operator's command, byte for byte: as text where it is one, else in base64. A body that was too
  /// large to keep is missing.
  init(_ stored: StoredEvidence) {
    let evidence = stored.evidence
    let text = evidence.content.body.flatMap { String(validating: $0, as: UTF8.self) }
    var rejection: String?
    if case .rejected(let reason) = evidence.verdict { rejection = reason }
    self.init(
      evidence.kind == .operatorCommand ? "command" : "document",
      [
        ("evidenceId", JSONValue(stored.id.rawValue)),
        ("app", .string(evidence.appID)),
        ("environment", evidence.environment.map { .string($0.rawValue) }),
        ("customerId", evidence.customerID.map(JSONValue.string)),
        ("type", .string(evidence.kind.rawValue)),
        ("source", .string(evidence.source.rawValue)),
        ("receivedAt", .string(evidence.receivedAt.description)),
        ("rejection", rejection.map(JSONValue.string)),
        ("size", JSONValue(Int64(evidence.content.size))),
        ("sha256", .string(Hex.encode(evidence.content.hash))),
        ("body", text.map(JSONValue.string)),
        (
          "bodyBase64",
          text == nil
            ? evidence.content.body.map { .string(Base64.standard.encode($0)) } : nil
        ),
      ])
  }

  /// What became of a notification; its body is the document of the same number.
  init(_ record: NotificationRecord) {
    self.init(
      "notification",
      [
        ("evidenceId", JSONValue(record.evidenceID.rawValue)),
        ("app", .string(record.appID)),
        ("environment", record.environment.map { .string($0.rawValue) }),
        ("version", JSONValue(Int64(record.version))),
        ("notificationUUID", record.uuid.nonEmpty),
        ("notificationType", record.type.nonEmpty),
        ("subtype", record.subtype.nonEmpty),
        ("state", .string(record.state.rawValue)),
        ("reason", record.reason.nonEmpty),
        ("meaning", record.meaning.nonEmpty),
        ("signedDate", record.signedDate.map { JSONValue($0) }),
        ("receivedAt", .string(record.receivedAt.description)),
        ("originalTransactionId", record.originalTransactionID.nonEmpty),
        ("transactionId", record.transactionID.nonEmpty),
        ("productId", record.productID.nonEmpty),
      ])
  }

  /// A customer.
  init(_ customer: CustomerKey) {
    self.init(
      "customer",
      at: Place(
        app: customer.appID, environment: customer.environment, customerID: customer.customerID), [])
  }

  /// A purchase line, or what is kept as one, became a customer's or is no longer.
  init(_ change: OwnershipChange) {
    self.init(
      "ownership",
      at: Place(
        app: change.line.appID, environment: change.line.environment, customerID: change.customerID),
      [
        ("originalTransactionId", .string(change.line.originalTransactionID)),
        ("gained", .bool(change.gained)),
        ("at", .string(change.at.description)),
        ("evidenceId", JSONValue(change.evidenceID.rawValue)),
      ])
  }

  /// A seat that was claimed, under the purchaser.
  init(_ seat: Seat, at place: Place) {
    self.init(
      "seat", at: place,
      [
        ("seatId", .string(seat.seatID)),
        ("originalTransactionId", .string(seat.originalTransactionID)),
        ("seatClaimId", seat.seatClaimID.map(JSONValue.string)),
        ("requestIdentifier", seat.requestIdentifier.nonEmpty),
        ("claimedAt", .string(seat.claimedAt.description)),
        ("releasedAt", seat.releasedAt.map { .string($0.description) }),
      ])
  }
}

extension String {
  fileprivate var nonEmpty: JSONValue? { isEmpty ? nil : .string(self) }
}
