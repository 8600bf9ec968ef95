import AppStore
import Foundation
internal import SQLite
import Sandbox
import Store
import TestSupport
import Testing

@testable import SQLStore
@testable import SQLiteStore

/// Stores documents that the sandbox signs.
@Suite struct RealDocumentTests {
  @Test("A store restores every kind of document and stores it in a fraction of the space")
  func everyKind() async throws {
    let folder = FileManager.default.temporaryDirectory.appending(path: "packing-\(UUID())")
    defer { try? FileManager.default.removeItem(at: folder) }
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    let documents = try await documents()
    let store = try SQLiteEntitlementStore(directory: folder.appending(path: "data").path)
    for document in documents {
      try await store.write { transaction throws(StoreError) in
        _ = try transaction.append(evidence(document, .accepted))
        _ = try transaction.append(evidence(document, .rejected(reason: "WRONG_BUNDLE")))
      }
    }
    let stored = try await store.snapshot { try $0.evidence(after: nil, limit: 100) }
    #expect(stored.map(\.evidence.content.body) == documents.flatMap { [$0, $0] })
    #expect(
      stored.map(\.evidence.content) == documents.flatMap { [EvidenceContent($0), EvidenceContent($0)] })
    let connection = try Connection.reader(path: store.path)
    let (size, compressed) = (
      try connection.number("SELECT sum(size) FROM evidence"),
      try connection.number("SELECT sum(length(body)) FROM evidence")
    )
    #expect(compressed * 4 < size, "\(compressed) of \(size)")
    await store.close()
  }

  @Test("Evidence does not refer to shared segments of a write that was rolled back")
  func rolledBack() async throws {
    let folder = FileManager.default.temporaryDirectory.appending(path: "packing-\(UUID())")
    defer { try? FileManager.default.removeItem(at: folder) }
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    let documents = try await documents()
    let store = try SQLiteEntitlementStore(directory: folder.appending(path: "data").path)
    for document in documents {
      _ = try? await store.write { transaction throws(StoreError) in
        _ = try transaction.append(evidence(document, .accepted))
        throw StoreError.failed("on purpose")
      }
      _ = try await store.dryRun { transaction throws(StoreError) in
        try transaction.append(evidence(document, .accepted))
      }
      _ = try await store.write { transaction throws(StoreError) in
        try transaction.append(evidence(document, .accepted))
      }
    }
    #expect(
      try await store.snapshot { try $0.evidence(after: nil, limit: 100) }.map(\.evidence.content.body)
        == documents)
    await store.close()
  }

  private func documents() async throws -> [[UInt8]] {
    let product = SandboxProduct(
      productId: "pro.monthly", type: .autoRenewableSubscription, subscriptionGroupIdentifier: "21",
      period: Period("P1M"), price: 4990)
    let app = SandboxApp(
      id: "ocean", identity: AppIdentity(bundleID: "com.example.ocean", appAppleID: nil), products: [product])
    let sandbox = try AppStoreSimulator(
      apps: [app], storage: .memory,
      now: { Instant(millisecondsSince1970: 1_790_000_000_000) })
    var documents: [[UInt8]] = []
    for kind in SandboxDocumentKind.allCases {
      let order = PurchaseOrder(app: "ocean", productId: "pro.monthly")
      documents.append(Array(try await sandbox.document(kind, about: order).utf8))
    }
    return documents
  }
}

private func evidence(_ document: [UInt8], _ verdict: Evidence.Verdict) -> Evidence {
  Evidence(
    appID: "ocean", environment: .sandbox, customerID: nil, kind: .signedTransaction, source: .submission,
    receivedAt: Instant(millisecondsSince1970: 0), content: EvidenceContent(document), verdict: verdict)
}
