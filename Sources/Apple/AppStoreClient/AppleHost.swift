/// One host of Apple's: sends requests through a circuit breaker, before a deadline.
package final class AppleHost: Sendable {
  /// For error texts and metrics.
  package let name: String
  private let exchange: any HTTPExchange
  private let clock: ClientClock
  private let breaker: CircuitBreaker
  /// In bytes: a longer body of a response is an error.
  private let bodyLimit: Int

  /// For one attempt with its body.
  private static let callTimeout = Duration.seconds(30)

  /// Creates a host whose circuit is closed.
  package init(_ name: String, exchange: any HTTPExchange, clock: ClientClock, bodyLimit: Int) {
    self.name = name
    self.exchange = exchange
    self.clock = clock
    self.bodyLimit = bodyLimit
    breaker = CircuitBreaker(clock: clock)
  }

  /// Whether calls are stopped, or limited to a probe.
  package var isCircuitOpen: Bool { breaker.isOpen }

  /// Makes one attempt with the request of `build`, and reports its outcome to the circuit breaker: only an
  /// unreachable host, a timeout and a status from 500 on count as failures of the host. With an error code of Apple's,
  /// such a status may be about `subject` only.
  ///
  /// - Parameters:
  ///   - deadline: an instant of the clock's uptime; `nil` for none.
  ///   - subject: the one thing that the call is about; `nil` if its errors are about the host.
  ///   - build: makes the request, unless the circuit is open or the deadline has passed.
  /// - Returns: the response, whatever its status.
  /// - Throws: the error of `build`; ``AppStoreClientError`` without a response.
  package func send(
    by deadline: Duration?, about subject: String? = nil,
    _ build: () throws(AppStoreClientError) -> OutgoingRequest
  ) async throws(AppStoreClientError) -> IncomingResponse {
    if let delay = breaker.retryDelay() { throw .circuitOpen(host: name, retryAfter: delay) }
    let timeout = deadline.map { $0 - clock.uptime() } ?? Self.callTimeout
    guard timeout > .zero else {
      breaker.abandoned()
      throw .timedOut
    }
    let request: OutgoingRequest
    do throws(AppStoreClientError) { request = try build() } catch {
      breaker.abandoned()
      throw error
    }
    let response: IncomingResponse
    do throws(HTTPExchangeError) {
      response = try await exchange.send(
        request, timeout: min(timeout, Self.callTimeout), limit: bodyLimit)
    } catch {
      throw breaker.recorded(error, host: name, timeout: timeout, limit: bodyLimit)
    }
    if response.status >= 500 {
      breaker.failed(about: response.apiError == nil ? nil : subject)
    } else {
      breaker.succeeded(about: subject)
    }
    return response
  }
}
