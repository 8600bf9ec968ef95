/// One of Apple's codes, of which there may be more tomorrow.
///
/// A value that this version does not know is kept as it came, so that nothing is lost by storing it
/// and a later version can read it.
package protocol OpenCode: RawRepresentable, Hashable, Sendable where RawValue: Hashable & Sendable {
  /// Every value that this version has a name for.
  static var known: [Self] { get }

  /// A value that this version has no name for.
  static func unrecognized(_ rawValue: RawValue) -> Self
}

extension OpenCode {
  /// The code for what Apple sent. Never fails: an unknown value becomes `unrecognized`.
  package init(rawValue: RawValue) {
    self = Self.known.first { $0.rawValue == rawValue } ?? Self.unrecognized(rawValue)
  }
}
