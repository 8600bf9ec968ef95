internal import Bytes
internal import CEntitledProto

/// Validates the wire form before protobuf-c unpacks it. protobuf-c accepts strings that are not UTF-8,
/// truncates strings at a NUL, and does not limit nesting.
struct WireValidator {
  private let bytes: UnsafeRawBufferPointer
  private let descriptor: UnsafePointer<ProtobufCMessageDescriptor>
  private let depth: Int
  private let limitsText: Bool
  private var offset = 0

  /// Validates `bytes` as a message of that type; as a request with ``TextLimits`` if `limitsText`.
  static func check(
    _ bytes: UnsafeRawBufferPointer, _ descriptor: UnsafePointer<ProtobufCMessageDescriptor>,
    limitsText: Bool
  ) throws(WireError) {
    var validator = WireValidator(bytes: bytes, descriptor: descriptor, depth: 1, limitsText: limitsText)
    try validator.run()
  }

  private init(
    bytes: UnsafeRawBufferPointer, descriptor: UnsafePointer<ProtobufCMessageDescriptor>, depth: Int,
    limitsText: Bool
  ) {
    self.bytes = bytes
    self.descriptor = descriptor
    self.depth = depth
    self.limitsText = limitsText
  }

  /// Names the message type that is being read, because the caller cannot see where in the bytes an inner one begins.
  private var malformed: WireError { .malformed(message: String(cString: descriptor.pointee.name)) }

  /// Reads all fields of the message by their wire types (protobuf's *Encoding*). Groups (3 and 4) are malformed here:
  /// the contract has none, and protobuf-c does not read them.
  private mutating func run() throws(WireError) {
    while offset < bytes.count {
      let key = try varint()
      switch key & 7 {
      case 0: _ = try varint()
      case 1: try skip(8)
      case 2: try lengthDelimited(number: key >> 3)
      case 5: try skip(4)
      default: throw malformed
      }
    }
  }

  /// Checks a field with a length: a text or message in full, others only that they end within the bytes. A number that
  /// the type does not have is skipped, as protobuf requires of unknown fields.
  private mutating func lengthDelimited(number: UInt64) throws(WireError) {
    let length = try varint()
    guard length <= UInt64(bytes.count - offset) else { throw malformed }
    let content = UnsafeRawBufferPointer(rebasing: bytes[offset..<offset + Int(length)])
    offset += Int(length)
    guard number <= UInt64(UInt32.max),
      let field = protobuf_c_message_descriptor_get_field(descriptor, UInt32(number))
    else { return }
    switch field.pointee.type {
    case PROTOBUF_C_TYPE_STRING: try checkText(content, field)
    case PROTOBUF_C_TYPE_MESSAGE: try checkMessage(content, field)
    default: break
    }
  }

  /// Checks the length, UTF-8 and NUL of a text. Only requests have limits.
  private func checkText(
    _ content: UnsafeRawBufferPointer, _ field: UnsafePointer<ProtobufCFieldDescriptor>
  ) throws(WireError) {
    guard let start = content.baseAddress, !content.isEmpty else { return }
    if limitsText, content.count > TextLimits.lowest { try checkLength(content.count, field) }
    switch entitled_text_check(start, content.count) {
    case ENTITLED_TEXT_SOUND: return
    case ENTITLED_TEXT_NUL: throw .embeddedNUL(field: String(cString: field.pointee.name))
    default: throw .invalidUTF8(field: String(cString: field.pointee.name))
    }
  }

  /// Applies ``TextLimits`` to texts of the service's packages; those of other packages have none.
  private func checkLength(
    _ size: Int, _ field: UnsafePointer<ProtobufCFieldDescriptor>
  ) throws(WireError) {
    guard TextLimits.packages.contains(String(cString: descriptor.pointee.package_name)) else { return }
    let name = String(cString: field.pointee.name)
    let limit = TextLimits.limit(of: name)
    guard size <= limit else { throw .textTooLong(field: name, size: size, limit: limit) }
  }

  /// Validates an inner message at a greater depth; its errors name the field.
  private func checkMessage(
    _ content: UnsafeRawBufferPointer, _ field: UnsafePointer<ProtobufCFieldDescriptor>
  ) throws(WireError) {
    guard depth < WireLimits.depth else { throw .tooDeep(limit: WireLimits.depth) }
    let inner = field.pointee.descriptor.assumingMemoryBound(to: ProtobufCMessageDescriptor.self)
    var validator = WireValidator(
      bytes: content, descriptor: inner, depth: depth + 1, limitsText: limitsText)
    do throws(WireError) {
      try validator.run()
    } catch {
      throw error.inside(String(cString: field.pointee.name))
    }
  }

  private mutating func skip(_ count: Int) throws(WireError) {
    guard count <= bytes.count - offset else { throw malformed }
    offset += count
  }

  @inline(__always)
  private mutating func varint() throws(WireError) -> UInt64 {
    guard let value = Varint.read(bytes, at: &offset) else { throw malformed }
    return value
  }
}
