/// An Apple code to which Apple may add values.
///
/// An unknown value is kept as it arrived, so that it can be stored and a later version can interpret it.
package protocol OpenCode: RawRepresentable, Hashable, Sendable where RawValue: Hashable & Sendable {
  /// The values that this version has a case for. Stored facts and answers refer to a value by its position:
  /// append new values at the end and never reorder them.
  static var known: [Self] { get }

  /// A value that this version has no case for.
  static func unrecognized(_ rawValue: RawValue) -> Self
}

extension OpenCode {
  /// The value as text if this version has no case for it; otherwise empty.
  package var unknownWord: String { Self.known.contains(self) ? "" : "\(rawValue)" }

  /// Creates the code for a raw value; an unknown value becomes `unrecognized`.
  package init(rawValue: RawValue) {
    self = Self.known.first { $0.rawValue == rawValue } ?? Self.unrecognized(rawValue)
  }
}
