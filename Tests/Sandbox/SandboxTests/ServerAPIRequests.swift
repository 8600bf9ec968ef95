import AppStore
import Foundation
import HTTP
import JSON
import SignedData

/// A request to the Server API with a token whose signature is not checked, because no key is registered.
struct TestToken {
  /// Seconds.
  var lifetime: Int64 = 300
  /// Members that replace the valid ones; null removes a member.
  var changedHeader = JSONObject()
  var changedClaims = JSONObject()

  func request(_ method: String, _ path: String, _ body: JSONObject = [:], at now: Instant) -> HTTPRequest {
    let seconds = now.millisecondsSince1970 / 1000
    var claims: JSONObject = [
      "iss": "i", "iat": JSONValue(seconds), "exp": JSONValue(seconds + lifetime),
      "aud": "appstoreconnect-v1",
      "bid": "com.example",
    ]
    var header: JSONObject = ["alg": "ES256", "kid": "K", "typ": "JWT"]
    for (name, value) in changedHeader { header[name] = value.isNull ? nil : value }
    for (name, value) in changedClaims { claims[name] = value.isNull ? nil : value }
    let parts = [header.serialized(), claims.serialized(), [UInt8](repeating: 0, count: 64)]
    let token = parts.map { Data($0).base64EncodedString() }.joined(separator: ".")
      .replacing("+", with: "-").replacing("/", with: "_").replacing("=", with: "")
    return HTTPRequest(
      method: method, target: path, headers: HeaderFields([("authorization", "Bearer \(token)")]),
      body: body.serialized())
  }
}

/// The content of signed documents, without verification.
enum UnverifiedPayload {
  static func of(_ jws: String) throws -> JSONObject { try UnverifiedJWS(jws).payload }
}
