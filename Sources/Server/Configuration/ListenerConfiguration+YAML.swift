extension ListenersConfiguration {
  init(listeners: ConfigurationNode?, limits: ConfigurationNode?) throws(ConfigurationError) {
    let members = try listeners?.members(["grpc", "http"])
    grpc = try members?["grpc"].map(ListenerConfiguration.init) ?? .standard
    http = try members?["http"].map(ListenerConfiguration.init) ?? .standard
    var values: [LimitName: Int64] = [:]
    let named = try limits?.members(LimitName.allCases.map(\.rawValue))
    for limit in LimitName.allCases {
      guard let node = named?[limit.rawValue] else { continue }
      let value = try node.number()
      guard limit.range.contains(value) else {
        throw node.error("\(node.name) is not from \(limit.range.lowerBound) to \(limit.range.upperBound)")
      }
      values[limit] = value
    }
    self.limits = values
  }
}

extension ListenerConfiguration {
  fileprivate init(_ node: ConfigurationNode) throws(ConfigurationError) {
    let members = try node.members(["tls", "cleartext"])
    tls = try members["tls"].map(TLSFiles.init)
    allowsCleartext = try members["cleartext"]?.flag() ?? false
    if tls != nil, allowsCleartext { throw node.error("\(node.name) has both tls and cleartext") }
  }
}

extension TLSFiles {
  fileprivate init(_ node: ConfigurationNode) throws(ConfigurationError) {
    let members = try node.members(["certificate", "key", "client_ca"])
    certificate = try members.required("certificate").path()
    key = try members.required("key").path()
    clientAuthorities = try members["client_ca"]?.path()
  }
}
