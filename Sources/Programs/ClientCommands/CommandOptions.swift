internal import AppStore
internal import ArgumentParser
internal import CommandSupport
internal import EntitledClient
internal import Foundation
internal import Transport
internal import Wire

/// Options that select the app of a command.
protocol AppSelection {
  /// The value of `--app`.
  var app: String? { get }
}

/// The help of `--app`.
let appHelp: ArgumentHelp = "App id (default: ENTITLED_APP, or the only configured app)."

extension AppSelection {
  /// The id of the selected app. Without `--app` and `ENTITLED_APP`, it is the only app of the server that the caller
  /// may access.
  ///
  /// - Throws: ``Failure`` with exit status 64 if there are several.
  func appID(_ client: ClientOptions) async throws -> String {
    try await appID(orOnlyOf: {
      try await client.withConnection { try await $0.whoAmI(WhoAmIRequest()).apps }
    })
  }

  /// The id of the selected app; without `--app` and `ENTITLED_APP`, the only one of `apps`.
  func appID(orOnlyOf apps: () async throws -> [String]) async throws -> String {
    if let app = app ?? ServerOption.environment("ENTITLED_APP") { return app }
    let ids = try await apps()
    guard let id = ids.first else {
      throw Failure("the caller may access no app; set --app or ENTITLED_APP", status: 64)
    }
    guard ids.count == 1 else {
      throw Failure(
        "several apps are configured (\(ids.joined(separator: ", "))); set --app or ENTITLED_APP", status: 64)
    }
    return id
  }
}

/// Selects the app and the App Store environment of a command.
struct ScopeOptions: ParsableArguments, AppSelection {
  @Option(help: appHelp) var app: String?

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

/// Parses times in options: RFC 3339, or a date, which stands for a day in UTC.
enum TimeOption {
  /// The instant of a day that a date without time stands for.
  enum Day {
    /// The first instant of the day.
    case start
    /// The first instant after the day, so that a period up to that date includes the day.
    case end
    /// The end of the day, or now if the day is not over: the latest instant of which something can be known.
    case known

    fileprivate func instant(_ start: Instant, now: Instant) -> Instant {
      let end = start.advanced(byDays: 1)
      return switch self {
      case .start: start
      case .end: end
      case .known: min(end, now)
      }
    }
  }

  /// Parses a time; `option` names the option in the error. `nil` for no text.
  ///
  /// - Throws: ``Failure`` with exit status 64.
  static func parse(
    _ text: String?, _ option: String, day: Day = .start
  ) throws -> GoogleProtobuf.Timestamp? {
    guard let text else { return nil }
    let isDate = text.count == 10
    guard let instant = Instant(rfc3339: isDate ? "\(text)T00:00:00Z" : text) else {
      throw Failure(
        "\(option) takes a time such as 2026-01-31T12:00:00Z or a date such as 2026-01-31, not '\(text)'",
        status: 64)
    }
    let time = GoogleProtobuf.Timestamp(
      millisecondsSince1970: (isDate ? day.instant(instant, now: SystemClock.now()) : instant)
        .millisecondsSince1970)
    guard time.millisecondsSince1970 != nil else {
      throw Failure(
        "\(option) takes a time that ends before the year 10000, so the last date is 9999-12-30", status: 64)
    }
    return time
  }
}

/// Selects documents by the time at which they arrived at the service.
struct ArrivalOptions: ParsableArguments {
  @Option(help: "Earliest arrival, RFC 3339 or a date (default: no limit).") var from: String?
  @Option(help: "End of the arrivals, RFC 3339, or their last day (default: no limit).") var to: String?

  /// The parsed times; `nil` without a limit.
  ///
  /// - Throws: ``Failure`` with exit status 64.
  func times() throws -> (from: GoogleProtobuf.Timestamp?, to: GoogleProtobuf.Timestamp?) {
    (try TimeOption.parse(from, "--from"), try TimeOption.parse(to, "--to", day: .end))
  }
}

/// Reads a document argument: the text, `@FILE`, or `-` for the standard input.
enum Document {
  /// Returns a text document without surrounding white space.
  ///
  /// - Throws: ``Failure`` for an empty document, as of a command before a pipe that failed.
  static func read(_ argument: String) throws -> String {
    let text = String(decoding: try bytes(argument), as: UTF8.self)
      .trimmingCharacters(in: .whitespacesAndNewlines)
    guard !text.isEmpty else { throw Failure("the document '\(argument)' is empty") }
    return text
  }

  /// Returns the bytes of a document, unchanged.
  ///
  /// - Throws: ``Failure`` for a file that cannot be read, and for the name of a file without `@`.
  static func bytes(_ argument: String) throws -> Data {
    if argument == "-" { return FileHandle.standardInput.readDataToEndOfFile() }
    guard argument.hasPrefix("@") else {
      // A document is longer than the name of a file.
      if argument.utf8.count < 256, FileManager.default.fileExists(atPath: argument) {
        throw Failure("'\(argument)' is a file; write '@\(argument)' to read it", status: 64)
      }
      return Data(argument.utf8)
    }
    return try InputFile.contents(String(argument.dropFirst()))
  }
}

extension GoogleProtobuf.Timestamp? {
  /// RFC 3339; empty for `nil`.
  package var text: String {
    self?.millisecondsSince1970.map { Instant(millisecondsSince1970: $0).description } ?? ""
  }

  /// The date without time, in UTC; empty for `nil`.
  var date: String { String(text.prefix(10)) }
}

extension String {
  /// The text without a prefix, if it has that.
  func droppingPrefix(_ prefix: String) -> String {
    hasPrefix(prefix) ? String(dropFirst(prefix.count)) : self
  }
}

/// Parses values of the contract's enums by their names without prefix, such as `customer-satisfaction`.
enum EnumOption {
  /// No enum of an option has more values.
  private static let numbers: Range<Int32> = 1..<32

  /// The value that `text` names; `prefix` is that of the names in the contract, `option` is for the error.
  static func parse<Value: WireEnum>(_ text: String?, _ prefix: String, _ option: String) throws -> Value {
    guard let text else { return Value() }
    let values = numbers.map(Value.init(rawValue:)).filter { $0.protoName.hasPrefix(prefix) }
    let names = values.map {
      $0.protoName.droppingPrefix(prefix).lowercased().replacing("_", with: "-")
    }
    guard let index = names.firstIndex(of: text.lowercased()) else {
      throw Failure("\(option) takes one of \(names.joined(separator: ", ")), not '\(text)'", status: 64)
    }
    return values[index]
  }
}
