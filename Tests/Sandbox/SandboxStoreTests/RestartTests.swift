import AppStore
import Foundation
import JSON
import SandboxStore
import SignedData
import Testing

@testable import Sandbox

@Suite("Sandbox directory")
struct RestartTests {
  private let folder = try! SandboxFolder()

  private func verified(_ purchase: Purchase, by store: AppStoreSimulator) throws
    -> Verified<JWSTransactionDecodedPayload>
  {
    try SignedDataVerifier(anchors: try .apple().adding(store.root, for: .sandbox)).verifyTransaction(
      purchase.signedTransactionInfo, for: SandboxFolder.app.identity, environments: [.sandbox])
  }

  @Test("Restarts and crashes keep the chain and never repeat a transaction id")
  func restart() async throws {
    var ids: Set<String> = []
    var root: [UInt8] = []
    do {
      let store = try folder.open()
      root = store.root.der
      for _ in 0..<3 {
        ids.insert(try await store.purchase(PurchaseOrder(app: "demo", productId: "coins")).transactionId)
      }
      // The state that a crash leaves, copied while the first process is running.
      try FileManager.default.copyItem(
        atPath: folder.path(), toPath: folder.path("crashed"))
    }
    for name in ["store", "crashed"] {
      let store = try folder.open(name)
      #expect(store.root.der == root)
      let purchase = try await store.purchase(PurchaseOrder(app: "demo", productId: "coins"))
      #expect(!ids.contains(purchase.transactionId))
      #expect(try verified(purchase, by: store).signer?.anchor.contains("Sandbox Root CA - G3") == true)
    }
  }

  @Test(
    "After a crash during an advance the clock continues from the time that a client has seen",
    arguments: [0, 1])
  func crashDuringAdvance(speed: JSONValue) async throws {
    let poster = HeldPoster()
    let store = try folder.open(poster: poster)
    _ = try await store.buy("monthly", "ann")
    try await store.post("deliver", [:])
    try await store.post("clock", ["speed": speed])
    try await store.post("notification-url", ["app": "demo", "url": "http://service"])
    let target = SandboxFolder.start.advanced(byDays: 300)
    let advance = Task { try await store.advanceClock(to: target) }
    _ = await poster.posts.first { _ in true }
    let seen = store.clock.now()
    #expect(SandboxFolder.start < seen && seen < target)
    try FileManager.default.copyItem(atPath: folder.path(), toPath: folder.path("crashed"))
    poster.release()
    try await advance.value
    for _ in 0..<2 {
      let again = try folder.open("crashed")
      #expect(again.clock.now() == seen)
      let id = try await again.buy("coins", "ann")
      #expect(await again.world.transactions[id]?.purchaseDate == seen)
    }
  }

  @Test("An account survives a restart")
  func accounts() async throws {
    let order = PurchaseOrder(app: "demo", productId: "unlock", account: "anna")
    let first = try await folder.open().purchase(order)
    for _ in 0..<2 {
      let store = try folder.open()
      #expect(try await store.purchase(order).originalTransactionId == first.transactionId)
      _ = try await store.purchase(PurchaseOrder(app: "demo", productId: "monthly", account: "anna"))
    }
  }

  @Test("A second sandbox in the same directory is rejected")
  func inUse() throws {
    let store = try folder.open()
    #expect(throws: SandboxError.inUse(path: folder.path())) { try folder.open() }
    #expect(store.apps.count == 1)
  }

  @Test("An expired leaf is replaced under the same root")
  func newLeaf() async throws {
    let root = try folder.open().root.der
    let later = Instant(rfc3339: "2048-01-01T00:00:00Z")!
    let store = try folder.open(now: later)
    #expect(store.root.der == root)
    let purchase = try await store.purchase(PurchaseOrder(app: "demo", productId: "unlock"))
    #expect(try verified(purchase, by: store).payload.signedDate == later)
  }

  @Test("A missing key is an error and creates no new root")
  func damaged() throws {
    _ = try folder.open()
    try FileManager.default.removeItem(atPath: folder.path("store/leaf.key.pem"))
    #expect(throws: SandboxError.self) { try folder.open() }
  }

  @Test("Keys and the journal are readable by their owner only")
  func modes() throws {
    let store = try folder.open()
    defer { #expect(store.apps.count == 1) }
    func mode(_ path: String) throws -> Int {
      let attributes = try FileManager.default.attributesOfItem(atPath: folder.path(path))
      return try #require(attributes[.posixPermissions] as? Int)
    }
    #expect(try mode("store") == 0o700)
    for name in ["root", "intermediate", "leaf"] {
      #expect(try mode("store/\(name).key.pem") == 0o600)
    }
    for suffix in ["", "-wal", "-shm"] { #expect(try mode("store/sandbox.sqlite\(suffix)") == 0o600) }
  }

  @Test("A new world can begin in the past, and an existing one ignores the start")
  func beginning() throws {
    let past = try #require(Instant(rfc3339: "2025-12-01T00:00:00Z"))
    for start in [past, SandboxFolder.start] {
      #expect(try folder.open(start: start).clock.now() == past, "a start is only for what begins")
    }
  }
}

/// Reports each notification, and responds after its release.
private struct HeldPoster: NotificationPoster {
  let posts: AsyncStream<Void>
  private let calls: AsyncStream<Void>.Continuation
  private let gate: AsyncStream<Void>
  private let opener: AsyncStream<Void>.Continuation

  init() {
    (posts, calls) = AsyncStream.makeStream()
    (gate, opener) = AsyncStream.makeStream()
  }

  func release() { opener.finish() }

  func exchange(_ body: [UInt8], with url: String) async -> ReceiverResponse {
    calls.yield()
    for await _ in gate {}
    return ReceiverResponse(result: .success)
  }
}
