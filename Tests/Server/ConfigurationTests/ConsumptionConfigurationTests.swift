import AppStore
import Configuration
import Entitlements
import Testing

/// The configuration of responses to consumption requests.
@Suite struct ConsumptionConfigurationTests {
  private func policy(_ text: String) throws -> ConsumptionPolicy {
    let configuration = try ServiceConfiguration(
      yaml: """
        apps:
          sea:
            bundle_id: com.example.sea
            environments: [Sandbox]
            \(text)
            products: {pro: {type: Non-Consumable, entitlements: [pro]}}
        """, file: "test.yaml")
    return try #require(configuration.apps.first).definition.consumptionPolicy
  }

  @Test("Consumption requests are answered manually by default")
  func usual() throws {
    #expect(try policy("apple_id: 7") == .manual)
  }

  @Test("A reason overrides single members of the policy")
  func reasons() throws {
    let policy = try policy(
      """
      consumption_requests:
              answer: automatic
              refund_preference: DECLINE
              sample_content_provided: true
              report_consumption: false
              by_reason:
                FULFILLMENT_ISSUE: {delivery_status: UNDELIVERED_SERVER_OUTAGE, refund_preference: GRANT_FULL}
                LEGAL: {answer: manual}
      """)
    var terms = ConsumptionPolicy.Terms(
      refundPreference: .decline, sampleContentProvided: true, reportsConsumption: false)
    #expect(policy.defaultAnswer == .automatic(terms))
    terms.deliveryStatus = .undeliveredServerOutage
    terms.refundPreference = .grantFull
    #expect(policy.byReason == [.fulfillmentIssue: .automatic(terms), .legal: .manual])
  }

  @Test(
    "Unknown values are rejected with their key",
    arguments: [
      ("{answer: perhaps}", "answer of consumption_requests of app sea is not one of manual, automatic"),
      ("{refund_preference: NONE}", "DECLINE, GRANT_FULL, GRANT_PRORATED"),
      ("{by_reason: {BORED: {}}}", "unknown reason 'BORED'"),
      ("{by_reason: {LEGAL: {by_reason: {}}}}", "reason LEGAL: unknown key 'by_reason'"),
    ])
  func refused(text: String, problem: String) throws {
    let error = #expect(throws: ConfigurationError.self) { try policy("consumption_requests: \(text)") }
    #expect(error?.description.contains(problem) == true, "\(error?.description ?? "")")
  }
}
