package import JSON

/// One call of Apple's servers, before it is sent: what is asked, and which budget it counts against.
package struct AppStoreRequest: Hashable, Sendable {
  /// The method of HTTP.
  package enum Method: String, Hashable, Sendable {
    case get = "GET"
    case post = "POST"
    case put = "PUT"
    case delete = "DELETE"
  }

  /// What is sent behind the header fields.
  package enum Body: Hashable, Sendable {
    case none
    case json(JSONObject)
    /// An image for a retention message.
    case png([UInt8])
  }

  /// One parameter behind the path; a list is written as the same name several times.
  package struct QueryItem: Hashable, Sendable {
    package let name: String
    package let value: String
  }

  package let endpoint: Endpoint
  package let method: Method
  /// The path, its parts escaped.
  package let path: String
  package let query: [QueryItem]
  package let body: Body

  /// A call of the path that `segments` make. They are escaped, so that no id leads anywhere else.
  init(
    _ endpoint: Endpoint, _ method: Method, _ segments: String..., query: [QueryItem] = [],
    body: Body = .none
  ) {
    self.endpoint = endpoint
    self.method = method
    self.path = segments.map { "/" + $0.percentEncoded }.joined()
    self.query = query
    self.body = body
  }

  /// The path with the query behind it, as it stands in a URL.
  package var target: String {
    guard !query.isEmpty else { return path }
    return path + "?"
      + query.map { "\($0.name.percentEncoded)=\($0.value.percentEncoded)" }.joined(separator: "&")
  }
}

extension [AppStoreRequest.QueryItem] {
  /// Adds a parameter, unless it has no value.
  mutating func add(_ name: String, _ value: String?) {
    if let value { append(AppStoreRequest.QueryItem(name: name, value: value)) }
  }

  /// Adds a parameter for each value.
  mutating func add(_ name: String, _ values: [String]) {
    for value in values { add(name, value) }
  }
}

extension String {
  /// With everything escaped that is not unreserved (RFC 3986, section 2.3). A segment of dots alone would be
  /// a way up, so its dots are escaped too.
  fileprivate var percentEncoded: String {
    let isDots = !isEmpty && utf8.allSatisfy { $0 == UInt8(ascii: ".") }
    var encoded = ""
    for byte in utf8 {
      switch byte {
      case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
        UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "_"), UInt8(ascii: "~"):
        encoded.unicodeScalars.append(Unicode.Scalar(byte))
      case UInt8(ascii: ".") where !isDots: encoded += "."
      default: encoded += (byte < 16 ? "%0" : "%") + String(byte, radix: 16, uppercase: true)
      }
    }
    return encoded
  }
}
