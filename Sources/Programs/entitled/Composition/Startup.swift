internal import AppStore
internal import Callers
internal import CommandSupport
internal import Configuration
internal import Entitlements
internal import Foundation
internal import Ledger
internal import Platform
internal import PostgreSQL
internal import PostgresStore
internal import SQLStore
internal import SQLiteStore
internal import Services
internal import SignedData
internal import Store
internal import Transport

/// Loads what the components need from files, and converts errors into a ``Failure``, whose text names the file and
/// what to do. Reloads use the same functions.
enum Startup {
  /// Loads the configuration; `nil` loads the demo configuration.
  ///
  /// - Throws: ``Failure`` with all errors of the file at once.
  static func configuration(file: String?) throws -> ServiceConfiguration {
    do throws(ConfigurationError) {
      return try ServiceConfiguration.load(path: file)
    } catch {
      let problems = file.map { ServiceConfiguration.check(inFile: $0).problems } ?? []
      let all = problems.isEmpty ? [error] : problems
      throw Failure(all.map(\.description).joined(separator: "\nentitled: "))
    }
  }

  /// Opens the store that the option names; without the option, the configured one.
  static func store(
    _ settings: ServeSettings, _ configuration: ServiceConfiguration
  ) throws -> any EntitlementStore {
    try store(at: settings.store, data: settings.data, replica: settings.replica, configuration)
  }

  /// Opens the store at an address; without one, the configured store: as a replica, or for this process alone.
  static func store(
    at address: String?, data: String, replica: ReplicaName? = nil, _ configuration: ServiceConfiguration
  ) throws -> any EntitlementStore {
    let limits = configuration.listeners.limits
    let configured = try storeConfiguration(address, configuration)
    if configured != .standard { try makeDataDirectory(data) }
    switch configured {
    case .sqlite(let path): return try store(in: path ?? data, limits: limits)
    case .postgres(let postgres): return try store(in: postgres, replica: replica, limits: limits)
    }
  }

  /// Creates the data directory of a store that is elsewhere: it has the installation's key and the sandbox's state.
  private static func makeDataDirectory(_ path: String) throws {
    do throws(PrivateDirectoryError) {
      _ = try PrivateDirectory(path, createsParents: true)
    } catch {
      throw Failure("cannot create the data directory '\(path)'")
    }
  }

  /// Opens the store in a PostgreSQL database, and creates its tables in an empty one.
  private static func store(
    in database: PostgresConfiguration, replica: ReplicaName?, limits: [LimitName: Int64]
  ) throws -> PostgresEntitlementStore {
    try checkPasswordFile(of: database)
    do throws(StoreError) {
      return try PostgresEntitlementStore(
        PostgresSettings(database), replica: replica,
        maxRejectedBytesPerDay: limits[.maxRejectedBytesPerDay]
          ?? BatchWriter.maxRejectedBytesPerDay,
        answerTimeout: .seconds(database.staleness.answerTimeoutSeconds),
        staleness: StalenessPolicy(database.staleness), now: SystemClock.now)
    } catch {
      throw Failure(error.description)
    }
  }

  /// Requires that the password's file may be used, if the database has one. The password is read at each new connection;
  /// one that is rotated later is not checked again, so that no mode ends the service.
  static func checkPasswordFile(of database: PostgresConfiguration) throws {
    guard let path = database.passwordFile else { return }
    do throws(PrivateKeyFileError) { try PasswordFile.check(path) } catch {
      throw Failure(error.description)
    }
  }

  /// The store of `address`, the value of `--store`; without it the configured one.
  static func storeConfiguration(
    _ address: String?, _ configuration: ServiceConfiguration
  ) throws -> StoreConfiguration {
    guard let address else { return configuration.store }
    do throws(ConfigurationError) {
      return try StoreConfiguration(address: address, option: "--store (ENTITLED_STORE)")
    } catch {
      throw Failure(error.description, status: 64)
    }
  }

  /// Opens the store, and creates one in a new directory. `limits` are those of the configuration.
  static func store(
    in directory: String, limits: [LimitName: Int64] = [:]
  ) throws -> SQLiteEntitlementStore {
    do {
      return try SQLiteEntitlementStore(
        directory: directory,
        maxRejectedBytesPerDay: limits[.maxRejectedBytesPerDay]
          ?? BatchWriter.maxRejectedBytesPerDay)
    } catch {
      throw Failure(error.description)
    }
  }

  /// The key of this installation: the configured one, or one in the data directory, which no backup of the store
  /// contains.
  static func installationKey(
    _ configuration: ErasureConfiguration, data: String
  ) throws -> InstallationKey {
    do throws(PrivateKeyFileError) {
      if let path = configuration.key { return try InstallationKey(readingFrom: path) }
      return try InstallationKey(creatingAt: "\(data)/entitled.key")
    } catch {
      throw Failure(error.description)
    }
  }

