internal import Bytes
internal import HTTP
internal import JSON
internal import SignedData

/// `GET /openapi.json` on the edge: the OpenAPI 3.1 description of its routes. It has no secrets, so every caller may
/// read it.
package struct OpenAPIEndpoint: Sendable {
  static let path = "/openapi.json"

  private let document: [UInt8]
  private let entityTag: String

  /// - Parameter version: the version of the program.
  package init(version: String) {
    document = OpenAPIDocument(version: version).json.serialized(pretty: true) + [UInt8(ascii: "\n")]
    entityTag = "\"\(Base64.url.encode(SHA256.hash(document[...]).prefix(16)))\""
  }

  func respond(to request: HTTPRequest) -> HTTPResponse {
    var response =
      request.header("if-none-match") == entityTag ? HTTPResponse(status: 304) : .json(200, document)
    response.headers.append(name: "etag", value: entityTag)
    response.headers.append(name: "cache-control", value: "public, max-age=300")
    return response
  }
}
