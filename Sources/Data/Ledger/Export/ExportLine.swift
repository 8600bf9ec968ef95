internal import AppStore
internal import Bytes
internal import FamilySharing
internal import JSON
internal import Store

/// One line of an export: its kind and members.
///
/// Apple's values have Apple's names and forms; other dates are RFC 3339.
struct ExportLine {
  /// The app, environment and customer that a line belongs to.
  struct Scope {
    let app: String
    let environment: Environment
    /// `nil` while unclaimed.
    let customerID: String?
  }

  /// The kinds of lines whose rows ``StoreCounts`` counts.
  static let countedKinds: Set = ["document", "command", "transaction", "renewal", "customer", "event"]

  /// The kind, such as `transaction`; docs/migration.md lists them.
  let kind: String
  private let members: JSONObject

  /// Creates a line; members without a value are omitted.
  init(_ kind: String, _ members: [(String, JSONValue?)]) {
    self.kind = kind
    self.members = JSONObject(present: members)
  }

  /// A line that belongs to a customer, or is unclaimed.
  init(_ kind: String, in scope: Scope, _ members: [(String, JSONValue?)]) {
    self.init(
      kind,
      [
        ("app", .string(scope.app)), ("environment", .string(scope.environment.rawValue)),
        ("customerId", scope.customerID.map(JSONValue.string)),
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
  /// A document or an operator command, byte for byte: as text if it is valid UTF-8, otherwise in Base64. A
  /// body that was too large to store is missing.
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

  /// The record of a notification; its body is the document with the same `evidenceId`.
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
      in: Scope(
        app: customer.appID, environment: customer.environment, customerID: customer.customerID), [])
  }

  /// The link of a line to a customer, or its end.
  init(_ change: OwnershipChange) {
    self.init(
      "ownership",
      in: Scope(
        app: change.line.appID, environment: change.line.environment, customerID: change.customerID),
      [
        ("originalTransactionId", .string(change.line.lineID)),
        ("gained", .bool(change.gained)),
        ("at", .string(change.at.description)),
        ("evidenceId", JSONValue(change.evidenceID.rawValue)),
      ])
  }

  /// A claimed seat; it belongs to the purchaser.
  init(_ seat: Seat, in scope: Scope) {
    self.init(
      "seat", in: scope,
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
