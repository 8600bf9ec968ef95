internal import AppStore
package import Store

/// The identity of a `customer` row: app, environment and customer id as UTF-8, separated by a byte that is
/// not valid in UTF-8.
package enum CustomerIdentity {
  /// Computes the first row id to probe for a customer.
  package typealias Hash = @Sendable (CustomerKey) -> Int64

  /// No byte of valid UTF-8, so identities of different customers never collide.
  private static let separator: UInt8 = 0xFF

  /// Returns the stored identity. Persisted.
  static func encode(_ key: CustomerKey) -> [UInt8] {
    Array(key.appID.utf8) + [separator] + Array(key.environment.rawValue.utf8) + [separator]
      + Array(key.customerID.utf8)
  }

  /// Returns the bytes that the identities of an environment's customers have in common, and no others.
  static func marker(of environment: Environment) -> [UInt8] {
    [separator] + Array(environment.rawValue.utf8) + [separator]
  }

  /// Whether `bytes` are the identity of `key`.
  package static func matches(_ bytes: Span<UInt8>, _ key: CustomerKey) -> Bool {
    let environment = key.environment.rawValue
    let environmentStart = key.appID.utf8.count + 1
    let customerStart = environmentStart + environment.utf8.count + 1
    guard bytes.count == customerStart + key.customerID.utf8.count else { return false }
    // The customer id differs most often, so it is compared first.
    return bytes.has(key.customerID, at: customerStart)
      && bytes.has(environment, at: environmentStart) && bytes[customerStart - 1] == separator
      && bytes.has(key.appID, at: 0) && bytes[environmentStart - 1] == separator
  }

  /// Returns the customer that an identity names; `nil` if it is malformed, as in an erased row.
  static func decode(_ bytes: [UInt8]) -> CustomerKey? {
    let parts = bytes.split(separator: separator, omittingEmptySubsequences: false)
    guard parts.count == 3, let environment = Environment(rawValue: String(decoding: parts[1], as: UTF8.self))
    else { return nil }
    return CustomerKey(
      appID: String(decoding: parts[0], as: UTF8.self), environment: environment,
      customerID: String(decoding: parts[2], as: UTF8.self))
  }

  /// Returns the first row id to probe. The store depends on the function, so it never changes.
  package static func hash(_ key: CustomerKey) -> Int64 { key.storedHash }
}

extension Span<UInt8> {
  /// Whether the bytes at `start` equal `text`. The caller must ensure that there are enough bytes.
  fileprivate func has(_ text: String, at start: Int) -> Bool {
    let wanted = text.utf8.span
    let found = extracting(start..<(start + wanted.count))
    var position = 0
    while position + 8 <= wanted.count {
      guard found.bytes.word(at: position) == wanted.bytes.word(at: position) else { return false }
      position += 8
    }
    while position < wanted.count {
      guard found[position] == wanted[position] else { return false }
      position += 1
    }
    return true
  }
}
