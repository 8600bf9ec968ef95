/// The sections `listeners` and `limits`.
package struct ListenersConfiguration: Hashable, Sendable {
  /// The listener of gRPC and Connect.
  package let grpc: ListenerConfiguration
  /// The edge listener: JSON, notifications, health.
  package let http: ListenerConfiguration
  /// The console's listener.
  package let console: ConsoleConfiguration
  /// The host names of the sandbox's listener besides `localhost`.
  package let sandboxHosts: [String]
  /// The hosts to which the sandbox sends notifications, besides this machine.
  package let sandboxTargets: [String]
  /// The configured limits; the others keep their defaults.
  package let limits: [LimitName: Int64]

  /// The settings without the sections: cleartext for this machine only, and all limits by default.
  static let standard = ListenersConfiguration(
    grpc: .standard, http: .standard, console: .standard, sandboxHosts: [], sandboxTargets: [], limits: [:])
}

/// The settings of one listener.
package struct ListenerConfiguration: Hashable, Sendable {
  /// `nil` means cleartext.
  package let tls: TLSFiles?
  /// Whether cleartext is allowed on an address that other machines can reach.
  package let allowsCleartext: Bool
  /// The host names of the listener besides `localhost`.
  package let allowedHosts: [String]
  /// Whether the edge has customers in the form of RevenueCat's API.
  package let servesSubscribers: Bool

  /// Cleartext on a loopback address only.
  static let standard = ListenerConfiguration(
    tls: nil, allowsCleartext: false, allowedHosts: [], servesSubscribers: false)
}

/// The TLS files of a listener, all PEM.
package struct TLSFiles: Hashable, Sendable {
  /// The certificate, followed by its intermediate certificates.
  package let certificate: String
  /// Its private key.
  package let key: String
  /// The authorities of client certificates; `nil` requests none.
  package let clientAuthorities: String?
}

/// The limits, with their keys in the file.
package enum LimitName: String, Hashable, Sendable, CaseIterable {
  case maxConnections = "max_connections"
  case maxUnusedConnectionsPerSecond = "max_unused_connections_per_second"
  case maxConcurrentStreams = "max_concurrent_streams"
  case headerBytes = "header_bytes"
  case messageBytes = "message_bytes"
  case bodyBytes = "body_bytes"
  case connectionBacklogBytes = "connection_backlog_bytes"
  case maxUnreadResponseBytes = "max_unread_response_bytes"
  case maxIncompleteRequestBytes = "max_incomplete_request_bytes"
  case controlFramesPerSecond = "control_frames_per_second"
  case handshakeTimeoutSeconds = "handshake_timeout_seconds"
  case requestTimeoutSeconds = "request_timeout_seconds"
  case idleTimeoutSeconds = "idle_timeout_seconds"
  case maxConnectionAgeSeconds = "max_connection_age_seconds"
  case maxConnectionAgeGraceSeconds = "max_connection_age_grace_seconds"
  case keepaliveIntervalSeconds = "keepalive_interval_seconds"
  case keepaliveTimeoutSeconds = "keepalive_timeout_seconds"
  case stallTimeoutSeconds = "stall_timeout_seconds"
  case maxRejectedBytesPerDay = "max_rejected_bytes_per_day"
  case maxUploadBytes = "max_upload_bytes"
  case maxRejectedPostsPerSecond = "max_rejected_posts_per_second"
  case maxDeviceSyncsPerSecond = "max_device_syncs_per_second"
  case maxVerifyReceiptsPerSecond = "max_verify_receipts_per_second"
  case maxWatchStreamsPerCaller = "max_watch_streams_per_caller"

  /// The allowed values.
  package var range: ClosedRange<Int64> {
    switch self {
    case .maxConnections: 1...10_000_000
    case .maxUnusedConnectionsPerSecond: 1...10_000_000
    case .maxConcurrentStreams, .maxWatchStreamsPerCaller: 1...1_000_000
    case .headerBytes: 1_024...1_048_576
    case .messageBytes, .bodyBytes: 1_024...1_073_741_824
    case .connectionBacklogBytes: 65_536...17_179_869_184
    case .maxUnreadResponseBytes, .maxIncompleteRequestBytes, .maxUploadBytes: 1_048_576...1_099_511_627_776
    case .controlFramesPerSecond: 100...100_000_000
    case .maxRejectedBytesPerDay: 0...1_099_511_627_776
    case .maxRejectedPostsPerSecond, .maxDeviceSyncsPerSecond, .maxVerifyReceiptsPerSecond: 1...1_000_000
    case .handshakeTimeoutSeconds, .requestTimeoutSeconds, .idleTimeoutSeconds, .maxConnectionAgeSeconds,
      .maxConnectionAgeGraceSeconds,
      .keepaliveIntervalSeconds, .keepaliveTimeoutSeconds, .stallTimeoutSeconds:
      1...31_536_000
    }
  }
}

extension ListenersConfiguration {
  /// Parses the two sections. Values outside ``LimitName/range`` are errors.
  init(listeners: ConfigurationNode?, limits: ConfigurationNode?) throws(ConfigurationError) {
    let members = try listeners?.members(["grpc", "http", "sandbox", "console"])
    grpc = try members?.listener("grpc", ["tls", "cleartext"]) ?? .standard
    http =
      try members?.listener("http", ["tls", "cleartext", "allowed_hosts", "subscriber_api"]) ?? .standard
    console = try members?.part(members?["console"].map(ConsoleConfiguration.init)) ?? .standard
    let sandbox = try members?.part(members?["sandbox"]?.members(["allowed_hosts", "allowed_targets"]))
    sandboxHosts = try sandbox?.part(sandbox?["allowed_hosts"]?.texts()) ?? []
    sandboxTargets = try sandbox?.part(sandbox?["allowed_targets"]?.texts()) ?? []
    var values: [LimitName: Int64] = [:]
    let named = try limits?.members(LimitName.allCases.map(\.rawValue))
    for limit in LimitName.allCases {
      guard let node = named?[limit.rawValue] else { continue }
      values[limit] = try node.part(node.number(in: limit.range))
    }
    self.limits = values
  }
}

extension ConfigurationNode.Members {
  /// Parses the listener `name`, which has the keys `known`; `nil` without one.
  fileprivate func listener(
    _ name: String, _ known: [String]
  ) throws(ConfigurationError) -> ListenerConfiguration? {
    guard let node = self[name] else { return nil }
    return try part(ListenerConfiguration(node, known))
  }
}

extension ListenerConfiguration {
  /// Parses a listener that has the keys `names`. TLS and cleartext exclude each other.
  init(_ node: ConfigurationNode, _ names: [String]) throws(ConfigurationError) {
    let members = try node.members(names)
    tls = try members.part(members["tls"].map(TLSFiles.init))
    allowsCleartext = try members.part(members["cleartext"]?.flag()) ?? false
    allowedHosts = try members.part(members["allowed_hosts"]?.texts()) ?? []
    servesSubscribers = try members.part(members["subscriber_api"]?.flag()) ?? false
    if tls != nil, allowsCleartext { try node.report("\(node.name) has both tls and cleartext") }
  }
}

extension TLSFiles {
  /// Parses `certificate` and `key`, which are required, and `client_ca`. The program reads the files, and again at
  /// each reload.
  fileprivate init(_ node: ConfigurationNode) throws(ConfigurationError) {
    let members = try node.members(["certificate", "key", "client_ca"])
    try members.require("certificate", "key")
    certificate = try members.required("certificate").path()
    key = try members.required("key").path()
    clientAuthorities = try members["client_ca"]?.path()
  }
}
