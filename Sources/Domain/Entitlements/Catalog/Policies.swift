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

/// What a purchase that a family member shares gives of an entitlement.
package enum FamilySharingPolicy: String, Hashable, Sendable, CaseIterable {
  /// As much as an own purchase.
  case allow
  /// Limited access at most.
  case limited
  /// Nothing.
  case deny

  /// What is left of `level` for who did not buy it.
  func applied(to level: AccessLevel) -> AccessLevel {
    switch self {
    case .allow: level
    case .limited: min(level, .limited)
    case .deny: .none
    }
  }
}

/// What happens when a purchase belongs to somebody else already.
package enum OwnershipPolicy: String, Hashable, Sendable, CaseIterable {
  /// It stays where it is; whoever asked is refused.
  case keep
  /// It moves.
  case transfer
  /// Both have it.
  case share
}

/// What the operator lets customers have while the App Store retries a payment that failed, on top of Apple's
/// own grace period (WWDC18-705).
package struct OperatorGrace: Hashable, Sendable {
  /// Days from the end of the paid period on; at least 1.
  package let days: Int64
  /// How much of the entitlements goes on.
  package let access: AccessLevel

  /// So many days of so much.
  package init(days: Int64, access: AccessLevel) {
    self.days = days
    self.access = access
  }
}

/// An app that became free: who got it before some version paid for it, and keeps what they paid for
/// (WWDC18-704).
package struct BoughtBeforeVersion: Hashable, Sendable {
  /// The first version that was free.
  package let version: AppVersion
  /// What everybody has who got an earlier one.
  package let entitlements: [String: AccessLevel]

  /// A rule by its parts.
  package init(version: AppVersion, entitlements: [String: AccessLevel]) {
    self.version = version
    self.entitlements = entitlements
  }
}

/// A version of an app, such as `3.0.1`: numbers that are compared one after the other, so that 3.10 comes
/// after 3.9, and 3 is the same as 3.0.
package struct AppVersion: Hashable, Sendable, Comparable, CustomStringConvertible {
  /// The numbers without zeros at the end.
  private let numbers: [Int64]
  /// The text it was read from.
  package let description: String

  /// Reads numbers of at most 18 digits with points between them; `nil` for anything else.
  package init?(_ text: String) {
    var numbers: [Int64] = []
    for part in text.split(separator: ".", omittingEmptySubsequences: false) {
      guard (1...18).contains(part.utf8.count), part.utf8.allSatisfy({ (0x30...0x39).contains($0) }),
        let number = Int64(part)
      else { return nil }
      numbers.append(number)
    }
    while numbers.last == 0 { numbers.removeLast() }
    self.numbers = numbers
    description = text
  }

  package static func < (left: AppVersion, right: AppVersion) -> Bool {
    left.numbers.lexicographicallyPrecedes(right.numbers)
  }

  package static func == (left: AppVersion, right: AppVersion) -> Bool { left.numbers == right.numbers }

  package func hash(into hasher: inout Hasher) { hasher.combine(numbers) }
}
