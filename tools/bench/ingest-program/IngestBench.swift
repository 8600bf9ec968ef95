internal import AppStore
internal import Foundation
internal import Glibc
internal import JSON
internal import SignedData

/// The Swift side of `tools/bench/ingest` and `tools/crash`.
///
///     ingest-bench FOLDER COUNT CUSTOMERS [FIRST]
///
/// writes COUNT bodies as Apple posts them, one per line, into FOLDER/notifications.txt, and their root
/// certificate into FOLDER/root.der. They are about the purchases that `entitled store seed --customers
/// CUSTOMERS` creates; FIRST (0) is the number of the first one.
///
///     ingest-bench FOLDER COUNT CUSTOMERS consumables|subscriptions|renewals
///
/// writes COUNT purchases of CUSTOMERS customers who are known by their `appAccountToken` (``TokenPurchases``).
///
///     ingest-bench FOLDER SECONDS CUSTOMERS lives
///
/// writes the lives of CUSTOMERS customers up to now into FOLDER/history.txt, and as many notifications of a day into
/// FOLDER/notifications.txt (``MonthlyLives``). The renewals among these begin after SECONDS.
@main enum IngestBench {
  static func main() throws {
    let arguments = CommandLine.arguments.dropFirst()
    let isOfLives = arguments.dropFirst(3).first == "lives"
    let shape = arguments.dropFirst(3).first.flatMap(TokenPurchases.Shape.init)
    let numbers = arguments.dropFirst().prefix(shape == nil && !isOfLives ? 3 : 2).map { Int($0) ?? -1 }
    guard let folder = arguments.first, (2...3).contains(numbers.count), numbers.allSatisfy({ $0 >= 0 }),
      numbers[1] > 0
    else {
      print("usage: ingest-bench FOLDER COUNT CUSTOMERS [FIRST|consumables|subscriptions|renewals|lives]")
      exit(2)
    }
    if isOfLives {
      return try PostedNotifications(customers: numbers[1])
        .writeLives(of: numbers[1], renewedIn: Int64(numbers[0]), to: folder)
    }
    let first = numbers.count == 3 ? numbers[2] : 0
    try PostedNotifications(customers: numbers[1], shape: shape).write(
      first..<first + numbers[0], to: folder)
  }
}

/// Renewal notifications of synthetic customers, each with a transaction and a renewal info,
/// all three signed as Apple signs them.
struct PostedNotifications {
  private let signer: JWSSigner
  private let root: Certificate
  /// The customers in the order of their renewal dates, as `entitled store seed` creates them.
  private let customers: [Int]
  private let start: Int64
  /// What to write instead of renewals of the seeded customers.
  private let purchases: TokenPurchases?

  /// Notifications about the purchases of `customers` seeded customers, signed now.
  init(customers: Int, shape: TokenPurchases.Shape? = nil) throws {
    var order = Array(repeating: 1, count: customers)
    for number in 1...customers { order[number * 7919 % customers] = number }
    self.customers = order
    self.start = Int64(Date().timeIntervalSince1970 * 1000) - Self.day
    purchases = shape.map { [start] in
      // Apple signs no purchases of the future: the newest of twenty thousand is some days old.
      TokenPurchases(shape: $0, customers: customers, start: start - 840 * Self.day, signedFrom: start)
    }
    // The documents of lives were signed up to a year ago.
    let (start, end) = (
      Instant(millisecondsSince1970: start - 2 * Self.year),
      Instant(millisecondsSince1970: start + Self.year)
    )
    let root = try CertificateIssuer.root(
      DistinguishedName([("CN", "Bench Root CA"), ("O", "Invented Inc.")]), key: .generate(.p384),
      from: start, until: end)
    let intermediate = try root.intermediate(
      DistinguishedName([("CN", "Bench Developer Relations"), ("O", "Invented Inc.")]),
      key: .generate(.p384), from: start, until: end)
    let key = try SigningKey.generate(.p256)
    let leaf = try intermediate.leaf(
      DistinguishedName([("CN", "Bench App Store Receipt Signing"), ("O", "Invented Inc.")]), key: key,
      from: start, until: end)
    signer = JWSSigner(key: key, chain: [leaf, intermediate.certificate, root.certificate])
    self.root = root.certificate
  }

  /// Writes the notifications of these numbers, one per line, and the root.
  func write(_ numbers: Range<Int>, to folder: String) throws {
    try write(numbers, to: folder, "notifications.txt") { try signedPayload($0) }
  }

  /// Writes the notifications about the lives of customers, and the root. The last renewals begin some seconds from now.
  func writeLives(of customers: Int, renewedIn seconds: Int64, to folder: String) throws {
    let now = start + Self.day
    let lives = MonthlyLives(customers: customers, now: now, end: now + 1_000 * seconds)
    for (name, notices) in [("history.txt", lives.history), ("notifications.txt", lives.day)] {
      try write(notices, to: folder, name) { notice in
        try notification(
          lives.type(notice), signed: lives.signed(notice), lives.transaction(notice),
          lives.renewalInfo(notice))
      }
    }
  }

