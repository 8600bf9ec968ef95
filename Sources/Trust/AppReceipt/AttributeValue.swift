internal import AppStore
internal import SwiftASN1

/// What attributes hold: single ASN.1 values, read and written.
enum AttributeValue {
  /// Reads a UTF8String, IA5String or PrintableString. `nil` for anything else, or anything after it.
  static func text(_ bytes: [UInt8]) -> String? {
    guard let node = try? BER.parse(bytes), case .primitive(let content) = node.content,
      [.utf8String, .ia5String, .printableString].contains(node.identifier)
    else { return nil }
    return String(validating: content, as: UTF8.self)
  }

  /// Reads an INTEGER of at most 64 bits.
  static func integer(_ bytes: [UInt8]) -> Int64? {
    (try? BER.parse(bytes)).flatMap { try? Int64(berEncoded: $0) }
  }

  static func encode(_ text: String) -> [UInt8] { element(.utf8String, Array(text.utf8)) }

  /// Dates are written as Apple does: RFC 3339 to the second.
  static func encode(_ date: Instant) -> [UInt8] {
    let text = date.description
    return element(.ia5String, Array("\(text.dropLast(5))Z".utf8))
  }

  static func encode(_ integer: Int64) -> [UInt8] {
    // Two's complement without the leading bytes that only repeat the sign.
    var bytes = (0..<8).reversed().map { UInt8(truncatingIfNeeded: integer >> Int64($0 * 8)) }[...]
    while bytes.count > 1, let next = bytes.dropFirst().first,
      (bytes.first == 0 && next < 0x80) || (bytes.first == 0xFF && next >= 0x80)
    { bytes.removeFirst() }
    return element(.integer, Array(bytes))
  }

  static func element(_ identifier: ASN1Identifier, _ content: [UInt8]) -> [UInt8] {
    var serializer = DER.Serializer()
    serializer.appendPrimitiveNode(identifier: identifier) { $0 += content }
    return serializer.serializedBytes
  }
}

extension Instant {
  /// Reads a date of a receipt: RFC 3339, or with an offset that lacks its colon, such as `+0100`.
  init?(receiptDate text: String) {
    if let date = Instant(rfc3339: text) {
      self = date
      return
    }
    let sign = text.utf8.dropLast(4).last
    guard sign == UInt8(ascii: "+") || sign == UInt8(ascii: "-") else { return nil }
    self.init(rfc3339: "\(text.dropLast(2)):\(text.suffix(2))")
  }
}
