internal import CEntitledProto

/// Reads fields of protobuf-c's structures for generated code. Strings were validated before unpacking.
package enum CField {
  /// Copies a string; NULL and an empty one are the default.
  package static func text(_ start: UnsafeMutablePointer<CChar>?) -> String {
    guard let start, start.pointee != 0 else { return "" }
    return String(cString: start)
  }

  /// Copies a `ProtobufCBinaryData`: a length and an address. Generic, because the type belongs to the module that
  /// imports protobuf-c.
  package static func bytes<Data>(_ data: Data) -> [UInt8] {
    withUnsafeBytes(of: data) { data in
      let count = data.load(as: Int.self)
      let start = data.load(fromByteOffset: MemoryLayout<Int>.size, as: UnsafePointer<UInt8>?.self)
      return Array(UnsafeBufferPointer(start: start, count: count))
    }
  }

  /// A `protobuf_c_boolean`, which is an `int`.
  package static func flag(_ value: Int32) -> Bool { value != 0 }

  /// A C enum's number, signed as in protobuf.
  package static func number(_ rawValue: UInt32) -> Int32 { Int32(bitPattern: rawValue) }

  /// Copies a message; `nil` for NULL, which is a message that was not sent.
  package static func message<Structure, Message: WireMessage>(_ start: UnsafeMutablePointer<Structure>?)
    -> Message?
  {
    start.map { Message(reading: $0) }
  }

  /// Copies a repeated field of messages.
  package static func messages<Structure, Message: WireMessage>(
    _ start: UnsafeMutablePointer<UnsafeMutablePointer<Structure>?>?, count: Int
  ) -> [Message] {
    UnsafeBufferPointer(start: start, count: count).compactMap { message($0) }
  }

  /// Copies a repeated field of enum numbers, those included that this version does not name.
  package static func enums<Number, Value: WireEnum>(_ start: UnsafeMutablePointer<Number>?, count: Int)
    -> [Value]
  {
    guard let start else { return [] }
    let numbers = UnsafeRawPointer(start).assumingMemoryBound(to: Int32.self)
    return UnsafeBufferPointer(start: numbers, count: count).map { Value(rawValue: $0) }
  }

  /// Copies a repeated field of strings.
  package static func elements(
    _ start: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>?, count: Int
  ) -> [String] {
    UnsafeBufferPointer(start: start, count: count).map { text($0) }
  }

  /// Copies a repeated field of bytes.
  package static func data<Data>(_ start: UnsafeMutablePointer<Data>?, count: Int) -> [[UInt8]] {
    UnsafeBufferPointer(start: start, count: count).map { bytes($0) }
  }

  /// Copies a repeated field of numbers.
  package static func elements<Scalar: Numeric>(_ start: UnsafeMutablePointer<Scalar>?, count: Int)
    -> [Scalar]
  {
    Array(UnsafeBufferPointer(start: start, count: count))
  }
}
