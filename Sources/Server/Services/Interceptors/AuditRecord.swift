package import Telemetry

/// One call as it is written down: who, what, about whom, and what came of it. It holds nothing of documents and
/// tokens.
package struct AuditRecord: Hashable, Sendable {
  /// The operator's name of the caller; empty where everybody is let in or nobody was recognized.
  package let caller: String
  /// `/package.Service/Method`.
  package let method: String
  /// Whether it changes something; else it is written down because the service failed.
  package let isChange: Bool
  /// The apps that the request names.
  package let apps: [String]
  /// The customers that the request names.
  package let customers: [String]
  /// On whose behalf, as the request says.
  package let actor: String
  /// The name of gRPC's status code, such as `OK`.
  package let outcome: String
  /// What the caller was told of a failure, and what it was not told; empty for none.
  package let problem: String
  /// Where the call belongs.
  package let trace: TraceContext
}
