internal import Bytes
package import HTTP
package import Markup
internal import Platform

extension OriginPolicy {
  /// The greatest number of fields. Decoded, a small field takes many times the memory of its text.
  private static let maxFields = 1_000

  /// The response to a form that is not of one of this server's pages, or that is too large; `nil` for its own forms.
  /// Nothing is decoded. Without `maxBytes`, the transport alone limits the size.
  package func refusalOfForm(_ request: HTTPRequest, maxBytes: Int? = 1 << 20) -> HTTPResponse? {
    // No page can set this field. Without a referrer, the origin of the same form is `null`.
    if request.header("sec-fetch-site") != "same-origin" {
      if let refusal = refusalOfOrigin(request, allowsAnyContentType: true) { return refusal }
      guard request.header("origin") != nil else { return .text(403, "a form without origin is refused\n") }
    }
    guard request.mediaType == "application/x-www-form-urlencoded" else {
      return .text(415, "content-type must be application/x-www-form-urlencoded\n")
    }
    let isTooLarge = maxBytes.map { request.body.count > $0 } ?? false
    let fields = request.body.lazy.filter { $0 == UInt8(ascii: "&") }.prefix(Self.maxFields)
    guard !isTooLarge, fields.count < Self.maxFields else { return .text(413, "the form is too large\n") }
    return nil
  }
}

extension HTTPRequest {
  /// The response to a form that is not UTF-8 when it is decoded, because it would be about another name; `nil` for others.
  package var refusalOfFormEncoding: HTTPResponse? {
    method != "POST" || PercentEncoding.isUTF8(body) ? nil : .text(400, "the form is not UTF-8\n")
  }
}

extension HTTPRequest {
  /// The response to a request that a page of another origin makes without leaving itself, such as for a picture, a script or
  /// a frame; `nil` for others. Such a page reads nothing, but browsers send it with the cookie from another port of this
  /// machine, and the audit log would have a look that the person did not take.
  package var refusalOfEmbedding: HTTPResponse? {
    guard let site = header("sec-fetch-site"), !["same-origin", "none"].contains(site) else { return nil }
    let isOpened =
      (header("sec-fetch-mode") ?? "navigate") == "navigate"
      && (header("sec-fetch-dest") ?? "document") == "document"
    return isOpened ? nil : .text(403, "a request of another site is refused\n")
  }
}

extension HTTPResponse {
  /// A response after which the browser gets `link` (RFC 9110, section 15.4.4).
  package static func redirect(to link: Link) -> HTTPResponse {
    HTTPResponse(status: 303, headers: HeaderFields([("location", link.text)]))
  }

  /// The response in gzip for a client that accepts it.
  package func compressed(for request: HTTPRequest) -> HTTPResponse {
    var response = self
    response.headers.append(name: "vary", value: "accept-encoding, cookie")
    guard stream == nil, request.acceptsGzip, let body = gzip(response.body) else { return response }
    response.headers.append(name: "content-encoding", value: "gzip")
    response.body = body
    return response
  }
}
