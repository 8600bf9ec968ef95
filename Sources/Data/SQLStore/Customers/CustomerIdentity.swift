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
  static func matches(_ bytes: Span<UInt8>, _ key: CustomerKey) -> Bool {
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

  /// Returns the first row id to probe. The file depends on the function, so it never changes.
  ///
  /// Collisions can be constructed, but only customers with verified evidence have rows, so a long probe
  /// sequence would need as many purchases.
  package static func hash(_ key: CustomerKey) -> Int64 {
    var hash: UInt64 = 0
    mix(key.appID, into: &hash)
    mix(key.environment.rawValue, into: &hash)
    mix(key.customerID, into: &hash)
    // 35 bits: SQLite stores such an integer in five bytes and compares it faster than a longer one.
    return Int64(hash >> 29)
  }

  /// Mixes eight bytes at a time: byte by byte, hashing would cost as much as the page lookup.
  private static func mix(_ text: String, into hash: inout UInt64) {
    let bytes = text.utf8.span.bytes
    var position = 0
    var rest = UInt64(bytes.byteCount)
    while position + 8 <= bytes.byteCount {
      add(bytes.word(at: position), to: &hash)
      position += 8
    }
    while position < bytes.byteCount {
      rest = rest << 8 | UInt64(bytes.unsafeLoad(fromByteOffset: position, as: UInt8.self))
      position += 1
    }
    add(rest, to: &hash)
  }

  /// Mixes one word into the hash.
  private static func add(_ word: UInt64, to hash: inout UInt64) {
    // The multiplier is 2^64 divided by the golden ratio. It spreads every bit to the upper bits, and the
    // shift brings those down again.
    hash = (hash ^ word) &* 0x9E37_79B9_7F4A_7C15
    hash ^= hash >> 32
  }
}

extension RawSpan {
  /// Reads eight bytes at `position`, little-endian. The caller must ensure that they exist.
  fileprivate func word(at position: Int) -> UInt64 {
    UInt64(littleEndian: unsafeLoadUnaligned(fromByteOffset: position, as: UInt64.self))
  }
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
