/// What the operator says about the ports: how they are spoken to, and what callers may ask of them.
package struct ListenersConfiguration: Hashable, Sendable {
  /// The port of gRPC.
  package let grpc: ListenerConfiguration
  /// The edge: JSON, notifications, health.
  package let http: ListenerConfiguration
  /// What both ports bound. Only what the file names; the rest is as the program has it.
  package let limits: [LimitName: Int64]

  static let standard = ListenersConfiguration(grpc: .standard, http: .standard, limits: [:])
}

/// One port.
package struct ListenerConfiguration: Hashable, Sendable {
  /// `nil`: in the clear.
  package let tls: TLSFiles?
  /// Whether it may be in the clear on an address that others than this machine reach.
  package let allowsCleartext: Bool

  static let standard = ListenerConfiguration(tls: nil, allowsCleartext: false)
}

/// Where a listener finds what it needs for TLS, all in PEM.
package struct TLSFiles: Hashable, Sendable {
  /// The certificate, with those between it and its root behind it.
  package let certificate: String
  /// Its private key.
  package let key: String
  /// The authorities of callers' certificates; `nil`: callers are not asked for one.
  package let clientAuthorities: String?
}

/// The limits by their names in the file. Those that end in `seconds` are times, all others are numbers.
package enum LimitName: String, Hashable, Sendable, CaseIterable {
  case maxConnections = "max_connections"
  case maxConcurrentStreams = "max_concurrent_streams"
  case headerBytes = "header_bytes"
  case messageBytes = "message_bytes"
  case bodyBytes = "body_bytes"
  case connectionBacklogBytes = "connection_backlog_bytes"
  case controlFramesPerSecond = "control_frames_per_second"
  case handshakeTimeoutSeconds = "handshake_timeout_seconds"
  case requestTimeoutSeconds = "request_timeout_seconds"
  case idleTimeoutSeconds = "idle_timeout_seconds"
  case maxConnectionAgeSeconds = "max_connection_age_seconds"
  case maxConnectionAgeGraceSeconds = "max_connection_age_grace_seconds"
  case keepaliveIntervalSeconds = "keepalive_interval_seconds"
  case keepaliveTimeoutSeconds = "keepalive_timeout_seconds"
  case stallTimeoutSeconds = "stall_timeout_seconds"

  /// What the file may say.
  package var range: ClosedRange<Int64> {
    switch self {
    case .maxConnections: 1...10_000_000
    case .maxConcurrentStreams: 1...1_000_000
    case .headerBytes: 1_024...1_048_576
    case .messageBytes, .bodyBytes: 1_024...1_073_741_824
    case .connectionBacklogBytes: 65_536...17_179_869_184
    case .controlFramesPerSecond: 100...100_000_000
    case .handshakeTimeoutSeconds, .requestTimeoutSeconds, .idleTimeoutSeconds, .maxConnectionAgeSeconds,
      .maxConnectionAgeGraceSeconds,
      .keepaliveIntervalSeconds, .keepaliveTimeoutSeconds, .stallTimeoutSeconds:
      1...31_536_000
    }
  }
}
