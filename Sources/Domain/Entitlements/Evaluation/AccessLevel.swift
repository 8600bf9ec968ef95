/// How much an entitlement gives: the operator's catalog says which it is for each product.
package enum AccessLevel: Int, Hashable, Sendable, Comparable, CaseIterable {
  /// Nothing.
  case none = 0
  /// What the operator calls limited, such as reading without editing.
  case limited = 1
  /// Everything.
  case full = 2

  package static func < (left: AccessLevel, right: AccessLevel) -> Bool { left.rawValue < right.rawValue }
}
