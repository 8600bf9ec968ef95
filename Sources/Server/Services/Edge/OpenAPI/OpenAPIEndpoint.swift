internal import Bytes
internal import HTTP
internal import JSON
internal import SignedData
internal import Synchronization

/// `GET /openapi.json` on the edge: the OpenAPI 3.1 description of its routes. It has no secrets, so every caller may
/// read it.
package final class OpenAPIEndpoint: Sendable {
  static let path = "/openapi.json"

  private struct Document {
    let bytes: [UInt8]
    let entityTag: String
  }

  private let version: String
  /// Made for the first request, because most processes get none and it takes more time than the rest of the start.
  private let document = Mutex<Document?>(nil)

  /// - Parameter version: the version of the program.
  package init(version: String) {
    self.version = version
  }

  /// Responds with the document, or with 304 if the client has it. Caches may use it for five minutes.
  func respond(to request: HTTPRequest) -> HTTPResponse {
    let document = self.document.withLock { stored in
      let document = stored ?? makeDocument()
      stored = document
      return document
    }
    var response =
      request.isCurrent(document.entityTag)
      ? HTTPResponse(status: 304) : .json(200, document.bytes)
    response.headers.append(name: "etag", value: document.entityTag)
    response.headers.append(name: "cache-control", value: "public, max-age=300")
    return response
  }

  private func makeDocument() -> Document {
    let bytes = OpenAPIDocument(version: version).json.serialized(pretty: true) + [UInt8(ascii: "\n")]
    return Document(
      bytes: bytes, entityTag: "\"\(Base64.url.encode(SHA256.hash(bytes[...]).prefix(16)))\"")
  }
}
