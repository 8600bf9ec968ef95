import Configuration
import Testing

@Suite struct RetentionConfigurationTests {
  @Test("Groups without retention are kept")
  func days() throws {
    #expect(try configuration("").retention.isEmpty)
    let configuration = try configuration("retention: {rejected: 90, notifications: 1100, receipts: 30}")
    #expect(configuration.retention == [.rejected: 90, .notifications: 1100, .receipts: 30])
  }

  @Test("Requests for retention messages are kept for thirteen months, or the configured days")
  func requests() throws {
    #expect(try configuration("").retentionRequestDays == 400)
    #expect(try configuration("retention: {rejected: 90}").retentionRequestDays == 400)
    #expect(try configuration("retention: {retention_requests: 91}").retentionRequestDays == 91)
  }

  @Test(
    "Unknown groups and invalid days are rejected",
    arguments: [
      (
        "retention: {commands: 9}",
        "retention of the configuration: unknown key 'commands'; known: rejected, notifications, documents, "
          + "receipts, audit, retention_requests"
      ),
      (
        "retention: {retention_requests: 90}",
        "retention_requests of retention of the configuration is not between 91 and 36500"
      ),
      ("retention: {rejected: 0}", "rejected of retention of the configuration is not between 1 and 36500"),
      ("retention: 90", "retention of the configuration is not a mapping"),
    ])
  func refused(line: String, problem: String) {
    #expect(throws: ConfigurationError.invalid(file: "test.yaml", line: 6, problem: problem)) {
      try configuration(line)
    }
  }

  private func configuration(_ line: String) throws -> ServiceConfiguration {
    try ServiceConfiguration(
      yaml: """
        apps:
          ocean:
            bundle_id: com.example.ocean
            environments: [Sandbox]
            products: {}
        \(line)
        """, file: "test.yaml")
  }
}
