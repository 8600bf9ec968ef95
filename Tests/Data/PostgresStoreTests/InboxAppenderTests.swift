import Store
import Testing

@testable import PostgresStore

/// The error of an entry that is not appended within a second.
@Suite struct InboxAppenderTests {
  private typealias Pending = InboxAppender.Pending

  @Test("An entry whose caller was refused is not appended afterwards")
  func refused() async {
    let result = await waiting { pending in
      pending.refuse(.unavailable("a second"))
      #expect(!pending.isWaiting && !pending.begin())
    }
    #expect(result == .failure(.unavailable("a second")))
  }

  @Test("The outcome of an entry is unknown during an attempt, and after one whose result was lost")
  func unknown() async {
    let running = await waiting { pending in
      #expect(pending.begin())
      pending.refuse(.unavailable("a second"))
    }
    #expect(running == .failure(InboxAppender.unknown))
    let lost = await waiting { pending in
      #expect(pending.begin())
      pending.failed(.outcomeUnknown("lost"))
      #expect(pending.begin())
      pending.failed(.unavailable("refused"))
      pending.refuse(.unavailable("a second"))
    }
    #expect(lost == .failure(InboxAppender.unknown))
  }

  @Test("An entry is not appended after attempts that the database refused")
  func notAppended() async {
    let result = await waiting { pending in
      #expect(pending.begin())
      pending.failed(.unavailable("refused"))
      pending.refuse(.unavailable("a second"))
    }
    #expect(result == .failure(.unavailable("a second")))
  }

  @Test("A caller gets the first result")
  func first() async {
    let result = await waiting { pending in
      pending.resume(7)
      pending.refuse(.unavailable("a second"))
    }
    #expect(result == .success(7))
  }

  @Test("An entry is not kept after its caller has a result")
  func released() async {
    weak var kept: Pending?
    let result = await waiting { pending in
      pending.expire(after: .seconds(86_400))
      kept = pending
      pending.resume(7)
    }
    #expect(result == .success(7))
    while kept != nil { await Task.yield() }
  }

  @Test("Entries share a statement while they are few and small")
  func batches() {
    let limit = PostgresInbox.batchBytes
    #expect(InboxAppender.count(of: [1, 2, 3], after: []) == 3)
    #expect(InboxAppender.count(of: [Int](repeating: 1, count: 300), after: [1, 1]) == 254)
    // The one that exceeds the limit is the last one.
    #expect(InboxAppender.count(of: [limit - 1, 2, 3], after: []) == 2)
    #expect(InboxAppender.count(of: [2 * limit, 1], after: []) == 1)
    #expect(InboxAppender.count(of: [1], after: [limit]) == 0)
  }

  /// The result of an entry after `body`.
  private func waiting(_ body: (Pending) -> Void) async -> Result<Int64, StoreError> {
    let entry = InboxEntry(kind: .call, appID: "ocean", method: "/x/y", caller: "", context: [], body: [])
    return await withCheckedContinuation { body(Pending(entry, $0)) }
  }
}
