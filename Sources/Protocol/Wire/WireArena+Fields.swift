internal import CEntitledProto

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
