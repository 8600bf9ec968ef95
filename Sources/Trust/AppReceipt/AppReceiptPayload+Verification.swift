internal import AppStore
package import SignedData

extension AppReceiptPayload: SignedReceipt {
  package init(signedContent: [UInt8]) throws(VerificationError) {
    do { try self.init(parsing: signedContent) } catch { throw VerificationError(error) }
  }

  /// A receipt that does not say where it belongs counts for the sandbox: Production must be claimed.
  package var origin: SignedPayloadOrigin {
    guard let receiptType else { return .known(.sandbox) }
    return receiptType.environment.map { .known($0) } ?? .unknown(receiptType.rawValue)
  }
}

extension AppReceiptPayload {
  /// Whether the receipt was made for a device, by the bytes of the identifier that the device goes by:
  /// the 16 of `identifierForVendor`, or on a Mac the six of its network address.
  ///
  /// False too if the receipt does not say. The hash is SHA-1 over the identifier, the opaque value, and
  /// attribute 2's value with its ASN.1 header.
  package func isFor(device identifier: [UInt8]) throws(CryptographyError) -> Bool {
    guard let opaqueValue, let deviceHash, let bundleIDValue else { return false }
    return try SHA1.hash(identifier + opaqueValue + bundleIDValue) == deviceHash
  }
}
