internal import AppStore
internal import Foundation
internal import Sandbox
internal import SignedData

/// The documents to verify: signed by a sandbox App Store, one JWS per line in a file for each kind.
struct BenchDocuments {
  enum Kind: String, CaseIterable {
    case transaction, notification
    /// Transactions under more chains than the chain cache holds, so that each lookup misses.
    case uncached
  }

  static let app = AppIdentity(bundleID: "com.example.oceanjournal", appAppleID: nil)
  /// Enough to defeat branch prediction for single documents.
  private static let count = 200
  /// Twice the capacity of the chain cache.
  private static let chains = 64

  private let folder: URL

  init(folder: String) { self.folder = URL(filePath: folder) }

  func make() async throws {
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    let product = SandboxProduct(
      productId: "pro.monthly", type: .autoRenewableSubscription, subscriptionGroupIdentifier: "21",
      period: Period("P1M"), price: 4990)
    let store = try AppStoreSimulator(
      apps: [SandboxApp(id: "ocean-journal", identity: Self.app, products: [product])],
      storage: .memory, now: { Self.signing })
    func documents(_ kind: SandboxDocumentKind) async throws -> [String] {
      var documents: [String] = []
      for _ in 0..<Self.count {
        let order = PurchaseOrder(app: "ocean-journal", productId: "pro.monthly")
        documents.append(try await store.document(kind, about: order))
      }
      return documents
    }
    let transactions = try await documents(.transaction)
    try write(transactions, .transaction)
    try write(try await documents(.notification), .notification)
    let (chained, root) = try Self.underManyChains(transactions)
    try write(chained, .uncached)
    try Data(store.root.der).write(to: rootFile(.transaction))
    try Data(store.root.der).write(to: rootFile(.notification))
    try Data(root.der).write(to: rootFile(.uncached))
  }

  func read(_ kind: Kind) throws -> [String] {
    try String(contentsOf: file(kind), encoding: .utf8).split(separator: "\n").map(String.init)
  }

  func root(_ kind: Kind) throws -> Certificate {
    try Certificate(der: [UInt8](Data(contentsOf: rootFile(kind))))
  }

  private static var signing: Instant { Instant(millisecondsSince1970: 1_790_000_000_000) }

  /// The same payloads, signed by enough leaves that each misses the verifier's cache.
  private static func underManyChains(_ documents: [String]) throws -> ([String], root: Certificate) {
    let (start, end) = (signing.advanced(byMilliseconds: -1000), signing.advanced(byMilliseconds: 1000))
    let root = try CertificateIssuer.root(
      DistinguishedName([("CN", "Root")]), key: .generate(.p384), from: start, until: end)
    let intermediate = try root.intermediate(
      DistinguishedName([("CN", "Intermediate")]), key: .generate(.p384), from: start, until: end)
    var signed: [String] = []
    for number in 0..<chains {
      let key = try SigningKey.generate(.p256)
      let leaf = try intermediate.leaf(
        DistinguishedName([("CN", "Leaf \(number)")]), key: key, from: start, until: end)
      let signer = JWSSigner(key: key, chain: [leaf, intermediate.certificate, root.certificate])
      signed.append(try signer.sign(payload: UnverifiedJWS(documents[number]).payload))
    }
    return (signed, root.certificate)
  }

  private func file(_ kind: Kind) -> URL { folder.appending(path: "\(kind.rawValue).jws") }

  private func rootFile(_ kind: Kind) -> URL { folder.appending(path: "\(kind.rawValue).root.der") }

  private func write(_ documents: [String], _ kind: Kind) throws {
    try documents.joined(separator: "\n").write(to: file(kind), atomically: true, encoding: .utf8)
  }
}
