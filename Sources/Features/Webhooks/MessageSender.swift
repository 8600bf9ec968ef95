internal import AppStore
internal import AppStoreClient
internal import SignedData

/// Sends one message to one receiver, once.
struct MessageSender: Sendable {
  /// For connection, request and answer together: what Standard Webhooks suggests.
  private static let timeout = Duration.seconds(20)
  /// Nobody reads what a receiver has to say, but it has to end.
  private static let answerLimit = 65_536

  let settings: WebhookSettings
  let exchange: any HTTPExchange
  /// The time of day: receivers compare it with their own, so that it is never a sandbox's.
  let now: @Sendable () -> Instant

  func send(_ message: OutgoingMessage) async -> DeliveryOutcome {
    let headers: [(name: String, value: String)]
    do throws(CryptographyError) {
      headers = try fields(of: message)
    } catch {
      return .failed("it could not be signed", retryAfter: nil)
    }
    let request = OutgoingRequest(method: "POST", url: settings.url, headers: headers, body: message.body)
    do throws(HTTPExchangeError) {
      let response = try await exchange.send(request, timeout: Self.timeout, limit: Self.answerLimit)
      return DeliveryOutcome(response, now: now())
    } catch {
      return DeliveryOutcome(error)
    }
  }

  /// Standard Webhooks, "Webhook headers": one signature for each secret, so that a receiver may change its own
  /// at its leisure.
  private func fields(
    of message: OutgoingMessage
  ) throws(CryptographyError) -> [(name: String, value: String)] {
    let plain = [(name: "content-type", value: "application/json"), (name: "user-agent", value: "entitled")]
    guard !settings.secrets.isEmpty else { return plain }
    let timestamp = now().millisecondsSince1970 / 1_000
    var signatures: [String] = []
    for secret in settings.secrets {
      signatures.append(try secret.signature(id: message.id, timestamp: timestamp, body: message.body))
    }
    return plain + [
      (name: "webhook-id", value: message.id), (name: "webhook-timestamp", value: String(timestamp)),
      (name: "webhook-signature", value: signatures.joined(separator: " ")),
    ]
  }
}
