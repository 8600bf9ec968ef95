internal import Foundation
package import Transport

/// A setting from an option, an environment variable or a default, in this order.
package struct ServerOption {
  /// The option without dashes: `http` stands for `--http` and `ENTITLED_HTTP`.
  package let flag: String
  /// The default; `off` for a listener that is turned off.
  package let fallback: String

  /// The listener of gRPC.
  package static let grpc = ServerOption(flag: "grpc", fallback: "127.0.0.1:50051")
  /// The listener of plain HTTP: Apple's notifications, JSON calls, health and metrics.
  package static let http = ServerOption(flag: "http", fallback: "127.0.0.1:8080")
  /// The embedded App Store simulator.
  package static let sandbox = ServerOption(flag: "sandbox", fallback: "127.0.0.1:8090")
  /// The pages for people.
  package static let console = ServerOption(flag: "console", fallback: "off")
  /// The data directory.
  package static let data = ServerOption(flag: "data", fallback: "./data")

  /// The variable that is read without the option, such as `ENTITLED_HTTP`.
  package var environmentVariable: String { "ENTITLED_\(flag.uppercased())" }

  /// The option of the command line; without it the environment variable, and without both the default.
  package func value(_ option: String?) -> String {
    option ?? Self.environment(environmentVariable) ?? fallback
  }

  /// The setting as an address.
  ///
  /// - Throws: ``Failure`` with exit status 64 for another text, also `off`.
  package func address(_ option: String?) throws(Failure) -> HostAndPort {
    let text = value(option)
    guard let address = HostAndPort(text) else {
      throw Failure("--\(flag) (\(environmentVariable)) takes ADDRESS:PORT, not '\(text)'", status: 64)
    }
    return address
  }

  /// The value of an environment variable; `nil` if it is unset or empty.
  package static func environment(_ name: String) -> String? {
    ProcessInfo.processInfo.environment[name].flatMap { $0.isEmpty ? nil : $0 }
  }
}
