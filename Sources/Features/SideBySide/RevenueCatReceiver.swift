package import AppStore
package import CustomerImport
internal import Entitlements
package import Ledger
internal import SignedData
package import Store

/// The reason to refuse a webhook of RevenueCat's.
package enum RevenueCatRejection: Error, Hashable, Sendable {
  /// The path names no app that receives events.
  case unknownApp
  /// The header `authorization` is not the configured value.
  case unauthenticated
  /// A signing secret is configured, and the request has no header of a signature, or a malformed one.
  case unsigned
  /// The signature is not that of the body with the signing secret.
  case wrongSignature
  /// The signature is valid, but its time is too far from now.
  case staleSignature(Instant)
  /// The body has no event.
  case malformed(ImportError)
  /// The event is about an environment that the app does not have. RevenueCat must not send it again.
  case otherEnvironment(Environment)

  /// A stable code.
  package var reason: String {
    switch self {
    case .unknownApp: "UNKNOWN_APP"
    case .unauthenticated: "UNKNOWN_AUTHORIZATION"
    case .unsigned: "MISSING_SIGNATURE"
    case .wrongSignature: "INVALID_SIGNATURE"
    case .staleSignature: "STALE_SIGNATURE"
    case .malformed: "MALFORMED_MESSAGE"
    case .otherEnvironment: "OTHER_ENVIRONMENT"
    }
  }
}

extension RevenueCatRejection: CustomStringConvertible {
  package var description: String {
    switch self {
    case .unknownApp: "unknown app"
    case .unauthenticated: "the header authorization is not the configured value"
    case .unsigned:
      "the header x-revenuecat-webhook-signature is missing or is no signature; turn signing on for the webhook"
    case .wrongSignature: "the signature is not that of the body with the configured signing_secret"
    case .staleSignature(let time):
      "the signature of \(time) is more than five minutes from now; compare the clock of this machine with a time server"
    case .malformed(let error): error.description
    case .otherEnvironment(let environment): "not stored: the app has no environment \(environment.rawValue)"
    }
  }
}

/// Authenticates and stores RevenueCat's events. A replica that does not write authenticates too, and leaves
/// ``store(_:)`` to the leader.
package struct RevenueCatReceiver: Sendable {
  private let settings: CurrentRevenueCatSettings
  private let ledger: EvidenceLedger
  private let catalog: CurrentCatalog
  private let now: @Sendable () -> Instant

  /// The header of RevenueCat's signature, in lower case.
  package static let signatureHeader = "x-revenuecat-webhook-signature"

  /// Creates a receiver; `now` dates the events.
  package init(
    settings: CurrentRevenueCatSettings, ledger: EvidenceLedger, catalog: CurrentCatalog,
    now: @escaping @Sendable () -> Instant
  ) {
    self.settings = settings
    self.ledger = ledger
    self.catalog = catalog
    self.now = now
  }

  /// Authenticates and parses a webhook with the headers `authorization` and ``signatureHeader``.
  /// Nothing is stored. The headers are `nil` if the request lacks them; a signature is required only if a signing
  /// secret is configured.
  ///
  /// - Throws: the first reason that applies. The body is parsed only after it is authenticated.
  package func event(
    _ body: [UInt8], authorization: String?, signature: String?, of appID: String
  ) throws(RevenueCatRejection) -> ImportedEvent {
    guard let app = catalog.value[appID], let settings = settings[appID] else { throw .unknownApp }
    guard let authorization, settings.authorization.matches(authorization) else { throw .unauthenticated }
    let time = now()
    if let secret = settings.signingSecret {
      guard let signature = signature.flatMap(RevenueCatSignature.init) else { throw .unsigned }
      try signature.check(body, secret: secret, at: time)
    }
    let event: RevenueCatEvent
    do throws(ImportError) { event = try RevenueCatEvent(body) } catch { throw .malformed(error) }
    let imported = ImportedEvent(event, of: appID, receivedAt: time, body: body)
    guard app.environments.contains(imported.environment) else {
      throw .otherEnvironment(imported.environment)
    }
    return imported
  }

  /// Stores an event. Durable on return. An event with the id of a stored one changes nothing, because RevenueCat sends
  /// again what it got no answer to.
  package func store(_ event: ImportedEvent) async throws(LedgerError) -> Bool {
    try await ledger.append(event)
  }
}
