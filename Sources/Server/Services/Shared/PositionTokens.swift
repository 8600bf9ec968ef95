internal import HTTP
internal import RPC
package import Store
internal import Wire

/// Makes and reads the opaque `position` of responses that write and of `Watch` messages.
///
/// A token names a point in the history of one app in one store. A reader at that point or a later one sees what the
/// response reported.
package struct PositionTokens: Sendable {
  private let feed: StoreFeed

  /// - Parameter feed: that of the store.
  package init(_ feed: StoreFeed) { self.feed = feed }

  /// Returns the token of a position. A position without a term gets the store's own.
  func token(_ position: StorePosition) -> String {
    guard position.term == 0 else { return PositionToken.text(of: position) }
    return PositionToken.text(
      of: StorePosition(
        term: feed.term, appHash: position.appHash, sequence: position.sequence, mark: position.mark))
  }

  /// The position in a token, which the request has in `field`.
  ///
  /// - Throws: `INVALID_ARGUMENT` with the reason `INVALID_POSITION` for another text, and for a token of another app.
  func position(_ token: String, of appID: String, field: String) throws(Status) -> StorePosition {
    var token = token
    guard let position = token.withUTF8({ PositionToken.position(in: UnsafeRawBufferPointer($0)) }),
      position.appHash == StorePosition.hash(ofApp: appID)
    else { throw .invalidPosition(field) }
    return position
  }
}

extension Status {
  /// A text that is no position of the app.
  static func invalidPosition(_ field: String) -> Status {
    Status(
      .invalidArgument, reason: "INVALID_POSITION",
      "the position is not one that this service returned for this app", field: field)
  }

  /// A position that the history of the store does not contain: the store was restored from a backup, or the position is
  /// one of another store.
  static func unknownPosition(_ field: String) -> Status {
    Status(
      .outOfRange, reason: "UNKNOWN_POSITION",
      "the history of this store does not contain the position; the store was restored from a backup, or is another one",
      field: field)
  }

  /// A position that another process has and this one does not have in time.
  static var notFreshEnough: Status {
    Status(
      .unavailable, reason: "NOT_FRESH_ENOUGH", "this replica has not reached the position yet; retry",
      retryAfterMilliseconds: 100)
  }
}

/// Adds the position of the store to the responses of calls that write.
struct PositionStamp: Sendable {
  /// The metadata with the position.
  static let field = "entitled-position"

  /// Has the position after a call.
  let store: any EntitlementStore
  let tokens: PositionTokens

  /// Runs `handler` and then sets the position of its response: that of a snapshot which includes the call's writes.
  ///
  /// It stays empty if the store cannot be read, because the call itself has succeeded.
  func stamping<Request: AppRequest, Response: PositionedResponse>(
    _ handler: @escaping @Sendable (Request, CallContext) async throws(Status) -> Response
  ) -> @Sendable (Request, CallContext) async throws(Status) -> Reply {
    { (request, call) async throws(Status) in
      var response = try await handler(request, call)
      response.position = await position(of: request.app)
      var reply = Reply(response)
      if !response.position.isEmpty {
        reply.initialMetadata.append(name: Self.field, value: response.position)
      }
      return reply
    }
  }

  /// The token of the present position of an app; empty if the store cannot be read.
  func position(of appID: String) async -> String {
    do throws(StoreError) {
      let position = try await store.read { snapshot throws(StoreError) in
        try snapshot.position(of: appID)
      }
      return tokens.token(position)
    } catch {
      return ""
    }
  }
}
