internal import AppStore
internal import Entitlements
internal import JSON
internal import SignedData
internal import Wire

/// Determines the kind of a document, verifies it, and returns its contents. Stores nothing.
struct Inspection: Sendable {
  private let verifier: SignedDataVerifier

  init(verifier: SignedDataVerifier) { self.verifier = verifier }

  /// Inspects a document of any kind and encoding. `deviceIdentifier` is the device that a receipt should be
  /// for; if it is empty, it is not compared.
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
  /// The response for a document without decoded contents.
  init(_ kind: Wire.DocumentKind, _ verdict: InspectionResult) {
    self.init()
    self.kind = kind
    verified = verdict.isVerified
    reason = verdict.reason
    explanation = verdict.explanation
  }

  /// The response with the age of the oldest OCSP response about the document's certificates.
  func with(certificatesCheckedAt checked: Instant?) -> InspectResponse {
    var response = self
    response.certificatesCheckedAt = checked.map(GoogleProtobuf.Timestamp.init)
    return response
  }

  /// The response with the reason for which an online check rejected a certificate.
  func with(revoked error: OnlineCheckError) -> InspectResponse {
    var response = self
    response.verified = false
    response.reason = error.reason
    response.explanation = error.description
    return response
  }

  /// A version 1 notification. It is unsigned, so only its bundle id can be checked.
  fileprivate init(_ body: ResponseBodyV1, for app: AppDefinition) {
    self.init(.notificationV1, InspectionResult(body, for: app))
    var payload = body.json
    // The shared secret would let its holder forge notifications.
    if payload["password"] != nil { payload["password"] = "(not shown)" }
    payloadJson = payload.displayText
    bundleId = body.bid ?? ""
    environment = body.environment.map(Wire.Environment.init) ?? .unspecified
  }
}
