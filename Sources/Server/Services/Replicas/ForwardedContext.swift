internal import AppStore
internal import Bytes
internal import Callers
internal import HTTP
internal import JSON
internal import RPC
internal import Telemetry

/// The context of a call or request besides its message, as JSON in the inbox for the leader.
struct ForwardedContext: Sendable {
  /// The metadata that handlers read, and the header field that endpoints read. Others, such as cookies and the tokens
  /// of proxies, are not stored.
  private static let storedFields: Set = ["\(CallContext.requiredPositionField)", "content-type"]

  /// The caller that this replica has authenticated and authorized; the leader trusts it. Without the token bucket,
  /// because the call was counted where it arrived.
  var caller: Caller?
  /// Continues the trace of the call that arrived.
  var trace: String?
  /// The IP address of the client, for the audit log and the limits of networks.
  var address = ""
  /// From the arrival of the call; `nil` for none.
  var timeout: Timeout?
  /// The method of an HTTP request.
  var httpMethod = ""
  /// Those of ``storedFields``.
  var headers: [(name: String, value: String)] = []
  /// When it arrived, by the system's clock of the replica.
  var receivedAt: Instant?
  /// States that the replica has verified the signatures of a notification; see `IncomingNotification`.
  var seal: [UInt8]?
  /// Encrypts the outcome; `nil` if no replica reads it.
  var outcomeKey: OutcomeKey?

  init() {}

  /// The context of a call that the interceptors have accepted.
  init(_ call: CallContext) {
    caller = CallScope.current?.caller
    trace = TraceContext.current?.traceparent
    address = call.address
    timeout = call.timeout
    headers = Self.stored(call.headers)
  }

  /// The context of an HTTP request.
  init(_ request: HTTPRequest) {
    address = request.address
    httpMethod = request.method
    trace = TraceContext.current?.traceparent
    headers = Self.stored(request.headers)
  }

  private static func stored(_ headers: HeaderFields) -> [(name: String, value: String)] {
    headers.strings.filter { storedFields.contains($0.name) }
  }

  /// The request with this context.
  func request(_ path: String, _ body: [UInt8]) -> HTTPRequest {
    var request = HTTPRequest(
      method: httpMethod, target: path, headers: HeaderFields(headers), body: body)
    request.address = address
    return request
  }

  /// The call with this context.
  var call: CallContext {
    var call = CallContext(headers: HeaderFields(headers), timeout: timeout)
    call.findRequiredPosition()
    call.address = address
    call.caller = caller?.name ?? ""
    call.callerRoles = caller?.roleBits ?? 0
    return call
  }
}

extension ForwardedContext {
  /// - Returns: `nil` for bytes that are not an encoded context.
  init?(decoding bytes: [UInt8]) {
    guard let object = try? JSONValue(parsing: bytes).objectValue else { return nil }
    self.init()
    if let name = object["caller"]?.stringValue {
      caller = Caller(
        name: name, roles: Set(object["roles"]?.texts.compactMap(Role.init) ?? []),
        apps: (object["apps"]?.texts).map(Set.init))
    }
    trace = object["trace"]?.stringValue
    address = object["address"]?.stringValue ?? ""
    timeout = (object["timeout"]?.int64Value).map(Timeout.init(nanoseconds:))
    httpMethod = object["method"]?.stringValue ?? ""
    headers = object["headers"]?.pairs ?? []
    receivedAt = (object["receivedAt"]?.int64Value).map(Instant.init(millisecondsSince1970:))
    seal = (object["seal"]?.stringValue).flatMap { Base64.standard.decode($0) }
    outcomeKey = (object["outcomeKey"]?.stringValue).flatMap { Base64.standard.decode($0) }
      .flatMap { OutcomeKey($0) }
  }

  /// The context as JSON. Members without a value are left out, and a leader of another version ignores those that it
  /// does not have.
  var encoded: [UInt8] {
    var object: JSONObject = [
      "address": .string(address), "method": .string(httpMethod), "headers": .pairs(headers),
    ]
    if let caller {
      object["caller"] = .string(caller.name)
      object["roles"] = .array(caller.roles.map { .string($0.rawValue) })
      object["apps"] = caller.apps.map { .array($0.map(JSONValue.string)) }
    }
    object["trace"] = trace.map(JSONValue.string)
    object["timeout"] = timeout.map { .number(JSONNumber($0.nanoseconds)) }
    object["receivedAt"] = receivedAt.map { .number(JSONNumber($0.millisecondsSince1970)) }
    object["seal"] = seal.map { .string(Base64.standard.encode($0)) }
    object["outcomeKey"] = outcomeKey.map { .string(Base64.standard.encode($0.bytes)) }
    return object.serialized()
  }
}

extension JSONValue {
  /// The texts of an array; others are left out.
  var texts: [String] { arrayValue?.compactMap(\.stringValue) ?? [] }

  /// The pairs of an array of arrays.
  var pairs: [(name: String, value: String)] {
    arrayValue?.compactMap { pair in
      let texts = pair.texts
      return texts.count == 2 ? (texts[0], texts[1]) : nil
    } ?? []
  }

  /// An array with an array for each pair.
  static func pairs(_ pairs: [(name: String, value: String)]) -> JSONValue {
    .array(pairs.map { .array([.string($0.name), .string($0.value)]) })
  }
}
