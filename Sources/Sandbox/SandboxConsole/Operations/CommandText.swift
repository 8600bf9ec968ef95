internal import AppStore
internal import JSON
internal import Sandbox

/// A call as commands for a shell (POSIX).
struct CommandText: Hashable, Sendable {
  /// With this program; `nil` if its arguments cannot express the call.
  let entitled: String?
  let curl: String

  var preferred: String { entitled ?? curl }

  /// The commands for the sandbox at `host`, a host and port.
  init(_ call: APICall, host: String) {
    let url = "http://\(host)/sandbox/v1/\(call.path)"
    if call.method == "POST" {
      // JSON escapes control characters, so a pasted line stays one line.
      curl =
        "curl -s \(Shell.quoted(url)) -H 'content-type: application/json' -d \(Shell.quoted(call.members.text))"
    } else {
      curl = "curl -s -X \(call.method) \(Shell.quoted(url))"
    }
    entitled = Self.arguments(call).map {
      (["entitled", "sandbox"] + $0 + Self.address(host)).joined(separator: " ")
    }
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

  /// The option for an address other than the default.
  private static func address(_ host: String) -> [String] {
    ["127.0.0.1:8090", "localhost:8090"].contains(host) ? [] : ["--sandbox", Shell.quoted(host)]
  }
}

/// Texts for a POSIX shell.
enum Shell {
  /// One word: as it is if no character has a meaning, otherwise in single quotes.
  static func quoted(_ text: String) -> String {
    let isPlain =
      !text.isEmpty
      && text.utf8.allSatisfy { byte in
        UInt8(ascii: "a")...UInt8(ascii: "z") ~= byte || UInt8(ascii: "A")...UInt8(ascii: "Z") ~= byte
          || UInt8(ascii: "0")...UInt8(ascii: "9") ~= byte || "-_./:=@%+,".utf8.contains(byte)
      }
    return isPlain ? text : "'" + text.replacing("'", with: "'\\''") + "'"
  }
}

extension JournalLineView {
  /// The command of an entry that a tester caused; `nil` for what happened by itself.
  func command(host: String) -> CommandText? {
    switch entry {
    case .action(let action, let members):
      CommandText(APICall("POST", action.rawValue, members), host: host)
    case .advanced(let instant):
      CommandText(APICall("POST", "clock/advance", ["to": .string(instant.description)]), host: host)
    case .speed(let speed): CommandText(APICall("POST", "clock", ["speed": JSONValue(speed)]), host: host)
    case .opened, .passed, .attempt, .postponed: nil
    }
  }
}
