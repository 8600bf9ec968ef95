import Testing

@testable import Configuration

@Suite struct ListenerConfigurationTests {
  private let apps = """
    apps:
      a:
        bundle_id: com.example.a
        apple_id: 1
        environments: [Sandbox]
        products:
          p: {type: Non-Consumable, entitlements: [pro]}

    """

  @Test("Without configuration listeners are cleartext with default limits")
  func standard() throws {
    let configuration = try ServiceConfiguration(yaml: apps, file: "/etc/entitled.yaml")
    #expect(configuration.listeners == .standard)
  }

  @Test("Certificate paths are relative to the file")
  func tls() throws {
    let yaml = apps + "listeners: {grpc: {tls: {certificate: a.crt, key: keys/a.key, client_ca: /ca.pem}}}"
    let port = try ServiceConfiguration(yaml: yaml, file: "/etc/entitled.yaml").listeners.grpc
    #expect(
      port.tls
        == TLSFiles(certificate: "/etc/a.crt", key: "/etc/keys/a.key", clientAuthorities: "/ca.pem"))
    #expect(!port.allowsCleartext)
  }

  @Test("Every limit accepts the ends of its range", arguments: LimitName.allCases)
  func limits(name: LimitName) throws {
    for value in [name.range.lowerBound, name.range.upperBound] {
      let yaml = apps + "limits: {\(name.rawValue): \(value)}"
      let limits = try ServiceConfiguration(yaml: yaml, file: "f").listeners.limits
      #expect(limits == [name: value])
    }
    let yaml = apps + "limits: {\(name.rawValue): \(name.range.upperBound + 1)}"
    #expect(throws: ConfigurationError.self) { try ServiceConfiguration(yaml: yaml, file: "f") }
  }

  @Test(
    "Invalid listeners and limits are rejected",
    arguments: [
      "listeners: {https: {}}", "listeners: {grpc: {tls: {certificate: a}}}", "limits: {stream: 5}",
      "listeners: {grpc: {cleartext: true, tls: {certificate: a, key: b}}}",
      "limits: {max_concurrent_streams: many}",
    ])
  func refused(text: String) {
    #expect(throws: ConfigurationError.self) { try ServiceConfiguration(yaml: apps + text, file: "f") }
  }
}
