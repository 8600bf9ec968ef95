import PostgresSupport
import Store
import Testing

@testable import PostgresStore

/// Uploaded inputs of migration jobs in the database.
@Suite(.enabled(if: PostgresServer.canRun, Comment(rawValue: PostgresServer.isMissing)))
struct UploadTests {
  @Test("Pieces that several replicas append are one upload; a repeated piece counts once")
  func pieces() async throws {
    try await PostgresSlots.shared.withDatabase { settings in
      let store = try PostgresEntitlementStore(settings)
      let (first, second) = (PostgresUploads(settings), PostgresUploads(settings))
      #expect(try first.size(of: "a") == nil && first.read("a", at: 0, upTo: 10).isEmpty)
      #expect(try first.append(Array("one ".utf8), to: "a", at: 0) == 4)
      #expect(try second.append(Array("two ".utf8), to: "a", at: 4) == 8)
      // The response to the first attempt was lost, or another caller was earlier.
      #expect(try first.append(Array("xxxx".utf8), to: "a", at: 4) == 8)
      #expect(try first.append(Array("gap".utf8), to: "a", at: 20) == 8)
      #expect(try second.append(Array("other".utf8), to: "b", at: 0) == 5)
      #expect(try text(first, "a") == "one two " && text(first, "b") == "other")
      #expect(try first.read("a", at: 6, upTo: 1) == Array("o".utf8))
      let all = try first.all()
      #expect(all.map(\.name) == ["a", "b"])
      #expect(all.map(\.bytes) == [8_192, 4_096], "each piece takes at least 4 KiB")
      #expect(all.allSatisfy { $0.age < .seconds(60) })
      try second.delete("a")
      #expect(try first.all().map(\.name) == ["b"] && first.size(of: "a") == nil)
      await store.close()
    }
  }

  @Test("Bytes of several pieces are overwritten, and no others")
  func blanked() async throws {
    try await PostgresSlots.shared.withDatabase { settings in
      let store = try PostgresEntitlementStore(settings)
      let uploads = PostgresUploads(settings)
      for (position, piece) in ["0123", "4567", "89ab"].enumerated() {
        _ = try uploads.append(Array(piece.utf8), to: "a", at: Int64(position * 4))
      }
      _ = try uploads.append(Array("0123".utf8), to: "b", at: 0)
      try uploads.overwrite("a", at: 2, with: Array("ABCDEFG".utf8))
      #expect(try text(uploads, "a") == "01ABCDEFG9ab" && text(uploads, "b") == "0123")
      try uploads.overwrite("a", at: 11, with: Array("HI".utf8))
      #expect(try text(uploads, "a") == "01ABCDEFG9aH")
      await store.close()
    }
  }

  /// The whole upload, read piece by piece.
  private func text(_ uploads: PostgresUploads, _ name: String) throws -> String {
    var bytes: [UInt8] = []
    while case let next = try uploads.read(name, at: Int64(bytes.count), upTo: 3), !next.isEmpty {
      bytes += next
    }
    return String(decoding: bytes, as: UTF8.self)
  }
}
