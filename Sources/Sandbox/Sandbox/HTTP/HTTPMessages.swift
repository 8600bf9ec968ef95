internal import AppStore
internal import HTTP
internal import JSON

extension HTTPResponse {
  /// A response with status 200 for testers, indented.
  static func json(_ object: JSONObject) -> HTTPResponse { .json(200, object.serialized(pretty: true)) }

  /// An error response for testers, with a stable code.
  static func error(_ status: Int, code: String, message: String) -> HTTPResponse {
    let body: JSONObject = ["error": ["code": .string(code), "message": .string(message)]]
    return .json(status, body.serialized(pretty: true))
  }

  /// A certificate.
  static func pem(_ text: String) -> HTTPResponse {
    HTTPResponse(
      status: 200, headers: HeaderFields([("content-type", "application/x-pem-file")]), body: Array(text.utf8)
    )
  }

  /// A closed connection instead of a response: the listener closes it on this status.
  static var connectionCut: HTTPResponse { HTTPResponse(status: noResponseStatus) }

  /// The error response for a path that does not exist.
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
