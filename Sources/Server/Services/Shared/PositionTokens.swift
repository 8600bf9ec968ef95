internal import Bytes
internal import RPC
internal import SignedData
internal import Store
internal import Wire

/// Makes and reads the opaque `position` of responses that write and of `Watch` messages.
///
/// A token names a point in the history of one app in one store, authenticated with a secret of that store. A reader at
/// that point or a later one sees what the response reported.
package struct PositionTokens: Sendable {
  private static let tagBytes = 16
  private let key: [UInt8]

  /// - Parameter key: a secret that stays the same after a restart, so that tokens stay valid.
  package init(key: [UInt8]) { self.key = key }

  func token(_ position: StorePosition, of appID: String) -> String {
    let content = Array("\(position.sequence).\(position.evidence)".utf8)
    return Base64.url.encode(tag(content, appID) + content)
  }

  /// The position in a token.
  ///
  /// - Throws: `INVALID_ARGUMENT` with the reason `INVALID_POSITION` for a token of another app or another store.
  func position(_ token: String, of appID: String) throws(Status) -> StorePosition {
    guard let bytes = Base64.url.decode(token), bytes.count > Self.tagBytes,
      case let content = Array(bytes.dropFirst(Self.tagBytes)),
      constantTimeEquals(Array(bytes.prefix(Self.tagBytes)), tag(content, appID)),
      case let parts = String(decoding: content, as: UTF8.self).split(separator: ".").map({ Int64($0) }),
      parts.count == 2, let sequence = parts[0], let evidence = parts[1]
    else {
      throw Status(
        .invalidArgument, reason: "INVALID_POSITION",
        "the position is not one that this server returned for this app", field: "after_position")
    }
    return StorePosition(sequence: sequence, evidence: evidence)
  }

  private func tag(_ content: [UInt8], _ appID: String) -> [UInt8] {
    let bound = Array("position\n\(appID)\n".utf8) + content
    return Array(HMACSHA256.code(of: bound, key: key).prefix(Self.tagBytes))
  }
}

extension Status {
  /// A position that the store has not reached: it was restored from a backup, or it follows another one.
  static var futurePosition: Status {
    Status(
      .outOfRange, reason: "UNKNOWN_POSITION",
      "the position is later than the last event or the last evidence of this store", field: "after_position")
  }
}

/// Adds the position of the store to the responses of calls that write.
struct PositionStamp: Sendable {
  let store: any EntitlementStore
  let tokens: PositionTokens

  /// Runs `handler` and then sets the position of its response: that of a snapshot which includes the call's writes.
  ///
  /// It stays empty if the store cannot be read, because the call itself has succeeded.
  func stamping<Request: AppRequest, Response: PositionedResponse>(
    _ handler: @escaping @Sendable (Request, CallContext) async throws(Status) -> Response
  ) -> @Sendable (Request, CallContext) async throws(Status) -> Response {
    { (request, call) async throws(Status) in
      var response = try await handler(request, call)
      response.position = await position(of: request.app)
      return response
    }
  }

  func position(of appID: String) async -> String {
    do throws(StoreError) {
      let position = try await store.read { snapshot throws(StoreError) in
        try snapshot.position(of: appID)
      }
      return tokens.token(position, of: appID)
    } catch {
      return ""
    }
  }
}

/// A request about one app.
protocol AppRequest: WireMessage {
  var app: String { get }
}

/// A response with the position of the store after a write.
protocol PositionedResponse: WireMessage {
  var position: String { get set }
}
