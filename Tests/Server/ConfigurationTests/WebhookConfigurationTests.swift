import AppStore
import Configuration
import Entitlements
import Testing

@Suite struct WebhookConfigurationTests {
  private func load(_ members: String) throws -> AppConfiguration {
    let yaml = """
      apps:
        sea:
          bundle_id: com.example.sea
          environments: [Sandbox]
          products: {}
      \(members)
      """
    return try #require(try ServiceConfiguration(yaml: yaml, file: "/etc/entitled/x.yaml").apps.first)
  }

  @Test("Without configuration there are no webhooks")
  func none() throws {
    let app = try load("")
    #expect(app.webhooks.isEmpty)
    #expect(app.forwardings.isEmpty)
  }

  @Test("A webhook has URL, secrets and selection; paths are relative to the file")
  func webhook() throws {
    let app = try load(
      """
          webhooks:
            two:
              url: https://example.com/hooks?key=1
              secret: [{file: new}, {variable: OLD}]
              events: [STARTED, ENDED]
              environments: [Sandbox]
              retry_seconds: [1, 60]
              concurrency: 2
              format: cloudevents
            one: {url: "http://127.0.0.1:9000", secret: {variable: ONE}}
          forward_notifications:
            old: {url: "http://old.example.com", allow_http: true}
      """)
    #expect(app.webhooks.map(\.name) == ["one", "two"])
    let (one, two) = (app.webhooks[0], app.webhooks[1])
    #expect(one.secrets == [.variable("ONE")])
    #expect(one.kinds.isEmpty && one.environments.isEmpty)
    #expect(one.retrySeconds == nil)
    #expect(one.concurrency == 8)
    #expect(two.secrets == [.file("/etc/entitled/new"), .variable("OLD")])
    #expect(two.kinds == [.started, .ended])
    #expect(two.environments == [.sandbox])
    #expect(two.retrySeconds == [1, 60])
    #expect(two.concurrency == 2)
    #expect((one.format, two.format) == (.standard, .cloudEvents))
    #expect(app.forwardings.map(\.url) == ["http://old.example.com"])
    #expect(app.forwardings.first?.secrets.isEmpty == true)
  }

  @Test(
    "An invalid webhook is rejected with its problem",
    arguments: [
      (
        "url: https://e.com, secret: {variable: S}, format: xml",
        "unknown format 'xml'; known: standard, cloudevents"
      ),
      ("url: http://example.com", "is not https; set allow_http: true to allow http"),
      ("url: http://127.0.0.1.example.com", "is not https"),
      ("url: http://127.example.com", "is not https"),
      ("url: ftp://127.0.0.1", "is not a URL such as https://example.com/hooks"),
      ("url: https://", "is not a URL"), ("url: \"https://a b\"", "has the character U+0020"),
      ("url: https://e.com/a\\b", "has the character U+005C"),
      ("url: https://b\u{FC}cher.example/h", "has the character U+00FC; write it percent-encoded"),
      ("url: https://e.com:99999/h", "has the port 99999, which is not between 1 and 65535"),
      ("url: https://e.com:0", "has the port 0"), ("url: https://e.com:8o80", "is not a URL"),
      ("url: https://a%20b.com/", "is not a URL"), ("url: https://e.com/h#part", "is not a URL"),
      ("url: https://me@example.com", "must not contain a user or a password"),
      ("allow_http: true", "has no url"),
      ("url: https://a.b, events: []", "events of webhook w is empty"),
      ("url: https://a.b, events: [BEGAN]", "unknown event 'BEGAN'; known: STARTED"),
      ("url: https://a.b, environments: [Xcode9]", "unknown environment"),
      ("url: https://a.b, retry_seconds: [0]", "is not between 1 and 604800"),
      ("url: https://a.b, concurrency: 65", "is not between 1 and 64"),
      ("url: https://a.b, secret: []", "requires one to three secrets"),
      ("url: https://a.b, body: x", "webhook w: unknown key 'body'; known: url"),
    ])
  func wrong(members: String, problem: String) {
    let secret = members.contains("secret:") ? "" : ", secret: {variable: S}"
    #expect {
      try load("    webhooks:\n      w: {\(members)\(secret)}")
    } throws: { "\($0)".contains(problem) }
  }
}
