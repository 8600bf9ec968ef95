internal import Bytes
internal import CEntitledProto

/// The path of a string field: the field numbers from the outermost message inwards.
package struct FieldPath: Hashable, Sendable {
  let numbers: [UInt32]
}

extension MessageType {
  /// The path of the string field called `name`: a field of the message itself, otherwise of the first
  /// message field that has one. `nil` if there is none.
  package func path(toText name: String) -> FieldPath? {
    let fields = JSONNames.fields(of: descriptor)
    func number(_ field: UnsafePointer<ProtobufCFieldDescriptor>) -> UInt32 { field.pointee.id }
    func isWanted(_ field: UnsafePointer<ProtobufCFieldDescriptor>) -> Bool {
      field.pointee.type == PROTOBUF_C_TYPE_STRING && String(cString: field.pointee.name) == name
    }
    if let own = fields.first(where: isWanted) { return FieldPath(numbers: [number(own)]) }
    for field in fields where field.pointee.type == PROTOBUF_C_TYPE_MESSAGE {
      if let inner = JSONNames.fields(of: field.messageDescriptor).first(where: isWanted) {
        return FieldPath(numbers: [number(field), number(inner)])
      }
    }
    return nil
  }
}

/// Reads single string fields from the wire form without decoding the whole message.
package enum TextFields {
  /// All values at `path`, including those that a later value overwrites; `nil` for malformed bytes.
  package static func values(at path: FieldPath, in message: UnsafeRawBufferPointer) -> [String]? {
    var values: [String] = []
    return collect(path.numbers[...], message, &values) ? values : nil
  }

  /// The values at `path`, each cut to `maxBytes`: the first ones and the last one, at most `count`. Nothing limits the
  /// number and the length of the texts in a request that was not decoded. `nil` for malformed bytes.
  package static func excerpts(
    at path: FieldPath, in message: UnsafeRawBufferPointer, atMost count: Int, maxBytes: Int
  ) -> [String]? {
    var values: [UnsafeRawBufferPointer] = []
    let isSound = forEachValue(path.numbers[...], message) { value in
      if values.count == count { values.removeLast() }
      values.append(value)
    }
    guard isSound else { return nil }
    return values.map {
      String(decoding: UnsafeRawBufferPointer(rebasing: $0.prefix(maxBytes)), as: UTF8.self)
    }
  }

  private static func collect(
    _ path: ArraySlice<UInt32>, _ message: UnsafeRawBufferPointer, _ values: inout [String]
  ) -> Bool {
    forEachValue(path, message) { values.append(String(decoding: $0, as: UTF8.self)) }
  }

  /// Calls `body` with each value; returns whether the bytes are a message.
  private static func forEachValue(
    _ path: ArraySlice<UInt32>, _ message: UnsafeRawBufferPointer,
    _ body: (UnsafeRawBufferPointer) -> Void
  ) -> Bool {
    guard let wanted = path.first else {
      body(message)
      return true
    }
    var reader = FieldReader(message)
    while !reader.isAtEnd {
      guard let field = reader.next() else { return false }
      guard field.number == wanted, let content = field.content else { continue }
      guard forEachValue(path.dropFirst(), content, body) else { return false }
    }
    return true
  }
}

/// Counts fields in the wire form.
package enum WireFields {
  /// The number of the message's own fields with this number; `nil` for malformed bytes.
  package static func count(of number: UInt32, in message: UnsafeRawBufferPointer) -> Int? {
    var reader = FieldReader(message)
    var count = 0
    while !reader.isAtEnd {
      guard let field = reader.next() else { return nil }
      if field.number == number { count += 1 }
    }
    return count
  }
}

/// Iterates over the fields of a message (protobuf's encoding guide, "Message Structure").
private struct FieldReader {
  private let message: UnsafeRawBufferPointer
  private var position = 0

  init(_ message: UnsafeRawBufferPointer) { self.message = message }

  var isAtEnd: Bool { position == message.count }

  /// The next field, with its content if it is length-delimited; `nil` if it is truncated or malformed.
  mutating func next() -> (number: UInt32, content: UnsafeRawBufferPointer?)? {
    guard let key = number(), let field = UInt32(exactly: key >> 3) else { return nil }
    switch key & 7 {
    case 0: return number().map { _ in (field, nil) }
    case 1: return take(8).map { _ in (field, nil) }
    case 2:
      guard let length = number(), let length = Int(exactly: length) else { return nil }
      return take(length).map { (field, $0) }
    case 5: return take(4).map { _ in (field, nil) }
    default: return nil
    }
  }

  private mutating func take(_ length: Int) -> UnsafeRawBufferPointer? {
    guard length <= message.count - position else { return nil }
    defer { position += length }
    return UnsafeRawBufferPointer(rebasing: message[position..<position + length])
  }

  private mutating func number() -> UInt64? { Varint.read(message, at: &position) }
}
