import AppStore
import Configuration
import Entitlements
import Testing

@Suite struct ReportConfigurationTests {
  private func policy(_ reports: String) throws -> ReportPolicy {
    let text = """
      apps:
        sea:
          bundle_id: com.example.sea
          environments: [Sandbox]
          products: {}
      \(reports)
      """
    let catalog = try ServiceConfiguration(yaml: text, file: "entitled.yaml").catalog
    return try #require(catalog["sea"]).reports
  }

  @Test("Without the section, days close after six hours and nothing is converted")
  func standard() throws {
    #expect(try policy("") == .standard)
    #expect(ReportPolicy.standard.closeAfter == 6 * 3_600_000)
  }

  @Test("Rates are exact, and dated by the day in UTC")
  func all() throws {
    let policy = try policy(
      """
          reports:
            close_after: PT90M
            rates:
              - {currency: EUR, to: USD, from: 2026-10-01, rate: 1.085}
              - {currency: JPY, to: USD, from: 2026-10-02, rate: 0.006711, known_at: "2026-10-02T16:00:00Z"}
            small_business_program:
              - {from: 2025-01-01, until: 2026-01-01}
              - {from: 2026-07-01}
      """)
    #expect(policy.closeAfter == 90 * 60_000)
    #expect(policy.rates.map(\.millionths) == [1_085_000, 6_711])
    #expect(policy.rates[0].from == Instant(rfc3339: "2026-10-01T00:00:00Z"))
    #expect(policy.rates.map(\.knownAt) == [nil, Instant(rfc3339: "2026-10-02T16:00:00Z")])
    #expect(policy.smallBusinessProgram.count == 2)
    #expect(policy.smallBusinessProgram[1].upperBound == .openEnd)
  }

  @Test(
    "Wrong values are errors",
    arguments: [
      "close_after: PT200H", "rates: [{currency: EUR, to: EUR, from: 2026-10-01, rate: 1}]",
      "rates: [{currency: EUR, to: USD, from: 2026-10-01, rate: 0}]",
      "rates: [{currency: EUR, to: USD, from: 2026-10-01, rate: 1.0000001}]",
      "rates: [{currency: euro, to: USD, from: 2026-10-01, rate: 1}]",
      "rates: [{currency: EUR, to: USD, from: October, rate: 1}]",
      "rates: [{currency: EUR, to: USD, rate: 1}]",
      "small_business_program: [{from: 2026-10-01, until: 2026-10-01}]", "close: PT1H",
    ])
  func wrong(line: String) {
    #expect(throws: ConfigurationError.self) { try policy("    reports:\n      \(line)") }
  }
}
