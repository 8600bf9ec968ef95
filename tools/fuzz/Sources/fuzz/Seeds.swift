internal import AppStore
internal import Bytes
internal import Foundation
internal import JSON
internal import Sandbox
internal import SignedData
internal import Wire

/// The seeds of the fuzzer: documents of every kind, made by the sandbox App Store.
struct Seeds {
  static let app = AppIdentity(bundleID: "com.example.oceanjournal", appAppleID: 1_234_567_890)

  /// Contains the sandbox's keys, and in `seeds` a folder for each parser.
  let folder: URL

  /// A verifier that trusts the sandbox that made the seeds.
  func verifier() throws -> SignedDataVerifier {
    let root = try Certificate(der: [UInt8](Data(contentsOf: folder.appending(path: "sandbox/root.der"))))
    return try SignedDataVerifier(anchors: .apple().adding(root, for: .sandbox))
  }

  /// Writes the seeds.
  func write() async throws {
    let products = [
      SandboxProduct(
        productId: "pro.monthly", type: .autoRenewableSubscription, subscriptionGroupIdentifier: "21",
        period: Period("P1M"), price: 4990),
      SandboxProduct(productId: "shells.100", type: .consumable, price: 990),
    ]
    let store = try AppStoreSimulator(
      apps: [SandboxApp(id: "ocean-journal", identity: Self.app, products: products)],
      storage: SandboxStorage(directory: folder.appending(path: "sandbox").path) { _ in InMemoryJournal() },
      now: { Instant(millisecondsSince1970: 1_790_000_000_000) })
    for product in products {
      for kind in SandboxDocumentKind.allCases {
        let order = PurchaseOrder(app: "ocean-journal", productId: product.productId)
        guard let document = try? await store.document(kind, about: order) else { continue }
        try write(document, named: "\(product.productId).\(kind.rawValue)", kind)
      }
    }
  }

  /// Writes seeds for requests, tokens and configuration files.
  func writeRequests() throws {
    if let ring = try TokenKeyRing([.generate(.p256)]) {
      let token = try ring.signer.sign([
        "iss": "https://a.example", "aud": "b", "sub": "c", "exp": 1_790_000_000,
      ])
      try write(ring.jwks.serialized() + Array("\n\(token)".utf8), "signed", for: .token)
    }
    try write(FuzzedConnection.seed(), "calls", for: .http2)
    try write([0, 0, 0, 0, 3, 10, 1, 97, 1, 0, 0, 0, 2, 31, 139], "frames", for: .grpc)
    for (index, method) in Contract.services.flatMap(\.methods).enumerated() where index < 256 {
      let choice = UInt8(index)
      try write([choice, 10, 3, 97, 112, 112, 18, 1, 99], "\(index)", for: .protobuf)
      try write([choice] + Array(#"{"app":"a","customerId":"c"}"#.utf8), method.name, for: .request)
    }
    let query = "connect=v1&encoding=json&base64=1&compression=gzip&message=H4sIAAAAAAACA6uuBQBDv6ajAgAAAA"
    try write(Array(query.utf8), "query", for: .connect)
    let yaml = """
      apps:
        a: {bundle_id: com.example.a, apple_id: 1, environments: [Sandbox], products: {p: {type: Consumable}}}
      limits: {max_concurrent_streams: 5}
      listeners: {grpc: {cleartext: true}}
      callers: open
      """
    try write(Array(yaml.utf8), "configuration", for: .yaml)
  }

  private func write(_ document: String, named name: String, _ kind: SandboxDocumentKind) throws {
    try write(Array(document.utf8), name, for: .document)
    switch kind {
    case .transaction, .renewalInfo, .appTransaction, .notification, .retentionMessageRequest:
      try write(Array(document.utf8), name, for: .jws)
      try write(UnverifiedJWS(document).payload.serialized(), name, for: .json)
    case .appReceipt:
      let receipt = Base64.standard.decode(document) ?? []
      try write(receipt, name, for: .pkcs7)
      try write(receipt, "\(name).der", for: .document)
      try write(UnverifiedReceipt(receipt).content, name, for: .asn1)
    case .transactionReceipt:
      try write(Base64.standard.decode(document) ?? [], name, for: .plist)
    case .notificationV1: try write(Array(document.utf8), name, for: .json)
    }
  }

  private func write(_ seed: [UInt8], _ name: String, for parser: FuzzedParser) throws {
    let seeds = folder.appending(path: "seeds/\(parser.rawValue)")
    try FileManager.default.createDirectory(at: seeds, withIntermediateDirectories: true)
    try Data(seed).write(to: seeds.appending(path: name))
  }
}
