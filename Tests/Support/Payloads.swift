package import AppStore
package import JSON

/// The app that ``TestChain/transaction(signed:bundle:environment:)`` names.
package let exampleApp = AppIdentity(bundleID: "com.example", appAppleID: 1234)

extension TestChain {
  /// Returns the smallest transaction payload that verification accepts.
  package static func transaction(
    signed: Instant = middle, bundle: String = "com.example", environment: String = "Sandbox"
  ) -> JSONObject {
    [
      "transactionId": "1", "bundleId": .string(bundle), "environment": .string(environment),
      "signedDate": .number(JSONNumber(signed.millisecondsSince1970)),
    ]
  }
}
