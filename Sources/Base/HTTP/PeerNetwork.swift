/// The network of a peer: its IP address, or of an IPv6 address the first 64 bits, because one subscriber usually has all
/// addresses of a /64 (RFC 6177).
///
/// A number instead of the text, so that a call costs no copy of a text. Different networks have the same number by
/// chance only, and no stranger can choose it, because it depends on a random number of the process.
package struct PeerNetwork: Hashable, Sendable {
  private let number: Int
  /// The number of the first 48 bits of an IPv6 address, the network of a site; `nil` for IPv4.
  private let siteNumber: Int?

  /// The network of an IP address in its usual text.
  package init(address: String) {
    let groups = Self.groups(of: address)
    number = (groups?.joined(separator: ":") ?? address).hashValue
    siteNumber = groups?.prefix(3).joined(separator: ":").hashValue
  }

  private init(number: Int) {
    self.number = number
    siteNumber = nil
  }

  /// The site of an IPv6 network, which may have 65,536 of them (RFC 6177); `nil` for IPv4.
  package var site: PeerNetwork? { siteNumber.map(PeerNetwork.init(number:)) }

  /// The first four groups of an IPv6 address, in which `::` stands for the missing ones; `nil` for IPv4.
  private static func groups(of address: String) -> [Substring]? {
    guard address.contains(":"), !address.contains(".") else { return nil }
    let halves = address.split(separator: "::", maxSplits: 1, omittingEmptySubsequences: false)
    let head = halves[0].split(separator: ":")
    guard halves.count == 2 else { return Array(head.prefix(4)) }
    let tail = halves[1].split(separator: ":")
    let zeros = Array(repeating: Substring("0"), count: max(0, 8 - head.count - tail.count))
    return Array((head + zeros + tail).prefix(4))
  }
}
