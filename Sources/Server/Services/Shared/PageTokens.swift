internal import Bytes
internal import RPC
internal import SignedData
internal import Wire

/// Makes and checks the page tokens of all list methods.
///
/// A token is the position after which the next page starts, authenticated together with the request: its method and
/// every field but the token and the page size. So a token works only for the app, the customer and the filters of the
/// response that returned it, and no client can make one up. Each handler says what its position is: mostly a key of
/// the list, so that rows which are added or removed meanwhile neither repeat nor hide others.
package struct PageTokens: Sendable {
  private static let tagBytes = 16
  private let key: [UInt8]

  /// - Parameter key: a secret that stays the same after a restart, so that tokens stay valid.
  package init(key: [UInt8]) { self.key = key }

  /// The page that a request asks for.
  ///
  /// - Throws: `INVALID_ARGUMENT` with the reason `INVALID_PAGE_TOKEN` for a token of another request.
  func page<Request: PagedRequest>(_ request: Request) throws(Status) -> RequestedPage {
    let binding = Self.binding(request)
    guard !request.pageToken.isEmpty else {
      return RequestedPage(position: nil, binding: binding, tokens: self)
    }
    guard let bytes = Base64.url.decode(request.pageToken), bytes.count > Self.tagBytes,
      case let position = Array(bytes.dropFirst(Self.tagBytes)),
      constantTimeEquals(Array(bytes.prefix(Self.tagBytes)), tag(position, binding)),
      let text = String(validating: position, as: UTF8.self)
    else { throw .invalidPageToken }
    return RequestedPage(position: text, binding: binding, tokens: self)
  }

  fileprivate func token(_ position: String, _ binding: [UInt8]) -> String {
    let position = Array(position.utf8)
    return Base64.url.encode(tag(position, binding) + position)
  }

  private func tag(_ position: [UInt8], _ binding: [UInt8]) -> [UInt8] {
    Array(HMACSHA256.code(of: binding + position, key: key).prefix(Self.tagBytes))
  }

  /// A digest of the request without its page. It has a fixed size, so that a position cannot continue it.
  private static func binding<Request: PagedRequest>(_ request: Request) -> [UInt8] {
    var request = request
    request.clearPage()
    return SHA256.hash((Array("\(Request.messageType.name)\n".utf8) + request.encodedBytes())[...])
  }
}

/// The page that a request asks for.
struct RequestedPage: Sendable {
  /// The position after which the page starts; `nil` for the first page.
  let position: String?
  fileprivate let binding: [UInt8]
  fileprivate let tokens: PageTokens

  /// The position as a number above 0; `nil` for the first page.
  ///
  /// - Throws: `INVALID_PAGE_TOKEN` for a position of another form, as an earlier version may have made it.
  var number: Int64? {
    get throws(Status) {
      guard let position else { return nil }
      guard let number = Int64(position), number > 0 else { throw .invalidPageToken }
      return number
    }
  }

  /// The token of the page after `position`.
  func token(after position: some LosslessStringConvertible) -> String {
    tokens.token(String(position), binding)
  }
}

extension Status {
  /// `INVALID_PAGE_TOKEN`: the sender has to begin with the first page.
  static var invalidPageToken: Status {
    Status(
      .invalidArgument, reason: "INVALID_PAGE_TOKEN",
      "page_token is not one that a response to the same request returned", field: "page_token")
  }
}
