internal import RPC
internal import Wire

/// One call that changed something, or was refused to: who, what, about whom, and what came of it. It holds
/// nothing of documents and tokens.
package struct AuditRecord: Hashable, Sendable {
  /// The operator's name of the caller; empty where everybody is let in or nobody was recognized.
  package let caller: String
  /// `/package.Service/Method`.
  package let method: String
  /// The apps that the request names.
  package let apps: [String]
  /// The customers that the request names.
  package let customers: [String]
  /// On whose behalf, as the request says.
  package let actor: String
  /// The name of gRPC's status code, such as `OK`.
  package let outcome: String
}

/// Where a method's requests say what the audit log tells.
struct AuditedFields {
  private static let customerFields = [
    "customer_id", "from_customer_id", "into_customer_id", "to_customer_id",
  ]

  private let method: String
  private let app: FieldPath?
  private let customers: [FieldPath]
  private let actor: FieldPath?

  init(_ method: String) {
    self.method = method
    let request = Contract.method(named: method)?.requestType.messageType
    app = request?.path(toText: "app")
    customers = Self.customerFields.compactMap { request?.path(toText: $0) }
    actor = request?.path(toText: "actor")
  }

  /// The record of a call, whose outcome is not known yet.
  func subject(of request: UnsafeRawBufferPointer) -> AuditSubject {
    AuditSubject(
      method: method, apps: values(app, request), customers: customers.flatMap { values($0, request) },
      actor: values(actor, request).last ?? "")
  }

  private func values(_ path: FieldPath?, _ request: UnsafeRawBufferPointer) -> [String] {
    path.flatMap { TextFields.values(at: $0, in: request) } ?? []
  }
}

/// What a call is about.
struct AuditSubject: Sendable {
  let method: String
  var apps: [String] = []
  var customers: [String] = []
  var actor = ""

  func record(of caller: String, _ outcome: StatusCode) -> AuditRecord {
    AuditRecord(
      caller: caller, method: method, apps: apps, customers: customers, actor: actor, outcome: outcome.name)
  }
}
