internal import AppReceipt
internal import AppStore
internal import AppStoreReports
internal import Configuration
internal import CustomerImport
internal import JSON
internal import SignedData

/// The parsers of untrusted bytes. Each must reject or decode any input, and neither crash nor hang.
enum FuzzedParser: String, CaseIterable {
  /// JWS with its header, its certificates and its payload.
  case jws
  /// The keys of an identity provider, a line feed, and a token.
  case token
  /// JSON, and the payloads of all kinds decoded from it.
  case json
  /// The attributes of an app receipt.
  case asn1
  /// An app receipt.
  case pkcs7
  /// A receipt from before iOS 7.
  case plist
  /// The detection of the document's kind.
  case document
  /// Frames of HTTP/2.
  case http2
  /// gRPC messages in their frames, compressed or not.
  case grpc
  /// Requests of the API, as protobuf. The first byte selects the message.
  case protobuf
  /// Requests of the API, as JSON.
  case request
  /// Requests of the Connect protocol: the query of a GET, header fields, and compressed bodies.
  case connect
  /// The operator's configuration.
  case yaml
  /// Other systems' customers: tables, lists and webhooks of RevenueCat; and Apple's reports.
  case customers

  /// Runs the parser on `input`.
  func read(_ input: [UInt8], with verifier: SignedDataVerifier) {
    switch self {
    case .jws: readJWS(String(decoding: input, as: UTF8.self), with: verifier)
    case .token: readToken(input)
    case .json: readJSON(input)
    case .asn1: readReceiptContent(input)
    case .pkcs7: readReceipt(input, with: verifier)
    case .plist: _ = try? TransactionReceipt(parsing: input).json.serialized()
    case .document: readDocument(input, with: verifier)
    case .http2: FuzzedConnection.read(input)
    case .grpc: FuzzedCalls.readFrames(input)
    case .protobuf: FuzzedCalls.readMessage(input)
    case .request: FuzzedCalls.readJSON(input)
    case .connect: FuzzedCalls.readConnect(input)
    case .yaml: _ = try? ServiceConfiguration(yaml: String(decoding: input, as: UTF8.self), file: "fuzz.yaml")
    case .customers: readCustomers(input)
    }
  }

  private func readDocument(_ input: [UInt8], with verifier: SignedDataVerifier) {
    switch try? RecognizedDocument(input) {
    case .jws(let text)?: readJWS(text, with: verifier)
    case .notificationV1(let body)?: _ = body.json.serialized(pretty: true)
    case .appReceipt(let receipt)?: readReceipt(receipt, with: verifier)
    case .transactionReceipt(let list)?: _ = try? TransactionReceipt(parsing: list).json.serialized()
    case nil: break
    }
  }

  private func readCustomers(_ input: [UInt8]) {
    let now = Instant(millisecondsSince1970: 1_767_225_600_000)
    var statements = AccessStatements(entitlementNames: [:])
    var planner = ImportPlanner(ImportPlanner.Options(), mapping: .revenueCat)
    var rows = (try? RevenueCatLists(input, now: now))?.rows ?? []
    if let table = try? ColumnMapping.revenueCat.rows(of: SeparatedValues(input)) {
      rows += table.rows
      for omission in table.unreadable { planner.add(omission) }
    }
    for row in rows {
      planner.add(row)
      statements.add(row, knownAt: now)
    }
    _ = planner.plan()
    if let event = try? RevenueCatEvent(input), let body = try? JSONValue(parsing: input) {
      statements.add(event, body)
    }
    for stated in statements.access {
      _ = AccessDisagreement(
        stated: stated.deciding?.until, isEntitled: true, until: now, paidUntil: now, at: now, tolerance: 1)
    }
    let report = TabularText(parsing: String(decoding: input, as: UTF8.self))
    for cell in report.rows.joined() { _ = Amount.thousandths(cell) }
  }

  private func readJWS(_ text: String, with verifier: SignedDataVerifier) {
    _ = (try? UnverifiedJWS(text))?.certificates
    for environments: Set<Environment> in [[.sandbox], [.production, .xcode, .localTesting]] {
      _ = try? verifier.verifyTransaction(text, for: Seeds.app, environments: environments)
      _ = try? verifier.verifyNotification(text, for: Seeds.app, environments: environments)
    }
  }

  private func readToken(_ input: [UInt8]) {
    let lines = input.split(separator: UInt8(ascii: "\n"), maxSplits: 1)
    guard let set = lines.first, let keys = try? JSONWebKeySet(parsing: Array(set)) else { return }
    _ = try? keys.claims(of: String(decoding: lines.dropFirst().first ?? [], as: UTF8.self))
  }

  private func readJSON(_ input: [UInt8]) {
    guard let value = try? JSONValue(parsing: input) else { return }
    for written in [value.serialized(), value.serialized(pretty: true)] {
      precondition(try! JSONValue(parsing: written) == value, "what is written is read as something else")
    }
    guard case .object(let object) = value else { return }
    let payloads: [any DecodedPayload.Type] = [
      JWSTransactionDecodedPayload.self, JWSRenewalInfoDecodedPayload.self, AppTransactionPayload.self,
      ResponseBodyV2DecodedPayload.self, DecodedRealtimeRequestBody.self, ResponseBodyV1.self,
      VerifyReceiptResponse.self,
    ]
    for payload in payloads { _ = try? payload.init(json: object) }
  }

  private func readReceiptContent(_ input: [UInt8]) {
    guard let payload = try? AppReceiptPayload(parsing: input) else { return }
    _ = payload.json.serialized()
    _ = try? payload.isFor(device: [1, 2, 3, 4, 5, 6])
  }

  private func readReceipt(_ input: [UInt8], with verifier: SignedDataVerifier) {
    if let receipt = try? UnverifiedReceipt(input) { readReceiptContent(receipt.content) }
    let _: Verified<AppReceiptPayload>? = try? verifier.verifyReceipt(
      input, for: Seeds.app, environments: [.sandbox, .production, .xcode])
  }
}
