internal import Bytes

extension GoogleProtobuf.Timestamp {
  /// The time from Apple's form: milliseconds after 1970-01-01T00:00:00Z.
  package init(millisecondsSince1970 milliseconds: Int64) {
    self.init()
    let (quotient, remainder) = milliseconds.quotientAndRemainder(dividingBy: 1000)
    seconds = remainder < 0 ? quotient - 1 : quotient
    nanos = Int32(remainder < 0 ? remainder + 1000 : remainder) * 1_000_000
  }

  /// Milliseconds since 1970-01-01T00:00:00Z, rounded down; `nil` outside the years 1 to 9999, or if the
  /// nanoseconds are invalid.
  package var millisecondsSince1970: Int64? {
    guard -62_135_596_800...253_402_300_799 ~= seconds, 0..<1_000_000_000 ~= nanos else { return nil }
    return seconds * 1000 + Int64(nanos / 1_000_000)
  }
}

extension GoogleProtobuf.AnyMessage {
  /// Packs a message with the name of its type, as in the details of a `GoogleRPC.Status`.
  package init(packing message: some WireMessage) {
    self.init()
    typeUrl = "type.googleapis.com/" + Swift.type(of: message).messageType.name
    value = message.encodedBytes()
  }

  /// The full name of the packed type: the part of the URL after the last slash.
  package var typeName: String {
    typeUrl.split(separator: "/", omittingEmptySubsequences: false).last.map(String.init) ?? ""
  }

  /// Unpacks the message; `nil` if it has another type.
  ///
  /// - Throws: ``WireError`` for malformed bytes.
  package func unpacked<Message: WireMessage>(as type: Message.Type) throws(WireError) -> Message? {
    typeName == Message.messageType.name ? try Message.decode(value) : nil
  }
}

extension GoogleProtobuf.Timestamp {
  /// Writes the timestamp as the field `number` of a message whose other fields `bytes` already contains,
  /// because protobuf accepts fields in any order.
  package func append(asField number: UInt32, to bytes: inout [UInt8]) {
    Varint.append(UInt64(number << 3 | 2), to: &bytes)
    let lengthOffset = bytes.count
    // A timestamp has at most 22 bytes, so one byte holds its length.
    bytes.append(0)
    if seconds != 0 {
      bytes.append(1 << 3)
      Varint.append(UInt64(bitPattern: seconds), to: &bytes)
    }
    if nanos != 0 {
      bytes.append(2 << 3)
      Varint.append(UInt64(bitPattern: Int64(nanos)), to: &bytes)
    }
    bytes[lengthOffset] = UInt8(bytes.count - lengthOffset - 1)
  }
}
