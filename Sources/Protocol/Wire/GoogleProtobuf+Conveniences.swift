internal import Bytes

extension GoogleProtobuf.Timestamp {
  /// The time that many milliseconds after 1970-01-01T00:00:00Z, as Apple counts.
  package init(millisecondsSince1970 milliseconds: Int64) {
    self.init()
    let (quotient, remainder) = milliseconds.quotientAndRemainder(dividingBy: 1000)
    seconds = remainder < 0 ? quotient - 1 : quotient
    nanos = Int32(remainder < 0 ? remainder + 1000 : remainder) * 1_000_000
  }

  /// Milliseconds since 1970-01-01T00:00:00Z, rounded down; `nil` outside of the years 1 to 9999, or with
  /// nanoseconds that are none.
  package var millisecondsSince1970: Int64? {
    guard -62_135_596_800...253_402_300_799 ~= seconds, 0..<1_000_000_000 ~= nanos else { return nil }
    return seconds * 1000 + Int64(nanos / 1_000_000)
  }
}

extension GoogleProtobuf.AnyMessage {
  /// A message with its type's name, as the details of a `GoogleRPC.Status` are.
  package init(packing message: some WireMessage) {
    self.init()
    typeUrl = "type.googleapis.com/" + Swift.type(of: message).messageType.name
    value = message.encodedBytes()
  }

  /// The full name of the message inside: what follows the last slash of the URL.
  package var typeName: String {
    typeUrl.split(separator: "/", omittingEmptySubsequences: false).last.map(String.init) ?? ""
  }

  /// The message inside, or `nil` if it is of another type.
  package func unpacked<Message: WireMessage>(as type: Message.Type) throws(WireError) -> Message? {
    typeName == Message.messageType.name ? try Message.decode(value) : nil
  }
}

extension GoogleProtobuf.Timestamp {
  /// Writes the timestamp as the field `number` of a message whose other fields are in `bytes` already:
  /// protobuf reads fields in any order.
  package func append(asField number: UInt32, to bytes: inout [UInt8]) {
    Varint.append(UInt64(number << 3 | 2), to: &bytes)
    let lengthPlace = bytes.count
    // A timestamp takes at most 22 bytes, so its length takes one.
    bytes.append(0)
    if seconds != 0 {
      bytes.append(1 << 3)
      Varint.append(UInt64(bitPattern: seconds), to: &bytes)
    }
    if nanos != 0 {
      bytes.append(2 << 3)
      Varint.append(UInt64(bitPattern: Int64(nanos)), to: &bytes)
    }
    bytes[lengthPlace] = UInt8(bytes.count - lengthPlace - 1)
  }
}
