package import Configuration
package import Ledger
package import Logging
package import NIOCore
package import Platform
package import SignedData
package import Transport

/// A sandbox that runs in the process of the service: what the service needs of it.
package struct EmbeddedSandbox: Sendable {
  /// The clock that the environment `Sandbox` follows.
  let clock: ServiceClock
  /// The roots of its certificates.
  let roots: [Certificate]
  /// Open before the service, which calls it in place of Apple.
  let listener: Listener
  /// The loop that advances it.
  let worker: any Worker
  /// Lets its pages show the answers of the service, which is composed after it.
  let showAnswers: @Sendable (SandboxAnswerReader) -> Void

  /// Creates it from its parts.
  package init(
    clock: ServiceClock, roots: [Certificate], listener: Listener, worker: any Worker,
    showAnswers: @escaping @Sendable (SandboxAnswerReader) -> Void
  ) {
    (self.clock, self.roots, self.listener, self.worker) = (clock, roots, listener, worker)
    self.showAnswers = showAnswers
  }

  /// The URL under which the service calls it.
  var baseURL: String { "http://\(listener.address)" }
}

/// Opens the sandbox of a program that contains one. The composition of the service names no type of the sandbox, so
/// that `entitled-service` is built without it.
package protocol SandboxEmbedding: Sendable {
  /// Opens a sandbox with the apps of `configuration`, and its listener, whose peers share the account `held` with those of
  /// the service. Its state is in the data directory `data`.
  ///
  /// - Throws: ``Failure`` if the state cannot be used or the address is taken.
  func open(
    _ configuration: ServiceConfiguration, data: String, on group: any EventLoopGroup, maxConnections: Int,
    held: PeerBytes, logger: Logger
  ) async throws -> EmbeddedSandbox
}
