internal import CEntitledProto

/// The memory of protobuf-c's structures during one call. Each thread reuses its arena, so that decoding a
/// small message allocates only the result.
///
/// Not Sendable: a use begins and ends on one thread without suspension. Uses may nest.
package struct WireArena {
  private let state: OpaquePointer
  private let mark: entitled_arena_mark
  /// The maximum number of bytes of this use.
  private let limit: Int

  /// Begins a use of the thread's arena; the caller must call `end`. A closure instead would cost every call
  /// a copy of the message.
  static func begin(limit: Int = .max) -> WireArena {
    // Running out of memory terminates the program, as elsewhere in Swift.
    guard let state = entitled_arena_of_thread() else { fatalError("out of memory") }
    return WireArena(state: state, mark: entitled_arena_begin(state, limit < 0 ? 0 : limit), limit: limit)
  }

  /// Ends the use and releases its memory.
  func end() { entitled_arena_end(state, mark) }

  /// Allocates uninitialized memory for this program's values. Terminates the program if there is none.
  func allocate<T>(_ type: T.Type, count: Int = 1) -> UnsafeMutablePointer<T> {
    guard let memory = entitled_arena_allocate(state, count * MemoryLayout<T>.stride) else {
      // Running out of memory terminates the program, as elsewhere in Swift.
      fatalError("out of memory")
    }
    return memory.bindMemory(to: T.self, capacity: count)
  }

  /// Throws if the limit leaves no room for `size` bytes.
  func requireRoom(for size: Int) throws(WireError) {
    guard entitled_arena_has_room(state, size) else { throw .tooLarge(limit: limit) }
  }

  /// Allocates zeroed memory for input. Exceeding the limit is an error of the sender.
  func reserve(_ size: Int) throws(WireError) -> UnsafeMutableRawPointer {
    guard let memory = entitled_arena_allocate(state, size) else {
      throw .tooLarge(limit: limit)
    }
    memory.initializeMemory(as: UInt8.self, repeating: 0, count: size)
    return memory
  }

  /// Unpacks the wire form of a message.
  func unpack(
    _ bytes: UnsafeRawBufferPointer, as descriptor: UnsafePointer<ProtobufCMessageDescriptor>,
    limitsText: Bool = false
  ) throws(WireError) -> UnsafeRawPointer {
    try WireValidator.check(bytes, descriptor, limitsText: limitsText)
    let start = bytes.baseAddress?.assumingMemoryBound(to: UInt8.self)
    guard
      let structure = protobuf_c_message_unpack(
        descriptor, entitled_arena_allocator(state), bytes.count, start)
    else {
      if entitled_arena_is_exhausted(state) { throw .tooLarge(limit: limit) }
      throw .malformed(message: String(cString: descriptor.pointee.name))
    }
    return UnsafeRawPointer(structure)
  }

  /// Unpacks the wire form of a message.
  func unpack(
    _ bytes: [UInt8], as descriptor: UnsafePointer<ProtobufCMessageDescriptor>, limitsText: Bool = false
  ) throws(WireError) -> UnsafeRawPointer {
    try bytes.withUnsafeBufferPointer { buffer throws(WireError) in
      try unpack(UnsafeRawBufferPointer(buffer), as: descriptor, limitsText: limitsText)
    }
  }

  /// The structure of a Swift message, by way of its wire form.
  func structure(of message: some WireMessage) -> UnsafeRawPointer {
    do throws(WireError) {
      return try unpack(message.encodedBytes(), as: type(of: message).messageType.descriptor)
    } catch {
      // Writer and reader are part of this program, so continuing would return a corrupt message.
      fatalError("what WireWriter wrote cannot be read: \(error)")
    }
  }

  /// The size of a structure's wire form in bytes.
  func packedSize(of structure: UnsafeMutableRawPointer) -> Int {
    protobuf_c_message_get_packed_size(structure.assumingMemoryBound(to: ProtobufCMessage.self))
  }

  /// Appends the wire form of a structure.
  func pack(_ structure: UnsafeMutableRawPointer, into bytes: inout [UInt8]) {
    let size = packedSize(of: structure)
    let packed = allocate(UInt8.self, count: size)
    protobuf_c_message_pack(structure.assumingMemoryBound(to: ProtobufCMessage.self), packed)
    bytes.append(contentsOf: UnsafeBufferPointer(start: packed, count: size))
  }
}

/// Copies Swift values into protobuf-c's structures for JSON decoding. The caller has reserved the memory.
extension WireArena {
  func text(_ value: String) -> UnsafeMutablePointer<CChar> {
    var value = value
    return value.withUTF8 { utf8 in
      let copy = allocate(UInt8.self, count: utf8.count + 1)
      if let start = utf8.baseAddress { copy.update(from: start, count: utf8.count) }
      copy[utf8.count] = 0
      return UnsafeMutableRawPointer(copy).assumingMemoryBound(to: CChar.self)
    }
  }

  func bytes(_ value: [UInt8]) -> ProtobufCBinaryData {
    let copy = allocate(UInt8.self, count: value.count)
    value.withUnsafeBufferPointer { buffer in
      if let start = buffer.baseAddress { copy.update(from: start, count: buffer.count) }
    }
    return ProtobufCBinaryData(len: value.count, data: copy)
  }
}
