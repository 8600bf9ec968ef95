internal import AppStore
internal import Entitlements
internal import JSON
internal import SignedData
internal import Wire

/// Says what a document is, whether it is genuine, and what is in it. Remembers nothing.
struct Inspection: Sendable {
  private let verifier: SignedDataVerifier

  init(verifier: SignedDataVerifier) { self.verifier = verifier }

  func inspect(_ document: String, for app: AppDefinition) -> InspectResponse {
    let unverified: UnverifiedJWS
    do throws(VerificationError) {
      unverified = try UnverifiedJWS(document)
    } catch {
      return Self.refusal(.unspecified, error)
    }
    var response = verdict(on: document, SignedDocumentKind(payload: unverified.payload), app)
    response.payloadJson = JSONValue.object(unverified.payload).text
    response.bundleId = unverified.payload["bundleId"]?.stringValue ?? ""
    response.environment = Self.environment(of: unverified.payload)
    let signedDate = unverified.payload["signedDate"] ?? unverified.payload["receiptCreationDate"]
    response.signedDate = signedDate?.int64Value.map { .init(millisecondsSince1970: $0) }
    return response
  }

  private func verdict(
    on document: String, _ kind: SignedDocumentKind?, _ app: AppDefinition
  ) -> InspectResponse {
    let environments = Set(app.environments)
    do throws(VerificationError) {
      switch kind {
      case .transaction:
        _ = try verifier.verifyTransaction(document, for: app.identity, environments: environments)
        return Self.verified(.signedTransaction)
      case .renewalInfo:
        _ = try verifier.verifyRenewalInfo(document, for: app.identity, environments: environments)
        return Self.verified(.signedRenewalInfo)
      case .appTransaction:
        _ = try verifier.verifyAppTransaction(document, for: app.identity, environments: environments)
        return Self.verified(.signedAppTransaction)
      case .notification: return Self.notYet(.notificationV2)
      case .retentionMessageRequest: return Self.notYet(.retentionMessageRequest)
      case nil: return Self.notYet(.unknownJws)
      }
    } catch {
      return Self.refusal(Wire.DocumentKind(kind), error)
    }
  }

  private static func verified(_ kind: Wire.DocumentKind) -> InspectResponse {
    .with {
      $0.kind = kind
      $0.verified = true
      $0.reason = "VERIFIED"
      $0.explanation = "The signature is Apple's or that of a root trusted by configuration."
    }
  }

  private static func refusal(_ kind: Wire.DocumentKind, _ error: VerificationError) -> InspectResponse {
    .with {
      $0.kind = kind
      $0.reason = error.reason
      $0.explanation = error.description
    }
  }

  private static func notYet(_ kind: Wire.DocumentKind) -> InspectResponse {
    .with {
      $0.kind = kind
      $0.reason = "UNSUPPORTED_DOCUMENT"
      $0.explanation = "This version does not verify documents of this kind."
    }
  }

  private static func environment(of payload: JSONObject) -> Wire.Environment {
    let name = payload["environment"]?.stringValue ?? payload["receiptType"]?.stringValue
    return name.flatMap(AppStore.Environment.init).map(Wire.Environment.init) ?? .unspecified
  }
}

extension Wire.DocumentKind {
  fileprivate init(_ kind: SignedDocumentKind?) {
    switch kind {
    case .transaction: self = .signedTransaction
    case .renewalInfo: self = .signedRenewalInfo
    case .appTransaction: self = .signedAppTransaction
    case .notification: self = .notificationV2
    case .retentionMessageRequest: self = .retentionMessageRequest
    case nil: self = .unknownJws
    }
  }
}
