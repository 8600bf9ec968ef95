internal import Foundation
internal import Transport

/// A setting that a flag gives, or else an environment variable, or else a default.
struct ServerOption {
  /// The flag without its dashes: `--http` and `ENTITLED_HTTP` are the same setting.
  let flag: String
  let fallback: String

  static let grpc = ServerOption(flag: "grpc", fallback: "127.0.0.1:50051")
  static let http = ServerOption(flag: "http", fallback: "127.0.0.1:8080")
  static let sandbox = ServerOption(flag: "sandbox", fallback: "127.0.0.1:8090")
  static let data = ServerOption(flag: "data", fallback: "./data")

  var environmentVariable: String { "ENTITLED_\(flag.uppercased())" }

  func value(_ given: String?) -> String { given ?? Self.environment(environmentVariable) ?? fallback }

  /// The address that the setting names.
  func address(_ given: String?) throws -> HostAndPort {
    let text = value(given)
    guard let address = HostAndPort(text) else {
      throw Failure("--\(flag) (\(environmentVariable)) takes ADDRESS:PORT, not '\(text)'", status: 64)
    }
    return address
  }

  /// An environment variable that is set and not empty.
  static func environment(_ name: String) -> String? {
    ProcessInfo.processInfo.environment[name].flatMap { $0.isEmpty ? nil : $0 }
  }
}
