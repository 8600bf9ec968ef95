import Testing
import Wire

@Suite struct TextFieldsTests {
  private func values(_ name: String, _ type: any WireMessage.Type, _ bytes: [UInt8]) throws -> [String]? {
    let path = try #require(type.messageType.path(toText: name))
    return bytes.withUnsafeBytes { TextFields.values(at: path, in: $0) }
  }

  @Test("A string field is found among the other fields of its message")
  func own() throws {
    let request = GrantRequest.with {
      $0.app = "ocean"
      $0.customerId = "ana"
      $0.since = .with { $0.seconds = 1_700_000_000 }
      $0.actor = "sam"
    }
    #expect(try values("app", GrantRequest.self, request.encodedBytes()) == ["ocean"])
    #expect(try values("customer_id", GrantRequest.self, request.encodedBytes()) == ["ana"])
    #expect(try values("actor", GrantRequest.self, request.encodedBytes()) == ["sam"])
    #expect(GrantRequest.messageType.path(toText: "no_such_field") == nil)
  }

  @Test("A string field is found in each message of a list")
  func nested() throws {
    let request = BatchCheckRequest.with {
      $0.checks = ["ocean", "sea"].map { app in .with { $0.app = app } }
    }
    #expect(try values("app", BatchCheckRequest.self, request.encodedBytes()) == ["ocean", "sea"])
  }

  @Test("Excerpts are the first values and the last one, each cut to a number of bytes")
  func excerpts() throws {
    let path = try #require(BatchCheckRequest.messageType.path(toText: "app"))
    func excerpts(_ apps: [String], atMost count: Int) -> [String]? {
      let request = BatchCheckRequest.with { $0.checks = apps.map { app in .with { $0.app = app } } }
      return request.encodedBytes().withUnsafeBytes {
        TextFields.excerpts(at: path, in: $0, atMost: count, maxBytes: 4)
      }
    }
    #expect(excerpts(["ocean", "sea", "lake"], atMost: 3) == ["ocea", "sea", "lake"])
    #expect(excerpts(["ocean", "sea", "lake", "pond"], atMost: 3) == ["ocea", "sea", "pond"])
    #expect(excerpts(["ocean", "sea"], atMost: 1) == ["sea"])
    #expect(excerpts([], atMost: 1) == [])
    #expect(
      [0x0A, 0x05].withUnsafeBytes { TextFields.excerpts(at: path, in: $0, atMost: 1, maxBytes: 4) } == nil)
  }

  @Test("The fields of a list are counted without decoding them", arguments: [0, 1, 1_000])
  func count(of checks: Int) {
    let request = BatchCheckRequest.with {
      $0.checks = (0..<checks).map { number in .with { $0.customerId = "customer-\(number)" } }
    }
    func count(_ number: UInt32, _ bytes: ArraySlice<UInt8>) -> Int? {
      bytes.withUnsafeBytes { WireFields.count(of: number, in: $0) }
    }
    let bytes = request.encodedBytes()
    #expect(count(1, bytes[...]) == checks && count(2, bytes[...]) == 0)
    if checks > 0 { #expect(count(1, bytes.dropLast()) == nil) }
  }

  @Test("A value that a later one overwrites is found too")
  func replaced() throws {
    let twice =
      CheckRequest.with { $0.app = "ocean" }.encodedBytes()
      + CheckRequest.with { $0.app = "sea" }.encodedBytes()
    #expect(try values("app", CheckRequest.self, twice) == ["ocean", "sea"])
    #expect(try CheckRequest.decode(twice).app == "sea")
  }

  @Test("Truncated and malformed messages are distinguished from messages without the field")
  func malformed() throws {
    let whole = CheckRequest.with {
      $0.app = "ocean"
      $0.customerId = "ana"
    }.encodedBytes()
    #expect(try values("app", CheckRequest.self, []) == [])
    for length in 1..<whole.count where length != 7 {
      #expect(try values("app", CheckRequest.self, Array(whole.prefix(length))) == nil)
    }
    #expect(try values("app", CheckRequest.self, [0x0B]) == nil, "a group")
    #expect(try values("app", CheckRequest.self, [UInt8](repeating: 0xFF, count: 12)) == nil)
  }
}
