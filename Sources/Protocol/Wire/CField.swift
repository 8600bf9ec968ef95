internal import CEntitledProto

/// Reads fields of protobuf-c's structures for generated code. Strings were validated before unpacking.
enum CField {
  static func text(_ start: UnsafeMutablePointer<CChar>?) -> String {
    guard let start, start.pointee != 0 else { return "" }
    return String(cString: start)
  }

  static func bytes(_ data: ProtobufCBinaryData) -> [UInt8] {
    Array(UnsafeBufferPointer(start: data.data, count: data.len))
  }

  static func flag(_ value: protobuf_c_boolean) -> Bool { value != 0 }

  /// A C enum's number, signed as in protobuf.
  static func number(_ rawValue: UInt32) -> Int32 { Int32(bitPattern: rawValue) }

  static func message<Structure, Message: WireMessage>(_ start: UnsafeMutablePointer<Structure>?) -> Message?
  {
    start.map { Message(reading: $0) }
  }

  static func messages<Structure, Message: WireMessage>(
    _ start: UnsafeMutablePointer<UnsafeMutablePointer<Structure>?>?, count: Int
  ) -> [Message] {
    UnsafeBufferPointer(start: start, count: count).compactMap { message($0) }
  }

  static func enums<Number, Value: WireEnum>(_ start: UnsafeMutablePointer<Number>?, count: Int) -> [Value] {
    guard let start else { return [] }
    let numbers = UnsafeRawPointer(start).assumingMemoryBound(to: Int32.self)
    return UnsafeBufferPointer(start: numbers, count: count).map { Value(rawValue: $0) }
  }

  static func elements(
    _ start: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>?, count: Int
  ) -> [String] {
    UnsafeBufferPointer(start: start, count: count).map { text($0) }
  }

  static func elements(_ start: UnsafeMutablePointer<ProtobufCBinaryData>?, count: Int) -> [[UInt8]] {
    UnsafeBufferPointer(start: start, count: count).map { bytes($0) }
  }

  static func elements<Scalar: Numeric>(_ start: UnsafeMutablePointer<Scalar>?, count: Int) -> [Scalar] {
    Array(UnsafeBufferPointer(start: start, count: count))
  }
}
