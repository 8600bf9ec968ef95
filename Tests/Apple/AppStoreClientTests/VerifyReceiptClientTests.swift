import AppStore
import Testing

@testable import AppStoreClient

@Suite struct VerifyReceiptClientTests {
  private let time = ManualTime()

  private func status(_ number: Int, _ more: String = "") -> ScriptedExchange.Answer {
    .status(200, #"{"status":\#(number)\#(more)}"#)
  }

  private func verify(
    _ exchange: ScriptedExchange, first: AppStore.Environment = .production
  ) async throws -> (response: VerifyReceiptResponse, environment: AppStore.Environment) {
    try await VerifyReceiptClient(exchange: exchange, clock: time.clock)
      .verify("cmVjZWlwdA==", sharedSecret: "secret", first: first)
  }

  private func hosts(_ exchange: ScriptedExchange) -> [String] {
    exchange.requests.map { AppStoreServer(baseURL: $0.url).host }
  }

  @Test("A sandbox receipt is sent to production first, then to the sandbox")
  func production() async throws {
    let exchange = ScriptedExchange(status(21007), status(0))
    let answer = try await verify(exchange)
    #expect(answer.environment == .sandbox && answer.response.status == .valid)
    #expect(hosts(exchange) == ["buy.itunes.apple.com", "sandbox.itunes.apple.com"])
    let body = String(decoding: exchange.requests[1].body, as: UTF8.self)
    #expect(body == #"{"receipt-data":"cmVjZWlwdA==","password":"secret"}"#)
  }

  @Test("A production receipt is sent to the sandbox first, then to production")
  func sandbox() async throws {
    let exchange = ScriptedExchange(status(21008), status(0))
    #expect(try await verify(exchange, first: .sandbox).environment == .production)
    #expect(hosts(exchange) == ["sandbox.itunes.apple.com", "buy.itunes.apple.com"])
  }

  @Test("Temporary statuses are retried, all others returned")
  func retries() async throws {
    let busy = ScriptedExchange(
      status(21005), status(21150, #","is_retryable":1"#), .status(503), status(0))
    #expect(try await verify(busy).response.status == .valid)
    #expect(time.sleeps.count == 3)
    let dashed = ScriptedExchange(status(21199, #","is-retryable":true"#), status(0))
    #expect(try await verify(dashed).response.status == .valid)
    for number in [21003, 21004, 21010] {
      let exchange = ScriptedExchange(status(number), status(0))
      #expect(try await verify(exchange).response.status?.rawValue == Int64(number))
      #expect(exchange.requests.count == 1)
    }
    let final = ScriptedExchange(status(21150, #","is_retryable":0"#), status(0))
    #expect(try await verify(final).response.status?.rawValue == 21150)
  }

  @Test("Both environments share the timeout")
  func sharedTimeout() async throws {
    let exchange = ScriptedExchange(status(21007), status(0), answered: { time.advance(.seconds(3)) })
    _ = try await VerifyReceiptClient(exchange: exchange, clock: time.clock)
      .verify("cmVjZWlwdA==", sharedSecret: nil, timeout: .seconds(8))
    #expect(exchange.timeouts == [.seconds(8), .seconds(5)])
  }

  @Test("A response that is not Apple's fails")
  func unusable() async throws {
    await #expect(throws: AppStoreClientError.unexpectedStatus(403)) {
      try await verify(ScriptedExchange(.status(403, "<html>")))
    }
    await #expect(throws: AppStoreClientError.tooLarge(limit: 64 << 20)) {
      try await verify(ScriptedExchange(.failure(.tooLarge)))
    }
  }
}
