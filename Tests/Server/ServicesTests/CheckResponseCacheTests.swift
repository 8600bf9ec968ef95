import AppStore
import Entitlements
import Ledger
import Store
import Testing

@testable import Services

@Suite("Check response cache")
struct CheckResponseCacheTests {
  private let changes = CustomerVersions()
  private let catalog = CurrentCatalog(Catalog([]))
  private let ana = CustomerKey(appID: "ocean", environment: .sandbox, customerID: "ana")

  private func cache(bytes: Int = 1 << 20) -> CheckResponseCache {
    CheckResponseCache(changes: changes, catalog: catalog, byteLimit: bytes)
  }

  private func validity(
    from: Int64 = 0, until: Int64? = nil, isInSandbox: Bool = true
  ) -> CheckResponseCache.Validity {
    CheckResponseCache.Validity(
      from: instant(from), until: until.map(instant), isInSandbox: isInSandbox, isKnown: true,
      snapshotVersion: changes.lastCommit, customer: changes.slot(of: ana),
      catalogGeneration: catalog.generation)
  }

  @Test("A cached response is found by the bytes of its request, with the new time appended")
  func found() {
    let cache = cache()
    cache.insert("yes", to: "may ana?", while: validity())
    #expect(cache.answer(to: "may ana?", at: 5, appending: "!") == "yes!")
    #expect(cache.answer(to: "may ana", at: 5) == nil)
    #expect(cache.answer(to: "may ann?", at: 5) == nil)
    #expect(cache.answer(to: "", at: 5) == nil)
  }

  @Test("A cached response is valid from its creation until its end")
  func time() {
    let cache = cache()
    cache.insert("yes", to: "may ana?", while: validity(from: 10, until: 20))
    #expect([9, 10, 19, 20].map { cache.answer(to: "may ana?", at: $0) } == [nil, "yes", "yes", nil])
  }

  @Test(
    "A cached response is valid by the clock of its environment, whose time is appended",
    arguments: [true, false])
  func clocks(isInSandbox: Bool) {
    let cache = cache()
    cache.insert("yes", to: "may ana?", while: validity(from: 10, until: 20, isInSandbox: isInSandbox))
    let answers = [(15, 99), (99, 15)].map { (sandbox: Int64, others: Int64) -> String? in
      let times = EnvironmentTimes(sandbox: instant(sandbox), others: instant(others))
      let bytes = Array("may ana?".utf8).withUnsafeBytes {
        cache.answer(to: $0, at: times) { now, answer in
          answer.append(contentsOf: " \(now.millisecondsSince1970)".utf8)
        }
      }
      return bytes.map { String(decoding: $0, as: UTF8.self) }
    }
    #expect(answers == (isInSandbox ? ["yes 15", nil] : [nil, "yes 15"]))
  }

  @Test("A change of the customer invalidates a cached response")
  func change() {
    let cache = cache()
    cache.insert("yes", to: "may ana?", while: validity())
    changes.committed([CustomerKey(appID: "ocean", environment: .production, customerID: "ben")])
    #expect(cache.answer(to: "may ana?", at: 5) == "yes")
    changes.committed([ana])
    #expect(cache.answer(to: "may ana?", at: 5) == nil)
    cache.insert("no", to: "may ana?", while: validity())
    #expect(cache.answer(to: "may ana?", at: 5) == "no")
  }

  @Test("A response read before a change is not cached after it")
  func race() {
    let cache = cache()
    let before = validity()
    changes.committed([ana])
    cache.insert("old", to: "may ana?", while: before)
    #expect(cache.answer(to: "may ana?", at: 5) == nil)
  }

  @Test("Another catalog invalidates a cached response")
  func catalogChange() {
    let cache = cache()
    cache.insert("yes", to: "may ana?", while: validity())
    catalog.replace(with: Catalog([]))
    #expect(cache.answer(to: "may ana?", at: 5) == nil)
  }

  @Test("The cache returns the last stored response of a request, also after evictions")
  func eviction() {
    let cache = cache(bytes: 128 * 448)
    var kept = 0
    for round in 0..<4 {
      for number in 0..<1_000 {
        cache.insert("answer \(number) \(round)", to: "request \(number)", while: validity())
      }
      for number in 0..<1_000 {
        guard let answer = cache.answer(to: "request \(number)", at: 5) else { continue }
        #expect(answer == "answer \(number) \(round)")
        kept += 1
      }
    }
    // Nearly all slots are in use in every round.
    #expect((4 * 120...4 * 128).contains(kept))
  }

  @Test("A cache without memory stores nothing, and a response larger than a slot is not stored")
  func size() {
    let none = cache(bytes: 1_000)
    none.insert("yes", to: "may ana?", while: validity())
    #expect(none.answer(to: "may ana?", at: 5) == nil)
    let cache = cache()
    let long = String(repeating: "y", count: 600)
    cache.insert(long, to: "may ana?", while: validity())
    #expect(cache.answer(to: "may ana?", at: 5) == nil)
    cache.insert("yes", to: long, while: validity())
    #expect(cache.answer(to: long, at: 5) == nil)
  }
}

private func instant(_ milliseconds: Int64) -> Instant { Instant(millisecondsSince1970: milliseconds) }

// Requests and answers as texts.
extension CheckResponseCache {
  fileprivate func insert(_ answer: String, to request: String, while validity: Validity) {
    Array(request.utf8).withUnsafeBytes { insert(Array(answer.utf8), to: $0, while: validity) }
  }

  fileprivate func answer(to request: String, at now: Int64, appending suffix: String = "") -> String? {
    let bytes = Array(request.utf8).withUnsafeBytes {
      answer(to: $0, at: EnvironmentTimes(sandbox: instant(now), others: instant(now))) {
        $1.append(contentsOf: suffix.utf8)
      }
    }
    return bytes.map { String(decoding: $0, as: UTF8.self) }
  }
}
