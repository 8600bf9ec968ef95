package import AppStore

/// The extent to which an entitlement is granted. Raw values and order are part of the catalog fingerprint
/// and of stored answers and grants: append only.
package enum AccessLevel: Int, Hashable, Sendable, Comparable, CaseIterable {
  /// No access.
  case none = 0
  /// Restricted access as the operator defines it, such as reading without editing.
  case limited = 1
  /// Unrestricted access.
  case full = 2

  package static func < (left: AccessLevel, right: AccessLevel) -> Bool { left.rawValue < right.rawValue }
}

/// The access that a purchase shared through Family Sharing grants to the family member. The raw values are
/// configuration values and part of the catalog fingerprint.
package enum FamilySharingPolicy: String, Hashable, Sendable, CaseIterable {
  /// The same access as an own purchase.
  case allow
  /// At most limited access.
  case limited
  /// No access.
  case deny

  /// Returns the access that remains of `level` for a family member.
  func applied(to level: AccessLevel) -> AccessLevel {
    switch self {
    case .allow: level
    case .limited: min(level, .limited)
    case .deny: .none
    }
  }
}

/// The decision about a purchase that is submitted for, or linked to, another customer than its owner. The
/// raw values are configuration values.
package enum OwnershipPolicy: String, Hashable, Sendable, CaseIterable {
  /// The owner keeps the purchase and the request fails.
  case keep
  /// The purchase is transferred.
  case transfer
  /// Both customers own the purchase.
  case share
}

/// The effect of a parent's or guardian's withdrawal of the consent that a child uses the app
/// (`RESCIND_CONSENT`). The raw values are configuration values.
package enum RescindConsentPolicy: String, Hashable, Sendable, CaseIterable {
  /// An event, and nothing else.
  case notify
  /// Access through the purchases of the app install ends too. Grants of the operator stay.
  case endAccess = "end_access"
}

/// The bit of a device that means that a free trial was used on it, of the two that Apple stores for a device and a
/// developer's team (DeviceCheck, "Accessing and modifying per-device data"). The raw values are configuration values.
package enum DeviceBit: String, Hashable, Sendable, CaseIterable {
  case bit0, bit1
}

/// Access that the operator grants while the App Store retries a failed renewal payment, in addition to
/// Apple's own grace period (WWDC18-705).
package struct OperatorGrace: Hashable, Sendable {
  /// Days from the end of the paid period; at least 1.
  package let days: Int64
  /// The access granted in these days.
  package let access: AccessLevel

  package init(days: Int64, access: AccessLevel) {
    self.days = days
    self.access = access
  }
}

/// The operator's decisions about the time around a renewal.
package struct RenewalPolicy: Hashable, Sendable {
  /// The product whose entitlements apply while a downgrade or crossgrade is pending and its payment failed.
  /// The raw values are configuration values and part of the catalog fingerprint.
  package enum GraceEntitlements: String, Hashable, Sendable, CaseIterable {
    /// The product of the period that was paid last.
    case previous
    /// The product that the subscription renews to, as in Apple's sample code.
    case next
  }

  /// The time for which access continues after a period whose renewal is on, while neither the renewal nor
  /// its failure is known; in milliseconds.
  package var slack: Int64
  /// The time by which a verified purchase date may be in the future of the service's clock to count from its
  /// arrival; in milliseconds.
  package var clockTolerance: Int64
  /// The product that decides while a pending change of the product is not paid.
  package var graceEntitlements: GraceEntitlements

  package init(slack: Int64, clockTolerance: Int64, graceEntitlements: GraceEntitlements = .previous) {
    self.slack = slack
    self.clockTolerance = clockTolerance
    self.graceEntitlements = graceEntitlements
  }

  /// Dates count exactly as Apple signed them.
  package static let exact = RenewalPolicy(slack: 0, clockTolerance: 0)
  /// The policy of an app whose configuration has none: a slack of one hour and a tolerance of five minutes.
  package static let standard = RenewalPolicy(slack: 3_600_000, clockTolerance: 300_000)
}

/// A legacy version rule of a paid app that became free: customers who got an earlier version keep what they
/// paid for (WWDC18-704).
package struct BoughtBeforeVersion: Hashable, Sendable {
  /// The first free version.
  package let version: AppVersion
  /// The platform on which the customer first got the app; `nil` for all that no other rule of the entitlement names.
  ///
  /// Versions of macOS are of another kind: they are `CFBundleShortVersionString`, and elsewhere `CFBundleVersion`
  /// (Apple: originalApplicationVersion).
  package let platform: PurchasePlatform?
  /// The access granted to customers who got an earlier version, by entitlement.
  package let entitlements: [String: AccessLevel]

  package init(version: AppVersion, platform: PurchasePlatform? = nil, entitlements: [String: AccessLevel]) {
    self.version = version
    self.platform = platform
    self.entitlements = entitlements
  }
}

/// An app version such as `3.0.1`, compared number by number: 3.10 is later than 3.9, and 3 equals 3.0.
package struct AppVersion: Hashable, Sendable, Comparable, CustomStringConvertible {
  /// The numbers without trailing zeros.
  private let numbers: [Int64]
  /// The text as it was parsed.
  package let description: String

  /// Parses numbers of 1 to 18 digits separated by points; `nil` for any other text.
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

/// The rules by which an app without a backend exchanges its signed documents for a token.
package struct DeviceSyncPolicy: Hashable, Sendable {
  /// The treatment of installations over the limit. The raw values are configuration values.
  package enum Excess: String, Hashable, Sendable, CaseIterable {
    /// They get no token.
    case refuse
    /// They get a token, and the operator a report.
    case report
  }

  /// The maximum number of different installations per purchase and day (UTC).
  package let maxInstallations: Int
  /// The treatment of further installations.
  package let excess: Excess

  package init(maxInstallations: Int, excess: Excess = .refuse) {
    self.maxInstallations = maxInstallations
    self.excess = excess
  }
}
