import AppStore
import Bytes
import Entitlements
import Foundation
import JSON
import Ledger
import SQLiteStore
import SignedData
import Store
import Synchronization
import Testing

@Suite struct ErasureTests {
  private let token = "8f2f9e3a-5a10-4b0a-9a63-0d3ac1a0e0aa"
  private let other = "11111111-5a10-4b0a-9a63-0d3ac1a0e0aa"

  private func period(
    _ fixture: LedgerFixture, _ line: String = "L1", token: String, days: ClosedRange<Int64> = 40...70
  ) throws -> String {
    try fixture.period(days, line: line, ["appAccountToken": .string(token)])
  }

  /// The tokens in the payloads of all stored signed transactions.
  private func storedTokens(_ fixture: LedgerFixture) async throws -> [String] {
    try await fixture.evidence().compactMap {
      EvidenceSubject($0).transactions.first?.details.appAccountToken
    }
  }

  private func factTokens(_ fixture: LedgerFixture, _ line: String = "L1") async throws -> Set<String?> {
    let key = LineKey(appID: "ocean", environment: .sandbox, lineID: line)
    let facts = try await fixture.store.snapshot { try $0.facts(of: key) }
    return Set(facts.transactions.map(\.details.appAccountToken))
  }

  @Test("Another token replaces the customer's in facts and documents, the same in each")
  func tokens() async throws {
    try await LedgerFixture.run { fixture in
      _ = try await fixture.submit(period(fixture, token: token.uppercased()))
      _ = try await fixture.submit(period(fixture, token: token, days: 70...100))
      let notified = try period(fixture, token: token, days: 100...130)
      try await fixture.notify("DID_RENEW", signed: 100, notified)
      _ = try await fixture.ledger.erase("ana", fixture.scope)
      let tokens = Set(try await storedTokens(fixture))
      #expect(tokens.count == 1)
      #expect(!tokens.contains { $0.lowercased() == token })
      #expect(try await factTokens(fixture) == Set(tokens.map(Optional.some)))
      #expect(UUID(uuidString: try #require(tokens.first)) != nil)
      #expect(try await fixture.replayDifferences().isEmpty)
    }
  }

  @Test("A document without anything about the person keeps its signature")
  func untouched() async throws {
    try await LedgerFixture.run { fixture in
      let document = try fixture.period(40...70)
      _ = try await fixture.submit(document)
      _ = try await fixture.ledger.erase("ana", fixture.scope)
      let bodies = try await fixture.evidence().map { String(decoding: $0.content.body ?? [], as: UTF8.self) }
      #expect(bodies.contains(document))
    }
  }

  @Test("A purchase that another customer owns now loses the erased customer's token, and keeps its owner")
  func transferred() async throws {
    try await LedgerFixture.run { fixture in
      _ = try await fixture.submit(period(fixture, token: token))
      _ = try await fixture.submit(period(fixture, "L2", token: other), for: "ben")
      _ = try await fixture.ledger.move("L1", to: "ben", policy: .transfer, fixture.scope)
      _ = try await fixture.ledger.erase("ana", fixture.scope)
      #expect(try await !factTokens(fixture).contains(token))
      #expect(try await factTokens(fixture, "L2") == [other])
      let facts = try #require(try fixture.facts(of: "ben"))
      #expect(Set(facts.transactions.map(\.originalTransactionID)) == ["L1", "L2"])
      #expect(!facts.transactions.contains { $0.details.appAccountToken == token })
      #expect(try await fixture.replayDifferences().isEmpty)
    }
  }

  @Test("Erasing the present owner keeps the token of the customer who bought")
  func tokenOfAnother() async throws {
    try await LedgerFixture.run { fixture in
      _ = try await fixture.submit(period(fixture, token: token))
      _ = try await fixture.ledger.move("L1", to: "ben", policy: .transfer, fixture.scope)
      _ = try await fixture.ledger.erase("ben", fixture.scope)
      #expect(try await factTokens(fixture) == [token])
      #expect(try await fixture.replayDifferences().isEmpty)
    }
  }

