internal import CEntitledProto

/// A message of the contract as a Swift value.
///
/// The generated types conform. Bytes and JSON are read through protobuf-c's structures, which live in the
/// thread's arena for the length of one call and never leave this module.
package protocol WireMessage: Equatable, Sendable {
  /// A message with every field at its default.
  init()

  /// The message's description in the contract.
  static var messageType: MessageType { get }

  /// Copies protobuf-c's structure at that address; for this module's use.
  init(reading structure: UnsafeRawPointer)

  /// Writes the fields; for this module's use.
  func write(to writer: inout WireWriter)
}

/// Bounds for what outside bytes may cost.
package enum WireLimits {
  /// Bytes of memory for the structures of one message. Two bytes on the wire can ask for hundreds.
  package static let memory = 32 << 20
  /// Levels of nested messages.
  package static let depth = 100
}

extension WireMessage {
  /// A message changed by `build`: for writing one in a single expression.
  package static func with(_ build: (inout Self) -> Void) -> Self {
    var message = Self()
    build(&message)
    return message
  }

  /// Reads a message from its wire form.
  ///
  /// Unknown fields are skipped. Text must be UTF-8 without NUL. At most `memoryLimit` bytes of memory are
  /// taken besides the result.
  package static func decode(
    _ bytes: UnsafeRawBufferPointer, memoryLimit: Int = WireLimits.memory
  ) throws(WireError) -> Self {
    let arena = WireArena.begin(limit: memoryLimit)
    defer { arena.end() }
    return Self(reading: try arena.unpack(bytes, as: messageType.descriptor))
  }

  /// Reads a message from its wire form.
  package static func decode(
    _ bytes: [UInt8], memoryLimit: Int = WireLimits.memory
  ) throws(WireError) -> Self {
    let arena = WireArena.begin(limit: memoryLimit)
    defer { arena.end() }
    return Self(reading: try arena.unpack(bytes, as: messageType.descriptor))
  }

  /// Appends the wire form to `bytes`.
  ///
  /// A NUL inside a string is written as U+FFFD: protobuf-c's strings end at the first NUL.
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
