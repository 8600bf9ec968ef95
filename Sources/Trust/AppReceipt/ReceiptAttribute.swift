internal import SwiftASN1

/// One attribute of a receipt, or of a purchase in it:
/// `SEQUENCE { type INTEGER, version INTEGER, value OCTET STRING }`.
package struct ReceiptAttribute: Hashable, Sendable {
  /// What it is about; see ``AppReceiptPayload`` and ``InAppPurchase`` for the numbers that are known.
  package let type: Int64
  package let version: Int64
  /// ASN.1 again for most types, just bytes for some.
  package let value: [UInt8]

  package init(type: Int64, version: Int64 = 1, value: [UInt8]) {
    self.type = type
    self.version = version
    self.value = value
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
