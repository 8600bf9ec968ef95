internal import AppStore
internal import Bytes
internal import Foundation
internal import JSON
internal import SignedData
internal import Wire

/// The seeds of the fuzzer: the documents of the conformance kit, which are of every kind and with every fault, and
/// requests.
struct Seeds {
  static let app = AppIdentity(bundleID: "com.example.conformance", appAppleID: 1_234_567_890)

  /// Gets in `seeds` a folder for each parser.
  let folder: URL
  /// The folder of the conformance kit.
  let kit: URL

  /// A verifier that trusts the authority of the kit.
  func verifier() throws -> SignedDataVerifier {
    let root = try Certificate(pem: String(contentsOf: kit.appending(path: "keys/root.pem"), encoding: .utf8))
    return try SignedDataVerifier(anchors: .apple().adding(root, for: .sandbox))
  }

  /// Writes the documents of the kit.
  func writeDocuments() throws {
    let groups = kit.appending(path: "verification")
    for file in try FileManager.default.contentsOfDirectory(atPath: groups.path) {
      let group = try JSONValue(parsing: [UInt8](Data(contentsOf: groups.appending(path: file)))).objectValue
      for vector in group?["vectors"]?.arrayValue ?? [] {
        guard let kind = vector.objectValue?["kind"]?.stringValue,
          let name = vector.objectValue?["name"]?.stringValue,
          let document = vector.objectValue?["document"]?.stringValue
        else { continue }
        try write(document, named: "\(kind).\(name)", kind)
      }
    }
  }

  /// Writes documents of kinds that the kit does not have.
  func writeLegacyDocuments() throws {
    let purchase =
      #"{ "product-id" = "coins.100"; "transaction-id" = "1"; "quantity" = "1"; "bid" = "com.example"; }"#
    let info = Base64.standard.encode(Array(purchase.utf8))
    let receipt =
      #"{ "signature" = "AQID"; "purchase-info" = "\#(info)"; "environment" = "Sandbox"; "pod" = "100"; }"#
    try write(Array(receipt.utf8), "purchase", for: .plist)
    try write(Array(Base64.standard.encode(Array(receipt.utf8)).utf8), "purchase", for: .document)
    let notification = #"""
      {"notification_type": "DID_RENEW", "password": "p", "environment": "Sandbox", "bid": "com.example",
      "unified_receipt": {"status": 0, "latest_receipt_info": [{"product_id": "pro.monthly", "quantity": "1",
      "transaction_id": "2", "original_transaction_id": "1", "purchase_date_ms": "1700000000000"}]}}
      """#
    try write(Array(notification.utf8), "version-1", for: .json)
    try write(Array(notification.utf8), "version-1", for: .document)
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
    try writeCustomers()
  }

  private func writeCustomers() throws {
    let table = """
      rc_original_app_user_id;rc_last_seen_app_user_id_alias;product_identifier;start_time;end_time;store;is_sandbox;\
      original_store_transaction_id;refunded_at;entitlement_identifiers;updated_at;custom_subscriber_attributes
      ann;bob;p;2026-01-01 00:00:00;2026-02-01 00:00:00;play_store;false;GPA.1;;["pro"];2026-02-02;{"$email":{"value":"a"}}
      """
    let event = """
      {"event":{"id":"1","type":"RENEWAL","event_timestamp_ms":1767225600000,"expiration_at_ms":1767225700000,\
      "app_user_id":"ann","aliases":["bob"],"entitlement_ids":["pro"],"store":"APP_STORE","original_transaction_id":"2"}}
      """
    let list = """
      {"object":"list","url":"/v2/projects/p/customers","items":[{"object":"customer","id":"ann",\
      "attributes":{"object":"list","items":[{"object":"customer.attribute","name":"$email","value":"a"}]}}]}
      """
    let report = "Units\tCustomer Price\n-1\t4.99\n"
    for (name, text) in [("table", table), ("list", list), ("event", event), ("report", report)] {
      try write(Array(text.utf8), name, for: .customers)
    }
  }

  private func write(_ document: String, named name: String, _ kind: String) throws {
    try write(Array(document.utf8), name, for: .document)
    switch kind {
    case "receipt":
      let receipt = Base64.standard.decode(document) ?? []
      try write(receipt, name, for: .pkcs7)
      try write(receipt, "\(name).der", for: .document)
      guard let content = try? UnverifiedReceipt(receipt).content else { return }
      try write(content, name, for: .asn1)
    case "notification": try write(Array(document.utf8), name, for: .json)
    default:
      try write(Array(document.utf8), name, for: .jws)
      guard let payload = try? UnverifiedJWS(document).payload.serialized() else { return }
      try write(payload, name, for: .json)
    }
    guard kind == "notification", let body = try? JSONValue(parsing: Array(document.utf8)),
      let signed = body.objectValue?["signedPayload"]?.stringValue
    else { return }
    try write(Array(signed.utf8), name, for: .jws)
  }

  private func write(_ seed: [UInt8], _ name: String, for parser: FuzzedParser) throws {
    let seeds = folder.appending(path: "seeds/\(parser.rawValue)")
    try FileManager.default.createDirectory(at: seeds, withIntermediateDirectories: true)
    try Data(seed).write(to: seeds.appending(path: name))
  }
}
