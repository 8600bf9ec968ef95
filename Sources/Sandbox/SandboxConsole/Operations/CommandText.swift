internal import AppStore
internal import JSON
internal import Sandbox
internal import SandboxPaths

/// A call as commands for a shell (POSIX), so that each button of a page can be repeated in a script. Every value is
/// quoted: a command that a tester pastes does what the page shows and nothing else.
struct CommandText: Hashable, Sendable {
  /// With this program; `nil` if its arguments cannot express the call.
  let entitled: String?
  /// With `curl`, which can express every call.
  let curl: String

  /// The shorter one that is possible.
  var preferred: String { entitled ?? curl }

  /// The commands for a sandbox and a world in it.
  init(_ call: APICall, at target: CommandTarget) {
    self.init(call, options: target.options, origin: target.origin)
  }

  /// The commands of a script, for the sandbox and the world that the variables `ENTITLED_SANDBOX` and
  /// `ENTITLED_SANDBOX_WORLD` name. They fail if it refuses the call.
  static func inScript(_ call: APICall) -> CommandText {
    CommandText(call, options: [], origin: nil)
  }

  /// Without an origin, the commands read the address from the environment.
  private init(_ call: APICall, options: [String], origin: String?) {
    let path = "/sandbox/v1/\(call.path)"
    // Both commands read the same variables.
    let url =
      origin.map { Shell.quoted($0 + path) }
      ?? "\"http://${ENTITLED_SANDBOX:-127.0.0.1:8090}${ENTITLED_SANDBOX_WORLD:+/w/$ENTITLED_SANDBOX_WORLD}\(path)\""
    let tool = origin == nil ? "curl -sf" : "curl -s"
    if call.method == "POST" {
      // JSON escapes control characters, so a pasted line stays one line.
      curl =
        "\(tool) \(url) -H 'content-type: application/json' -d \(Shell.quoted(call.members.text))"
    } else {
      curl = "\(tool) -X \(call.method) \(url)"
    }
    entitled = Self.arguments(call).map { (["entitled", "sandbox"] + $0 + options).joined(separator: " ") }
  }

  /// The arguments after `entitled sandbox`.
  private static func arguments(_ call: APICall) -> [String]? {
    guard call.method == "POST" else { return nil }
    var values: [(name: String, text: String)] = []
    for (name, value) in call.members {
      guard let text = argument(value) else { return nil }
      values.append((name, text))
    }
    if call.path == "clock/advance" { return values.first.map { ["advance", Shell.quoted($0.text)] } }
    if call.path.hasPrefix("scenarios/") {
      let name = call.path.dropFirst("scenarios/".count)
      return ["scenario", Shell.quoted(String(name))]
        + values.flatMap { ["--\($0.name)", Shell.quoted($0.text)] }
    }
    return ["do", call.path] + values.map { Shell.quoted("\($0.name)=\($0.text)") }
  }

  /// A value as the program takes it; `nil` for objects, and for texts that would not be one line.
  private static func argument(_ value: JSONValue) -> String? {
    switch value {
    case .string(let text): text.unicodeScalars.contains { $0.value < 0x20 || $0.value == 0x7F } ? nil : text
    case .number, .bool: value.text
    case .null, .array, .object: nil
    }
  }

}

/// The sandbox and the world that a command is for.
struct CommandTarget: Hashable, Sendable {
  /// A host and port.
  let host: String
  /// `nil` is the world at `/`.
  var world: WorldName?

  /// The URL at which the world begins.
  fileprivate var origin: String { "http://\(host)\(WorldPath.base(of: world))" }

  /// The options for an address other than the default, and for a world.
  fileprivate var options: [String] {
    let isDefault = ["127.0.0.1:8090", "localhost:8090"].contains(host)
    return (isDefault ? [] : ["--sandbox", Shell.quoted(host)]) + (world.map { ["--world", $0.text] } ?? [])
  }
}

extension APICall {
  /// The call that sets the clock's speed.
  fileprivate static func speed(_ speed: Int64) -> APICall {
    APICall("POST", "clock", ["speed": JSONValue(speed)])
  }

  /// The call that advances the clock.
  fileprivate static func advance(_ milliseconds: Int64) -> APICall {
    APICall("POST", "clock/advance", ["by": .string(Self.duration(milliseconds))])
  }

  /// A duration in its largest unit without a rest.
  private static func duration(_ milliseconds: Int64) -> String {
    let units: [(String, Int64)] = [("d", 86_400_000), ("h", 3_600_000), ("m", 60_000), ("s", 1_000)]
    for (unit, length) in units where milliseconds % length == 0 { return "\(milliseconds / length)\(unit)" }
    return "\(milliseconds)ms"
  }
}

extension [JournalLineView] {
  /// The commands that do the same in a new sandbox. They stop its clock and advance it from one action to the next, so
  /// that each action has its distance from the first one, however long the commands take; at the end the clock has its
  /// speed again.
  var script: [String] {
    guard var time = first?.at else { return [] }
    var speed: Int64 = 1
    var calls: [APICall] = [.speed(0)]
    for line in self {
      // Time that passed by itself.
      var until = line.at
      if case .advanced(let instant) = line.entry { until = instant }
      if case .speed(let changed) = line.entry { speed = changed }
      guard line.isAction else { continue }
      if until > time {
        calls.append(.advance(until.milliseconds(since: time)))
        time = until
      }
      if case .action(let action, let members) = line.entry {
        calls.append(APICall("POST", action.rawValue, members))
      }
    }
    return (calls + [.speed(speed)]).map { CommandText.inScript($0).preferred }
  }
}

/// Texts for a POSIX shell.
enum Shell {
  /// One word: as it is if no character has a meaning, otherwise in single quotes. A quote is a Unicode
  /// scalar: with a combining mark after it, it is another character and still ends the word.
  static func quoted(_ text: String) -> String {
    let isPlain =
      !text.isEmpty
      && text.utf8.allSatisfy { byte in
        UInt8(ascii: "a")...UInt8(ascii: "z") ~= byte || UInt8(ascii: "A")...UInt8(ascii: "Z") ~= byte
          || UInt8(ascii: "0")...UInt8(ascii: "9") ~= byte || "-_./:=@%+,".utf8.contains(byte)
      }
    return isPlain
      ? text : "'" + text.unicodeScalars.map { $0 == "'" ? "'\\''" : String($0) }.joined() + "'"
  }
}

extension JournalLineView {
  /// The command of an entry that a tester caused; `nil` for what happened by itself.
  func command(at target: CommandTarget) -> CommandText? { call.map { CommandText($0, at: target) } }

  /// The call that did what the entry records; `nil` for what happened by itself.
  private var call: APICall? {
    switch entry {
    case .action(let action, let members): APICall("POST", action.rawValue, members)
    case .advanced(let instant): APICall("POST", "clock/advance", ["to": .string(instant.description)])
    case .speed(let speed): .speed(speed)
    case .opened, .passed, .attempt, .postponed: nil
    }
  }
}
