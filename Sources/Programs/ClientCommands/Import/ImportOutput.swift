internal import AppStore
internal import CustomerImport
internal import JSON
internal import Wire

extension ImportPlan {
  private var aliasCount: Int { customers.reduce(0) { $0 + $1.aliases.count } }
  private var purchaseCount: Int { customers.reduce(0) { $0 + $1.purchases.count + $1.transactions.count } }
  private var attributeCount: Int { customers.reduce(0) { $0 + $1.attributes.count } }
  private var grantCount: Int { customers.reduce(0) { $0 + $1.grants.count } }

  /// The omissions by reason, in the order of the reasons.
  private var reasons: [(reason: String, count: Int)] {
    ImportOmission.Reason.allCases.compactMap { reason in
      let count = omissions.count { $0.reason == reason }
      return count > 0 ? (reason.rawValue, count) : nil
    }
  }

  /// The output of a dry run: each action and each omission on a line, then the sums.
  var preview: String {
    var lines: [String] = []
    for customer in customers {
      lines += customer.aliases.map { "would merge  \($0) into \(customer.id)" }
      lines += customer.transactionIDs.map { "would fetch  \($0) for \(customer.id)" }
      lines += customer.attributes.map { "would set    \($0.name) of \(customer.id)" }
      lines += customer.grants.map { "would grant  \(customer.id) \($0.words)" }
    }
    lines += omissions.map { "not taken    \($0.words)" }
    return (lines + [report(nil, notTaken: nil)]).joined(separator: "\n")
  }

  /// The sums for people; `counts` is `nil` for a dry run.
  func report(_ counts: ImportCounts?, notTaken path: String?) -> String {
    var rows = [("rows", "\(rowCount)"), ("customers", "\(customers.count)"), ("aliases", "\(aliasCount)")]
    if let counts { rows.append(("  merged", "\(counts.merged)")) }
    rows.append(("purchases", "\(purchaseCount)"))
    if let counts { rows += [("  migrated", "\(counts.migrated)"), ("  unchanged", "\(counts.unchanged)")] }
    rows += [("attributes", "\(attributeCount)"), ("grants", "\(grantCount)")]
    if let counts { rows.append(("  changed", "\(counts.grantsChanged)")) }
    rows.append(("not taken", "\(omissions.count)"))
    rows += reasons.map { ("  \($0.reason)", "\($0.count)") }
    rows.append(("listed in", path ?? ""))
    return Table.aligned(rows)
  }

  /// The plan and its result for programs; `counts` is `nil` for a dry run.
  func json(counts: ImportCounts?) -> JSONObject {
    var object: JSONObject = [
      "dryRun": .bool(counts == nil), "rows": number(rowCount), "aliases": number(aliasCount),
      "purchases": number(purchaseCount), "attributes": number(attributeCount), "grants": number(grantCount),
    ]
    if let counts {
      object["merged"] = number(counts.merged)
      object["migrated"] = number(counts.migrated)
      object["unchanged"] = number(counts.unchanged)
      object["grantsChanged"] = number(counts.grantsChanged)
    }
    object["customers"] = .array(customers.map { .object($0.json) })
    object["notTaken"] = .array(omissions.map { .object($0.json) })
    return object
  }

  private func number(_ count: Int) -> JSONValue { JSONValue(Int64(count)) }
}

extension ImportedCustomer {
  /// Apple's ids of the purchases, followed by those of the transactions.
  fileprivate var transactionIDs: [String] { purchases.keys.sorted() + transactions.keys.sorted() }

  fileprivate var json: JSONObject {
    [
      "customerId": .string(id), "aliases": .array(aliases.map { .string($0) }),
      "purchases": .array(transactionIDs.map { .string($0) }),
      "attributes": .object(JSONObject(attributes.map { ($0.name, .string($0.value)) })),
      "grants": .array(grants.map { .object($0.json) }),
    ]
  }
}

extension ImportedGrant {
  fileprivate var words: String {
    "\(entitlement) from \(source) \(externalID), revision \(revision), until \(until?.description ?? "no expiry")"
      + (refundedAt.map { ", refunded \($0)" } ?? "")
  }

  fileprivate var json: JSONObject {
    JSONObject(present: [
      ("source", .string(source)), ("externalId", .string(externalID)), ("entitlement", .string(entitlement)),
      ("productId", .string(productID)), ("revision", JSONValue(revision)),
      ("since", since.map { .string($0.description) }), ("until", until.map { .string($0.description) }),
      ("refundedAt", refundedAt.map { .string($0.description) }),
    ])
  }
}

extension ImportOmission {
  /// The omission as one line for people.
  var words: String {
    let place = [file, line.map { "line \($0)" } ?? ""].filter { !$0.isEmpty }.joined(separator: " ")
    return (place.isEmpty ? "" : "\(place): ") + reason.rawValue
      + (customerID.isEmpty ? "" : " \(customerID)") + ": \(detail)"
  }

  /// The omission as one line of a file.
  var json: JSONObject {
    JSONObject(present: [
      ("file", file.isEmpty ? nil : .string(file)), ("line", line.map { JSONValue(Int64($0)) }),
      ("reason", .string(reason.rawValue)),
      ("customerId", customerID.isEmpty ? nil : .string(customerID)), ("detail", .string(detail)),
    ])
  }
}

extension JSONObject {
  /// The object as JSON on one line.
  var text: String { String(decoding: serialized(), as: UTF8.self) }
}

extension Instant {
  /// The instant in messages of the contract.
  var timestamp: GoogleProtobuf.Timestamp {
    GoogleProtobuf.Timestamp(millisecondsSince1970: millisecondsSince1970)
  }
}
