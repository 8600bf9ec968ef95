import Foundation
import Testing

private let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
  .deletingLastPathComponent()
  .deletingLastPathComponent()

private let hasGenerator =
  FileManager.default.isExecutableFile(atPath: root.appending(path: ".venv/bin/python3").path)
  && FileManager.default.isExecutableFile(atPath: "/usr/bin/protoc-c")

@Suite(.enabled(if: hasGenerator, "needs protoc-c and the Python environment of tools/bootstrap"))
struct GenerationTests {
  @Test("The generated files match the output of tools/generate for the current proto/")
  func current() throws {
    let process = Process()
    process.executableURL = root.appending(path: "tools/generate")
    process.arguments = ["--check"]
    process.standardOutput = FileHandle.nullDevice
    try process.run()
    process.waitUntilExit()
    #expect(process.terminationStatus == 0, "run make proto and commit the result")
  }
}
