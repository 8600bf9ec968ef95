/// How much of a JSON text is read before it is refused; the text may come from anyone.
package struct JSONLimits: Hashable, Sendable {
  /// The deepest nesting of arrays and objects; a scalar is at depth 0.
  package var maximumDepth: Int
  /// The longest text, in bytes.
  package var maximumBytes: Int

  /// Limits of one's own.
  package init(maximumDepth: Int = 64, maximumBytes: Int = 8 << 20) {
    self.maximumDepth = maximumDepth
    self.maximumBytes = maximumBytes
  }

  /// 64 levels, 8 MiB: far above every document of the App Store, far below what hurts.
  package static let standard = JSONLimits()
}
