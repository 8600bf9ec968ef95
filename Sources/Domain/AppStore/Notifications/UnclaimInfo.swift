package import JSON

/// The seats of a group subscription that Apple released (Apple's `unclaimInfo`, 2.23).
package struct UnclaimInfo: DecodedPayload {
  package let json: JSONObject

  /// The app's number in the App Store; absent in the sandbox.
  package let appAppleId: Int64?
  package let bundleId: String?
  /// `nil` too for an environment that this version does not know.
  package let environment: Environment?
  /// The seat claims, as Claim Seat named them: whoever had these seats loses access.
  package let unclaimSeatIds: [String]?

  package init(json: JSONObject) throws(PayloadError) {
    let reader = PayloadReader(json: json)
    self.json = json
    appAppleId = try reader.integer("appAppleId")
    bundleId = try reader.string("bundleId")
    environment = try reader.environment("environment")
    unclaimSeatIds = try reader.strings("unclaimSeatIds")
  }
}
