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
  /// The body has no event.
  case malformed(ImportError)
  /// The event is about an environment that the app does not have. RevenueCat must not send it again.
  case otherEnvironment(Environment)

  /// A stable code.
  package var reason: String {
    switch self {
    case .unknownApp: "UNKNOWN_APP"
    case .unauthenticated: "UNKNOWN_AUTHORIZATION"
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
    case .malformed(let error): error.description
    case .otherEnvironment(let environment): "not stored: the app has no environment \(environment.rawValue)"
    }
  }
}

/// Authenticates and stores RevenueCat's events.
package struct RevenueCatReceiver: Sendable {
  private let settings: CurrentRevenueCatSettings
  private let ledger: EvidenceLedger
  private let catalog: CurrentCatalog
  private let now: @Sendable () -> Instant

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

  /// Authenticates and parses a webhook.
  package func event(
    _ body: [UInt8], authorization: String?, of appID: String
  ) throws(RevenueCatRejection) -> ImportedEvent {
    guard let app = catalog.value[appID], let settings = settings[appID] else { throw .unknownApp }
    guard let authorization, settings.authorization.matches(authorization) else { throw .unauthenticated }
    let event: RevenueCatEvent
    do throws(ImportError) { event = try RevenueCatEvent(body) } catch { throw .malformed(error) }
    let imported = ImportedEvent(event, of: appID, receivedAt: now(), body: body)
    guard app.environments.contains(imported.environment) else {
      throw .otherEnvironment(imported.environment)
    }
    return imported
  }

  /// Stores an event. Durable on return.
  ///
  /// - Returns: whether the event is new.
  /// - Throws: ``LedgerError/store(_:)``.
  package func store(_ event: ImportedEvent) async throws(LedgerError) -> Bool {
    try await ledger.append(event)
  }
}
