import AppStore
import AppStoreSupport
import Foundation
import SignedData
import Testing

@testable import AppStoreClient
@testable import Sandbox

@Suite("OCSP client") struct OCSPClientTests {
  private static let now = Instant(millisecondsSince1970: 1_767_225_600_000)
  private static let address = "http://127.0.0.1:8090"

  /// The certificate chain of a signed transaction, and the simulator that answers for it.
  private func chain() async throws -> (AppStoreSimulator, [Certificate]) {
    let simulator = try AppStoreSimulator(
      apps: [
        SandboxApp(
          id: "demo", identity: AppIdentity(bundleID: "com.example", appAppleID: nil),
          products: [SandboxProduct(productId: "unlock", type: .nonConsumable, price: 9990)])
      ], storage: .memory, now: { Self.now })
    try await simulator.setBaseURL(Self.address)
    let bought = try await simulator.purchase(PurchaseOrder(app: "demo", productId: "unlock", account: "a"))
    let verifier = try SignedDataVerifier(anchors: .apple().adding(simulator.root, for: .sandbox))
    return (simulator, try verifier.certificates(of: .jws(bought.signedTransactionInfo)))
  }

  private func check(
    _ exchange: any HTTPExchange, _ chain: [Certificate]
  ) async throws(OnlineCheckError) -> Instant? {
    try await OnlineChecks(fetcher: OCSPClient(exchange: exchange), now: { Self.now })
      .check(chain, policy: .hard)
  }

  @Test("A chain is checked at the responder named in its certificates")
  func good() async throws {
    let (simulator, chain) = try await chain()
    let exchange = SimulatorExchange(simulator)
    #expect(try await check(exchange, chain) == Self.now)
    #expect(exchange.paths == ["/ocsp", "/ocsp"])
  }

  @Test("A revoked certificate fails the check")
  func revoked() async throws {
    let (simulator, chain) = try await chain()
    try await simulator.revokeNext()
    await #expect(throws: OnlineCheckError.self) { try await check(SimulatorExchange(simulator), chain) }
  }

  @Test("Requests are sent by POST with the media types of OCSP")
  func request() async throws {
    let (_, chain) = try await chain()
    let exchange = ScriptedExchange(.status(503))
    await #expect(throws: OnlineCheckError.self) { try await check(exchange, chain) }
    let request = try #require(exchange.requests.first)
    #expect(request.method == "POST" && request.url == Self.address + "/ocsp" && !request.body.isEmpty)
    #expect(
      request.headers.map(\.value) == ["application/ocsp-request", "application/ocsp-response"])
  }

  @Test("A missing response is reported with its cause", arguments: [true, false])
  func failures(isUnreachable: Bool) async throws {
    let (_, chain) = try await chain()
    let exchange = ScriptedExchange(isUnreachable ? .failure(.unreachable("reset")) : .status(503))
    let request = try OCSPRequest(for: chain[0], issuer: chain[1])
    do throws(OCSPFetchError) {
      _ = try await OCSPClient(exchange: exchange)
        .fetch(request, from: Self.address, timeout: .seconds(5), limit: 1_000)
      Issue.record("no error")
    } catch {
      #expect(
        error.description == (isUnreachable ? "\(Self.address): reset" : "\(Self.address) returned HTTP 503"))
    }
  }
}

extension AppStoreSimulator {
  /// Makes the responder report the next certificate as revoked.
  fileprivate func revokeNext() throws { try faults.set(Parameters(["kind": "ocsp-revoked", "count": 1])) }
}
