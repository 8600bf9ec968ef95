internal import CEntitledProto

/// A message of the contract as a Swift value.
///
/// The generated types conform. Decoding uses protobuf-c's structures, which exist only during one call in
/// the thread's arena and never leave this module.
package protocol WireMessage: Equatable, Sendable {
  /// A message with every field at its default.
  init()

  /// The message's description in the contract.
  static var messageType: MessageType { get }

  /// Copies protobuf-c's structure at that address. For `Wire` only.
  init(reading structure: UnsafeRawPointer)

  /// Writes the fields. For `Wire` only.
  func write(to writer: inout WireWriter)
}

/// The limits for decoding input.
package enum WireLimits {
  /// The bytes of memory for one message's structures, because two wire bytes can unfold into hundreds.
  package static let memory = 32 << 20
  /// The maximum nesting depth of messages.
  package static let depth = 100
}

extension WireMessage {
  /// Creates a message with the changes of `build`, in one expression.
  package static func with(_ build: (inout Self) -> Void) -> Self {
    var message = Self()
    build(&message)
    return message
  }

  /// Decodes a message from its wire form.
  ///
  /// Skips unknown fields. Strings must be UTF-8 without NUL. Uses at most `memoryLimit` bytes of memory
  /// besides the result. `limitsText` applies ``TextLimits``, as to every request.
  ///
  /// - Throws: ``WireError`` for malformed bytes, and if a limit is exceeded.
  package static func decode(
    _ bytes: UnsafeRawBufferPointer, memoryLimit: Int = WireLimits.memory, limitsText: Bool = false
  ) throws(WireError) -> Self {
    let arena = WireArena.begin(limit: memoryLimit)
    defer { arena.end() }
    return Self(reading: try arena.unpack(bytes, as: messageType.descriptor, limitsText: limitsText))
  }

  /// Decodes a message from its wire form.
  /// The limits and errors are those of decoding a buffer.
  package static func decode(
    _ bytes: [UInt8], memoryLimit: Int = WireLimits.memory, limitsText: Bool = false
  ) throws(WireError) -> Self {
    let arena = WireArena.begin(limit: memoryLimit)
    defer { arena.end() }
    return Self(reading: try arena.unpack(bytes, as: messageType.descriptor, limitsText: limitsText))
  }

  /// Appends the wire form to `bytes`.
  ///
  /// A NUL in a string is written as U+FFFD, because protobuf-c's strings end at the first NUL.
  package func encode(into bytes: inout [UInt8]) {
    let arena = WireArena.begin()
    defer { arena.end() }
    var writer = WireWriter(arena: arena)
    write(to: &writer)
    bytes.append(contentsOf: writer.written)
  }

  /// The wire form.
  package func encodedBytes() -> [UInt8] {
    var bytes: [UInt8] = []
    encode(into: &bytes)
    return bytes
  }
}

/// An enum of the contract. Numbers that this version does not define are preserved as `unrecognized`.
package protocol WireEnum: RawRepresentable<Int32>, Hashable, Sendable {
  /// The value with that number on the wire.
  init(rawValue: Int32)

  /// The value's name in the contract, or its number.
  var protoName: String { get }
}

extension WireEnum {
  /// The value with number 0, which an unset field has.
  package init() { self.init(rawValue: 0) }
}
