package import JSON

/// What the App Store Server API says when it refuses.
package struct ErrorPayload: DecodedPayload {
  package let json: JSONObject

  /// See ``APIErrorCode``.
  package let errorCode: Int64?
  package let errorMessage: String?

  package init(json: JSONObject) throws(PayloadError) {
    let reader = PayloadReader(json: json)
    self.json = json
    errorCode = try reader.integer("errorCode")
    errorMessage = try reader.string("errorMessage")
  }
}
