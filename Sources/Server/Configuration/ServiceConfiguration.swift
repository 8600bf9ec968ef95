package import AppStore
package import Entitlements
package import SignedData

/// All that the operator's file says.
package struct ServiceConfiguration: Hashable, Sendable {
  /// The apps, in the order of their names.
  package let apps: [AppConfiguration]
  /// Roots to trust beside Apple's.
  package let roots: [TrustedRoot]
  /// How entitlement tokens are made; `nil`: none are.
  package let tokens: TokenConfiguration?
  /// How the logs look.
  package let log: LogConfiguration
  /// After how many days evidence loses its body; empty: all of it is kept.
  package let retention: [RetainedEvidence: Int]
  /// Who may call.
  package let callers: CallerConfiguration
  /// An identity provider whose tokens are believed; `nil`: none.
  package let tokenIssuer: TokenIssuerConfiguration?
  /// How the ports are spoken to, and what callers may ask of them.
  package let listeners: ListenersConfiguration

  /// The apps as a catalog.
  package var catalog: Catalog { Catalog(apps.map(\.definition)) }
}

/// One app: what the service has to know of it, and what its sandbox App Store sells it for.
package struct AppConfiguration: Hashable, Sendable {
  /// What decides about entitlements.
  package let definition: AppDefinition
  /// By product id; for the products of which the file says something of this kind.
  package let terms: [String: SaleTerms]
  /// What signs offers and calls of Apple's API; `nil`: nothing does.
  package let key: InAppPurchaseKey?
  /// Where the App Store Server API is, if not at Apple's own addresses.
  package let servers: [Environment: String]
  /// What notifications of version 1 are known by; `nil`: they are not believed.
  package let sharedSecret: SecretSource?
  /// Whether an offer is signed only for a customer whose history allows it.
  package let checksOfferEligibility: Bool
  /// Whether Apple is asked around the end of periods of which no notification told.
  package let pollsStatuses: Bool
  /// Whether gaps in what Apple delivers are found and filled.
  package let repairsGaps: Bool
  /// How often Apple is asked about every purchase, whatever was told; `nil`: never.
  package let fullPollInterval: Period?
  /// Whether certificates are asked for at their authority.
  package let onlineChecks: OnlineCheckPolicy
  /// How its legacy receipts are treated.
  package let receipts: ReceiptConfiguration
  /// Where events go out to.
  package let webhooks: [WebhookConfiguration]
  /// Where Apple's notifications go on to, as they came.
  package let forwardings: [WebhookConfiguration]
}

/// How the sandbox App Store sells a product. Nothing of it decides who is entitled.
package struct SaleTerms: Hashable, Sendable {
  /// In thousandths of the currency's unit, as Apple writes prices.
  package let price: Int64?
  /// An ISO 4217 code, such as `USD`.
  package let currency: String?
  /// The length of one paid period of an auto-renewable subscription.
  package let period: Period?
}

/// A root certificate that is trusted for one environment only.
package struct TrustedRoot: Hashable, Sendable {
  /// The one environment whose documents it may vouch for.
  package let environment: Environment
  /// A file with the certificate, in PEM or DER.
  package let path: String
}
