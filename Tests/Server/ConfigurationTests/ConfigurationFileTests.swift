import AppStore
import Configuration
import Entitlements
import Foundation
import Testing

/// The text of a file and its YAML, before any key has a meaning.
@Suite struct ConfigurationFileTests {
  @Test("Aliases stand for values elsewhere, within limits")
  func aliases() throws {
    let app = "{bundle_id: b, environments: &all [Sandbox], products: {}}"
    let yaml = "apps: {sea: \(app), lake: {bundle_id: c, environments: *all, products: {}}}"
    #expect(
      try ServiceConfiguration(yaml: yaml, file: "x.yaml").apps.map(\.definition.environments) == [
        [.sandbox], [.sandbox],
      ])
    var nested = "a0: &a0 [x, x, x, x, x, x, x, x, x]"
    for level in 1...20 {
      let inner = Array(repeating: "*a\(level - 1)", count: 9).joined(separator: ", ")
      nested += "\na\(level): &a\(level) [\(inner)]"
    }
    let problem = "the aliases ('*') repeat more than a million values"
    #expect(throws: ConfigurationError.invalid(file: "x.yaml", line: 6, problem: problem)) {
      try ServiceConfiguration(yaml: nested, file: "x.yaml")
    }
    let long =
      "a: &a \(String(repeating: "x", count: 1_000))\nb: [\(String(repeating: "*a, ", count: 2_000))]"
    #expect(throws: ConfigurationError.invalid(file: "x.yaml", line: 2, problem: problem)) {
      try ServiceConfiguration(yaml: long, file: "x.yaml")
    }
  }

  @Test("A control character is named with its line")
  func controlCharacter() {
    let problem = "control characters are not allowed: U+0000"
    #expect(throws: ConfigurationError.invalid(file: "x.yaml", line: 3, problem: problem)) {
      try ServiceConfiguration(yaml: "apps:\n  sea: # \u{E9}\r\n    bundle_id: a\0", file: "x.yaml")
    }
  }

  @Test("A file that is not UTF-8 is rejected with its line")
  func notUTF8() throws {
    let file = FileManager.default.temporaryDirectory.appending(path: "\(UUID()).yaml")
    try Data("apps:\n".utf8 + [0xFF, 0xFE]).write(to: file)
    defer { try? FileManager.default.removeItem(at: file) }
    #expect(
      throws: ConfigurationError.invalid(file: file.path(), line: 2, problem: "the line is not UTF-8")
    ) {
      try ServiceConfiguration.load(path: file.path())
    }
  }
}
