internal import AppStore
internal import AppStoreClient
internal import Store
internal import Telemetry
internal import Tracing

/// Makes one attempt to deliver a message to a webhook.
struct MessageSender: Sendable {
  /// For connecting, sending and reading, as Standard Webhooks suggests.
  private static let timeout = Duration.seconds(20)
  /// In bytes. The response body is ignored, but must end.
  fileprivate static let maxResponseSize = 65_536

  /// The webhook's URL, secrets and format.
  let settings: WebhookSettings
  /// Makes the request; it follows no redirects.
  let exchange: any HTTPExchange
  /// The time of day, never a sandbox's: webhooks compare it with their own clock.
  let now: @Sendable () -> Instant

  /// Makes one attempt, recorded as the root of a trace, and returns its outcome. It has no retries: ``WebhookWorker``
  /// stores a failure and decides about the next attempt.
  func send(_ message: OutgoingMessage) async -> DeliveryOutcome {
    await tracedAsRoot("webhook", .client, attributes: attributes(of: message)) { span in
      let outcome = await attempt(message)
      span?.set("entitled.outcome", .string(outcome.metricLabel))
      if outcome != .delivered { span?.setStatus(SpanStatus(code: .error)) }
      return outcome
    }
  }

  /// The attributes of the span. It has neither the customer nor the path of the URL, which may be secret.
  private func attributes(of message: OutgoingMessage) -> SpanAttributes {
    var attributes: SpanAttributes = [
      "http.request.method": "POST", "entitled.app": "\(settings.key.appID)",
      "entitled.webhook": "\(settings.key.name)", "entitled.event": "\(message.type)",
    ]
    attributes["entitled.environment"] = message.environment?.rawValue
    return attributes
  }

  /// Makes one attempt, within ``timeout`` for the whole exchange.
  private func attempt(_ message: OutgoingMessage) async -> DeliveryOutcome {
    let request = OutgoingRequest(
      method: "POST", url: settings.url, headers: headerFields(of: message), body: message.body)
    do throws(HTTPExchangeError) {
      let response = try await exchange.send(request, timeout: Self.timeout, limit: Self.maxResponseSize)
      return DeliveryOutcome(response, now: now())
    } catch {
      return DeliveryOutcome(error)
    }
  }

  /// Returns the headers (Standard Webhooks, "Webhook headers"): one signature for each secret, so that secrets can be
  /// rotated.
  private func headerFields(of message: OutgoingMessage) -> [(name: String, value: String)] {
    let common = [
      (name: "content-type", value: settings.format.contentType), (name: "user-agent", value: "entitled"),
    ]
    guard !settings.secrets.isEmpty else { return common }
    let timestamp = now().millisecondsSince1970 / 1_000
    let signatures = settings.secrets.map {
      $0.signature(id: message.id, timestamp: timestamp, body: message.body)
    }
    return common + [
      (name: "webhook-id", value: message.id), (name: "webhook-timestamp", value: String(timestamp)),
      (name: "webhook-signature", value: signatures.joined(separator: " ")),
    ]
  }
}

/// The outcome of one delivery attempt.
enum DeliveryOutcome: Hashable, Sendable {
  /// The receiver answered with a status from 200 to 299.
  case delivered
  /// A failure to retry, with its text for the operator and the milliseconds of `Retry-After`.
  case failed(String, retryAfter: Int64?)
  /// A failure to retry that says nothing about the webhook's health: it does not accept this message.
  case refused(String, retryAfter: Int64?)
  /// The webhook returned 410 and gets no more messages.
  case gone
  /// The worker was cancelled.
  case cancelled

  /// The outcome of a response (Standard Webhooks, "Deliverability and reliability"): only 2xx is success, and redirects
  /// are not followed.
  init(_ response: IncomingResponse, now: Instant) {
    switch response.status {
    case 200..<300: self = .delivered
    case 410: self = .gone
    case 300..<400:
      self = .failed("status \(response.status), redirects are not followed", retryAfter: nil)
    case 400..<500 where response.status != 408 && response.status != 429:
      self = .refused("status \(response.status)", retryAfter: response.retryAfterMilliseconds(now: now))
    default:
      self = .failed("status \(response.status)", retryAfter: response.retryAfterMilliseconds(now: now))
    }
  }

  /// The outcome of an attempt without a complete response. The webhook may have received the message.
  init(_ failure: HTTPExchangeError) {
    switch failure {
    case .timedOut: self = .failed("timed out", retryAfter: nil)
    case .tooLarge:
      self = .failed("the response has more than \(MessageSender.maxResponseSize) bytes", retryAfter: nil)
    case .unreachable(let problem):
      self = .failed("connection failed: \(problem.prefix(200))", retryAfter: nil)
    case .cancelled: self = .cancelled
    }
  }

  /// The value of the label `outcome`.
  var metricLabel: String {
    switch self {
    case .delivered: "delivered"
    case .failed, .refused: "failed"
    case .gone: "gone"
    case .cancelled: "cancelled"
    }
  }
}

extension IncomingResponse {
  /// `Retry-After`, which is a delay in seconds or a date (RFC 9110, 10.2.3), in milliseconds from now; at most a day.
  /// `nil` for anything else, such as a negative number.
  fileprivate func retryAfterMilliseconds(now: Instant) -> Int64? {
    guard let text = header("retry-after") else { return nil }
    let longest = Instant.millisecondsPerDay
    if let seconds = Int64(text) { return seconds < 0 ? nil : min(seconds, longest / 1_000) * 1_000 }
    return Instant(httpDate: text).map { min(max(0, $0.milliseconds(since: now)), longest) }
  }
}
