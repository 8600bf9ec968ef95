internal import CEntitledProto

/// The services and messages that proto/ declares, without those for tests.
package enum Contract {
  /// The method with that full name, for instance "/entitled.v1.EntitlementService/Check"; `nil` for an unknown one.
  package static func method(named fullName: String) -> MethodDescription? { methodsByName[fullName] }

  private static let methodsByName = Dictionary(
    services.flatMap(\.methods).map { ($0.fullName, $0) }, uniquingKeysWith: { first, _ in first })
}

/// One service of the contract.
package struct ServiceDescription: Sendable {
  /// The full name, for instance "entitled.v1.EntitlementService".
  package let name: String
  /// The methods in the order of their declaration.
  package let methods: [MethodDescription]
}

/// One method of a service.
package struct MethodDescription: Sendable {
  /// The full name of the service.
  package let service: String
  /// The method's own name, for instance "Check".
  package let name: String
  /// The type of its request messages.
  package let requestType: any WireMessage.Type
  /// The type of its response messages.
  package let responseType: any WireMessage.Type
  /// Whether the client sends a stream of requests.
  package let clientStreaming: Bool
  /// Whether the server sends a stream of responses.
  package let serverStreaming: Bool
  /// The role that a caller needs; `nil` with ``anyRole``, and for health and reflection, which are open to everyone.
  package let role: Access.Role?
  /// Whether a call changes data here or at Apple, so that the audit log records it.
  package let mutates: Bool
  /// Whether the handler runs synchronously on the event loop of the connection.
  package let onEventLoop: Bool
  /// Whether every authenticated caller may call.
  package var anyRole = false
  /// Whether the handler limits the response to the apps of the caller, so that a request may name none.
  package var limitsApps = false
  /// Whether the response shows customers that the request does not name.
  package var showsCustomers = false

  /// Whether the contract declares `idempotency_level = NO_SIDE_EFFECTS`. `tools/generate` requires that of exactly those of
  /// our methods that do not mutate; health and reflection, which have no role, declare nothing.
  package var hasNoSideEffects: Bool { !mutates && (role != nil || anyRole) }

  /// The path of an HTTP/2 request for it, "/package.Service/Method".
  package var fullName: String { "/\(service)/\(name)" }
}

/// The description of a message type in the contract.
// Unchecked: it points to constants of the program, which protoc-c generated and nothing changes.
package struct MessageType: @unchecked Sendable {
  let descriptor: UnsafePointer<ProtobufCMessageDescriptor>

  /// - Parameter descriptor: the `ProtobufCMessageDescriptor` of a generated accessor function, which returns the
  ///   address of a constant, never null.
  package init(_ descriptor: UnsafeRawPointer) {
    self.descriptor = descriptor.assumingMemoryBound(to: ProtobufCMessageDescriptor.self)
  }

  /// The full name, for instance "entitled.v1.CheckRequest".
  package var name: String { String(cString: descriptor.pointee.name) }

  /// The names of its fields, as in the contract.
  package var fieldNames: [String] {
    JSONNames.fields(of: descriptor).map { String(cString: $0.pointee.name) }
  }

  /// The message of the contract with that full name.
  static func named(_ name: String) -> MessageType? { byName[name] }

  private static let byName = Dictionary(
    Contract.messageTypes.map { ($0.messageType.name, $0.messageType) },
    uniquingKeysWith: { first, _ in first })
}
