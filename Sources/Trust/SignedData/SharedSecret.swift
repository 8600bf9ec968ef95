/// The secret that an operator shares with Apple: what notifications of version 1 are known by.
package struct SharedSecret: Sendable {
  private let bytes: [UInt8]

  /// A secret; never empty.
  package init?(_ text: String) {
    guard !text.isEmpty else { return nil }
    bytes = Array(text.utf8)
  }

  /// Whether `text` is the secret. Takes as long for every text of the same length, so that nobody learns from
  /// the time how much of a guess was right.
  package func isSame(as text: String) -> Bool {
    let other = Array(text.utf8)
    var difference = UInt8(other.count == bytes.count ? 0 : 1)
    for index in other.indices { difference |= other[index] ^ bytes[index % bytes.count] }
    return difference == 0
  }
}
