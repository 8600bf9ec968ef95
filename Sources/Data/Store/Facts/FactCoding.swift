package import Entitlements

/// Facts as bytes, for stores that keep them so: small, quick to read, and with a version.
///
/// A later version of the program must go on reading every version that was ever written.
package enum FactCoding {
  /// The first byte of everything that is encoded.
  private static let version: UInt8 = 2
  /// The first version that there was; what it says is still read.
  private static let oldestVersion: UInt8 = 1

  /// The bytes of all that is known of a customer.
  package static func encode(_ facts: CustomerFacts) -> [UInt8] {
    var encoder = FactEncoder()
    encoder.append(byte: version)
    encoder.append(facts)
    return encoder.bytes
  }

  /// The bytes of one transaction.
  package static func encode(_ fact: TransactionFact) -> [UInt8] {
    var encoder = FactEncoder()
    encoder.append(byte: version)
    encoder.append(fact, after: nil)
    return encoder.bytes
  }

  /// The bytes of one renewal info.
  package static func encode(_ fact: RenewalFact) -> [UInt8] {
    var encoder = FactEncoder()
    encoder.append(byte: version)
    encoder.append(fact)
    return encoder.bytes
  }

  /// The bytes of one grant.
  package static func encode(_ fact: GrantFact) -> [UInt8] {
    var encoder = FactEncoder()
    encoder.append(byte: version)
    encoder.append(fact)
    return encoder.bytes
  }

  /// The bytes of one app transaction.
  package static func encode(_ fact: AppTransactionFact) -> [UInt8] {
    var encoder = FactEncoder()
    encoder.append(byte: version)
    encoder.append(fact)
    return encoder.bytes
  }

  /// All that is known of a customer, from its bytes.
  ///
  /// - Throws: ``StoreError/corrupt(_:)`` if they are not such bytes, or of a version to come.
  package static func customerFacts(_ bytes: [UInt8]) throws(StoreError) -> CustomerFacts {
    var decoder = try decoder(bytes)
    let facts = try decoder.customerFacts(version: bytes[0])
    guard decoder.isAtEnd else { throw .corrupt("there is more behind a customer's facts") }
    return facts
  }

  /// One transaction, from its bytes; throws as ``customerFacts(_:)`` does.
  package static func transaction(_ bytes: [UInt8]) throws(StoreError) -> TransactionFact {
    var decoder = try decoder(bytes)
    return try decoder.transaction()
  }

  /// One renewal info, from its bytes; throws as ``customerFacts(_:)`` does.
  package static func renewal(_ bytes: [UInt8]) throws(StoreError) -> RenewalFact {
    var decoder = try decoder(bytes)
    return try decoder.renewal()
  }

  /// One grant, from its bytes; throws as ``customerFacts(_:)`` does.
  package static func grant(_ bytes: [UInt8]) throws(StoreError) -> GrantFact {
    var decoder = try decoder(bytes)
    return try decoder.grant()
  }

  /// One app transaction, from its bytes; throws as ``customerFacts(_:)`` does.
  package static func appTransaction(_ bytes: [UInt8]) throws(StoreError) -> AppTransactionFact {
    var decoder = try decoder(bytes)
    return try decoder.appTransaction()
  }

  private static func decoder(_ bytes: [UInt8]) throws(StoreError) -> FactDecoder {
    var decoder = FactDecoder(bytes)
    let found = try decoder.byte()
    guard (oldestVersion...version).contains(found) else {
      throw .corrupt("facts of version \(found), and \(version) is known")
    }
    return decoder
  }
}
