internal import AppStore
internal import SignedData
internal import SwiftASN1

/// The attributes of a receipt or of one purchase: `SET OF ReceiptAttribute`, in the order in which they came.
struct AttributeSet {
  let attributes: [ReceiptAttribute]

  /// A receipt's own attributes and purchases are a few elements each, so this is enough for the most
  /// purchases that are allowed, with room.
  private static let maximumElements = 200_000
  /// Receipts were seen inside one OCTET STRING more than they need.
  private static let maximumWrappings = 3

  /// Reads DER or BER.
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
      throw .notAttributes("it cannot be read")
    }
  }

  private static func checkCount(_ bytes: [UInt8]) throws(AppReceiptError) {
    guard !ASN1ElementCounter.exceeds(maximumElements, in: bytes) else {
      throw .tooMany("elements", limit: maximumElements)
    }
  }

  /// The values of all attributes of a type.
  func values(_ type: Int64) -> [[UInt8]] { attributes.lazy.filter { $0.type == type }.map(\.value) }

  /// The value of the first attribute of a type, as it is.
  func bytes(_ type: Int64) -> [UInt8]? { attributes.first { $0.type == type }?.value }

  /// A text; `nil` also for an empty one, which is how Apple writes that there is none.
  func text(_ type: Int64) throws(AppReceiptError) -> String? {
    guard let bytes = bytes(type) else { return nil }
    guard let text = AttributeValue.text(bytes) else {
      throw .wrongValue(attribute: type, expected: "a text")
    }
    return text.isEmpty ? nil : text
  }

  /// A moment; `nil` also for an empty text.
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

  /// A truth value: an integer that is 0 or 1.
  func flag(_ type: Int64) throws(AppReceiptError) -> Bool? {
    switch try integer(type) {
    case nil: return nil
    case 0: return false
    case 1: return true
    case .some: throw .wrongValue(attribute: type, expected: "0 or 1")
    }
  }
}
