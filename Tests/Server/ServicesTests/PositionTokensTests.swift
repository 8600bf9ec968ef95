import HTTP
import RPC
import Store
import Testing

@testable import Services

@Suite struct PositionTokensTests {
  private let tokens = PositionTokens(StoreFeed(terms: [term(7)]))

  @Test("A position token returns the position that it was made of, in the current term")
  func roundTrip() throws {
    for (sequence, mark) in [(0, 0), (12, .max), (.max, 3)] as [(Int64, Int64)] {
      let token = tokens.token(StorePosition(of: "ocean", sequence: sequence, mark: mark))
      let found = try tokens.position(token, of: "ocean", field: "after_position")
      #expect(found == StorePosition(of: "ocean", sequence: sequence, mark: mark, term: 7))
    }
  }

  @Test("A position token never changes, because clients store it")
  func golden() {
    let token = tokens.token(StorePosition(of: "ocean-journal", sequence: 3, mark: 4))
    #expect(token == "AQcAAAAAAAAA4_yMFQMAAAAAAAAABAAAAAAAAADQ270u")
  }

  @Test("A position token of another app, and a token with any other character, is rejected")
  func foreign() {
    let token = tokens.token(StorePosition(of: "ocean", sequence: 3, mark: 4))
    #expect(reason(token, of: "reef") == "INVALID_POSITION")
    for text in ["", "x", "3.4", String(token.dropLast(2)), token + "AA", "x" + token] {
      #expect(reason(text, of: "ocean") == "INVALID_POSITION")
    }
    for index in token.indices {
      var changed = token
      changed.replaceSubrange(index...index, with: token[index] == "A" ? "B" : "A")
      #expect(reason(changed, of: "ocean") == "INVALID_POSITION")
    }
  }

  private func reason(_ token: String, of app: String) -> String? {
    do throws(Status) {
      _ = try tokens.position(token, of: app, field: "after_position")
      return nil
    } catch {
      return error.errorInfo?.reason
    }
  }
}

@Suite struct PositionBarrierTests {
  @Test("A call with a reached position passes at once, one with several positions needs all of them")
  func reached() async throws {
    let feed = StoreFeed(
      terms: [term(7)], position: 5, policy: StalenessPolicy(), now: .init(millisecondsSince1970: 0))
    let barrier = PositionBarrier(feed: feed)
    #expect(barrier.hasReached(headers(5)))
    #expect(!barrier.hasReached(headers(5, 6)) && !barrier.hasReached(headers(6, 5)))
    feed.advance(to: 6)
    #expect(barrier.hasReached(headers(5, 6)))
  }

  @Test("The barrier of an event loop evaluates each call again, also with the token that it keeps")
  func reachedOnLoop() {
    let feed = StoreFeed(
      terms: [term(7)], position: 5, policy: StalenessPolicy(), now: .init(millisecondsSince1970: 0))
    let barrier = LoopPositionBarrier(PositionBarrier(feed: feed))
    for _ in 0..<2 {
      #expect(barrier.hasReached(headers(5)))
      #expect(!barrier.hasReached(headers(6)) && !barrier.hasReached(headers(6)))
      #expect(!barrier.hasReached(headers(5, 6)) && !barrier.hasReached(headers(6, 5)))
      #expect(!barrier.hasReached(HeaderFields([("entitled-at-least", "none")])))
    }
    feed.advance(to: 6)
    #expect(barrier.hasReached(headers(6)) && barrier.hasReached(headers(5, 6)))
    // The history was replaced by an older one.
    feed.reset(to: 5)
    #expect(!barrier.hasReached(headers(6)) && barrier.hasReached(headers(5)))
  }

  @Test("A call waits for its position until the feed reaches it")
  func waiting() async throws {
    let feed = StoreFeed(
      terms: [term(7)], position: 5, policy: StalenessPolicy(), now: .init(millisecondsSince1970: 0))
    let call = CallContext(headers: headers(7), timeout: nil)
    async let passed: Void = PositionBarrier(feed: feed).wait(for: call)
    feed.advance(to: 6)
    feed.advance(to: 7)
    try await passed
  }

  @Test(
    "A position that is not reached within the deadline, one of a lost history and other texts are refused")
  func refused() async throws {
    let feed = StoreFeed(
      terms: [term(7), StoreTerm(name: 8, start: StoreTerm.Start(mark: 4))], position: 5,
      policy: StalenessPolicy(), now: .init(millisecondsSince1970: 0))
    #expect(await refusal(feed, headers(6, term: 8), milliseconds: 20) == "NOT_FRESH_ENOUGH")
    #expect(await refusal(feed, headers(4, term: 7)) == nil)
    #expect(
      await refusal(feed, headers(5, term: 7)) == "UNKNOWN_POSITION", "it is beyond the end of its term")
    #expect(await refusal(feed, HeaderFields([("entitled-at-least", "x")])) == "INVALID_POSITION")
    let joined = HeaderFields([("entitled-at-least", "\(token(5, term: 8)), \(token(4, term: 8))")])
    #expect(await refusal(feed, joined) == nil)
    #expect(await refusal(StoreFeed(terms: [term(7)]), headers(1, term: 9)) == "UNKNOWN_POSITION")
  }

  @Test("A position of an unknown term is refused once the terms were read again without it")
  func unknownTerm() async throws {
    let feed = StoreFeed(
      terms: [term(7)], position: 5, policy: StalenessPolicy(), now: .init(millisecondsSince1970: 0))
    async let refused = refusal(feed, headers(5, term: 9))
    while !feed.needsTerms { await Task.yield() }
    let ticket = feed.termReadBegan()
    _ = feed.replaceTerms([term(7)], ticket)
    #expect(await refused == "UNKNOWN_POSITION")
  }

  private func refusal(_ feed: StoreFeed, _ headers: HeaderFields, milliseconds: Int64 = 60_000) async
    -> String?
  {
    do throws(Status) {
      let timeout = Timeout(nanoseconds: milliseconds * 1_000_000)
      try await PositionBarrier(feed: feed).wait(for: CallContext(headers: headers, timeout: timeout))
      return nil
    } catch {
      return error.errorInfo?.reason
    }
  }

  private func token(_ mark: Int64, term: UInt64 = 7) -> String {
    PositionToken.text(of: StorePosition(of: "ocean", sequence: 0, mark: mark, term: term))
  }

  private func headers(_ marks: Int64..., term: UInt64 = 7) -> HeaderFields {
    HeaderFields(marks.map { ("entitled-at-least", token($0, term: term)) })
  }
}

private func term(_ name: UInt64) -> StoreTerm { StoreTerm(name: name, start: StoreTerm.Start(mark: 0)) }
