package import AppStore
internal import JSON

// A notification says where it belongs, and to which app, in the one part that its type calls for.
extension ResponseBodyV2DecodedPayload: SignedPayload {
  package var signing: (member: String, date: Instant?) { ("signedDate", signedDate) }

  package var origin: SignedPayloadOrigin {
    if let data { return origin(data.environment, of: data, "data") }
    if let summary { return origin(summary.environment, of: summary, "summary") }
    if let appData { return origin(appData.environment, of: appData, "appData") }
    if let unclaimInfo { return origin(unclaimInfo.environment, of: unclaimInfo, "unclaimInfo") }
    guard let externalPurchaseToken else { return .missing(member: "data") }
    // Apple says it in no other way than by the token's name.
    return externalPurchaseToken.environment.map(SignedPayloadOrigin.known)
      ?? .missing(member: "externalPurchaseToken.externalPurchaseId")
  }

  package var app: SignedPayloadApp {
    if let data { return .bundleAndNumber(data.bundleId, data.appAppleId) }
    if let summary { return .bundleAndNumber(summary.bundleId, summary.appAppleId) }
    if let appData { return .bundleAndNumber(appData.bundleId, appData.appAppleId) }
    if let unclaimInfo { return .bundleAndNumber(unclaimInfo.bundleId, unclaimInfo.appAppleId) }
    return .bundleAndNumber(externalPurchaseToken?.bundleId, externalPurchaseToken?.appAppleId)
  }

  private func origin(
    _ environment: Environment?, of part: some DecodedPayload, _ name: String
  ) -> SignedPayloadOrigin {
    SignedPayloadOrigin(environment, in: part.json, "environment", path: "\(name).environment")
  }
}
