package import AppStore
package import AppStoreClient

/// Compares this machine's clock with the `Date` header of Apple's answers, because Apple refuses tokens of a clock
/// that is off. The middle of the call counts, so that a slow network is no difference.
package struct ClockCheck: DoctorCheck {
  /// The greatest difference, in milliseconds. `Date` has whole seconds.
  static let tolerance: Int64 = 30_000

  package let name = "clock"
  package let subject: String
  package let timeLimit = Duration.seconds(20)
  private let server: AppStoreServer
  private let exchange: any HTTPExchange
  private let now: @Sendable () -> Instant

  /// Compares with `server`; `now` is this machine's clock.
  package init(server: AppStoreServer, exchange: any HTTPExchange, now: @escaping @Sendable () -> Instant) {
    subject = server.host
    self.server = server
    self.exchange = exchange
    self.now = now
  }

  /// A fault for a difference above ``tolerance`` and without an answer; not checked if the answer has no date.
  package func run() async -> Finding {
    // Without a token Apple answers 401, which has a date, too.
    let request = OutgoingRequest(
      method: "GET", url: "\(server.baseURL)/inApps/v1/transactions/0",
      headers: [("user-agent", "entitled")], body: [])
    let start = now()
    let response: IncomingResponse
    do throws(HTTPExchangeError) {
      response = try await exchange.send(request, timeout: .seconds(15), limit: 1 << 20)
    } catch {
      return .fault(
        "\(server.host) does not answer: \(error)", action: "allow connections to \(server.baseURL)")
    }
    let end = now()
    guard let date = response.header("date").flatMap(Instant.init(httpDate:)) else {
      return .notChecked("\(server.host) sent no date", action: "compare the clock yourself")
    }
    let middle = start.advanced(byMilliseconds: end.milliseconds(since: start) / 2)
    let difference = middle.milliseconds(since: date)
    let seconds = "\(abs(difference) / 1_000) s \(difference < 0 ? "behind" : "ahead of") \(server.host)"
    guard abs(difference) <= Self.tolerance else {
      return .fault("the clock is \(seconds)", action: "set it, and keep it right with NTP (chrony)")
    }
    return .ok(seconds)
  }
}
