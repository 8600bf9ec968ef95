import Foundation
import Testing

@testable import Traces

@Suite struct ExportHeadersTests {
  private func fields(_ text: String, mode: Int = 0o600) throws -> [String] {
    let path = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString).path
    #expect(
      FileManager.default.createFile(
        atPath: path, contents: Data(text.utf8), attributes: [.posixPermissions: mode]))
    defer { try? FileManager.default.removeItem(atPath: path) }
    return try ExportHeaders(file: path).fields().map { "\($0.name)=\($0.value)" }
  }

  @Test("Each line is a header field; empty lines and comments are left out")
  func lines() throws {
    #expect(
      try fields("# a comment\nAuthorization: Bearer a:b\r\n\n x-scope :  shop \n") == [
        "authorization=Bearer a:b", "x-scope=shop",
      ])
    #expect(try ExportHeaders(file: nil).fields().isEmpty)
  }

  @Test(
    "Other lines are errors that show nothing of the file",
    arguments: ["secret", ": secret", "na me: secret", "a: secret\u{1}"])
  func malformed(text: String) {
    let error = #expect(throws: ExportHeadersError.self) { try fields("x: y\n\(text)") }
    #expect(error?.description.contains("line 2") == true && error?.description.contains("secret") == false)
  }

  @Test("A file that others may read is refused")
  func permissions() {
    #expect(throws: ExportHeadersError.self) { try fields("x: y", mode: 0o644) }
  }
}
