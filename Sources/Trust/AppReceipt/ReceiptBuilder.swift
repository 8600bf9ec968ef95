package import AppStore
internal import SwiftASN1

/// Encodes the content of a receipt, or of a purchase in one.
///
/// Validates nothing, so that tests can build receipts that must be rejected.
package struct ReceiptBuilder: Sendable {
  /// In any order: ``content`` sorts them, as DER requires.
  package private(set) var attributes: [ReceiptAttribute] = []

  package init() {}

  /// Adds an attribute with a text.
  package mutating func add(_ type: Int64, _ text: String) {
    attributes.append(ReceiptAttribute(type: type, value: AttributeValue.encode(text)))
  }

  /// Adds an attribute with a date, to the second.
  package mutating func add(_ type: Int64, _ date: Instant) {
    attributes.append(ReceiptAttribute(type: type, value: AttributeValue.encode(date)))
  }

  /// Adds an attribute with an integer.
  package mutating func add(_ type: Int64, _ integer: Int64) {
    attributes.append(ReceiptAttribute(type: type, value: AttributeValue.encode(integer)))
  }

  /// Adds an attribute with plain bytes.
  package mutating func add(_ type: Int64, bytes: [UInt8]) {
    attributes.append(ReceiptAttribute(type: type, value: bytes))
  }

  /// Adds a purchase: an attribute 17 with nested attributes.
  package mutating func add(purchase: ReceiptBuilder) {
    attributes.append(ReceiptAttribute(type: 17, value: purchase.content))
  }

  /// The attributes in DER: the signed content, or the value of an attribute 17.
  package var content: [UInt8] {
    let elements = attributes.map(Self.encoded).sorted { $0.lexicographicallyPrecedes($1) }
    var serializer = DER.Serializer()
    serializer.appendConstructedNode(identifier: .set) { members in
      for element in elements { members.serializeRawBytes(element) }
    }
    return serializer.serializedBytes
  }

  /// An attribute in DER.
  private static func encoded(_ attribute: ReceiptAttribute) -> [UInt8] {
    var serializer = DER.Serializer()
    serializer.appendConstructedNode(identifier: .sequence) { members in
      members.serializeRawBytes(AttributeValue.encode(attribute.type))
      members.serializeRawBytes(AttributeValue.encode(attribute.version))
      members.serializeRawBytes(AttributeValue.element(.octetString, attribute.value))
    }
    return serializer.serializedBytes
  }
}
