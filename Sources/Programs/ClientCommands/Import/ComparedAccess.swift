internal import AppStore
internal import CustomerImport
internal import JSON
internal import Wire

/// RevenueCat's statement about a customer's access to an entitlement, and the answer here.
struct ComparedAccess {
  private let stated: StatedAccess
  private let response: CheckResponse
  private let now: Instant
  /// `nil` if both agree.
  let disagreement: AccessDisagreement?

  /// Compares at the time of the answer; ends may differ by `tolerance` milliseconds.
  init(_ stated: StatedAccess, _ response: CheckResponse, tolerance: Int64) {
    self.stated = stated
    self.response = response
    now = response.evaluatedAt.instant
    disagreement = AccessDisagreement(
      stated: stated.deciding?.until, isEntitled: response.entitlement?.entitled ?? false,
      until: response.entitlement?.until.optionalInstant,
      paidUntil: response.entitlement?.paidUntil.optionalInstant, at: now, tolerance: tolerance)
  }

  /// Three lines: the customer, their side, our side.
  var text: String {
    let ours = response.entitlement ?? Entitlement()
    let evidence = ours.evidenceId.map { ", evidence \($0)" } ?? ""
    let end = ours.entitled ? "until \(ours.until.text.isEmpty ? "no expiry" : ours.until.text)" : "no access"
    return """
      \(stated.customerID) \(stated.entitlement)  \(disagreement?.rawValue ?? "")
        RevenueCat  \(stated.deciding.map(Self.words) ?? "")
        here        \(end), \(ours.reason)\(evidence)
      """
  }

  private static func words(_ statement: AccessStatement) -> String {
    "until \(statement.until?.description ?? "no expiry"), \(statement.origin) of \(statement.statedAt)"
  }

  /// Both sides with the event and the whole answer.
  var json: JSONObject {
    [
      "customerId": .string(stated.customerID), "entitlement": .string(stated.entitlement),
      "disagreement": .string(disagreement?.rawValue ?? ""), "at": .string(now.description),
      "theirs": .array(stated.statements.map { .object(Self.json($0)) }),
      "ours": (try? JSONValue(parsing: response.json())) ?? .null,
    ]
  }

  private static func json(_ statement: AccessStatement) -> JSONObject {
    JSONObject(present: [
      ("origin", .string(statement.origin)), ("purchase", .string(statement.purchase)),
      ("statedAt", .string(statement.statedAt.description)),
      ("until", statement.until.map { .string($0.description) }), ("document", statement.document),
    ])
  }
}

extension GoogleProtobuf.Timestamp? {
  /// The instant; `nil` without a time.
  fileprivate var optionalInstant: Instant? {
    self?.millisecondsSince1970.map(Instant.init(millisecondsSince1970:))
  }
}
