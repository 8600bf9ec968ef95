// The generator declares that a request or a response conforms to each protocol of this file whose fields it has.

/// A request about one app.
package protocol AppRequest: WireMessage {
  /// The id of the app in the configuration.
  var app: String { get set }
}

/// A request about one app in one environment.
package protocol ScopedRequest: AppRequest {
  /// `.unspecified` selects the first environment of the app.
  var environment: Environment { get set }
}

/// A request about one customer; if the contract says so, an empty id selects all customers.
package protocol CustomerRequest: ScopedRequest {
  /// The id that the app gave to the customer.
  var customerId: String { get set }
}

/// A request that names a person or system in `actor`.
package protocol ActorRequest: WireMessage {
  /// In a request that changes something, the one for which the caller acts; empty if the caller states none.
  var actor: String { get set }
}

/// A request that changes something of an app in an environment.
package protocol ChangeRequest: ScopedRequest, ActorRequest {
  /// The reason, for the audit trail.
  var note: String { get set }
  /// Chosen by the sender, which may repeat the request with the same key; empty without one.
  var idempotencyKey: String { get set }
}

/// A request for one page of a list.
package protocol PagedRequest: WireMessage {
  /// The token of the previous page; empty for the first one.
  var pageToken: String { get set }
  /// Removes what selects the page, so that the requests for all pages of a list are equal.
  mutating func clearPage()
}

extension PagedRequest {
  package mutating func clearPage() { pageToken = "" }
}

/// A request for one page of a list, whose size its sender selects.
package protocol SizedPageRequest: PagedRequest {
  /// The number of rows that the sender wants; 0 selects the default.
  var pageSize: Int32 { get set }
}

extension SizedPageRequest {
  package mutating func clearPage() { (pageToken, pageSize) = ("", 0) }
}

/// A request about one webhook.
package protocol WebhookRequest: AppRequest {
  /// The name in the configuration.
  var webhook: String { get set }
  /// Whether it receives events or forwarded notifications.
  var kind: WebhookKind { get set }
}

/// A response with one page of a list.
package protocol PagedResponse: WireMessage {
  /// The token of the next page; empty on the last one.
  var nextPageToken: String { get set }
}

/// A response with the position of the store after a write.
package protocol PositionedResponse: WireMessage {
  /// The position as a token; empty without one.
  var position: String { get set }
}

/// A response that states whether it is the stored one of an earlier request.
package protocol RepeatedResponse: WireMessage {
  /// Whether an earlier call with the same key caused the response.
  var repeated: Bool { get set }
}

/// A response that has the time at which Apple accepted the request.
package protocol AcceptedResponse: RepeatedResponse {
  /// When Apple accepted the request, by the clock of the environment.
  var acceptedAt: GoogleProtobuf.Timestamp? { get set }
}