  /// Compares the key with that of the other replicas: hashes of idempotency keys and page tokens depend on it.
  ///
  /// - Throws: ``Failure`` for another key, and if the database does not answer.
  static func require(_ key: InstallationKey, in replication: any Replication) async throws {
    do throws(StoreError) {
      guard try await !replication.isInstallation(key.derived(for: "replicas")) else { return }
    } catch {
      throw Failure(error.description)
    }
    throw Failure(
      "the other processes of this database have another installation key; set erasures.key to the same file in all"
    )
  }

  /// The list of erasures.
  static func erasures(
    _ configuration: ErasureConfiguration, data: String, key: InstallationKey
  ) throws -> ErasureList {
    do throws(ErasureListError) {
      return try ErasureList(path: configuration.list ?? "\(data)/entitled.erasures", key: key)
    } catch {
      throw Failure(error.description)
    }
  }

  /// Opens the store of a stopped service, and does not create one.
  ///
  /// - Throws: ``Failure`` without a store, and for one that a running service has open.
  static func existingStore(in directory: String) throws -> SQLiteEntitlementStore {
    guard FileManager.default.fileExists(atPath: "\(directory)/entitled.sqlite") else {
      throw Failure("no store in '\(directory)'")
    }
    return try store(in: directory)
  }

  /// The verifier with Apple's roots, the configured roots and the sandbox's roots.
  ///
  /// - Throws: ``Failure`` for a root that is no certificate.
  static func verifier(
    _ configuration: ServiceConfiguration, sandbox: EmbeddedSandbox?
  ) throws -> SignedDataVerifier {
    var anchors: TrustAnchors
    do { anchors = try TrustAnchors.apple() } catch { throw Failure("\(error)") }
    for root in configuration.roots {
      anchors = anchors.adding(try certificate(root.path), for: root.environment)
    }
    if let sandbox {
      for root in sandbox.roots { anchors = anchors.adding(root, for: .sandbox) }
    }
    do { return try SignedDataVerifier(anchors: anchors) } catch { throw Failure("\(error)") }
  }

  /// The ends of the configured roots. Apple's are pinned by their keys.
  static func certificateEnds(
    _ configuration: ServiceConfiguration
  ) throws -> [ServiceInformation.CertificateEnd] {
    try configuration.roots.map { root in
      ServiceInformation.CertificateEnd(
        "trusted root \(root.environment.rawValue.lowercased())",
        endsAt: try certificate(root.path).notAfter)
    }
  }

  /// Reads a trusted root, PEM or DER.
  static func certificate(_ path: String) throws -> Certificate {
    guard let bytes = FileManager.default.contents(atPath: path) else {
      throw Failure("cannot read the trusted root '\(path)'; correct the path, or let the service read it")
    }
    do {
      return try Certificate(pem: String(decoding: bytes, as: UTF8.self))
    } catch {
      guard let certificate = try? Certificate(der: Array(bytes)) else {
        throw Failure("the trusted root '\(path)' is no certificate, neither in PEM nor in DER")
      }
      return certificate
    }
  }

  /// The callers that may call the service. `jwks` fetches the keys of the identity provider.
  ///
  /// - Throws: ``Failure`` if `callers` is not configured and an address is reachable from other machines.
  static func callerPolicy(
    _ configuration: ServiceConfiguration, at addresses: [HostAndPort], jwks: JWKSRefresher
  ) throws -> CallerPolicy {
    switch configuration.callers {
    case .open: return .open
    case .listed(let definitions):
      let issuer = try configuration.tokenIssuer.map { try tokenIssuer($0, jwks) }
      return .listed(CallerDirectory(definitions, issuer: issuer))
    case .unspecified:
      guard let exposed = addresses.first(where: { !$0.isLoopback }) else { return .open }
      throw Failure(
        "\(exposed) is reachable from other machines, and callers is not configured; "
          + "list the callers, or set callers: open to allow all callers")
    }
  }

  /// The identity provider with its keys: from a file now, or from a URL as soon as they are fetched. Until then it
  /// accepts no token.
  static func tokenIssuer(
    _ configuration: TokenIssuerConfiguration, _ jwks: JWKSRefresher
  ) throws -> TokenIssuer {
    switch configuration.keys {
    case .file(let path):
      guard let bytes = FileManager.default.contents(atPath: path) else {
        throw Failure(
          "cannot read the keys of the token_issuer in '\(path)'; correct the path, or let the service read it"
        )
      }
      do {
        return TokenIssuer(configuration.terms, keys: try JSONWebKeySet(parsing: Array(bytes)))
      } catch {
        throw Failure(
          "the keys of the token_issuer in '\(path)' are invalid: \(error); save the JSON Web Key Set of the "
            + "identity provider there")
      }
    case .url(let url):
      let issuer = TokenIssuer(configuration.terms, keys: jwks.keys(from: url)) { jwks.request() }
      jwks.begin(from: url, for: issuer)
      return issuer
    }
  }
}

extension StalenessPolicy {
  fileprivate init(_ configuration: PostgresConfiguration.Staleness) {
    self.init(
      maxStalenessMilliseconds: configuration.maxStalenessSeconds * 1_000,
      serveStaleForMilliseconds: configuration.serveStaleForSeconds * 1_000,
      isReadyWhileStale: configuration.isReadyWhileStale)
  }
}
