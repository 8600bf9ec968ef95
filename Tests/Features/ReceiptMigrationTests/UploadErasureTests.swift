import Foundation
import Store
import Synchronization
import Testing

@testable import ReceiptMigration

/// Uploads after the erasure of a customer.
@Suite("Erasure of uploads") struct UploadErasureTests {
  /// The upload after the erasure of `ids` and `tokens`.
  private func erased(_ text: String, _ ids: [String], tokens: [String] = []) async throws -> String {
    let uploads = MemoryUploads()
    let folder = ImportFolder(path: "/no/where", uploads: uploads)
    _ = try folder.append(Array(text.utf8), to: "a", of: "ocean", at: 0)
    try await folder.eraseUploads(of: "ocean", naming: PersonSearch(ids: ids, tokens: tokens))
    return String(decoding: uploads.content.withLock { $0["upload-a@ocean"] ?? [] }, as: UTF8.self)
  }

  /// The text as spaces, with its line ends.
  private func blank(_ text: String) -> String {
    String(decoding: text.utf8.map { $0 == 0x0A ? 0x0A : 0x20 }, as: UTF8.self)
  }

  @Test(
    "A line that names the customer is overwritten, with all of its record",
    arguments: [
      (#"{"customer_id":"ana@example.com","receipt":"AAAA"}"#, "ana@example.com"),
      (#"{"customer_id":"ana\u0040example.com","receipt":"AAAA"}"#, "ana@example.com"),
      (#"{"customer":{"id":7},"receipt":"AAAA"}"#, "7"),
      (#"{"customer_id":"a\"b\/c","receipt":"AAAA"}"#, "a\"b/c"),
      (#"{"customer_id":"x","receipt":"AAAA","note":"Ana (ana@example.com) called."}"#, "ana@example.com"),
      (#"{"customer_id":"x", "note": ana@example.com}"#, "ana@example.com"),
    ])
  func json(line: String, id: String) async throws {
    let others = [#"{"customer_id":"ben","receipt":"BBBB"}"#, #"{"customer_id":"cleo","receipt":"CCCC"}"#]
    let left = try await erased("\(others[0])\n\(line)\n\(others[1])\n", [id])
    #expect(left == "\(others[0])\n\(blank(line))\n\(others[1])\n")
  }

  @Test(
    "Columns in quotes belong to their line, also with line ends inside",
    arguments: [
      ("ana,AAAA", "ana"), ("\"ana\",\"AA\nAA\"", "ana"), ("\"a\"\"b\",AAAA", "a\"b"), (" ana ;x", "ana"),
    ])
  func columns(line: String, id: String) async throws {
    let left = try await erased("customer_id,receipt\nben,\"BB\nBB\"\n\(line)\ncleo,CCCC\n", [id])
    #expect(left == "customer_id,receipt\nben,\"BB\nBB\"\n\(blank(line))\ncleo,CCCC\n")
  }

  @Test("A line of so many values that no job can use it is overwritten without a search")
  func manyValues() async throws {
    let line = "{\"x\":[\(String(repeating: "0,", count: InputReader.maxValues))0]}"
    #expect(
      try await erased("\(line)\n{\"customer_id\":\"ben\"}\n", ["ana"])
        == "\(blank(line))\n{\"customer_id\":\"ben\"}\n")
  }

  @Test(
    "Lines of others stay: longer ids, names of members and columns, and base64",
    arguments: [
      ("{\"customer_id\":\"ana@example.com.au\"}\n", "ana@example.com"),
      ("{\"customer_id\":\"x-ana\"}\n", "ana"), ("{\"customer_id\":\"anaë\"}\n", "ana"),
      ("{\"customer_id\":\"ben\",\"receipt\":\"MII\"}\n", "receipt"),
      ("{\"customer_id\":\"ben\",\"receipt\":\"MII+1/A=\"}\n", "1"),
      ("customer_id,receipt\nben,MII\n", "receipt"),
    ])
  func others(text: String, id: String) async throws {
    #expect(try await erased(text, [id]) == text)
  }

  @Test(
    "A line with a whole value of which the hash is known is overwritten",
    arguments: [
      ("{\"customer_id\":\"ben\"}\n", "{\"customer_id\":\"an\\u0061\"}"), ("{\"id\":2}\n", "{\"id\":[1,7]}"),
      ("customer_id,receipt\nben,ana 7\n", "\"ana\",AAAA"), ("customer_id;receipt\nana,ben;7,\n", "x;7"),
      ("{\"customer_id\":\"ana and ben\"}\n", "{\"customer_id\":\"ana\"}"),
    ])
  func hashes(others: String, line: String) async throws {
    let uploads = MemoryUploads()
    let folder = ImportFolder(path: "/no/where", uploads: uploads)
    _ = try folder.append(Array("\(others)\(line)\n".utf8), to: "a", of: "ocean", at: 0)
    let search = PersonSearch(ids: [], tokens: []) { ["ana", "7"].contains($0) }
    var calls = 0
    try await folder.eraseUploads(of: "ocean", naming: search) { calls += 1 }
    let left = uploads.content.withLock { $0["upload-a@ocean"] ?? [] }
    #expect(String(decoding: left, as: UTF8.self) == "\(others)\(blank(line))\n")
    try await folder.eraseUploads(of: "ocean", naming: search) { calls += 1 }
    #expect(calls == 1)
  }

  @Test("No line is overwritten before the list of erasures has the customer")
  func list() async throws {
    let uploads = MemoryUploads()
    let folder = ImportFolder(path: "/no/where", uploads: uploads)
    let line = #"{"customer_id":"ana"}"#
    _ = try folder.append(Array(line.utf8), to: "a", of: "ocean", at: 0)
    let search = PersonSearch(ids: ["ana"], tokens: [String]())
    await #expect(throws: StoreError.diskFull) {
      try await folder.eraseUploads(of: "ocean", naming: search) { throw StoreError.diskFull }
    }
    let left = uploads.content.withLock { $0["upload-a@ocean"] ?? [] }
    #expect(String(decoding: left, as: UTF8.self) == line)
  }

  @Test("A signed document that has the customer's token is overwritten, also inside another one")
  func tokens() async throws {
    func document(_ payload: String) -> String {
      let text = Data(payload.utf8).base64EncodedString().replacing("+", with: "-").replacing("/", with: "_")
      return "eyJhbGciOiJFUzI1NiJ9.\(text.replacing("=", with: "")).AAAA"
    }
    let token = "8f2f9e3a-5a10-4b0a-9a63-0d3ac1a0e0aa"
    let transaction = document(#"{"appAccountToken":"\#(token.uppercased())"}"#)
    let notification = document(#"{"data":{"signedTransactionInfo":"\#(transaction)"}}"#)
    let other = #"{"receipt":"\#(document(#"{"appAccountToken":"0\#(token.dropFirst())"}"#))"}"#
    for line in [#"{"receipt":"\#(transaction)"}"#, #"{"receipt":"\#(notification)"}"#] {
      #expect(try await erased("\(other)\n\(line)", [], tokens: [token]) == "\(other)\n\(blank(line))")
    }
    #expect(try await erased("a,receipt\n1,\(notification)", [], tokens: [token]).hasPrefix("a,receipt\n  "))
  }

  @Test("Uploads of other apps stay, also in the folder")
  func apps() async throws {
    let path = FileManager.default.temporaryDirectory.appending(path: "uploads-\(UUID())").path
    defer { try? FileManager.default.removeItem(atPath: path) }
    let folder = ImportFolder(path: path)
    let line = #"{"customer_id":"ana","receipt":"AAAA"}"#
    for app in ["ocean", "lake", "an.ocean"] {
      _ = try folder.append(Array(line.utf8), to: "a", of: app, at: 0)
    }
    try await folder.eraseUploads(of: "ocean", naming: PersonSearch(ids: ["ana"], tokens: []))
    let left = try ["ocean", "lake", "an.ocean"].map { app in
      try String(contentsOfFile: "\(path)/upload-a@\(app)", encoding: .utf8)
    }
    #expect(left == [blank(line), line, line])
  }

  @Test("A line that no job can read is overwritten unread")
  func long() async throws {
    let uploads = LongLine()
    let folder = ImportFolder(path: "/no/where", uploads: uploads)
    try await folder.eraseUploads(of: "ocean", naming: PersonSearch(ids: ["ana"], tokens: []))
    #expect(uploads.blanked.withLock { $0 } == LongLine.length - 1)
  }

  @Test("The lines after one that was erased keep their numbers")
  func numbers() throws {
    let path = FileManager.default.temporaryDirectory.appending(path: "input-\(UUID())").path
    defer { try? FileManager.default.removeItem(atPath: path) }
    let (header, row) = ("customer_id,receipt\n", "\"ana\",\"A\nA\"\n")
    for (start, line) in [(header, row), (header + "\n", blank(row))] {
      try Data("\(start)\(line)ben,B\n".utf8).write(to: URL(fileURLWithPath: path))
      var reader = try InputReader(InputFileSource(path: path), InputFormat(), after: 0, at: 0)
      var last: InputLine?
      while let line = try reader.next() { last = line }
      #expect(try last?.number == (start == header ? 4 : 5) && last?.record.get().customerID == "ben")
    }
  }
}

/// An upload of one line that is longer than any receipt, without a line end.
private final class LongLine: UploadStore {
  static let length = InputFile.maxLineLength + 1_000_000
  /// The number of overwritten bytes.
  let blanked = Mutex(0)

  func append(_ data: [UInt8], to name: String, at offset: Int64) -> Int64 { offset }
  func size(of name: String) -> Int64? { Int64(Self.length) }

  func read(_ name: String, at offset: Int64, upTo count: Int) -> [UInt8] {
    Array(repeating: UInt8(ascii: "x"), count: min(count, Self.length - Int(offset)))
  }

  func overwrite(_ name: String, at offset: Int64, with bytes: [UInt8]) {
    blanked.withLock { $0 += bytes.count }
  }
  func delete(_ name: String) {}
  func all() -> [StoredUpload] { [StoredUpload(name: "upload-a@ocean", bytes: 0, age: .zero)] }
}