  /// Records a notification with an invalid signature whose content has `name` as the token.
  private func reject(_ fixture: LedgerFixture, naming name: String) async throws {
    let payload = Base64.url.encode(Array(#"{"appAccountToken":"\#(name)"}"#.utf8))
    let body = Array(#"{"signedPayload":"eyJhbGciOiJFUzI1NiJ9.\#(payload).AAAA"}"#.utf8)
    _ = try await fixture.ledger.recordRejection(
      IncomingNotification(
        appID: "ocean", body: body, source: .notification, receivedAt: fixture.clock.now),
      as: .notificationV2, reason: "BAD_SIGNATURE", problem: "")
  }

  @Test("Rejected documents that name the person lose their bodies, others keep them")
  func rejected() async throws {
    try await LedgerFixture.run { fixture in
      _ = try await fixture.submit(period(fixture, token: token))
      for name in [token.uppercased(), "ana", "anabel"] { try await reject(fixture, naming: name) }
      _ = try await fixture.ledger.erase("ana", fixture.scope)
      let rejected = try await fixture.evidence().filter { $0.verdict != .accepted }
      #expect(rejected.map { $0.content.body == nil } == [true, true, false])
    }
  }

  @Test(
    "A rejected document that arrives again after its body was purged does not keep a replay from the end")
  func rejectedAgain() async throws {
    try await LedgerFixture.run { fixture in
      _ = try await fixture.submit(period(fixture, token: token))
      let forged = try period(fixture, token: token).dropLast(4) + "AAAA"
      for _ in 1...2 {
        await #expect(throws: LedgerError.self) { try await fixture.submit(String(forged), for: "ben") }
        _ = try await fixture.ledger.erase("ana", fixture.scope)
      }
      #expect(try await fixture.evidence().filter { $0.verdict != .accepted }.count == 2)
      #expect(try await fixture.replayDifferences().isEmpty)
    }
  }

  @Test("Rejected documents with the token lose their bodies also if the list cannot be written")
  func rejectedWithoutList() async throws {
    let folder = FileManager.default.temporaryDirectory.appending(path: "erasures-\(UUID())")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    let list = try ErasureList(path: folder.appending(path: "list").path, key: InstallationKey(bytes: [7]))
    try await LedgerFixture.run { fixture in
      _ = try await fixture.submit(period(fixture, token: token))
      try await reject(fixture, naming: token)
      try FileManager.default.removeItem(at: folder)
      let ledger = fixture.makeLedger(fixture.store, erasures: list) { _ in }
      let tokens = Mutex<Set<String>>([])
      await #expect(throws: LedgerError.self) {
        try await ledger.erase("ana", fixture.scope) { result in tokens.withLock { $0 = result.erasedNames } }
      }
      #expect(tokens.withLock { $0.contains(token) }, "another call would not find it")
      let rejected = try await fixture.evidence().filter { $0.verdict != .accepted }
      #expect(rejected.map { $0.content.body == nil } == [true])
    }
  }

  @Test(
    "The event names the pseudonym, and for a day the sealed id, which only the key of the installation opens"
  )
  func event() async throws {
    try await LedgerFixture.run { fixture in
      _ = try await fixture.submit(fixture.period(40...70))
      let erased = try await fixture.ledger.erase("ana", fixture.scope)
      let event = try #require(try await fixture.events().last)
      #expect(event.event.change.kind == .customerErased)
      #expect(event.event.customer.customerID == erased.erasures.first?.pseudonym)
      #expect(event.event.actor == "support")
      let replica = fixture.makeLedger(fixture.store) { _ in }
      let stranger = fixture.makeLedger(
        fixture.store, erasures: ErasureList(key: InstallationKey(bytes: [1]))
      ) { _ in }
      #expect(replica.erasedCustomerID(of: event) == "ana")
      #expect(stranger.erasedCustomerID(of: event) == nil)
      #expect(event.sealedName.map { String(decoding: $0, as: UTF8.self).contains("ana") } == false)

      let worker = ErasedNameWorker(store: fixture.store, clocks: fixture.ledger.clocks)
      let start = fixture.clock.now
      fixture.clock.set(start.advanced(byMilliseconds: Instant.millisecondsPerDay - 1))
      try await worker.deleteExpired()
      #expect(try await fixture.events().last.flatMap(replica.erasedCustomerID) == "ana")
      fixture.clock.set(start.advanced(byMilliseconds: Instant.millisecondsPerDay))
      #expect(replica.erasedCustomerID(of: event) == nil)
      try await worker.deleteExpired()
      #expect(try await fixture.events().last?.sealedName == nil)

      _ = try await fixture.ledger.erase("ana", fixture.scope)
      #expect(try await fixture.events().last.flatMap(replica.erasedCustomerID) == "ana")
      fixture.clock.set(start)
      try await worker.deleteExpired()
      #expect(try await fixture.events().last?.sealedName == nil, "a clock that was ahead keeps it no longer")
    }
  }

  @Test(
    "A customer who acted is no actor any more, alone or after the caller, also where another customer was concerned",
    arguments: ["", "support/"])
  func actor(caller: String) async throws {
    try await LedgerFixture.run { fixture in
      var scope = fixture.scope
      scope.actor = "\(caller)ana.secret"
      _ = try await fixture.submit(period(fixture, token: token), for: "ana.secret")
      let granted = try await fixture.ledger.grant("pro", to: "ana.secret", scope)
      _ = try await fixture.ledger.revokeGrant(try #require(granted.grant).grantID, scope)
      _ = try await fixture.ledger.grant("pro", to: "phone.secret", scope)
      _ = try await fixture.ledger.merge("phone.secret", into: "ana.secret", scope)
      let moved = try await fixture.ledger.move("L1", to: "ben", policy: .transfer, scope)
      _ = try await fixture.ledger.undo(moved.transferID, scope)
      let erased = try await fixture.ledger.erase("ana.secret", scope)
      for evidence in try await fixture.evidence() where evidence.kind == .operatorCommand {
        #expect(!String(decoding: evidence.content.body ?? [], as: UTF8.self).contains("secret"))
      }
      let events = try await fixture.events().map(\.event)
      let pseudonym = try #require(erased.erasures.first?.pseudonym)
      #expect(Set(events.map(\.actor)) == ["", "\(caller)\(pseudonym)"])
      #expect(events.contains { $0.customer.customerID == "ben" && !$0.actor.isEmpty })
      #expect(events.last?.change.kind == .customerErased)
      #expect(try await fixture.replayDifferences().isEmpty)
      _ = try await fixture.ledger.erase("ana.secret", scope)
      #expect(try await fixture.events().last?.event.actor == "\(caller)\(pseudonym)")
    }
  }

  @Test("Erasing a customer whose grants a merge gave to another leaves no name in them, and replay agrees")
  func mergedGrant() async throws {
    try await LedgerFixture.run { fixture in
      var scope = fixture.scope
      (scope.actor, scope.note) = ("support/ana.secret", "for ana.secret")
      _ = try await fixture.ledger.grant("pro", to: "ana.secret", scope)
      _ = try await fixture.ledger.merge("ana.secret", into: "ben", scope)
      let erased = try await fixture.ledger.erase("ana.secret", scope)
      let grant = try #require(try fixture.facts(of: "ben")?.grants.first)
      #expect(grant.actor == "support/\(try #require(erased.erasures.first).pseudonym)")
      #expect(grant.note.isEmpty)
      #expect(try await fixture.replayDifferences().isEmpty)
    }
  }

  @Test(
    "Only the customer is replaced in an actor",
    arguments: [
      ("ana", "erased"), ("support/ana", "support/erased"), ("subject:a/b/ana", "subject:a/b/erased"),
      ("joana", "joana"), ("support/joana", "support/joana"), ("ana/support", "ana/support"), ("an", "an"),
      ("", ""), ("support/Ana", "support/Ana"), ("support/ben", "support/other"),
    ])
  func replacedActor(actor: String, expected: String) {
    #expect(actor.replacingActors(["ana", "ben", ""], with: ["erased", "other", "none"]) == expected)
  }

  private static func customer(_ id: String) -> CustomerKey {
    CustomerKey(appID: "ocean", environment: .sandbox, customerID: id)
  }

  @Test("A ledger erases the customers of its list in another copy of the store, once")
  func restored() async throws {
    let folder = FileManager.default.temporaryDirectory.appending(path: "erasures-\(UUID())")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    let path = folder.appending(path: "list").path
    let key = InstallationKey(bytes: Array(0..<32))
    try await LedgerFixture.run { fixture in
      let ledger = fixture.makeLedger(fixture.store, erasures: try ErasureList(path: path, key: key)) { _ in }
      _ = try await fixture.submit(period(fixture, token: token))
      _ = try await fixture.ledger.merge("phone", into: "ana", fixture.scope)
      _ = try await ledger.erase("ana", fixture.scope)
      #expect(try await ledger.applyErasures().isEmpty)
      try await ledger.eraseUnknown(Self.customer("uploaded")) { beforeFirst async throws(LedgerError) in
        try await beforeFirst()
      }
    }
    try await LedgerFixture.run { copy in
      _ = try await copy.submit(period(copy, token: token))
      _ = try await copy.submit(period(copy, "L2", token: other), for: "ben")
      let ledger = copy.makeLedger(copy.store, erasures: try ErasureList(path: path, key: key)) { _ in }
      // Once the uploads are searched without an error.
      await #expect(throws: LedgerError.unknownCustomer) {
        try await ledger.applyErasures { _, _, _ throws(LedgerError) in throw .unknownCustomer }
      }
      #expect(try copy.facts(of: "ana") != nil, "her tokens lead to the uploads")
      let uploads = Mutex<[String]>([])
      let erased = try await ledger.applyErasures { restored, tokens, isErased throws(LedgerError) in
        let named = ["ana", "ben", "uploaded"].filter { isErased(Self.customer($0)) }
        uploads.withLock { $0 += named + tokens + restored.map(\.customerID) }
      }
      #expect(uploads.withLock { $0 } == ["ana", "uploaded", token, "ana"])
      #expect(erased == [Self.customer("ana")])
      #expect(try copy.facts(of: "ana") == nil)
      #expect(try copy.facts(of: "ben") != nil)
      #expect(try await storedTokens(copy).allSatisfy { $0 != token })
      _ = try await copy.submit(copy.period(40...70, line: "L3"))
      #expect(try await ledger.applyErasures().isEmpty)
      #expect(try copy.facts(of: "ana") != nil, "who came back stays")
    }
    let text = try String(contentsOfFile: path, encoding: .utf8)
    #expect(!text.contains("ana"))
    #expect(throws: ErasureListError.otherKey(path: path)) {
      try ErasureList(path: path, key: InstallationKey(bytes: [1]))
    }
  }

  @Test("A replica erases the customers that another replica appended to the list since it was opened")
  func sharedList() async throws {
    let path = FileManager.default.temporaryDirectory.appending(path: "list-\(UUID())").path
    defer { try? FileManager.default.removeItem(atPath: path) }
    let key = InstallationKey(bytes: [7])
    let list = try ErasureList(path: path, key: key)
    try await LedgerFixture.run { fixture in
      let ledger = fixture.makeLedger(fixture.store, erasures: try ErasureList(path: path, key: key)) { _ in }
      _ = try await fixture.submit(period(fixture, token: token))
      _ = try await ledger.erase("ana", fixture.scope)
    }
    // As a database that lost the commit of the erasure.
    try await LedgerFixture.run { copy in
      _ = try await copy.submit(period(copy, token: token))
      let ledger = copy.makeLedger(copy.store, erasures: list) { _ in }
      #expect(try await ledger.applyErasures() == [Self.customer("ana")])
      #expect(try copy.facts(of: "ana") == nil)
    }
  }

  @Test("An erasure that ends before its commit leaves the customer, so that another one finds all tokens")
  func interrupted() async throws {
    let key = InstallationKey(bytes: [7])
    try await LedgerFixture.run { fixture in
      _ = try await fixture.submit(period(fixture, token: token))
      try await reject(fixture, naming: token)
      let former = fixture.makeLedger(fixture.store, erasures: ErasureList(key: key)) { _ in }
      await #expect(throws: LedgerError.self) {
        try await former.erase("ana", fixture.scope) { _ throws(LedgerError) in
          throw .store(.failed("as if the process ended"))
        }
      }
      // As the next process does.
      let ledger = fixture.makeLedger(fixture.store, erasures: ErasureList(key: key)) { _ in }
      #expect(try await ledger.applyErasures().isEmpty)
      let uploads = Mutex<Set<String>>([])
      _ = try await ledger.erase("ana", fixture.scope) { result in
        uploads.withLock { $0 = result.erasedNames }
      }
      #expect(uploads.withLock { $0 } == ["ana", token])
      #expect(try fixture.facts(of: "ana") == nil)
      let rejected = try await fixture.evidence().filter { $0.verdict != .accepted }
      #expect(rejected.map { $0.content.body == nil } == [true])
    }
  }

