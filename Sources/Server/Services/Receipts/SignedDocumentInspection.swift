internal import AppStore
internal import Bytes
internal import Entitlements
internal import JSON
internal import SignedData
internal import Wire

/// A JWS of any kind under inspection: its verification result, and its contents even if it does not verify.
struct SignedDocumentInspection {
  private let text: String
  private let app: AppDefinition
  private let verifier: SignedDataVerifier
  private let environments: Set<AppStore.Environment>

  init(_ text: String, app: AppDefinition, verifier: SignedDataVerifier) {
    self.init(text, app: app, verifier: verifier, environments: Set(app.environments))
  }

  private init(
    _ text: String, app: AppDefinition, verifier: SignedDataVerifier,
    environments: Set<AppStore.Environment>
  ) {
    self.text = text
    self.app = app
    self.verifier = verifier
    self.environments = environments
  }

  /// The response about the document and the documents inside it.
  ///
  /// `expected` is the kind that its position requires; if it is `nil`, the payload determines the kind.
  func response(expecting expected: SignedDocumentKind? = nil) -> InspectResponse {
    let unverified: UnverifiedJWS
    do throws(VerificationError) {
      unverified = try UnverifiedJWS(text)
    } catch {
      return InspectResponse(.unspecified, InspectionResult(error))
    }
    let kind = expected ?? SignedDocumentKind(payload: unverified.payload)
    var response = response(of: kind, unverified.payload)
    response.payloadJson = unverified.payload.displayText
    response.certificates = unverified.certificates.map(CertificateSummary.init)
    return response
  }

  private func response(of kind: SignedDocumentKind?, _ payload: JSONObject) -> InspectResponse {
    switch kind {
    case .transaction: response(.signedTransaction, payload, JWSTransactionDecodedPayload.self)
    case .renewalInfo: response(.signedRenewalInfo, payload, JWSRenewalInfoDecodedPayload.self)
    case .appTransaction: response(.signedAppTransaction, payload, AppTransactionPayload.self)
    case .notification: notification(payload)
    case .retentionMessageRequest:
      response(.retentionMessageRequest, payload, DecodedRealtimeRequestBody.self)
    case nil: InspectResponse(.unknownJws, .unknownPayload)
    }
  }

  /// The response with the members that all payloads have, as far as the payload can be decoded.
  private func response<Payload: SignedPayload>(
    _ kind: Wire.DocumentKind, _ json: JSONObject, _: Payload.Type
  ) -> InspectResponse {
    var response = InspectResponse(kind, verdict(as: Payload.self))
    guard let payload = try? Payload(json: json) else { return response }
    response.bundleId = payload.app.bundle ?? ""
    if case .known(let environment) = payload.origin { response.environment = .init(environment) }
    response.signedDate = payload.signing.date.map(GoogleProtobuf.Timestamp.init)
    return response
  }

  /// Verifies the document as a submission would: its contents must suffice for a fact too.
  private func verdict<Payload: SignedPayload>(as _: Payload.Type) -> InspectionResult {
    do throws(VerificationError) {
      let verified: Verified<Payload> = try verifier.verify(
        text, for: app.identity, environments: environments)
      if let fault = FactError.found(in: verified.payload) { return InspectionResult(fault) }
      return .verified(by: verified.signer)
    } catch {
      return InspectionResult(error)
    }
  }

  /// A notification verifies if each document inside it does.
  private func notification(_ json: JSONObject) -> InspectResponse {
    var response = response(.notificationV2, json, ResponseBodyV2DecodedPayload.self)
    guard let payload = try? ResponseBodyV2DecodedPayload(json: json) else { return response }
    var inner = environments
    if case .known(let environment) = payload.origin { inner.formIntersection([environment]) }
    let documents: [(String, SignedDocumentKind, String?)] = [
      ("signedTransactionInfo", .transaction, payload.signedTransactionInfo),
      ("signedRenewalInfo", .renewalInfo, payload.signedRenewalInfo),
      ("signedAppTransactionInfo", .appTransaction, payload.signedAppTransactionInfo),
    ]
    for case (let member, let kind, let text?) in documents {
      let found = Self(text, app: app, verifier: verifier, environments: inner).response(expecting: kind)
      response.documents.append(InspectedDocument(found))
      guard response.verified, !found.verified else { continue }
      response.verified = false
      response.reason = found.reason
      response.explanation = "in its \(member), \(found.explanation)"
    }
    return response
  }
}

extension SignedPayloadApp {
  /// The bundle id; `nil` if the payload has none.
  fileprivate var bundle: String? {
    switch self {
    case .bundle(let bundle), .bundleAndNumber(let bundle, _): bundle
    case .number, .unnamed: nil
    }
  }
}

extension InspectedDocument {
  fileprivate init(_ response: InspectResponse) {
    self.init()
    kind = response.kind
    verified = response.verified
    reason = response.reason
    explanation = response.explanation
    payloadJson = response.payloadJson
  }
}

extension CertificateSummary {
  init(_ certificate: Certificate) {
    self.init()
    subject = certificate.subject
    issuer = certificate.issuer
    notBefore = GoogleProtobuf.Timestamp(certificate.notBefore)
    notAfter = GoogleProtobuf.Timestamp(certificate.notAfter)
    sha256 = Hex.encode(certificate.fingerprint())
  }
}
