package import Entitlements

/// The compact, versioned binary format of facts; see ``FactDecoder``. Persisted, so a released version never
/// changes.
package enum FactCoding {
  /// The first byte of all encoded facts.
  private static let version: UInt8 = 1

  /// Encodes all facts of a customer.
  package static func encode(_ facts: CustomerFacts) -> [UInt8] {
    encoded { encoder in
      encoder.append(facts)
      if let omitted = facts.omitted { encoder.append(omitted) }
    }
  }

  /// Encodes a transaction.
  package static func encode(_ fact: TransactionFact) -> [UInt8] { encoded { $0.append(fact, after: nil) } }

  /// Encodes the renewal infos of a line.
  package static func encode(_ history: RenewalHistory) -> [UInt8] { encoded { $0.append(history) } }

  /// Encodes a grant.
  package static func encode(_ fact: GrantFact) -> [UInt8] { encoded { $0.append(fact) } }

  /// Encodes an app transaction.
  package static func encode(_ fact: AppTransactionFact) -> [UInt8] { encoded { $0.append(fact) } }

  /// Decodes all facts of a customer.
  ///
  /// - Throws: ``StoreError/corrupt(_:)`` if the bytes are malformed or of another version.
  package static func customerFacts(_ bytes: [UInt8]) throws(StoreError) -> CustomerFacts {
    var decoder = try decoder(bytes)
    var facts = try decoder.customerFacts()
    if !decoder.isAtEnd { facts.omitted = try decoder.omittedAccess() }
    guard decoder.isAtEnd else { throw .corrupt("bytes after the facts of a customer") }
    return facts
  }

  /// Decodes a transaction; throws as ``customerFacts(_:)`` does.
  package static func transaction(_ bytes: [UInt8]) throws(StoreError) -> TransactionFact {
    var decoder = try decoder(bytes)
    return try decoder.transaction()
  }

  /// Decodes the renewal infos of a line; throws as ``customerFacts(_:)`` does.
  package static func renewals(_ bytes: [UInt8]) throws(StoreError) -> RenewalHistory {
    var decoder = try decoder(bytes)
    return try decoder.renewalHistory()
  }

  /// Decodes a grant; throws as ``customerFacts(_:)`` does.
  package static func grant(_ bytes: [UInt8]) throws(StoreError) -> GrantFact {
    var decoder = try decoder(bytes)
    return try decoder.grant()
  }

  /// Decodes an app transaction; throws as ``customerFacts(_:)`` does.
  package static func appTransaction(_ bytes: [UInt8]) throws(StoreError) -> AppTransactionFact {
    var decoder = try decoder(bytes)
    return try decoder.appTransaction()
  }

  private static func encoded(_ append: (inout FactEncoder) -> Void) -> [UInt8] {
    var encoder = FactEncoder()
    encoder.append(byte: version)
    append(&encoder)
    return encoder.bytes
  }

  private static func decoder(_ bytes: [UInt8]) throws(StoreError) -> FactDecoder {
    var decoder = FactDecoder(bytes)
    try checkVersion(&decoder)
    return decoder
  }

  private static func checkVersion(_ decoder: inout FactDecoder) throws(StoreError) {
    let found = try decoder.byte()
    guard found == version else { throw .corrupt("unknown format version \(found) of facts") }
  }
}

extension FactCoding {
  /// Decodes the transactions of one line that were encoded one by one. They share their equal long texts, which
  /// takes less time and memory, and makes later comparisons of them fast.
  package struct LineDecoder: ~Copyable {
    private var decoder = FactDecoder([])

    package init() {}

    /// Decodes the next transaction; throws as ``FactCoding/customerFacts(_:)`` does.
    package mutating func transaction(_ bytes: [UInt8]) throws(StoreError) -> TransactionFact {
      decoder.read(bytes)
      try FactCoding.checkVersion(&decoder)
      return try decoder.transaction()
    }
  }
}