  @Test("A token that the customer gets during the erasure is erased elsewhere too")
  func tokenMeanwhile() async throws {
    try await LedgerFixture.run { fixture in
      _ = try await fixture.submit(period(fixture, token: token))
      let later = try period(fixture, "L2", token: other)
      let uploads = Mutex<[Set<String>]>([])
      _ = try await fixture.ledger.erase("ana", fixture.scope) { result in
        uploads.withLock { $0.append(result.erasedNames) }
        if uploads.withLock({ $0.count }) == 1 { _ = try? await fixture.submit(later) }
      }
      #expect(uploads.withLock { $0 } == [["ana", token], ["ana", token, other]])
      #expect(try await factTokens(fixture, "L2") != [other])
    }
  }

  @Test("A list that was removed while it was open has all erasures again after the next one")
  func removedList() async throws {
    let path = FileManager.default.temporaryDirectory.appending(path: "list-\(UUID())").path
    defer { try? FileManager.default.removeItem(atPath: path) }
    let key = InstallationKey(bytes: [7])
    try await LedgerFixture.run { fixture in
      let ledger = fixture.makeLedger(fixture.store, erasures: try ErasureList(path: path, key: key)) { _ in }
      _ = try await fixture.submit(period(fixture, token: token))
      _ = try await fixture.submit(period(fixture, "L2", token: other), for: "ben")
      _ = try await ledger.erase("ana", fixture.scope)
      try FileManager.default.removeItem(atPath: path)
      _ = try await ledger.erase("ben", fixture.scope)
    }
    try await LedgerFixture.run { copy in
      _ = try await copy.submit(period(copy, token: token))
      _ = try await copy.submit(period(copy, "L2", token: other), for: "ben")
      let ledger = copy.makeLedger(copy.store, erasures: try ErasureList(path: path, key: key)) { _ in }
      #expect(try await ledger.applyErasures() == [Self.customer("ana"), Self.customer("ben")])
    }
  }

  @Test("After a crash in the middle of a line the list has all complete lines")
  func tornLine() async throws {
    let path = FileManager.default.temporaryDirectory.appending(path: "list-\(UUID())").path
    defer { try? FileManager.default.removeItem(atPath: path) }
    let key = InstallationKey(bytes: [7])
    _ = try ErasureList(path: path, key: key)
    let whole = try String(contentsOfFile: path, encoding: .utf8)
    try (whole + "0011").write(toFile: path, atomically: false, encoding: .utf8)
    _ = try ErasureList(path: path, key: key)
    #expect(try String(contentsOfFile: path, encoding: .utf8) == whole)
    try (whole + "one two three\n").write(toFile: path, atomically: false, encoding: .utf8)
    #expect(throws: ErasureListError.malformed(path: path)) { try ErasureList(path: path, key: key) }
  }
}
