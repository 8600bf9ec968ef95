import Testing
import Wire

@Suite struct TextLimitsTests {
  private func decode(_ request: some WireMessage) throws(WireError) {
    func decode<Message: WireMessage>(_ request: Message) throws(WireError) {
      _ = try Message.decode(request.encodedBytes(), limitsText: true)
    }
    try decode(request)
  }

  @Test("An id or name of a request has at most 256 bytes", arguments: [256, 257, 15_000])
  func ids(size: Int) {
    let text = String(repeating: "a", count: size)
    let expected = size > 256 ? WireError.textTooLong(field: "app", size: size, limit: 256) : nil
    #expect(failure { () throws(WireError) in try decode(CheckRequest.with { $0.app = text }) } == expected)
  }

  @Test("A limit holds in nested and repeated fields too, with the path of the field")
  func nested() {
    let text = String(repeating: "a", count: 257)
    let batch = BatchCheckRequest.with { $0.checks = [.with { $0.customerId = text }] }
    #expect(
      failure { () throws(WireError) in try decode(batch) }
        == .textTooLong(field: "checks.customer_id", size: 257, limit: 256))
    let watch = WatchRequest.with { $0.entitlements = ["pro", text] }
    #expect(
      failure { () throws(WireError) in try decode(watch) }
        == .textTooLong(field: "entitlements", size: 257, limit: 256))
  }

  @Test("Notes have 4 KiB, keys and names of requests 128 bytes, documents the size of a message")
  func others() {
    func text(_ size: Int) -> String { String(repeating: "a", count: size) }
    #expect(
      failure { () throws(WireError) in try decode(GrantRequest.with { $0.note = text(4_096) }) } == nil)
    #expect(
      failure { () throws(WireError) in try decode(GrantRequest.with { $0.note = text(4_097) }) }
        == .textTooLong(field: "note", size: 4_097, limit: 4_096))
    #expect(
      failure { () throws(WireError) in try decode(GrantRequest.with { $0.idempotencyKey = text(129) }) }
        == .textTooLong(field: "idempotency_key", size: 129, limit: 128))
    let claim = ClaimSeatRequest.with { $0.requestIdentifier = text(129) }
    #expect(
      failure { () throws(WireError) in try decode(claim) }
        == .textTooLong(field: "request_identifier", size: 129, limit: 128))
    #expect(
      failure { () throws(WireError) in
        try decode(InspectRequest.with { $0.content = .document(text(100_000)) })
      }
        == nil)
  }

  @Test("Requests that anyone can make have limits: a stream of health holds the name of its service")
  func health() {
    let text = String(repeating: "a", count: 257)
    #expect(
      failure { () throws(WireError) in try decode(GRPCHealth.HealthCheckRequest.with { $0.service = text }) }
        == .textTooLong(field: "service", size: 257, limit: 256))
    let lookup = GRPCReflection.ServerReflectionRequest.with {
      $0.messageRequest = .fileContainingSymbol(text)
    }
    #expect(
      failure { () throws(WireError) in try decode(lookup) }
        == .textTooLong(field: "file_containing_symbol", size: 257, limit: 256))
  }

  @Test("A response has no limits")
  func responses() throws {
    let text = String(repeating: "a", count: 10_000)
    let response = Entitlement.with { $0.explanation = text }
    #expect(try Entitlement.decode(response.encodedBytes()).explanation == text)
  }

  private func failure(_ body: () throws(WireError) -> Void) -> WireError? {
    do throws(WireError) {
      try body()
      return nil
    } catch {
      return error
    }
  }
}
