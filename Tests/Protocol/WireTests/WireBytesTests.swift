import Testing
import Wire

@Suite struct WireBytesTests {
  /// `app = "a"`, `customer_id = "é"`, `entitlement = "p"`, `environment = 2` in wire form.
  static let check: [UInt8] = [
    0x0A, 1, 0x61, 0x12, 2, 0xC3, 0xA9, 0x1A, 1, 0x70, 0x20, 2,
  ]

  @Test("A request decodes from protobuf's bytes and encodes to the same bytes")
  func knownBytes() throws {
    let request = try CheckRequest.decode(Self.check)
    #expect(request.app == "a" && request.customerId == "é" && request.entitlement == "p")
    #expect(request.environment == .sandbox)
    #expect(request.encodedBytes() == Self.check)
  }

  @Test("Encoding appends to existing bytes")
  func appends() throws {
    var bytes: [UInt8] = [0, 0, 0, 0, 12]
    try CheckRequest.decode(Self.check).encode(into: &bytes)
    #expect(bytes == [0, 0, 0, 0, 12] + Self.check)
  }

  @Test(
    "A timestamp appended to a message decodes as one of its fields",
    arguments: [0, 1, 999, 1_769_000_000_123, -1])
  func timestampBehind(milliseconds: Int64) throws {
    let response = CheckResponse.with { $0.entitlement = .with { $0.entitled = true } }
    var bytes = response.encodedBytes()
    let time = GoogleProtobuf.Timestamp(millisecondsSince1970: milliseconds)
    time.append(asField: 3, to: &bytes)
    let read = try CheckResponse.decode(bytes)
    #expect(read.evaluatedAt == time && read.entitlement?.entitled == true)
  }

  @Test("No bytes decode to the default message, which encodes to no bytes")
  func empty() throws {
    #expect(try CheckResponse.decode([]) == CheckResponse())
    #expect(CheckResponse().encodedBytes() == [])
  }

  @Test("Every kind of field survives encoding")
  func everyKind() throws {
    let entitlement = Entitlement.with {
      $0.entitled = true
      $0.accessLevel = .full
      $0.until = .init(millisecondsSince1970: -1)
      $0.willRenew = false
      $0.appStoreCodes = .with { ($0.stateCode, $0.status) = ("-5.1", -3) }
      $0.evidenceId = .max
      $0.renewalPrice = .with { ($0.milliunits, $0.currency) = (9990, "EUR") }
      $0.advice = [
        .with { ($0.kind, $0.offerIds) = (.winBackOffer, ["a", "", "c"]) }, .init(),
      ]
    }
    #expect(try Entitlement.decode(entitlement.encodedBytes()) == entitlement)
    #expect(entitlement.until?.nanos == 999_000_000 && entitlement.until?.seconds == -1)

    let inspect = InspectRequest.with { $0.content = .rawDocument([0, 255, 0]) }
    #expect(try InspectRequest.decode(inspect.encodedBytes()) == inspect)
    let replay = ReprocessNotificationsRequest.with { $0.evidenceIds = [1, -1, .max] }
    #expect(try ReprocessNotificationsRequest.decode(replay.encodedBytes()) == replay)
    let family = ProbableFamilyMember.with { $0.confidence = 0.25 }
    #expect(try ProbableFamilyMember.decode(family.encodedBytes()) == family)
  }

  @Test(
    "Nested messages have length prefixes of one, two and three bytes",
    arguments: [
      0, 1, 119, 120, 121, 122, 123, 124, 125, 126, 127, 128, 500, 512, 513, 16_370, 16_380, 16_384, 20_000,
      3_000_000,
    ])
  func lengths(count: Int) throws {
    let text = String(repeating: "x", count: count)
    let batch = BatchCheckRequest.with {
      $0.checks = [.with { $0.app = text }, .with { $0.entitlement = text }]
    }
    #expect(try BatchCheckRequest.decode(batch.encodedBytes()) == batch)
  }

  @Test("A oneof has its last member, even if that is empty")
  func oneofs() throws {
    let empty = SubmitReceiptRequest.with { $0.receipt = .receiptBase64("") }
    #expect(try SubmitReceiptRequest.decode(empty.encodedBytes()) == empty)
    let event = WatchResponse.with { $0.content = .heartbeat(.init()) }
    #expect(try WatchResponse.decode(event.encodedBytes()) == event)
    // receipt_base64 = "x", then receipt_bytes = 7.
    let both = try SubmitReceiptRequest.decode([0x1A, 1, 0x78, 0x22, 1, 7])
    #expect(both.receipt == .receiptBytes([7]))
  }

  @Test("Unknown fields are skipped and unknown enum numbers are preserved")
  func unknown() throws {
    // Field 1000 as varint, fixed64, bytes and fixed32 around environment = 77.
    let bytes: [UInt8] =
      [0xC0, 0x3E, 5, 0xC1, 0x3E, 1, 2, 3, 4, 5, 6, 7, 8, 0x20, 77]
      + [0xC2, 0x3E, 2, 0xFF, 0x00, 0xC5, 0x3E, 1, 2, 3, 4]
    let request = try CheckRequest.decode(bytes)
    #expect(request.environment == .unrecognized(77))
    #expect(request.encodedBytes() == [0x20, 77])
  }

  @Test("A NUL in an encoded string becomes the replacement character")
  func outgoingNUL() throws {
    let request = CheckRequest.with { $0.app = "a\0b" }
    #expect(try CheckRequest.decode(request.encodedBytes()).app == "a\u{FFFD}b")
  }

  @Test("Uses of the arena nest while a packed message is decoded")
  func nesting() throws {
    let status = GoogleRPC.Status.with {
      $0.code = 3
      $0.details = [.init(packing: GoogleRPC.ErrorInfo.with { $0.reason = "NOT_A_JWS" })]
    }
    let read = try GoogleRPC.Status.decode(status.encodedBytes())
    #expect(try read.details.first?.unpacked(as: GoogleRPC.ErrorInfo.self)?.reason == "NOT_A_JWS")
    #expect(try read.details.first?.unpacked(as: GoogleRPC.BadRequest.self) == nil)
  }
}
