internal import AppStore
internal import CommandSupport
internal import Configuration
internal import Logging
internal import Services
internal import Transport

/// The TLS identities of the listeners.
struct ListenerTLS: Sendable {
  /// `nil` for a listener without TLS; so are the others.
  let grpc: TLSIdentity?
  let http: TLSIdentity?
  let console: TLSIdentity?

  /// Reads the certificates.
  init(_ configuration: ListenersConfiguration, _ settings: ServeSettings) throws {
    grpc = try Self.identity(configuration.grpc)
    http = try Self.identity(configuration.http)
    console = try settings.console.flatMap { _ in try Self.identity(configuration.console.listener) }
  }

  /// - Throws: ``Failure`` if a listener is cleartext on an address that other machines can reach, unless the
  ///   configuration or the settings allow it.
  static func refuseCleartext(_ configuration: ListenersConfiguration, _ settings: ServeSettings) throws {
    guard !settings.allowsCleartext else { return }
    var listeners = [
      ("grpc", configuration.grpc, settings.grpc), ("http", configuration.http, settings.http),
    ]
    if let address = settings.console {
      listeners.append(("console", configuration.console.listener, address))
    }
    for (name, listener, address) in listeners
    where listener.tls == nil && !address.isLoopback && !listener.allowsCleartext {
      throw Failure(
        "the \(name) listener has no TLS, and \(address) is reachable from other machines; "
          + "set listeners.\(name).tls, or allow cleartext with "
          + "listeners.\(name).cleartext: true or --cleartext")
    }
  }

  /// The listeners with TLS, by name.
  private var identities: [(listener: String, identity: TLSIdentity)] {
    [("grpc", grpc), ("http", http), ("console", console)].compactMap { name, identity in
      identity.map { (name, $0) }
    }
  }

  /// The ends of the certificates in use.
  var certificateEnds: [ServiceInformation.CertificateEnd] {
    identities.compactMap { name, identity in
      identity.end.map { end in
        ServiceInformation.CertificateEnd(
          "listener \(name)", endsAt: Instant(millisecondsSince1970: end * 1_000))
      }
    }
  }

  /// Reloads the certificates. On an error, the listener keeps its current certificate. Connections keep theirs.
  func reload(_ logger: Logger) {
    for (name, identity) in identities {
      do throws(TLSError) {
        try identity.reload()
        logger.info("certificate reloaded", metadata: ["listener": "\(name)"])
      } catch {
        logger.error(
          "reload of certificate failed, keeping the current one",
          metadata: ["listener": "\(name)", "error": "\(error)"])
      }
    }
  }

  /// Reads the files of a listener; `nil` without TLS.
  private static func identity(_ listener: ListenerConfiguration) throws -> TLSIdentity? {
    guard let files = listener.tls else { return nil }
    do {
      return try TLSIdentity(TLSSettings(files))
    } catch {
      throw Failure("\(error)")
    }
  }
}

extension TLSSettings {
  /// The configured files of a listener.
  init(_ files: TLSFiles) {
    self.init(certificate: files.certificate, key: files.key, clientAuthorities: files.clientAuthorities)
  }
}

extension TransportLimits {
  /// The configured limits; the others keep their defaults.
  init(_ configured: [LimitName: Int64]) {
    self.init()
    for (name, value) in configured { set(name, value) }
  }

  /// Applies a limit to the transport; limits of other parts have no effect here. Times are configured in seconds and
  /// kept in milliseconds.
  private mutating func set(_ name: LimitName, _ value: Int64) {
    switch name {
    case .maxConnections: connections = Int(value)
    case .maxUnusedConnectionsPerSecond: unusedConnections = Int(value)
    case .maxConcurrentStreams: streams = Int(value)
    case .headerBytes: headerBytes = Int(value)
    case .messageBytes: messageBytes = Int(value)
    case .bodyBytes: bodyBytes = Int(value)
    case .connectionBacklogBytes: connectionBacklogBytes = Int(value)
    case .maxUnreadResponseBytes: unreadResponseBytes = Int(value)
    case .maxIncompleteRequestBytes: incompleteRequestBytes = Int(value)
    case .controlFramesPerSecond: controlFrames = Int(value)
    case .handshakeTimeoutSeconds: times.handshake = value * 1_000
    case .requestTimeoutSeconds: times.request = value * 1_000
    case .idleTimeoutSeconds: times.idle = value * 1_000
    case .maxConnectionAgeSeconds: times.age = value * 1_000
    case .maxConnectionAgeGraceSeconds: times.ageGrace = value * 1_000
    case .keepaliveIntervalSeconds: times.keepalive = value * 1_000
    case .keepaliveTimeoutSeconds: times.keepaliveTimeout = value * 1_000
    case .stallTimeoutSeconds: times.stall = value * 1_000
    // Limits of the store, of endpoints and of methods.
    case .maxRejectedBytesPerDay, .maxUploadBytes, .maxRejectedPostsPerSecond, .maxDeviceSyncsPerSecond,
      .maxVerifyReceiptsPerSecond, .maxWatchStreamsPerCaller:
      break
    }
  }
}
