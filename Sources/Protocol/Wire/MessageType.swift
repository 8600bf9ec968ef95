internal import CEntitledProto

/// The description of a message type in the contract.
///
/// Sendable because it points to constants of the program that protoc-c generated.
package struct MessageType: @unchecked Sendable {
  let descriptor: UnsafePointer<ProtobufCMessageDescriptor>

  /// - Parameter descriptor: the `ProtobufCMessageDescriptor` of a generated accessor function, which returns the
  ///   address of a constant, never null.
  package init(_ descriptor: UnsafeRawPointer) {
    self.descriptor = descriptor.assumingMemoryBound(to: ProtobufCMessageDescriptor.self)
  }

  /// The full name, for instance "entitled.v1.CheckRequest".
  package var name: String { String(cString: descriptor.pointee.name) }

  /// The message of the contract with that full name.
  static func named(_ name: String) -> MessageType? { byName[name] }

  private static let byName = Dictionary(
    Contract.messageTypes.map { ($0.messageType.name, $0.messageType) },
    uniquingKeysWith: { first, _ in first })
}
