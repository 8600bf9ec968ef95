import JSON
import Sandbox
import TestSupport
import Testing

@testable import SandboxConsole

@Suite struct CommandTextTests {
  /// The arguments that a shell passes to a program.
  private func words(_ line: String) throws -> [String] {
    let output = try Command.run(
      "/bin/sh", ["-c", "show() { printf '%s\\0' \"$@\"; }; show \(line)"])
    return output.text.split(separator: "\0", omittingEmptySubsequences: false)
      .dropLast().map(String.init)
  }

  @Test(
    "A shell passes on the values of a command as they are",
    arguments: [
      "ann", "", "a b", "it's", "$(id)", "`id`", "a;b|c&d", "\"", "\\", "*", "~", "é 🐚", "-x", "#",
      "it'\u{301}; id; '", "'\u{20E3}",
    ])
  func quoting(value: String) throws {
    let members: JSONObject = ["account": .string(value), "fails": true]
    let command = CommandText(APICall("POST", "billing", members), at: CommandTarget(host: "127.0.0.1:8090"))
    let entitled = try words(try #require(command.entitled))
    #expect(entitled == ["entitled", "sandbox", "do", "billing", "account=\(value)", "fails=true"])
    let curl = try words(command.curl)
    #expect(curl.prefix(3) == ["curl", "-s", "http://127.0.0.1:8090/sandbox/v1/billing"])
    #expect(try JSONValue(parsing: try #require(curl.last)) == .object(members))
  }

  @Test("A text with control characters is shown as JSON only, so that a pasted line stays one line")
  func controlCharacters() {
    let call = APICall("POST", "billing", ["account": "a\nb\u{1B}[0m", "fails": true])
    let command = CommandText(call, at: CommandTarget(host: "localhost:8090"))
    #expect(command.entitled == nil)
    #expect(command.preferred.unicodeScalars.allSatisfy { $0.value >= 0x20 })
  }

  @Test("Each kind of call has its command")
  func kinds() {
    let host = "localhost:9"
    func text(_ operation: Operation, _ members: JSONObject) -> String {
      CommandText(operation.call(members), at: CommandTarget(host: host)).preferred
    }
    #expect(text(.call(.advance), ["by": "35d"]) == "entitled sandbox advance 35d --sandbox localhost:9")
    #expect(
      text(.call(.scenario), ["name": "family", "app": "demo"])
        == "entitled sandbox scenario family --app demo --sandbox localhost:9")
    #expect(text(.call(.speed), ["speed": 60]) == "entitled sandbox do clock speed=60 --sandbox localhost:9")
    #expect(text(.call(.clearFaults), [:]) == "curl -s -X DELETE http://localhost:9/sandbox/v1/faults")
  }
}
