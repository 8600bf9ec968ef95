internal import Callers
internal import RPC
internal import Wire

/// The access rule of a method and the fields of its request that interceptors read. A class, because every
/// call passes one on.
final class MethodPolicy: Sendable {
  /// `/package.Service/Method`, or the HTTP route of an endpoint.
  let path: String
  /// The role that a caller needs; `nil` if every caller may call.
  let role: Role?
  /// Whether callers have to authenticate. Health and reflection are open to everyone.
  let needsCaller: Bool
  /// Whether the handler limits the response to the apps of the caller, so that a request may name none.
  let limitsApps: Bool
  /// Whether a call changes data here or at Apple.
  let mutates: Bool
  /// Whether a call looks at or changes customers, so that the store has an audit entry of it. Not on an event loop:
  /// `Check` writes nothing.
  let isRecorded: Bool
  /// Whether the audit log names what requests are about.
  var recordsSubject: Bool { (mutates || isRecorded) && !isStreaming }
  /// Whether calls run synchronously and are traced only if they fail.
  let isOnEventLoop: Bool
  /// Whether requests are streams. The audit log records no fields of a stream.
  let isStreaming: Bool
  /// The position among the counted methods; `nil` for endpoints, which the edge counts.
  let meterIndex: Int?
  private let app: FieldPath?
  private let customers: [FieldPath]
  private let actor: FieldPath?
  private let note: FieldPath?

  private static let customerFields = [
    "customer_id", "from_customer_id", "into_customer_id", "to_customer_id",
  ]

  /// The full names of the methods that are counted under their own name.
  static let metered = Contract.services.flatMap(\.methods).map(\.fullName)

  /// The policies of all methods of the contract, by path.
  static let contract = Dictionary(
    uniqueKeysWithValues: Contract.services.flatMap(\.methods).enumerated().map { index, method in
      (method.fullName, MethodPolicy(method, meterIndex: index))
    })

  /// The policy of a method. A path outside the contract is closed to all callers but admins.
  static func of(_ path: String) -> MethodPolicy {
    contract[path] ?? MethodPolicy(path: path, role: .admin, mutates: true, meterIndex: metered.count)
  }

  /// The policy of a method of the contract.
  init(_ method: MethodDescription, meterIndex: Int?) {
    path = method.fullName
    role = method.role.map(Role.init)
    needsCaller = role != nil || method.anyRole
    limitsApps = method.limitsApps
    mutates = method.mutates
    isOnEventLoop = method.onEventLoop
    isStreaming = method.clientStreaming || method.serverStreaming
    self.meterIndex = meterIndex
    let request = method.requestType.messageType
    app = request.path(toText: "app")
    customers = Self.customerFields.compactMap { request.path(toText: $0) }
    // In a request that changes nothing, the actor is whose calls to list.
    actor = method.mutates ? request.path(toText: "actor") : nil
    note = request.path(toText: "note")
    isRecorded =
      needsCaller && !isOnEventLoop && (mutates || !customers.isEmpty || method.showsCustomers)
  }

  /// The policy of something that is not a method of the contract, such as an HTTP endpoint. `request` is the type of
  /// the message in which the endpoint passes the app and the customer to the interceptors. `isRecorded` is for one that
  /// shows more of a customer than `Check` does.
  init(
    path: String, role: Role?, mutates: Bool = false, meterIndex: Int? = nil, request: MessageType? = nil,
    isRecorded: Bool = false
  ) {
    self.path = path
    self.role = role
    needsCaller = role != nil
    limitsApps = false
    self.mutates = mutates
    isOnEventLoop = false
    isStreaming = false
    self.meterIndex = meterIndex
    app = request?.path(toText: "app")
    customers = request.map { type in Self.customerFields.compactMap { type.path(toText: $0) } } ?? []
    actor = request?.path(toText: "actor")
    note = nil
    self.isRecorded = isRecorded
  }

  /// All apps that a request names, including values that a later field overwrites; `nil` without such a
  /// field.
  func apps(in request: UnsafeRawBufferPointer) -> [String]? {
    app.flatMap { TextFields.values(at: $0, in: request) }
  }

  /// The apps, customers and actor of a request, which need not be valid: each text within its limit, and at most as many
  /// as an audit entry has.
  func subject(of request: UnsafeRawBufferPointer) -> CallInFlight.Subject {
    func texts(_ path: FieldPath, _ count: Int, _ limit: Int = TextLimits.standard) -> [String] {
      TextFields.excerpts(at: path, in: request, atMost: count, maxBytes: limit) ?? []
    }
    return CallInFlight.Subject(
      apps: app.map { texts($0, CallScope.maxCustomers) } ?? [],
      customers: customers.flatMap { texts($0, CallScope.maxCustomers) },
      actor: actor.flatMap { texts($0, 1).last } ?? "",
      note: note.flatMap { texts($0, 1, TextLimits.limit(of: "note")).last } ?? "")
  }
}

extension Role {
  /// The role of the option `(access)`. The generator rejects unspecified ones.
  fileprivate init(_ role: Access.Role) {
    switch role {
    case .read: self = .read
    case .submit: self = .submit
    case .operate: self = .operate
    case .reports: self = .reports
    case .audit: self = .audit
    case .admin, .unspecified, .unrecognized: self = .admin
    }
  }
}
