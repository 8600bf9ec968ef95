internal import AppStore
internal import Bytes
internal import Pages
internal import RPC
internal import SignedData
internal import Wire

// Days for many customers, for example after an outage, and their undo as one.
extension Action {
  private static let maxCustomers = 1_000

  static let makeGood = Action(
    fields: [
      ActionField(name: "customers", label: Text.customersLabel, kind: .paragraph, hint: Text.customersHint),
      ActionField(name: "entitlement", label: Text.entitlement),
      ActionField(
        name: "days", label: Text.duration,
        kind: .choice([1, 3, 7, 14, 30].map { (String($0), Text.days($0)) }),
        initial: "3"), .note, .hiddenOption("until"),
    ],
    preview: { call async throws(Status) in
      let customers = try customers(call.form)
      guard let days = Int64(call.form["days"]), (1...366).contains(days) else {
        throw .field("days", Text.chooseOne)
      }
      let until = try await call.now(of: customers[0]).advanced(byMilliseconds: days * 86_400_000)
      var changed = 0
      for customer in customers {
        let response = try await call.visit.call(
          Calls.grant, request(call, customer, until, batch: "", isDryRun: true))
        if !response.events.isEmpty { changed += 1 }
      }
      return ActionPreview(
        lines: [
          Text.willMakeGood(customers.count, call.form["entitlement"], until), Text.ofThemChanged(changed),
        ],
        resolved: ["until": until.description])
    },
    perform: { call async throws(Status) in
      guard let until = Instant(rfc3339: call.form["until"]) else { throw .field("until", Text.notADate) }
      let batch = String(call.key.prefix(12))
      let customers = try customers(call.form)
      for customer in customers {
        _ = try await call.visit.call(
          Calls.grant, request(call, customer, until, batch: batch, isDryRun: false))
      }
      return ActionResult(
        link: call.scope.work(), undo: ActionReceipt.Undo(action: .undoBatch, name: "batch", id: batch),
        text: Text.until(until))
    })

  private static func request(
    _ call: ActionCall, _ customer: String, _ until: Instant, batch: String, isDryRun: Bool
  ) -> GrantRequest {
    .with {
      call.fill(&$0.app, &$0.environment)
      $0.customerId = customer
      $0.entitlement = call.form["entitlement"]
      $0.accessLevel = .full
      $0.until = GoogleProtobuf.Timestamp(until)
      $0.note = "\(call.note) \(marker(batch))"
      $0.actor = call.actor
      // The same batch again, after a failure in its middle, grants nothing twice.
      $0.idempotencyKey = isDryRun ? "" : Hex.encode(SHA256.hash(Array("\(batch) \(customer)".utf8)[...]))
      $0.dryRun = isDryRun
    }
  }

  /// The ids of a list or a CSV: the first column of each line, each id once.
  private static func customers(_ form: ActionForm) throws(Status) -> [String] {
    var seen: Set<String> = []
    let ids = form["customers"].split(whereSeparator: \.isNewline).compactMap { line in
      let cell = line.split(separator: ",", omittingEmptySubsequences: false).first.map(String.init) ?? ""
      let id = cell.trimmed
      return id.isEmpty || ["customer", "customer_id"].contains(id) || !seen.insert(id).inserted ? nil : id
    }
    guard !ids.isEmpty, ids.count <= maxCustomers else {
      throw .field("customers", Text.tooManyCustomers(maxCustomers))
    }
    return ids
  }

  /// What the notes of a batch contain.
  private static func marker(_ batch: String) -> String { "[batch \(batch)]" }

  static let undoBatch = Action(
    fields: [ActionField(name: "batch", label: Text.batch), .note],
    preview: { call async throws(Status) in
      let grants = try await grants(call)
      return ActionPreview(lines: [Text.willRevokeBatch(grants.count, Set(grants.map(\.customerId)).count)])
    },
    perform: { call async throws(Status) in
      for grant in try await grants(call) {
        _ = try await call.visit.call(
          Calls.revokeGrant,
          .with {
            $0.app = call.scope.app
            $0.grantId = grant.grantId
            $0.note = call.note
            $0.actor = call.actor
          })
      }
      return ActionResult(link: call.scope.work())
    })

  /// The grants of a batch that are in force. Grants are listed by id as text, so all of them are read.
  private static func grants(_ call: ActionCall) async throws(Status) -> [Grant] {
    var found: [Grant] = []
    var page = ""
    repeat {
      let response = try await call.visit.call(
        Calls.listGrants,
        .with {
          call.fill(&$0.app, &$0.environment)
          $0.pageSize = 1_000
          $0.pageToken = page
        })
      found += response.grants.filter { $0.revokedAt == nil && $0.note.hasSuffix(marker(call.form["batch"])) }
      page = response.nextPageToken
    } while !page.isEmpty
    return found
  }
}

extension ActionField {
  /// A hidden field that the preview fills in.
  static func hiddenOption(_ name: String) -> ActionField {
    ActionField(name: name, label: name, kind: .hidden, isRequired: false)
  }
}
