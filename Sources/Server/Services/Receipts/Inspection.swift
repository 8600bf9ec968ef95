internal import AppStore
internal import Entitlements
internal import JSON
internal import SignedData
internal import Wire

/// Says what a document is, whether it is genuine, and what is in it. Remembers nothing.
struct Inspection: Sendable {
  private let verifier: SignedDataVerifier

  init(verifier: SignedDataVerifier) { self.verifier = verifier }

  /// Inspects a document of any kind, in every form in which it travels. `deviceIdentifier` is the device
  /// that a receipt should be for, empty if that is not asked.
  func inspect(_ document: [UInt8], deviceIdentifier: [UInt8], for app: AppDefinition) -> InspectResponse {
    let recognized: RecognizedDocument
    do throws(UnrecognizedDocument) {
      recognized = try RecognizedDocument(document)
    } catch {
      return InspectResponse(.unspecified, InspectionResult(error))
    }
    switch recognized {
    case .jws(let text): return SignedDocumentInspection(text, app: app, verifier: verifier).response()
    case .notificationV1(let body): return InspectResponse(body, for: app)
    case .appReceipt(let receipt):
      return AppReceiptInspection(receipt, app: app, verifier: verifier)
        .response(deviceIdentifier: deviceIdentifier)
    case .transactionReceipt(let receipt):
      return InspectResponse(transactionReceipt: receipt, for: app)
    }
  }
}

extension InspectResponse {
  /// What can be said of a document whose content is not known.
  init(_ kind: Wire.DocumentKind, _ verdict: InspectionResult) {
    self.init()
    self.kind = kind
    verified = verdict.isVerified
    reason = verdict.reason
    explanation = verdict.explanation
  }

  /// The same, and when the oldest answer about its certificates was given.
  func with(certificatesCheckedAt checked: Instant?) -> InspectResponse {
    var response = self
    response.certificatesCheckedAt = checked.map(GoogleProtobuf.Timestamp.init)
    return response
  }

  /// The same, but with a certificate that does not count any more.
  func with(revoked error: OnlineCheckError) -> InspectResponse {
    var response = self
    response.verified = false
    response.reason = error.reason
    response.explanation = error.description
    return response
  }

  /// A notification, version 1: nobody signed it, so the most that can be said is whether it is addressed
  /// to this app.
  fileprivate init(_ body: ResponseBodyV1, for app: AppDefinition) {
    self.init(.notificationV1, InspectionResult(body, for: app))
    var payload = body.json
    // Whoever knows the shared secret can make such notifications.
    if payload["password"] != nil { payload["password"] = "(not shown)" }
    payloadJson = payload.displayText
    bundleId = body.bid ?? ""
    environment = body.environment.map(Wire.Environment.init) ?? .unspecified
  }
}

extension JSONObject {
  /// The object for people to read.
  var displayText: String { String(decoding: serialized(pretty: true), as: UTF8.self) }
}
