import AppStore
import Callers
import HTTP
import RPC
import Testing

@testable import Console
@testable import Services

/// A console over methods that only a suite has, with a person who has signed in.
struct SignedInConsole {
  private static let now = Instant(millisecondsSince1970: 1_800_000_000_000)

  private let console: Console
  private let cookie: String

  init(_ methods: [Method], liveTime: Duration = .seconds(60)) async throws {
    let links = OneTimeLinks(key: [1, 2, 3], start: Self.now)
    let policy = CallPolicy(
      callers: CurrentCallers(.open), now: { Self.now }, ticks: { 0 }, audit: { _ in })
    console = Console(
      calls: InProcessCalls(policy: policy, methods: methods), access: .oneTimeLink(links),
      hosts: OriginPolicy(allowedHosts: []),
      pages: AddressLimiter(perSecond: Console.pagesPerSecond, ticks: { 0 }),
      invalidTokens: .ofInvalidTokens(ticks: { 0 }), isSecure: false, liveTime: liveTime, now: { Self.now })
    var signIn = HTTPRequest(
      method: "POST", target: OneTimeLinks.path,
      headers: HeaderFields([
        ("host", "localhost"), ("sec-fetch-site", "same-origin"),
        ("content-type", "application/x-www-form-urlencoded"),
      ]))
    signIn.body = Array("code=\(links.makeCode(at: Self.now))&name=lena".utf8)
    let field = try #require(await console.respond(to: signIn).headers["set-cookie"])
    cookie = String(field.prefix { $0 != ";" })
  }

  /// The response to a form of the console.
  func post(_ target: String, _ form: String) async -> HTTPResponse {
    var request = HTTPRequest(
      method: "POST", target: target,
      headers: HeaderFields([
        ("host", "localhost"), ("cookie", cookie), ("sec-fetch-site", "same-origin"),
        ("content-type", "application/x-www-form-urlencoded"),
      ]))
    request.body = Array(form.utf8)
    return await console.respond(to: request)
  }

  func get(_ target: String) async -> HTTPResponse {
    await console.respond(
      to: HTTPRequest(
        method: "GET", target: target, headers: HeaderFields([("host", "localhost"), ("cookie", cookie)])))
  }
}
