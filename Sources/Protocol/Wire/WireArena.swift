internal import CEntitledProto

/// The memory in which protobuf-c's structures live during one call: the calling thread's, reused from call
/// to call, so that reading a small message allocates nothing but its result.
///
/// Not Sendable: a use ends where it began, on the same thread, without suspending in between. Uses nest.
package struct WireArena {
  private let state: OpaquePointer
  private let mark: entitled_arena_mark
  /// Bytes that this use may take.
  private let limit: Int

  /// Begins a use of the thread's arena. Whoever begins it calls `end`; a closure in between would make
  /// every call pay for a copy of the message.
  static func begin(limit: Int = .max) -> WireArena {
    // As everywhere in Swift, running out of memory ends the program.
    guard let state = entitled_arena_of_thread() else { fatalError("out of memory") }
    return WireArena(state: state, mark: entitled_arena_begin(state, limit < 0 ? 0 : limit), limit: limit)
  }

  /// Ends the use; what was allocated in it is gone.
  func end() { entitled_arena_end(state, mark) }

  /// Memory for one `T`, not initialised. For messages of our own making; running out of memory ends the
  /// program, as everywhere in Swift.
  func allocate<T>(_ type: T.Type, count: Int = 1) -> UnsafeMutablePointer<T> {
    guard let memory = entitled_arena_allocate(state, count * MemoryLayout<T>.stride) else {
      // The same.
      fatalError("out of memory")
    }
    return memory.bindMemory(to: T.self, capacity: count)
  }

  /// Refuses if the arena's limit leaves no room for `size` bytes.
  func requireRoom(for size: Int) throws(WireError) {
    guard entitled_arena_has_room(state, size) else { throw .tooLarge(limit: limit) }
  }

  /// Zeroed memory for a message of someone else's making: exceeding the arena's limit is their error.
  func reserve(_ size: Int) throws(WireError) -> UnsafeMutableRawPointer {
    guard let memory = entitled_arena_allocate(state, size) else {
      throw .tooLarge(limit: limit)
    }
    memory.initializeMemory(as: UInt8.self, repeating: 0, count: size)
    return memory
  }

  /// Reads the wire form of a message into a structure.
  func unpack(
    _ bytes: UnsafeRawBufferPointer, as descriptor: UnsafePointer<ProtobufCMessageDescriptor>
  ) throws(WireError) -> UnsafeRawPointer {
    try WireValidator.check(bytes, descriptor)
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

  /// Reads the wire form of a message into a structure.
  func unpack(
    _ bytes: [UInt8], as descriptor: UnsafePointer<ProtobufCMessageDescriptor>
  ) throws(WireError) -> UnsafeRawPointer {
    try bytes.withUnsafeBufferPointer { buffer throws(WireError) in
      try unpack(UnsafeRawBufferPointer(buffer), as: descriptor)
    }
  }

  /// A message of our own as a structure, by way of its wire form.
  func structure(of message: some WireMessage) -> UnsafeRawPointer {
    do throws(WireError) {
      return try unpack(message.encodedBytes(), as: type(of: message).messageType.descriptor)
    } catch {
      // Both are ours: to go on would answer with something that nobody wrote.
      fatalError("what WireWriter wrote cannot be read: \(error)")
    }
  }

  /// Bytes of the wire form of a structure.
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
