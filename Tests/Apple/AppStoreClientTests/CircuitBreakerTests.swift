import AppStore
import Synchronization
import Testing

@testable import AppStoreClient

@Suite struct CircuitBreakerTests {
  private let time = ManualTime()
  private let info = #"{"signedTransactionInfo":"jws"}"#

  @Test("The circuit opens after five failures, then probes with one call")
  func circuit() {
    let breaker = CircuitBreaker(clock: time.clock)
    for _ in 0..<5 {
      #expect(breaker.retryDelay() == nil)
      breaker.failed()
    }
    #expect(breaker.retryDelay() == .seconds(5))
    time.advance(.seconds(5))
    #expect(breaker.retryDelay() == nil)
    #expect(breaker.retryDelay() != nil)
    breaker.failed()
    #expect(breaker.retryDelay() == .seconds(10))
    time.advance(.seconds(10))
    #expect(breaker.retryDelay() == nil)
    breaker.succeeded()
    #expect(breaker.retryDelay() == nil)
  }

  @Test(
    "An error code of Apple's with status 500 does not open the circuit, because it may be about one purchase"
  )
  func errorCode() async throws {
    let error = ScriptedExchange.Answer.status(500, #"{"errorCode":5000000,"errorMessage":"unknown"}"#)
    let exchange = ScriptedExchange(
      error, error, error, error, error, error, error, error, .status(200, info))
    let client = try client(exchange, time)
    for _ in 0..<2 {
      await #expect(throws: AppStoreClientError.refused(.generalInternal, message: "unknown")) {
        let _: TransactionInfoResponse = try await client.send(.transactionInfo("1"))
      }
    }
    let other: TransactionInfoResponse = try await client.send(.transactionInfo("2"))
    #expect(other.signedTransactionInfo == "jws")
  }

  @Test("An error code of Apple's about five purchases in a row opens the circuit")
  func errorCodeOfAll() async throws {
    let error = ScriptedExchange.Answer.status(500, #"{"errorCode":5000000,"errorMessage":"unknown"}"#)
    let exchange = ScriptedExchange(Array(repeating: error, count: 17) + [.status(200, info)])
    let client = try client(exchange, time)
    for id in 1...5 {
      await #expect(throws: AppStoreClientError.refused(.generalInternal, message: "unknown")) {
        let _: StatusResponse = try await client.send(.subscriptionStatuses(of: "\(id)"))
      }
    }
    do {
      let _: TransactionInfoResponse = try await client.send(.transactionInfo("6"))
      Issue.record("the circuit is closed")
    } catch {
      guard case .circuitOpen = error else { throw error }
    }
    #expect(exchange.requests.count == 17)
    time.advance(.seconds(5))
    let probe: TransactionInfoResponse = try await client.send(.transactionInfo("6"))
    #expect(probe.signedTransactionInfo == "jws")
  }

  @Test("A purchase that fails counts once until it succeeds, and is no probe")
  func failingSubjects() {
    let breaker = CircuitBreaker(clock: time.clock)
    for id in 1...5 { breaker.failed(about: "\(id)") }
    #expect(breaker.isOpen)
    time.advance(.seconds(5))
    #expect(breaker.retryDelay() == nil)
    breaker.failed(about: "1")
    #expect(breaker.isOpen && breaker.retryDelay() == nil, "another call may probe at once")
    breaker.succeeded(about: "6")
    #expect(!breaker.isOpen)
    for id in 1...5 { breaker.failed(about: "\(id)") }
    #expect(!breaker.isOpen)
    for id in 1...5 { breaker.succeeded(about: "\(id)") }
    for id in 1...5 { breaker.failed(about: "\(id)") }
    #expect(breaker.isOpen)
  }

  @Test("An error may be about the transaction of a call or about its path, unless it is about the whole app")
  func subjects() {
    let day = Instant(millisecondsSince1970: ManualTime.start)
    for request in [
      AppStoreRequest.transactionInfo("42"), .transactionHistory(of: "42", revision: "7"),
      .refundHistory(of: "42"), .finishTransaction("42"), .subscriptionStatuses(of: "42"),
    ] {
      #expect(request.subject == "42")
    }
    #expect(AppStoreRequest.lookUpOrder("M7").subject == "/inApps/v1/lookup/M7")
    #expect(AppStoreRequest.notificationHistory(.init(startDate: day, endDate: day)).subject == nil)
  }

  @Test("The call that opens the circuit fails with its own error, the next one without an attempt")
  func openedByCall() async throws {
    let busy = ScriptedExchange.Answer.status(503)
    let exchange = ScriptedExchange(busy, busy, busy, busy, busy)
    let client = try client(exchange, time)
    for _ in 0..<2 {
      await #expect(throws: AppStoreClientError.serverFailed(status: 503)) {
        let _: TransactionInfoResponse = try await client.send(.transactionInfo("1"))
      }
    }
    do {
      let _: TransactionInfoResponse = try await client.send(.transactionInfo("2"))
      Issue.record("the circuit is closed")
    } catch {
      guard case .circuitOpen = error else { throw error }
    }
    #expect(exchange.requests.count == 5)
  }

  @Test("A circuit that others opened is not reported as a rejected token")
  func openedByOthers() async throws {
    let busy = ScriptedExchange.Answer.status(503)
    let exchange = ScriptedExchange(.status(401), busy, busy, busy, busy, busy)
    let others = Mutex<AppStoreServerClient?>(nil)
    let time = time
    // The first call of an endpoint is allowed at once; its second one waits, while others call.
    let clock = ClientClock(
      now: time.clock.now, uptime: time.clock.uptime,
      sleep: { duration in
        time.advance(duration + .milliseconds(1))
        guard let client = others.withLock({ $0.take() }) else { return }
        for request in [
          AppStoreRequest.subscriptionStatuses(of: "2"), .transactionHistory(of: "2"),
          .refundHistory(of: "2"),
          .lookUpOrder("M2"), .testNotification,
        ] {
          try? await client.send(request, timeout: .milliseconds(1))
        }
      }, random: { 0.5 })
    let client = try client(exchange, clock, share: 0.001)
    others.withLock { $0 = client }
    await #expect(throws: AppStoreClientError.circuitOpen(host: "apple.example", retryAfter: .seconds(5))) {
      let _: TransactionInfoResponse = try await client.send(.transactionInfo("1"))
    }
    #expect(exchange.requests.count == 6)
  }

  @Test("Timeouts of callers in a hurry do not open the circuit for others")
  func shortTimeouts() {
    let breaker = CircuitBreaker(clock: time.clock)
    func timeOut(after timeout: Duration) {
      for _ in 0..<5 {
        #expect(breaker.retryDelay() == nil)
        let error = breaker.recorded(.timedOut, host: "apple.example", timeout: timeout, limit: 1)
        #expect(error == .timedOut)
      }
    }
    timeOut(after: .seconds(1))
    #expect(!breaker.isOpen)
    timeOut(after: .seconds(5))
    #expect(breaker.isOpen)
    // A probe of such a caller is none.
    time.advance(.seconds(5))
    #expect(breaker.retryDelay() == nil)
    _ = breaker.recorded(.timedOut, host: "apple.example", timeout: .seconds(1), limit: 1)
    #expect(breaker.isOpen && breaker.retryDelay() == nil)
  }
}
