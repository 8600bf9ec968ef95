import Configuration
import Entitlements
import Testing

@Suite struct RetentionMessagingConfigurationTests {
  private static let message = "0b4f5a2e-1111-4222-8333-444455556666"

  @Test("Rules, answers and defaults are read")
  func rules() throws {
    let read = try #require(
      try policy(
        """
        default_message: \(Self.message.uppercased())
        offer_pause_days: 90
        outcome_days: 3
        rules:
          - name: monthly
            product_ids: [pro.monthly]
            storefronts: [USA]
            locales: [en]
            payment_modes: [STANDARD]
            min_tenure_days: 30
            max_tenure_days: 400
            min_paid_days: 20
            segments: [trials]
            answers:
              - {weight: 2, message: \(Self.message), offer: {id: stay, signature: legacy}}
              - {message: \(Self.message), switch_to: {product: pro.yearly, billing_plan: MONTHLY}}
              - {message: \(Self.message)}
              - {weight: 3, nothing: true}
        """))
    #expect(read.defaultMessageID == Self.message, "identifiers are in lower case")
    #expect((read.offerPauseDays, read.outcomeDays) == (90, 3))
    let rule = try #require(read.rules.first)
    #expect(rule.choices.map(\.weight) == [2, 1, 1, 3])
    #expect(
      rule.choices.map(\.answer) == [
        .promotionalOffer(messageID: Self.message, productID: nil, offerID: "stay", form: .legacy),
        .alternateProduct(messageID: Self.message, productID: "pro.yearly", plan: .monthly),
        .message(id: Self.message), .nothing,
      ])
    #expect(rule.conditions.segments == ["trials"] && rule.conditions.minPaidDays == 20)
    let empty = try #require(try policy("{}"))
    #expect(empty.rules.isEmpty && empty.outcomeDays == 7 && empty.offerPauseDays == 180)
  }

  @Test(
    "A rule that no answer can follow is rejected with its cause",
    arguments: [
      ("answers: [{message: hello}]", "message of an answer: 'hello' is not the UUID of a message"),
      ("answers: []", "retention rule r has no answers"),
      ("answers: [{weight: 0, nothing: true}]", "weight of an answer is not between 1 and 1000000"),
      (
        "answers: [{nothing: true, message: x}]", "an answer with 'nothing: true' has a weight only"
      ),
      (
        "product_ids: [pro.weekly]\nanswers: [{nothing: true}]",
        "unknown subscription 'pro.weekly' in product_ids of retention rule r; known: other, pro.monthly, pro.yearly"
      ),
      (
        "segments: [none]\nanswers: [{nothing: true}]",
        "unknown segment 'none' in segments of retention rule r; known: trials"
      ),
      (
        "storefronts: [us]\nanswers: [{nothing: true}]",
        "'us' in storefronts of retention rule r is not a storefront such as USA"
      ),
      (
        "min_tenure_days: 9\nmax_tenure_days: 9\nanswers: [{nothing: true}]",
        "max_tenure_days of retention rule r is not above min_tenure_days"
      ),
      (
        "answers: [{message: 0b4f5a2e-1111-4222-8333-444455556666, switch_to: {product: pro.yearly}}]",
        "the rule selects the product 'other', which is not in the subscription group of 'pro.yearly'"
      ),
      (
        "product_ids: [pro.yearly]\nanswers: [{message: 0b4f5a2e-1111-4222-8333-444455556666, switch_to: {product: pro.yearly}}]",
        "the rule selects the product 'pro.yearly' only, so no one can switch to it"
      ),
      (
        "product_ids: [pro.yearly]\nanswers: [{message: 0b4f5a2e-1111-4222-8333-444455556666, offer: {id: stay}}]",
        "the offer 'stay' is not among the offers of the product 'pro.yearly'"
      ),
    ])
  func refused(lines: String, problem: String) {
    #expect {
      try policy("rules:\n  - name: r\n" + lines.split(separator: "\n").map { "    \($0)\n" }.joined())
    } throws: { error in
      guard case ConfigurationError.invalid(_, _, let found) = error else { return false }
      return found == problem
    }
  }

  @Test("An offer needs the key that signs it")
  func key() {
    let offer = "{message: \(Self.message), offer: {id: stay}}"
    #expect {
      try policy("rules: [{name: r, product_ids: [pro.monthly], answers: [\(offer)]}]", key: "")
    } throws: { error in
      "\(error)".contains("needs in_app_purchase_key")
    }
  }

  private func policy(
    _ section: String, key: String = "in_app_purchase_key: {file: k.p8, key_id: K, issuer_id: I}"
  ) throws -> RetentionPolicy? {
    let lines = section.split(separator: "\n").map { "      \($0)" }.joined(separator: "\n")
    return try ServiceConfiguration(
      yaml: """
        apps:
          ocean:
            bundle_id: com.example.ocean
            environments: [Sandbox]
            \(key)
            segments: {trials: {payment_modes: [FREE_TRIAL]}}
            products:
              pro.monthly: {type: Auto-Renewable Subscription, group: pro, entitlements: [pro], offers: [stay]}
              pro.yearly: {type: Auto-Renewable Subscription, group: pro, entitlements: [pro]}
              other: {type: Auto-Renewable Subscription, group: other, entitlements: [pro]}
            retention_messaging:
        \(lines)
        """, file: "test.yaml"
    ).apps.first?.definition.retention
  }
}
