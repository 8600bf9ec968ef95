import AppStore
import Entitlements
import Testing

@Suite struct FingerprintTests {
  @Test("Answers of other rules have another version: raise rulesVersion with the value below")
  func rules() {
    var random = SplitMix64(state: 42)
    var hash = AnswerHash()
    for _ in 0..<500 {
      let facts = randomCustomer(&random)
      for day in stride(from: Int64(-5), through: 300, by: 7) {
        hash.add(evaluate(facts, entitlement: "pro", in: app, at: at(day)))
        hash.add(evaluate(facts, entitlement: "plus", in: app, at: at(day)))
      }
    }
    #expect(rulesVersion == 1)
    #expect(hash.value == 11_633_768_057_646_003_738)
  }

  @Test("The number is the same in every process and on every machine")
  func golden() {
    #expect(app.fingerprint == 8_176_140_539_048_010_524)
  }

  @Test("It changes with what the catalog gives and for how long, and with nothing else")
  func sensitivity() {
    func fingerprint(
      _ id: String = "ocean", _ entitlements: [String] = ["pro"], product: String = "a",
      _ duration: String? = "P1M", type: ProductType = .nonConsumable
    ) -> UInt64 {
      let product = ProductDefinition(
        productID: product, type: type, duration: duration.flatMap { Period($0) }, entitlements: entitlements)
      return AppDefinition(
        id: id, identity: AppIdentity(bundleID: id, appAppleID: nil), environments: [.sandbox],
        products: [product]
      ).fingerprint
    }
    let others = [
      fingerprint("ocean", ["pro", "plus"]), fingerprint("ocean", []), fingerprint("ocean", ["plus"]),
      fingerprint(product: "b"), fingerprint("ocean", ["pro"], "P30D"), fingerprint("ocean", ["pro"], nil),
    ]
    #expect(Set(others + [fingerprint()]).count == others.count + 1)
    #expect(fingerprint("sea") == fingerprint())
    #expect(fingerprint(type: .nonRenewingSubscription) == fingerprint())
  }
}

/// FNV-1a of every part of many answers.
private struct AnswerHash {
  private(set) var value: UInt64 = 0xCBF2_9CE4_8422_2325

  mutating func add(_ status: EntitlementStatus) {
    add(status.reason.rawValue)
    add("\(status.substate.rawValue) \(status.productState.rawValue) \(status.until?.description ?? "-")")
    add("\(status.checkAgainAt?.description ?? "-") \(status.willRenew?.description ?? "-")")
    guard let deciding = status.deciding else { return add("-") }
    add("\(deciding.transactionID) \(deciding.originalTransactionID) \(deciding.productID)")
    add(deciding.ownership.rawValue)
  }

  private mutating func add(_ text: String) {
    for byte in text.utf8 { value = (value ^ UInt64(byte)) &* 0x100_0000_01B3 }
  }
}
