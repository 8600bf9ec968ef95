internal import AppStore
package import Callers
internal import Entitlements
internal import HTTP
internal import JSON
internal import Ledger
internal import Metrics
internal import RPC
package import RetentionMessaging
package import Store

/// `POST /retention/{app}` on the edge: Apple's requests for the retention message on the Confirm Cancellation page (Retention
/// Messaging API, Get Retention Message).
///
/// Every replica answers by itself. Without an answer the status is 204, and Apple shows the messages that it has.
package struct RetentionEndpoint: Sendable {
  static let prefix = "/retention/"
  /// The pattern in metrics and in the OpenAPI document.
  static let route = "/retention/{app}"

  private let responder: RetentionResponder
  private let limiter: AddressLimiter
  private let requests: RecordBuffer<RetentionRequestRecord>

  /// - Parameters:
  ///   - responder: decides about the requests.
  ///   - limiter: limits the refused posts of each address.
  ///   - requests: stores the requests.
  package init(
    responder: RetentionResponder, limiter: AddressLimiter, requests: RecordBuffer<RetentionRequestRecord>
  ) {
    self.responder = responder
    self.limiter = limiter
    self.requests = requests
  }

  /// Whether a path is that of a request for a message.
  func serves(_ path: String) -> Bool { path.hasPrefix(Self.prefix) }

  /// Responds to a request to a path that ``serves(_:)`` accepts.
  func respond(to request: HTTPRequest) async -> HTTPResponse {
    if let refusal = request.refusalOfDocument(limit: NotificationBody.maxSize) { return refusal }
    do throws(RetentionRequestError) {
      let response = try await responder.respond(
        to: request.body, of: String(request.path.dropFirst(Self.prefix.count)))
      RetentionMetrics.count(response.record)
      requests.record(response.record)
      guard let body = response.body else { return HTTPResponse(status: 204) }
      return .json(200, JSONValue.object(body).serialized())
    } catch {
      return refuse(error, request)
    }
  }

  /// Refuses a request that is not Apple's, or not about this app; the refused requests of each address are limited.
  private func refuse(_ error: RetentionRequestError, _ request: HTTPRequest) -> HTTPResponse {
    RetentionMetrics.countRefusal(error.reason)
    if let delay = limiter.delay(of: request.address) {
      return .explained(429, "TOO_MANY_REJECTIONS", "too many requests that are refused")
        .retry(afterMilliseconds: delay)
    }
    let status =
      switch error {
      case .unknownApp: 404
      case .malformed, .missingMember: 400
      case .notVerified, .otherApp, .tooOld: 403
      }
    return .explained(status, error.reason, error.description.excerpt)
  }
}

/// The metrics of requests for retention messages.
enum RetentionMetrics {
  /// Counts a request that was answered, also one with 204, and measures the time of the answer.
  static func count(_ request: RetentionRequestRecord) {
    let app = [("app", request.line.appID), ("environment", request.line.environment.rawValue)]
    Counter(
      label: "entitled_retention_requests_total",
      dimensions: app + [("answer", request.answer.rawValue), ("reason", request.reason.rawValue)]
    ).increment()
    Timer(label: "entitled_retention_answer_seconds").recordNanoseconds(request.microseconds * 1_000)
  }

  /// Counts a request that is not Apple's or malformed; its app is not trusted, so it is no label.
  static func countRefusal(_ reason: String) {
    Counter(label: "entitled_retention_refusals_total", dimensions: [("reason", reason)]).increment()
  }

  /// Counts a record that the buffer discarded: the subscriber got an answer, and reports will not have it.
  static func countLoss(of request: RetentionRequestRecord) {
    Counter(label: "entitled_retention_requests_lost_total", dimensions: [("app", request.line.appID)])
      .increment()
  }
}
