internal import Configuration
internal import Logging
internal import Transport

/// What the configuration says of the ports, as the transport wants it.
struct ListenerTLS: Sendable {
  let grpc: TLSIdentity?
  let http: TLSIdentity?

  /// Reads the certificates. A port that others than this machine reach is in the clear only if the
  /// configuration or `allowsCleartext` says so.
  init(_ configuration: ListenersConfiguration, _ settings: ServeSettings) throws {
    grpc = try Self.identity("grpc", configuration.grpc, settings.grpc, settings.allowsCleartext)
    http = try Self.identity("http", configuration.http, settings.http, settings.allowsCleartext)
  }

  /// Reads the certificates again; one that cannot be used leaves all of its port as it was.
  func reload(_ logger: Logger) {
    for (name, identity) in [("grpc", grpc), ("http", http)] {
      guard let identity else { continue }
      do throws(TLSError) {
        try identity.reload()
        logger.info("the certificate was read again", metadata: ["port": "\(name)"])
      } catch {
        logger.error("the certificate stays as it was", metadata: ["port": "\(name)", "error": "\(error)"])
      }
    }
  }

  private static func identity(
    _ name: String, _ port: ListenerConfiguration, _ address: HostAndPort, _ allowsCleartext: Bool
  ) throws -> TLSIdentity? {
    guard let files = port.tls else {
      guard address.isLoopback || port.allowsCleartext || allowsCleartext else {
        throw Failure(
          "\(name) would be in the clear on \(address), which others than this machine reach: "
            + "configure listeners.\(name).tls, or say that you want that with "
            + "listeners.\(name).cleartext: true or --cleartext")
      }
      return nil
    }
    do {
      return try TLSIdentity(
        TLSSettings(
          certificate: files.certificate, key: files.key, clientAuthorities: files.clientAuthorities))
    } catch {
      throw Failure("\(error)")
    }
  }
}

extension TransportLimits {
  /// The limits that the file names, and for the rest those that the program has.
  init(_ named: [LimitName: Int64]) {
    self.init()
    for (name, value) in named { set(name, value) }
  }

  private mutating func set(_ name: LimitName, _ value: Int64) {
    switch name {
    case .maxConnections: connections = Int(value)
    case .maxConcurrentStreams: streams = Int(value)
    case .headerBytes: headerBytes = Int(value)
    case .messageBytes: messageBytes = Int(value)
    case .bodyBytes: bodyBytes = Int(value)
    case .connectionBacklogBytes: connectionBacklogBytes = Int(value)
    case .controlFramesPerSecond: controlFrames = Int(value)
    case .handshakeTimeoutSeconds: times.handshake = value * 1_000
    case .requestTimeoutSeconds: times.request = value * 1_000
    case .idleTimeoutSeconds: times.idle = value * 1_000
    case .maxConnectionAgeSeconds: times.age = value * 1_000
    case .maxConnectionAgeGraceSeconds: times.ageGrace = value * 1_000
    case .keepaliveIntervalSeconds: times.keepalive = value * 1_000
    case .keepaliveTimeoutSeconds: times.keepaliveTimeout = value * 1_000
    case .stallTimeoutSeconds: times.stall = value * 1_000
    }
  }
}
