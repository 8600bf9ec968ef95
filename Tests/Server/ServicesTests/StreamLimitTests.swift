import HTTP
import RPC
import Testing

@testable import Services

@Suite("The limit of the streams of a caller")
struct StreamLimitTests {
  @Test("A caller has no more streams at a time than the limit; another caller is not affected")
  func limit() async throws {
    let limit = StreamLimit(2)
    try await limit.run(call(of: "ana")) { () async throws(Status) in
      try await limit.run(call(of: "ana")) { () async throws(Status) in
        let refused = await failure(limit, "ana")
        #expect(refused?.code == .resourceExhausted && refused?.errorInfo?.reason == "TOO_MANY_STREAMS")
        #expect(refused?.message.contains("max_watch_streams_per_caller") == true)
        #expect(await failure(limit, "ben") == nil)
      }
      #expect(await failure(limit, "ana") == nil)
    }
    #expect(limit.count == 0)
  }

  @Test("A stream that fails counts no longer")
  func failures() async {
    let limit = StreamLimit(1)
    for _ in 0..<3 {
      await #expect(throws: Status(.aborted, "")) {
        try await limit.run(call(of: "ana")) { () async throws(Status) in throw Status(.aborted, "") }
      }
    }
    #expect(limit.count == 0)
  }

  private func call(of caller: String) -> CallContext {
    var context = CallContext(headers: HeaderFields(), timeout: nil)
    context.caller = caller
    return context
  }

  private func failure(_ limit: StreamLimit, _ caller: String) async -> Status? {
    do throws(Status) {
      try await limit.run(call(of: caller)) {}
      return nil
    } catch {
      return error
    }
  }
}
