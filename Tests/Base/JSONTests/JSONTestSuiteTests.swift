import Foundation
import JSON
import TestSupport
import Testing

/// `nil` if the test data has no `jsontestsuite`.
private let suiteFolder: URL? = TestData.folder.map { $0.appending(path: "jsontestsuite") }
  .flatMap { FileManager.default.fileExists(atPath: $0.path) ? $0 : nil }

/// The public JSONTestSuite: `y_` must be read, `n_` must be refused, `i_` may be either but must not crash.
@Suite(.enabled(if: suiteFolder != nil, "needs ENTITLED_TESTDATA with jsontestsuite"))
struct JSONTestSuiteTests {
  /// A document of the suite.
  struct Document: Sendable, CustomTestStringConvertible {
    var name: String
    var bytes: [UInt8]
    var testDescription: String { name }
  }

  static func documents(_ prefix: String) throws -> [Document] {
    guard let folder = suiteFolder else { return [] }
    return try FileManager.default.contentsOfDirectory(atPath: folder.path).filter { $0.hasPrefix(prefix) }
      .sorted()
      .map { Document(name: $0, bytes: Array(try Data(contentsOf: folder.appending(path: $0)))) }
  }

  @Test("The suite has files") func present() throws {
    #expect(try Self.documents("").count > 300)
  }

  @Test(
    "Valid documents are parsed, and parsed again from their serialization", arguments: try documents("y_"))
  func valid(document: Document) throws {
    let value = try JSONValue(parsing: document.bytes)
    #expect(try JSONValue(parsing: value.serialized()) == value)
    #expect(try JSONValue(parsing: value.serialized(pretty: true)) == value)
  }

  @Test("Invalid documents are rejected", arguments: try documents("n_"))
  func invalid(document: Document) {
    #expect(throws: JSONError.self) { try JSONValue(parsing: document.bytes) }
  }

  @Test(
    "Implementation-defined documents are parsed or rejected without a crash", arguments: try documents("i_"))
  func doubtful(document: Document) {
    do {
      let value = try JSONValue(parsing: document.bytes)
      #expect(value.serialized().isEmpty == false)
    } catch {
      #expect("\(error)".isEmpty == false)
    }
  }
}
