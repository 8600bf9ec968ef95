package import HTTP

/// A whole answer: header fields, body, and the fields behind it.
package struct ClientResponse: Sendable {
  package var head: HeaderFields
  package var body: [UInt8]
  package var trailers: HeaderFields
}