  private func write<Key>(
    _ keys: some Sequence<Key>, to folder: String, _ name: String, _ payload: (Key) throws -> String
  ) throws {
    let folder = URL(filePath: folder)
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    try Data(root.der).write(to: folder.appending(path: "root.der"))
    let path = folder.appending(path: name).path
    _ = FileManager.default.createFile(atPath: path, contents: nil)
    let file = try FileHandle(forWritingTo: URL(filePath: path))
    for key in keys {
      let body: JSONObject = ["signedPayload": .string(try payload(key))]
      try file.write(contentsOf: Data(body.serialized() + [UInt8(ascii: "\n")]))
    }
    try file.close()
  }

  private func signedPayload(_ number: Int) throws -> String {
    if let purchases { return try signedPayload(number, of: purchases) }
    let line = String(2_000_000_000_000_000 + customers[number % customers.count] * 10)
    let now = start + Int64(number) * 10
    let data: JSONObject = [
      "bundleId": .string(Self.bundleID), "bundleVersion": "104", "environment": "Sandbox",
      "signedTransactionInfo": .string(try signer.sign(payload: transaction(number, of: line, at: now))),
      "signedRenewalInfo": .string(try signer.sign(payload: renewalInfo(number, of: line, at: now))),
      "status": 1,
    ]
    return try signer.sign(payload: [
      "notificationType": "DID_RENEW", "notificationUUID": .string(UUID().uuidString.lowercased()),
      "data": .object(data), "version": "2.0", "signedDate": .number(JSONNumber(now)),
    ])
  }

  private func signedPayload(_ number: Int, of purchases: TokenPurchases) throws -> String {
    try notification(
      (purchases.notificationType, nil), signed: purchases.signed(number), purchases.transaction(number),
      purchases.renewalInfo(number))
  }

  private func notification(
    _ type: (name: String, subtype: String?), signed: Int64, _ transaction: JSONObject,
    _ renewal: JSONObject?
  ) throws -> String {
    var data: JSONObject = [
      "bundleId": .string(Self.bundleID), "environment": "Sandbox",
      "signedTransactionInfo": .string(try signer.sign(payload: transaction)),
    ]
    if let renewal { data["signedRenewalInfo"] = .string(try signer.sign(payload: renewal)) }
    var payload: JSONObject = [
      "notificationType": .string(type.name), "notificationUUID": .string(UUID().uuidString.lowercased()),
      "data": .object(data), "version": "2.0", "signedDate": .number(JSONNumber(signed)),
    ]
    if let subtype = type.subtype { payload["subtype"] = .string(subtype) }
    return try signer.sign(payload: payload)
  }

  private func transaction(_ number: Int, of line: String, at now: Int64) -> JSONObject {
    [
      "transactionId": .string(String(3_000_000_000_000_000 + number)),
      "originalTransactionId": .string(line),
      "webOrderLineItemId": .string(String(4_000_000_000_000_000 + number)),
      "bundleId": .string(Self.bundleID), "productId": .string(Self.productID),
      "subscriptionGroupIdentifier": "pro", "purchaseDate": .number(JSONNumber(now)),
      "originalPurchaseDate": .number(JSONNumber(now - Self.year)),
      "expiresDate": .number(JSONNumber(now + Self.year)), "quantity": 1,
      "type": "Auto-Renewable Subscription", "inAppOwnershipType": "PURCHASED",
      "signedDate": .number(JSONNumber(now)), "environment": "Sandbox", "transactionReason": "RENEWAL",
      "storefront": "DEU", "storefrontId": "143443", "price": 39_990, "currency": "EUR",
      "appTransactionId": .string(String(704_000_000_000_000 + number)),
    ]
  }

  private func renewalInfo(_ number: Int, of line: String, at now: Int64) -> JSONObject {
    [
      "originalTransactionId": .string(line), "autoRenewProductId": .string(Self.productID),
      "productId": .string(Self.productID), "autoRenewStatus": 1, "renewalPrice": 39_990,
      "currency": "EUR", "signedDate": .number(JSONNumber(now)), "environment": "Sandbox",
      "recentSubscriptionStartDate": .number(JSONNumber(now - Self.year)),
      "renewalDate": .number(JSONNumber(now + Self.year)),
      "appTransactionId": .string(String(704_000_000_000_000 + number)),
    ]
  }

  static let bundleID = "com.example.oceanjournal"
  private static let productID = "pro.yearly"
  private static let day: Int64 = 86_400_000
  private static let year: Int64 = 365 * day
}
