internal import AppStore
internal import HTTP
internal import JSON

extension HTTPResponse {
  static func json(_ object: JSONObject) -> HTTPResponse { .json(200, object.serialized(pretty: true)) }

  static func error(_ status: Int, code: String, message: String) -> HTTPResponse {
    let body: JSONObject = ["error": ["code": .string(code), "message": .string(message)]]
    return .json(status, body.serialized(pretty: true))
  }

  /// A closed connection instead of a response.
  static var connectionCut: HTTPResponse { HTTPResponse(status: noResponseStatus) }

  static func notFound(_ path: String) -> HTTPResponse {
    .error(404, code: "NOT_FOUND", message: "unknown path \(path)")
  }
}

extension Purchase {
  /// The JSON form of a purchase.
  var json: JSONObject {
    var json: JSONObject = [
      "transactionId": .string(transactionId),
      "originalTransactionId": .string(originalTransactionId),
      "productId": .string(productId),
      "environment": "Sandbox",
      "account": .string(account),
      "signedTransactionInfo": .string(signedTransactionInfo),
    ]
    json["signedRenewalInfo"] = signedRenewalInfo.map(JSONValue.string)
    return json
  }
}

extension SandboxApp {
  /// The JSON form of an app and its products.
  var json: JSONObject {
    var json: JSONObject = ["app": .string(id), "bundleId": .string(identity.bundleID)]
    json["appAppleId"] = identity.appAppleID.map { JSONValue($0) }
    json["products"] = .array(products.map { .object($0.json) })
    return json
  }
}

extension SandboxProduct {
  fileprivate var json: JSONObject {
    var json: JSONObject = ["productId": .string(productId), "type": .string(type.rawValue)]
    json["subscriptionGroupIdentifier"] = subscriptionGroupIdentifier.map(JSONValue.string)
    json["period"] = period.map { .string($0.description) }
    json["price"] = price.map { JSONValue($0) }
    json["monthlyPrice"] = monthlyPrice.map { JSONValue($0) }
    json["currency"] = .string(currency)
    return json
  }
}

/// A query string; names may repeat.
struct Query {
  private let items: [(name: String, value: String)]

  init(_ text: String) {
    items = text.split(separator: "&").map { item in
      let parts = item.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
      let value = parts.count > 1 ? String(parts[1]) : ""
      return (String(parts[0]).removingPercentEncoding(), value.removingPercentEncoding())
    }
  }

  subscript(name: String) -> String? { items.first { $0.name == name }?.value }

  func all(_ name: String) -> [String] { items.filter { $0.name == name }.map(\.value) }
}

extension String {
  /// Decodes `%41` as `A` and `+` as a space. Malformed UTF-8 becomes U+FFFD.
  func removingPercentEncoding() -> String {
    var bytes: [UInt8] = []
    var rest = utf8[...]
    while let byte = rest.popFirst() {
      switch byte {
      case UInt8(ascii: "+"): bytes.append(UInt8(ascii: " "))
      case UInt8(ascii: "%"):
        guard let code = UInt8(String(Substring(rest.prefix(2))), radix: 16), rest.count >= 2 else {
          bytes.append(byte)
          continue
        }
        bytes.append(code)
        rest = rest.dropFirst(2)
      default: bytes.append(byte)
      }
    }
    return String(decoding: bytes, as: UTF8.self)
  }
}
