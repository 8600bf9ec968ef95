internal import AppStore

/// Which edition of the rules this program has.
///
/// Answers that were worked out in advance are believed only under the edition that made them. Raise it
/// with every change after which ``evaluate(_:entitlement:in:at:)`` may answer the same question about
/// the same facts differently; a test notices when that was forgotten.
package let rulesVersion: UInt64 = 4

/// A number for what the rules are given besides facts and time: different for different catalogs (up
/// to chance, one in 2^64) and for different rules, and the same in every process on every machine.
struct Fingerprint {
  /// FNV-1a, 64 bits.
  private(set) var value: UInt64 = 0xCBF2_9CE4_8422_2325

  private mutating func add(byte: UInt8) { value = (value ^ UInt64(byte)) &* 0x100_0000_01B3 }

  mutating func add(_ number: UInt64) {
    for shift in stride(from: 0, to: 64, by: 8) { add(byte: UInt8(truncatingIfNeeded: number >> shift)) }
  }

  /// With the length in front, so that no two lists of texts are the same bytes.
  mutating func add(_ text: String) {
    add(UInt64(text.utf8.count))
    for byte in text.utf8 { add(byte: byte) }
  }
}

extension Fingerprint {
  /// Of all that evaluation reads of an app: its products, which of them give what, how much and for how
  /// long, and what else gives or limits it.
  init(rules: [String: EntitlementRules], products: [String]) {
    add(rulesVersion)
    add(UInt64(products.count))
    for product in products { add(product) }
    add(UInt64(rules.count))
    for (entitlement, rules) in rules.sorted(by: { $0.key < $1.key }) {
      add(entitlement)
      add(rules.familySharing.rawValue)
      add(UInt64(rules.boughtBefore.count))
      for rule in rules.boughtBefore {
        add(rule.version.description)
        add(UInt64(rule.level.rawValue))
      }
      add(UInt64(rules.products.count))
      for (productID, product) in rules.products.sorted(by: { $0.key < $1.key }) {
        add(productID)
        add(product)
      }
    }
  }

  private mutating func add(_ product: EntitlementRules.EntitlingProduct) {
    // No period is of nothing, so that two zeros mean none; no grace has no days.
    add(UInt64(bitPattern: product.duration?.months ?? 0))
    add(UInt64(bitPattern: product.duration?.days ?? 0))
    add(UInt64(product.level.rawValue))
    add(UInt64(bitPattern: product.operatorGrace?.days ?? 0))
    add(UInt64(product.operatorGrace?.access.rawValue ?? 0))
  }
}
