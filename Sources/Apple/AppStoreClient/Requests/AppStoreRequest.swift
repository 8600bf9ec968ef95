internal import AppStore
internal import Bytes
package import JSON

/// A call of the App Store Server API, and the rate limit that it counts against.
package struct AppStoreRequest: Hashable, Sendable {
  /// The HTTP method.
  package enum Method: String, Hashable, Sendable {
    case get = "GET"
    case post = "POST"
    case put = "PUT"
    case delete = "DELETE"
  }

  /// The body, with its content type.
  package enum Body: Hashable, Sendable {
    /// No body.
    case none
    /// `application/json`.
    case json(JSONObject)
    /// An image for a retention message.
    case png([UInt8])
  }

  /// A query parameter; a list repeats the name.
  package struct QueryItem: Hashable, Sendable {
    /// The name, not encoded.
    package let name: String
    /// The value, not encoded.
    package let value: String
  }

  /// The rate limit that the call counts against.
  package let endpoint: Endpoint
  /// Its idempotency does not follow from this; see ``isRepeatable``.
  package let method: Method
  /// The path, percent-encoded.
  package let path: String
  /// In the order in which Apple gets them.
  package let query: [QueryItem]
  /// The body with its content type.
  package let body: Body
  /// Whether the call may be repeated if it is unknown whether the first one arrived: all but a few only read, set a
  /// value, or carry an idempotency key.
  private(set) var isRepeatable = true
  /// Apple's error about a repetition of a call that arrived, such as that the image exists. After an attempt whose result
  /// was lost it means success.
  private(set) var repetitionError: APIErrorCode?

  /// Creates a call of the path that `segments` make; see ``init(_:_:path:query:body:)``.
  init(
    _ endpoint: Endpoint, _ method: Method, _ segments: String..., query: [QueryItem] = [],
    body: Body = .none
  ) {
    self.init(endpoint, method, path: segments, query: query, body: body)
  }

  /// Creates a call of the path that `segments` make. They are percent-encoded, so that no id changes the path.
  init(
    _ endpoint: Endpoint, _ method: Method, path segments: [String], query: [QueryItem] = [],
    body: Body = .none
  ) {
    self.endpoint = endpoint
    self.method = method
    self.path = segments.map { "/" + $0.percentEncoded }.joined()
    self.query = query
    self.body = body
  }

  /// The call as one that must not be repeated if it may have arrived.
  var notRepeatable: AppStoreRequest {
    var request = self
    request.isRepeatable = false
    return request
  }

  /// The call as one whose repetition Apple refuses with `error` if it arrived.
  func refusedWhenRepeated(with error: APIErrorCode) -> AppStoreRequest {
    var request = self
    request.repetitionError = error
    return request
  }

  /// What an error of Apple's may be about alone: a transaction, whatever the call does with it, or the path; `nil` for
  /// a call about the notifications of the whole app.
  var subject: String? {
    switch endpoint {
    case .notificationHistory, .testNotification, .testNotificationStatus: nil
    default: path.split(separator: "/").first { $0.allSatisfy(\.isWholeNumber) }.map(String.init) ?? path
    }
  }

  /// The path and query, as they follow the host in a URL.
  package var target: String {
    guard !query.isEmpty else { return path }
    return path + "?"
      + query.map { "\($0.name.percentEncoded)=\($0.value.percentEncoded)" }.joined(separator: "&")
  }
}

/// The groups of calls to Apple's servers that each have a separate rate limit.
package enum Endpoint: String, Hashable, Sendable, CaseIterable {
  case subscriptionStatuses, transactionHistory, transactionInfo, appTransactionInfo, finishTransaction
  case appAccountToken, consumption, refundHistory, extendRenewalDate, massExtendRenewalDate
  case massExtensionStatus, orderLookup, notificationHistory, testNotification, testNotificationStatus
  case groups, seats, retentionMessaging, retentionDefault, advancedCommerce, advancedCommerceRefund
  case externalPurchase, verifyReceipt, deviceCheck

  /// Apple's limit per app in production, in calls a second, counted by the hour; a tenth of it in Apple's sandbox
  /// (App Store Server API, Retention Messaging API and Advanced Commerce API, "Identifying rate limits"). Where Apple
  /// names none, the lowest limit of a reading call.
  package var callsPerSecond: Double {
    switch self {
    case .subscriptionStatuses, .transactionHistory, .transactionInfo, .consumption, .notificationHistory,
      .advancedCommerce:
      50
    case .extendRenewalDate, .appAccountToken: 20
    case .advancedCommerceRefund: 5
    case .massExtendRenewalDate, .testNotification, .testNotificationStatus, .retentionMessaging: 1
    case .refundHistory, .orderLookup, .appTransactionInfo, .finishTransaction, .massExtensionStatus, .groups,
      .seats, .retentionDefault, .externalPurchase, .verifyReceipt, .deviceCheck:
      10
    }
  }
}

extension [AppStoreRequest.QueryItem] {
  /// Appends a parameter, unless `value` is `nil`.
  mutating func add(_ name: String, _ value: String?) {
    if let value { append(AppStoreRequest.QueryItem(name: name, value: value)) }
  }

  /// Appends a parameter for each value.
  mutating func add(_ name: String, _ values: [String]) {
    for value in values { add(name, value) }
  }
}

extension String {
  /// Encodes all but unreserved characters (RFC 3986, section 2.3). A segment of dots alone would lead to a parent
  /// folder, so that its dots are encoded too.
  fileprivate var percentEncoded: String {
    let isDots = utf8.allSatisfy { $0 == UInt8(ascii: ".") }
    return isDots ? PercentEncoding.encode(self) { _ in false } : PercentEncoding.encode(self)
  }
}
