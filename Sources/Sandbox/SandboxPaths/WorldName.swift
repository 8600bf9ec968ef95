/// The name of a world: 1 to 64 letters, digits, `-`, `_` and `.`, not beginning with a dot.
package struct WorldName: Hashable, Sendable, Comparable, CustomStringConvertible {
  /// The name as it is in paths and on the command line.
  package let text: String

  private static let maxLength = 64

  /// `nil` if the text is no name. A dot at the beginning is refused, so that no name is a path segment such as `..`.
  package init?(_ text: some StringProtocol) {
    guard (1...Self.maxLength).contains(text.utf8.count), !text.hasPrefix("."),
      text.utf8.allSatisfy(Self.isAllowed)
    else { return nil }
    self.text = String(text)
  }

  /// Whether the character needs no escape in a path.
  private static func isAllowed(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
      UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "_"), UInt8(ascii: "."):
      true
    default: false
    }
  }

  package static func < (left: WorldName, right: WorldName) -> Bool { left.text < right.text }

  package var description: String { text }
}

/// The world that a path names, and the path within the world. Listener and pages use it, so that each path of a world
/// is `/w/NAME` and the path that exists at `/`.
package struct WorldPath: Hashable, Sendable {
  /// `nil` is the world at `/`.
  package let world: WorldName?
  /// Begins with a slash.
  package let rest: String

  private static let prefix = "/w/"

  /// Splits `/w/NAME/…`; `nil` if NAME is no name of a world.
  package init?(_ path: String) {
    guard path.hasPrefix(Self.prefix) else {
      (world, rest) = (nil, path)
      return
    }
    let part = path.dropFirst(Self.prefix.count)
    let name = part.prefix { $0 != "/" }
    guard let world = WorldName(name) else { return nil }
    self.world = world
    rest = name.count == part.count ? "/" : String(part.dropFirst(name.count))
  }

  /// The path at which a world begins; empty for the world at `/`.
  package static func base(of world: WorldName?) -> String { world.map { prefix + $0.text } ?? "" }
}
