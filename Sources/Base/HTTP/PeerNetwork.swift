/// The network of a peer: its IP address, or of an IPv6 address the first 64 bits, because one subscriber usually has all
/// addresses of a /64 (RFC 6177).
///
/// A number instead of the text, so that a call costs no copy of a text. Different networks have the same number by
/// chance only, and no stranger can choose it, because it depends on a random number of the process.
package struct PeerNetwork: Hashable, Sendable {
  private let number: Int

  /// The network of an IP address in its usual text.
  package init(address: String) { number = Self.prefix(of: address).hashValue }

  private static func prefix(of address: String) -> String {
    guard address.contains(":"), !address.contains(".") else { return address }
    // The first four groups of the address; `::` stands for the missing ones.
    let halves = address.split(separator: "::", maxSplits: 1, omittingEmptySubsequences: false)
    let head = halves[0].split(separator: ":")
    guard halves.count == 2 else { return head.prefix(4).joined(separator: ":") }
    let tail = halves[1].split(separator: ":")
    let zeros = Array(repeating: Substring("0"), count: max(0, 8 - head.count - tail.count))
    return (head + zeros + tail).prefix(4).joined(separator: ":")
  }
}
