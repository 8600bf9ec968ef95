internal import AppStore
internal import JSON

/// Everything that happened in a world, with its faults: what a restore needs to continue from the same state.
package struct WorldSnapshot: Sendable {
  /// The simulated time of the snapshot.
  let at: Instant
  /// The speed of the clock, with which a restored world continues.
  let speed: Int64
  /// The whole journal, oldest first.
  let lines: [JournalLine]
  /// The faults that were still to come.
  let faults: Faults
  /// The rate limit of the Server API; `nil` for none.
  let limit: ServerAPITraffic.Limit?
  /// The products that the world sells; a snapshot can be restored only with the same ones.
  let catalog: JSONValue

  private static let format = "entitled-sandbox-snapshot/1"
  /// From 1970 to the year 9999.
  private static let times = Instant(millisecondsSince1970: 0)...SandboxClock.latest

  /// Creates a snapshot from its parts, without a check.
  init(
    at: Instant, speed: Int64, lines: [JournalLine], faults: Faults, limit: ServerAPITraffic.Limit?,
    catalog: JSONValue
  ) {
    (self.at, self.speed, self.lines) = (at, speed, lines)
    (self.faults, self.limit, self.catalog) = (faults, limit, catalog)
  }

  /// The snapshot as a document.
  var json: JSONObject {
    JSONObject(present: [
      ("format", .string(Self.format)), ("now", .string(at.description)), ("speed", JSONValue(speed)),
      ("catalog", catalog), ("faults", .array(faults.document)), ("callLimit", limit?.json),
      (
        "journal",
        .array(
          lines.map { line in
            ["at": JSONValue(line.at), "entry": (try? JSONValue(parsing: line.entry)) ?? .string(line.entry)]
          })
      ),
    ])
  }

  /// Decodes a document. It checks the form; ``AppStoreSimulator/restore(_:)`` checks that the catalog is the same and
  /// that the journal can be replayed.
  ///
  /// - Throws: ``ActionError`` for a document of another format or with a malformed member.
  init(_ json: JSONObject) throws(ActionError) {
    let parameters = Parameters(json)
    try parameters.allow(only: ["format", "now", "speed", "catalog", "faults", "callLimit", "journal"])
    _ = try parameters.choice("format", of: [Self.format])
    guard let at = try parameters.instantIfPresent("now") else { throw .missingMember("now") }
    guard Self.times.contains(at) else { throw .wrongType(member: "now", expected: "a time after 1970") }
    guard let catalog = json["catalog"] else { throw .missingMember("catalog") }
    guard let entries = json["journal"]?.arrayValue else { throw .missingMember("journal") }
    var lines: [JournalLine] = []
    for entry in entries {
      guard let line = entry.objectValue, let at = Journal.instant(line["at"]), Self.times.contains(at),
        let object = line["entry"]?.objectValue
      else { throw .wrongType(member: "journal", expected: "the lines of a snapshot") }
      lines.append(JournalLine(at: at, entry: object.text))
    }
    let faults = try Faults(document: json["faults"]?.arrayValue ?? [])
    var traffic = ServerAPITraffic()
    if let limit = json["callLimit"]?.objectValue { try traffic.set(Parameters(limit)) }
    self.init(
      at: at, speed: try parameters.integer("speed", in: 0...10_000_000), lines: lines, faults: faults,
      limit: traffic.limit, catalog: catalog)
  }
}
