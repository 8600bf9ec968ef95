internal import Bytes

/// The network of a peer: its IP address, or of an IPv6 address the first 64 bits, because one subscriber usually has all
/// addresses of a /64 (RFC 6177).
///
/// A number instead of the text, so that a call costs no copy of a text. Different networks have the same number by
/// chance only, and no stranger can choose it, because it depends on a random number of the process.
package struct PeerNetwork: Hashable, Sendable {
  private let number: Int
  /// The number of the first 48 bits of an IPv6 address, the network of a site; `nil` for IPv4.
  private let siteNumber: Int?

  /// The network of an IP address. Text that is not an IP address, such as the name of a person, is its own network.
  package init(address: String) {
    // The first 64 bits are zero for special addresses only: the loopback address, and those that stand for IPv4.
    guard let prefix = Self.prefix(of: address), prefix != 0 else {
      self.init(number: OpaqueID(address).hashValue)
      return
    }
    self.init(number: [64, prefix].hashValue, siteNumber: [48, prefix >> 16].hashValue)
  }

  private init(number: Int, siteNumber: Int? = nil) {
    self.number = number
    self.siteNumber = siteNumber
  }

  /// The site of an IPv6 network, which may have 65,536 of them (RFC 6177); `nil` for IPv4.
  package var site: PeerNetwork? { siteNumber.map { PeerNetwork(number: $0) } }

  /// The first 64 bits of an IPv6 address, in which `::` stands for the missing groups; `nil` for any other text, also for
  /// an IPv4 address within one of IPv6.
  private static func prefix(of address: String) -> UInt64? {
    guard address.utf8.contains(UInt8(ascii: ":")) else { return nil }
    let halves = address.split(separator: "::", maxSplits: 1, omittingEmptySubsequences: false).map(groups)
    let missing = 8 - halves.joined().count
    guard halves.count == 2 ? missing > 0 : missing == 0 else { return nil }
    let all = halves[0] + Array(repeating: 0, count: missing) + halves.dropFirst().joined()
    let known = all.compactMap(\.self)
    return known.count == all.count ? known.prefix(4).reduce(0) { $0 << 16 | $1 } : nil
  }

  /// The groups of hexadecimal digits of a part of an address; `nil` for a malformed group.
  private static func groups(_ part: Substring) -> [UInt64?] {
    guard !part.isEmpty else { return [] }
    return part.split(separator: ":", omittingEmptySubsequences: false).map { group in
      group.utf8.count <= 4 && group.allSatisfy(\.isHexDigit) ? UInt64(group, radix: 16) : nil
    }
  }
}
