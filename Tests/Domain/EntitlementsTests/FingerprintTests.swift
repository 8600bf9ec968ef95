import AppStore
import Entitlements
import TestSupport
import Testing

@Suite struct FingerprintTests {
  @Test("Changed rules require a new rulesVersion; update it together with the hash below")
  func rules() {
    var random = SplitMix64(state: 42)
    var hash = AnswerHash()
    for _ in 0..<100 {
      let facts = randomCustomer(&random)
      for day in stride(from: Int64(-5), through: 300, by: 7) {
        hash.add(evaluate(facts, entitlement: "pro", in: app, at: at(day)))
        hash.add(evaluate(facts, entitlement: "plus", in: app, at: at(day)))
        hash.add(evaluate(facts, entitlement: "pro", in: fullApp, at: at(day)))
        hash.add(evaluate(facts, entitlement: "pro", in: patientApp, at: at(day)))
      }
    }
    #expect(rulesVersion == 22)
    #expect(hash.value == 4_178_147_444_848_323_309)
  }

  @Test("The fingerprint is the same in every process and on every machine")
  func golden() {
    #expect(app.fingerprint == 13_633_780_336_456_205_701)
  }

  @Test("The fingerprint changes exactly with the inputs of the evaluation")
  func sensitivity() {
    func fingerprint(
      _ id: String = "ocean", _ levels: [String: AccessLevel] = ["pro": .full], product: String = "a",
      _ duration: String? = "P1M", type: ProductType = .nonConsumable, grace: OperatorGrace? = nil,
      before: [BoughtBeforeVersion] = [], sharing: [String: FamilySharingPolicy] = [:]
    ) -> UInt64 {
      let product = ProductDefinition(
        productID: product, type: type, duration: duration.flatMap { Period($0) }, accessLevels: levels,
        operatorGrace: grace)
      return AppDefinition(
        id: id, identity: AppIdentity(bundleID: id, appAppleID: nil), environments: [.sandbox],
        products: [product], boughtBefore: before, familySharing: sharing
      ).fingerprint
    }
    func before(
      _ version: String, _ level: AccessLevel, _ platform: PurchasePlatform? = nil
    ) -> [BoughtBeforeVersion] {
      [BoughtBeforeVersion(version: AppVersion(version)!, platform: platform, entitlements: ["pro": level])]
    }
    let others = [
      fingerprint("ocean", ["pro": .full, "plus": .full]), fingerprint("ocean", [:]),
      fingerprint("ocean", ["plus": .full]), fingerprint("ocean", ["pro": .limited]),
      fingerprint(product: "b"), fingerprint("ocean", ["pro": .full], "P30D"),
      fingerprint("ocean", ["pro": .full], nil), fingerprint(grace: OperatorGrace(days: 3, access: .full)),
      fingerprint(grace: OperatorGrace(days: 3, access: .limited)),
      fingerprint(grace: OperatorGrace(days: 4, access: .full)), fingerprint(before: before("3.0", .full)),
      fingerprint(before: before("3.1", .full)), fingerprint(before: before("3.0", .limited)),
      fingerprint(before: before("3.0", .full, .iOS)), fingerprint(before: before("3.0", .full, .macOS)),
      fingerprint(sharing: ["pro": .deny]), fingerprint(sharing: ["pro": .limited]),
    ]
    #expect(Set(others + [fingerprint()]).count == others.count + 1)
    #expect(fingerprint("sea") == fingerprint())
    #expect(fingerprint(type: .nonRenewingSubscription) != fingerprint())
    #expect(fingerprint(sharing: ["pro": .allow]) == fingerprint())
  }
}

/// FNV-1a over all parts of many answers.
private struct AnswerHash {
  private(set) var value: UInt64 = 0xCBF2_9CE4_8422_2325

  mutating func add(_ status: EntitlementStatus) {
    add(status.reason.rawValue)
    add("\(status.substate.rawValue) \(status.productState.rawValue) \(status.until?.description ?? "-")")
    add("\(status.checkAgainAt?.description ?? "-") \(status.willRenew?.description ?? "-")")
    add("\(status.accessLevel) \(status.since?.description ?? "-") \(status.actBy?.description ?? "-")")
    add("\(status.paidUntil?.description ?? "-") \(status.endWithoutDelay?.description ?? "-")")
    add("\(status.grantID ?? "-") \(status.outlook.map { "\($0)" } ?? "-")")
    guard let deciding = status.deciding else { return add("-") }
    add("\(deciding.transactionID) \(deciding.originalTransactionID) \(deciding.productID)")
    add(deciding.ownership.rawValue)
    add("\(deciding.billingPlanType?.rawValue ?? "-") \(deciding.commitment.map { "\($0)" } ?? "-")")
  }

  private mutating func add(_ text: String) {
    for byte in text.utf8 { value = (value ^ UInt64(byte)) &* 0x100_0000_01B3 }
  }
}
