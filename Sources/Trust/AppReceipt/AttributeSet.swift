internal import AppStore
internal import SignedData
internal import SwiftASN1

/// One attribute of a receipt, or of a purchase in it:
/// `SEQUENCE { type INTEGER, version INTEGER, value OCTET STRING }`.
package struct ReceiptAttribute: Hashable, Sendable {
  /// The meaning; ``AppReceiptPayload`` and ``InAppPurchase`` list the known types.
  package let type: Int64
  /// Apple's version of the attribute type.
  package let version: Int64
  /// Encoded ASN.1 for most types, plain bytes for some.
  package let value: [UInt8]

  package init(type: Int64, version: Int64 = 1, value: [UInt8]) {
    self.type = type
    self.version = version
    self.value = value
  }
}

extension ReceiptAttribute {
  /// Whether Apple does not document the type, and the value has another form than in the receipts that were seen. Such
  /// an attribute counts as unknown: Apple may change it at any time, and no rule requires it.
  var hasUnknownForm: Bool {
    switch type {
    case 1, 15, 16, 1707: AttributeValue.integer(value) == nil
    case 1721: AttributeValue.text(value) == nil
    default: false
    }
  }
}

extension ReceiptAttribute: BERParseable {
  init(berEncoded node: ASN1Node) throws {
    self = try BER.sequence(node, identifier: .sequence) { members in
      ReceiptAttribute(
        type: try Int64(berEncoded: &members), version: try Int64(berEncoded: &members),
        value: Array(try ASN1OctetString(berEncoded: &members).bytes))
    }
  }

  init(derEncoded node: ASN1Node) throws { try self.init(berEncoded: node) }
}

/// The attributes of a receipt or of one purchase: `SET OF ReceiptAttribute`, in order.
struct AttributeSet {
  let attributes: [ReceiptAttribute]

  /// An attribute or purchase is a few elements, so this suffices for the maximum number of purchases.
  private static let maximumElements = 200_000
  /// Some receipts have one superfluous OCTET STRING around them.
  private static let maximumWrappings = 3

  /// Decodes DER or BER.
  init(parsing bytes: [UInt8]) throws(AppReceiptError) {
    try Self.checkCount(bytes)
    do {
      var node = try BER.parse(bytes)
      for _ in 0..<Self.maximumWrappings where node.identifier == .octetString {
        let content = Array(try ASN1OctetString(berEncoded: node).bytes)
        try Self.checkCount(content)
        node = try BER.parse(content)
      }
      attributes = try BER.set(of: ReceiptAttribute.self, identifier: .set, rootNode: node)
    } catch let error as AppReceiptError {
      throw error
    } catch let error as ASN1Error {
      throw .notAttributes("\(error.code)")
    } catch {
      throw .notAttributes("malformed")
    }
  }

  private static func checkCount(_ bytes: [UInt8]) throws(AppReceiptError) {
    guard !ASN1ElementCounter.exceeds(maximumElements, in: bytes) else {
      throw .tooMany("elements", limit: maximumElements)
    }
  }

  /// Returns the values of all attributes of a type.
  func values(_ type: Int64) -> [[UInt8]] { attributes.lazy.filter { $0.type == type }.map(\.value) }

  /// Returns the encoded value of the first attribute of a type.
  func bytes(_ type: Int64) -> [UInt8]? {
    attributes.first { $0.type == type && !$0.hasUnknownForm }?.value
  }

  /// Returns a text; `nil` also for an empty one, which is how Apple encodes a missing value.
  func text(_ type: Int64) throws(AppReceiptError) -> String? {
    guard let bytes = bytes(type) else { return nil }
    guard let text = AttributeValue.text(bytes) else {
      throw .wrongValue(attribute: type, expected: "a text")
    }
    return text.isEmpty ? nil : text
  }

  /// Returns a date; `nil` also for an empty text.
  func date(_ type: Int64) throws(AppReceiptError) -> Instant? {
    guard let text = try text(type) else { return nil }
    guard let date = Instant(receiptDate: text) else {
      throw .wrongValue(attribute: type, expected: "a date")
    }
    return date
  }

  func integer(_ type: Int64) throws(AppReceiptError) -> Int64? {
    guard let bytes = bytes(type) else { return nil }
    guard let integer = AttributeValue.integer(bytes) else {
      throw .wrongValue(attribute: type, expected: "an integer")
    }
    return integer
  }

  /// Returns a Boolean: an integer that is 0 or 1.
  func flag(_ type: Int64) throws(AppReceiptError) -> Bool? {
    switch try integer(type) {
    case nil: return nil
    case 0: return false
    case 1: return true
    case .some: throw .wrongValue(attribute: type, expected: "0 or 1")
    }
  }
}

/// Decodes and encodes attribute values: single ASN.1 values.
enum AttributeValue {
  /// Decodes a UTF8String, IA5String or PrintableString without trailing bytes; otherwise `nil`.
  static func text(_ bytes: [UInt8]) -> String? {
    guard let node = try? BER.parse(bytes), case .primitive(let content) = node.content,
      [.utf8String, .ia5String, .printableString].contains(node.identifier)
    else { return nil }
    return String(validating: content, as: UTF8.self)
  }

  /// Decodes an INTEGER of at most 64 bits.
  static func integer(_ bytes: [UInt8]) -> Int64? {
    (try? BER.parse(bytes)).flatMap { try? Int64(berEncoded: $0) }
  }

  static func encode(_ text: String) -> [UInt8] { element(.utf8String, Array(text.utf8)) }

  /// Encodes a date as Apple does: RFC 3339 to the second.
  static func encode(_ date: Instant) -> [UInt8] {
    let text = date.description
    return element(.ia5String, Array("\(text.dropLast(5))Z".utf8))
  }

  static func encode(_ integer: Int64) -> [UInt8] {
    // Two's complement without redundant sign bytes.
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
  /// Decodes a receipt date: RFC 3339, or with an offset without colon such as `+0100`.
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
