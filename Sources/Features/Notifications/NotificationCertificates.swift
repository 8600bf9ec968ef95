internal import AppStore
internal import Ledger
internal import SignedData

extension RecognizedDocument {
  /// A notification of version 2 and all that is signed inside it, not verified yet.
  static func all(inside signedPayload: String) -> [RecognizedDocument] {
    guard let jws = try? UnverifiedJWS(signedPayload),
      let payload = try? ResponseBodyV2DecodedPayload(json: jws.payload)
    else { return [.jws(signedPayload)] }
    let inside = [
      payload.data?.signedTransactionInfo, payload.data?.signedRenewalInfo,
      payload.appData?.signedAppTransactionInfo,
    ]
    return [.jws(signedPayload)] + inside.compactMap { $0.map(RecognizedDocument.jws) }
  }
}
