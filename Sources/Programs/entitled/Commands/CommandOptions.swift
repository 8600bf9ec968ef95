internal import AppStore
internal import ArgumentParser
internal import Configuration
internal import Entitlements
internal import Foundation
internal import Transport
internal import Wire

/// Selects the app of a command.
struct AppOption: ParsableArguments {
  @Option(help: "App id (default: ENTITLED_APP, or the only configured app).") var app: String?

  /// The id of the selected app. Without `--app` and `ENTITLED_APP`, it is the only app of the configuration that
  /// `ENTITLED_CONFIG` names, or of the demo configuration.
  ///
  /// - Throws: ``Failure`` with exit status 64 if several apps are configured.
  func id() throws -> String {
    if let app = app ?? ServerOption.environment("ENTITLED_APP") { return app }
    let ids: [String]
    do throws(ConfigurationError) {
      let file = ServerOption.environment("ENTITLED_CONFIG")
      ids = try ServiceConfiguration.load(path: file).apps.map(\.definition.id)
    } catch {
      throw Failure("no app selected: \(error); set --app or ENTITLED_APP", status: 64)
    }
    guard ids.count == 1 else {
      throw Failure(
        "several apps are configured (\(ids.joined(separator: ", "))); set --app or ENTITLED_APP", status: 64)
    }
    return ids[0]
  }
}

/// Selects the app and the App Store environment of a command.
struct ScopeOptions: ParsableArguments {
  @OptionGroup var app: AppOption

  @Option(help: "Production, Sandbox, Xcode or LocalTesting (default: the app's first environment).")
  var environment: String?

  /// The environment for a request; `.unspecified` selects the app's first one.
  func appEnvironment() throws -> Wire.Environment { try Self.appEnvironment(environment) }

  /// The environment with this name; `.unspecified` for `nil`.
  static func appEnvironment(_ name: String?) throws -> Wire.Environment {
    switch name {
    case nil: .unspecified
    case "Production": .production
    case "Sandbox": .sandbox
    case "Xcode": .xcode
    case "LocalTesting": .localTesting
    case let other?:
      throw Failure(
        "--environment takes Production, Sandbox, Xcode or LocalTesting, not '\(other)'", status: 64)
    }
  }
}

/// Parses times in options.
enum TimeOption {
  /// Parses an RFC 3339 time; `option` names the option in the error.
  static func parse(_ text: String?, _ option: String) throws -> GoogleProtobuf.Timestamp? {
    guard let text else { return nil }
    guard let instant = Instant(rfc3339: text) else {
      throw Failure("\(option) takes a time such as 2026-01-31T12:00:00Z, not '\(text)'", status: 64)
    }
    return GoogleProtobuf.Timestamp(millisecondsSince1970: instant.millisecondsSince1970)
  }
}

/// Reads a document argument: the text, `@FILE`, or `-` for the standard input.
enum Document {
  /// Returns a text document without surrounding white space.
  static func read(_ argument: String) throws -> String {
    String(decoding: try bytes(argument), as: UTF8.self).trimmingCharacters(in: .whitespacesAndNewlines)
  }

  /// Returns the bytes of a document, unchanged.
  static func bytes(_ argument: String) throws -> Data {
    if argument == "-" { return FileHandle.standardInput.readDataToEndOfFile() }
    guard argument.hasPrefix("@") else { return Data(argument.utf8) }
    let path = String(argument.dropFirst())
    guard let contents = FileManager.default.contents(atPath: path) else {
      throw Failure("cannot read '\(path)'")
    }
    return contents
  }
}

/// Formats names and values in two columns.
enum Table {
  /// Returns one line for each row that has a value.
  static func aligned(_ rows: [(String, String)]) -> String {
    let shown = rows.filter { !$0.1.isEmpty }
    let width = shown.map(\.0.count).max() ?? 0
    return shown.map { name, value in
      name + String(repeating: " ", count: width - name.count + 2) + value
    }.joined(separator: "\n")
  }
}

extension GoogleProtobuf.Timestamp? {
  /// RFC 3339; empty for `nil`.
  var text: String {
    self?.millisecondsSince1970.map { Instant(millisecondsSince1970: $0).description } ?? ""
  }
}

extension String {
  func droppingPrefix(_ prefix: String) -> String {
    hasPrefix(prefix) ? String(dropFirst(prefix.count)) : self
  }
}

/// A setting from an option, an environment variable or a default, in this order.
struct ServerOption {
  /// The option without dashes: `http` stands for `--http` and `ENTITLED_HTTP`.
  let flag: String
  let fallback: String

  static let grpc = ServerOption(flag: "grpc", fallback: "127.0.0.1:50051")
  static let http = ServerOption(flag: "http", fallback: "127.0.0.1:8080")
  static let sandbox = ServerOption(flag: "sandbox", fallback: "127.0.0.1:8090")
  static let data = ServerOption(flag: "data", fallback: "./data")

  var environmentVariable: String { "ENTITLED_\(flag.uppercased())" }

  func value(_ option: String?) -> String { option ?? Self.environment(environmentVariable) ?? fallback }

  /// The setting as an address.
  func address(_ option: String?) throws -> HostAndPort {
    let text = value(option)
    guard let address = HostAndPort(text) else {
      throw Failure("--\(flag) (\(environmentVariable)) takes ADDRESS:PORT, not '\(text)'", status: 64)
    }
    return address
  }

  /// The value of an environment variable; `nil` if it is unset or empty.
  static func environment(_ name: String) -> String? {
    ProcessInfo.processInfo.environment[name].flatMap { $0.isEmpty ? nil : $0 }
  }
}
