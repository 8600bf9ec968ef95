package import AppStore
package import JSON
internal import Synchronization

/// The facts about the process and its configuration that the services report.
package final class ServiceInformation: Sendable {
  /// A configuration that was loaded.
  package struct LoadedConfiguration: Sendable {
    /// The configuration without secrets.
    package let document: JSONObject
    /// The path of the file; `nil` for the demo configuration.
    package let path: String?
    /// When the configuration took effect, by the system's clock.
    package let loadedAt: Instant
    /// The sections and settings that apply from the next start on, such as `limits` or `apps.sea.receipts`.
    package let pendingRestart: [String]

    package init(document: JSONObject, path: String?, loadedAt: Instant, pendingRestart: [String]) {
      self.document = document
      self.path = path
      self.loadedAt = loadedAt
      self.pendingRestart = pendingRestart
    }
  }

  /// A certificate that the process uses, with its end.
  package struct CertificateEnd: Sendable {
    /// Its purpose, such as `listener grpc`.
    package let use: String
    /// The end of the validity (`notAfter`).
    package let endsAt: Instant

    /// Creates the end of a certificate that is used for `use`.
    package init(_ use: String, endsAt: Instant) {
      (self.use, self.endsAt) = (use, endsAt)
    }
  }

  /// The version of the program.
  let version: String
  /// When the process started, by the system's clock.
  let startedAt: Instant
  /// The certificates in use, which a reload replaces.
  let certificates: @Sendable () -> [CertificateEnd]
  private let loaded: Mutex<LoadedConfiguration>

  /// - Parameters:
  ///   - version: the version of the program.
  ///   - startedAt: when the process started, by the system's clock.
  ///   - configuration: the configuration in force.
  ///   - certificates: the certificates in use.
  package init(
    version: String, startedAt: Instant, configuration: LoadedConfiguration,
    certificates: @escaping @Sendable () -> [CertificateEnd]
  ) {
    self.version = version
    self.startedAt = startedAt
    self.certificates = certificates
    loaded = Mutex(configuration)
  }

  /// The configuration in force.
  var configuration: LoadedConfiguration { loaded.withLock { $0 } }

  /// Records that another configuration is in force.
  package func adopt(_ configuration: LoadedConfiguration) { loaded.withLock { $0 = configuration } }
}
