internal import AppStore

/// The version of the evaluation rules.
///
/// Precomputed answers and the stored states of purchases are valid only under the version that made them. Raise it with every
/// change after which ``evaluate(_:entitlement:in:at:)`` may return a different answer for the same facts, for which
/// `FingerprintTests` fails if it was not raised, or ``PurchaseState`` a different state.
package let rulesVersion: UInt64 = 22

/// A 64-bit hash (FNV-1a) of the inputs of evaluation besides facts and time: equal in every process on every
/// machine, and different for different catalogs except by chance (1 in 2^64).
struct Fingerprint {
  private(set) var value: UInt64 = 0xCBF2_9CE4_8422_2325

  private mutating func add(byte: UInt8) { value = (value ^ UInt64(byte)) &* 0x100_0000_01B3 }

  mutating func add(_ number: UInt64) {
    for shift in stride(from: 0, to: 64, by: 8) { add(byte: UInt8(truncatingIfNeeded: number >> shift)) }
  }

  /// Hashes the length first, so that no two lists of texts produce the same bytes.
  mutating func add(_ text: String) {
    add(UInt64(text.utf8.count))
    for byte in text.utf8 { add(byte: byte) }
  }
}

extension Fingerprint {
  /// Hashes everything that evaluation reads of an app: its products, their types, access levels, durations and
  /// grace periods, and the rules of renewals, family sharing and legacy versions.
  init(rules: [String: EntitlementRules], products: [String: ProductDefinition]) {
    add(rulesVersion)
    add(UInt64(products.count))
    for (productID, product) in products.sorted(by: { $0.key < $1.key }) {
      add(productID)
      add(product.type.rawValue)
    }
    add(UInt64(rules.count))
    for (entitlement, rules) in rules.sorted(by: { $0.key < $1.key }) {
      add(entitlement)
      add(rules.familySharing.rawValue)
      add(UInt64(bitPattern: rules.renewal.slack))
      add(UInt64(bitPattern: rules.renewal.clockTolerance))
      add(rules.renewal.graceEntitlements.rawValue)
      if rules.endsAccessOnRescindedConsent { add(RescindConsentPolicy.endAccess.rawValue) }
      add(UInt64(rules.boughtBefore.count))
      for rule in rules.boughtBefore {
        add(rule.version.description)
        add(UInt64(rule.level.rawValue))
        if let platform = rule.platform { add(platform.rawValue) }
      }
      add(UInt64(rules.products.count))
      for (productID, product) in rules.products.sorted(by: { $0.key < $1.key }) {
        add(productID)
        add(product)
      }
    }
  }

  private mutating func add(_ product: EntitlementRules.EntitlingProduct) {
    // A period is never empty, so two zeros mean that there is none; likewise for a grace period of zero
    // days.
    add(UInt64(bitPattern: product.duration?.months ?? 0))
    add(UInt64(bitPattern: product.duration?.days ?? 0))
    add(UInt64(product.level.rawValue))
    add(UInt64(bitPattern: product.operatorGrace?.days ?? 0))
    add(UInt64(product.operatorGrace?.access.rawValue ?? 0))
  }
}
