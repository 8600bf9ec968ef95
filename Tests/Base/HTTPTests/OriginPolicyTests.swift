import HTTP
import Testing

@Suite struct OriginPolicyTests {
  private let policy = OriginPolicy(allowedHosts: ["Entitled.example.com"])

  @Test(
    "Own names and addresses are hosts of the server",
    arguments: [
      "localhost", "localhost:8080", "LOCALHOST:1", "127.0.0.1:8090", "10.1.2.3", "[::1]:8080", "[fe80::1]",
      "entitled.example.com", "entitled.example.com:443",
    ])
  func ownHosts(host: String) { #expect(policy.refusalOfHost(request([("host", host)])) == nil) }

  @Test(
    "Other hosts are misdirected",
    arguments: [
      "", "evil.example", "127.0.0.1.evil.example", "localhost.evil.example:80", "1.2.3.256", "[evil]", "[]",
      "127.0.0.1:80:evil", "127.0.0.1:evil", "localhost:80@evil.example", "[::1]evil", "٠.0.0.1",
      "localhost ",
    ])
  func otherHosts(host: String) {
    #expect(policy.refusalOfHost(request([("host", host)]))?.status == 421)
    #expect(policy.refusalOfHost(request([]))?.status == 421)
  }

  @Test(
    "A request of another origin is refused unless it only reads",
    arguments: [
      ("origin", "http://evil.example"), ("origin", "null"), ("origin", "http://127.0.0.1:9999"),
      ("origin", "http://localhost:80@evil.example"), ("origin", "http://127.0.0.1:8080 http://evil.example"),
      ("origin", "http://127.0.0.1:8080/"), ("origin", "file://"), ("origin", ""),
      ("origin", "http://localhost:8080"), ("origin", "http://localhost"),
      ("origin", "http://LOCALHOST:9999"),
      ("sec-fetch-site", "cross-site"), ("sec-fetch-site", "same-site"),
    ])
  func otherOrigins(name: String, value: String) {
    let fields = [("host", "127.0.0.1:8080"), ("content-type", "application/json"), (name, value)]
    #expect(refusal(of: request(fields))?.status == 403)
    #expect(refusal(of: request(fields, method: "PUT"))?.status == 403)
    #expect(refusal(of: request(fields, method: "GET")) == nil)
  }

  @Test(
    "A request of the server's own pages is accepted",
    arguments: [
      ("origin", "http://127.0.0.1:8080"), ("origin", "https://entitled.example.com"),
      ("sec-fetch-site", "same-origin"), ("sec-fetch-site", "none"),
    ])
  func ownOrigins(name: String, value: String) {
    let fields = [("host", "127.0.0.1:8080"), ("content-type", "application/json"), (name, value)]
    #expect(refusal(of: request(fields)) == nil)
  }

  @Test(
    "An origin of this machine is that of the server with the same port only, also if its name is allowed",
    arguments: ["localhost", "127.0.0.1", "[::1]"], [false, true])
  func thisMachine(host: String, isListed: Bool) {
    let policy = OriginPolicy(allowedHosts: isListed ? [host] : [])
    func refusal(from origin: String) -> HTTPResponse? {
      let fields = [("host", "\(host):8070"), ("content-type", "application/json"), ("origin", origin)]
      return policy.refusalOfOrigin(request(fields), allowsAnyContentType: false)
    }
    #expect(refusal(from: "http://\(host):8070") == nil)
    #expect(refusal(from: "http://\(host):3000")?.status == 403)
    #expect(refusal(from: "http://\(host)")?.status == 403)
  }

  @Test(
    "The host of the listener's address is an origin of the server with the same port only",
    arguments: ["127.0.0.1", "Box.example.com"])
  func address(host: String) {
    let policy = OriginPolicy(allowedHosts: ["entitled.example.com"], address: host)
    func refusal(from origin: String) -> HTTPResponse? {
      let fields = [("host", "\(host):8070"), ("content-type", "application/json"), ("origin", origin)]
      return policy.refusalOfOrigin(request(fields), allowsAnyContentType: false)
    }
    #expect(policy.refusalOfHost(request([("host", "\(host):8070")])) == nil)
    #expect(refusal(from: "http://\(host):8070") == nil)
    #expect(refusal(from: "https://entitled.example.com") == nil)
    #expect(refusal(from: "http://\(host):1")?.status == 403)
    #expect(refusal(from: "https://\(host)")?.status == 403)
  }

  @Test(
    "A POST with a content type that needs no preflight is refused",
    arguments: [
      "text/plain", "Text/Plain; charset=utf-8", "application/x-www-form-urlencoded",
      "multipart/form-data; boundary=a", "text/plain\t; a=b", "text/plain;\u{301}", nil,
    ]
  )
  func simpleTypes(type: String?) {
    let fields = [("host", "localhost")] + (type.map { [("content-type", $0)] } ?? [])
    #expect(refusal(of: request(fields))?.status == 415)
    #expect(policy.refusalOfOrigin(request(fields), allowsAnyContentType: true) == nil)
    #expect(refusal(of: request(fields + [("authorization", "Bearer a")])) == nil, "it needs a preflight")
  }

  private func refusal(of request: HTTPRequest) -> HTTPResponse? {
    policy.refusalOfOrigin(request, allowsAnyContentType: false)
  }

  private func request(_ fields: [(String, String)], method: String = "POST") -> HTTPRequest {
    HTTPRequest(
      method: method, target: "/a", headers: HeaderFields(fields.map { (name: $0.0, value: $0.1) }), body: [1]
    )
  }
}
