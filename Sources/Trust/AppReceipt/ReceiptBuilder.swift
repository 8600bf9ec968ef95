package import AppStore
internal import SwiftASN1

/// Writes what goes into a receipt, or into a purchase in one, before it is signed.
///
/// It writes what it is told, so that receipts can also be made that must be refused.
package struct ReceiptBuilder: Sendable {
  /// In any order: ``content`` sorts them, as DER asks for.
  package private(set) var attributes: [ReceiptAttribute] = []

  /// A builder without attributes.
  package init() {}

  /// Adds an attribute that holds a text.
  package mutating func add(_ type: Int64, _ text: String) {
    attributes.append(ReceiptAttribute(type: type, value: AttributeValue.encode(text)))
  }

  /// Adds an attribute that holds a date, written to the second.
  package mutating func add(_ type: Int64, _ date: Instant) {
    attributes.append(ReceiptAttribute(type: type, value: AttributeValue.encode(date)))
  }

  /// Adds an attribute that holds an integer.
  package mutating func add(_ type: Int64, _ integer: Int64) {
    attributes.append(ReceiptAttribute(type: type, value: AttributeValue.encode(integer)))
  }

  /// Adds an attribute that holds just bytes.
  package mutating func add(_ type: Int64, bytes: [UInt8]) {
    attributes.append(ReceiptAttribute(type: type, value: bytes))
  }

  /// Adds a purchase: an attribute 17 with attributes of its own.
  package mutating func add(purchase: ReceiptBuilder) {
    attributes.append(ReceiptAttribute(type: 17, value: purchase.content))
  }

  /// The attributes in DER: what is signed, or the value of an attribute 17.
  package var content: [UInt8] {
    let elements = attributes.map(Self.encoded).sorted { $0.lexicographicallyPrecedes($1) }
    var serializer = DER.Serializer()
    serializer.appendConstructedNode(identifier: .set) { members in
      for element in elements { members.serializeRawBytes(element) }
    }
    return serializer.serializedBytes
  }

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
