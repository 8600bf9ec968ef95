internal import AppStore
internal import JSON

/// All lines that were begun, one line of JSON each in a file that only grows.
struct PurchaseLines {
  private let directory: PrivateDirectory
  private var lines: [PurchaseLine.Key: PurchaseLine] = [:]

  private static let file = "purchase-lines"

  /// Reads the lines that `directory` keeps. What a crash or a full disk cut short is passed over: the
  /// purchase it belonged to was never answered.
  init(directory: PrivateDirectory) throws(SandboxError) {
    self.directory = directory
    for entry in try directory.read(Self.file)?.split(separator: "\n") ?? [] {
      if let (key, line) = Self.read(String(entry)) { lines[key] = line }
    }
  }

  /// The line that a purchase continues, or else `new`, which is then remembered. Without a key the
  /// purchase stands for itself.
  ///
  /// An account that comes back to a subscription group continues its line, however long it was away.
  mutating func line(_ key: PurchaseLine.Key?, beginning new: PurchaseLine) throws(SandboxError)
    -> PurchaseLine
  {
    guard let key else { return new }
    if let line = lines[key] { return line }
    // The newline goes first, so that what was cut short before stays a line of its own.
    try directory.append(Self.file, [UInt8(ascii: "\n")] + Self.entry(key, new).serialized())
    lines[key] = new
    return new
  }

  private static func entry(_ key: PurchaseLine.Key, _ line: PurchaseLine) -> JSONObject {
    [
      "app": .string(key.app), "account": .string(key.account), "subject": .string(key.subject),
      "originalTransactionId": .string(line.originalTransactionId),
      "originalPurchaseDate": .number(JSONNumber(line.originalPurchaseDate.millisecondsSince1970)),
    ]
  }

  private static func read(_ entry: String) -> (PurchaseLine.Key, PurchaseLine)? {
    guard let json = try? JSONValue(parsing: entry).objectValue,
      let app = json["app"]?.stringValue, let account = json["account"]?.stringValue,
      let subject = json["subject"]?.stringValue, let id = json["originalTransactionId"]?.stringValue,
      let date = json["originalPurchaseDate"]?.int64Value
    else { return nil }
    return (
      PurchaseLine.Key(app: app, account: account, subject: subject),
      PurchaseLine(originalTransactionId: id, originalPurchaseDate: Instant(millisecondsSince1970: date))
    )
  }
}
