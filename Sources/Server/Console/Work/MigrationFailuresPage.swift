internal import Markup
internal import Pages
internal import RPC
internal import Wire

/// The receipts that a migration did not migrate, with their reasons. The receipts themselves are not shown.
enum MigrationFailuresPage {
  static func link(_ migration: String, in scope: Scope, page: String? = nil) -> Link {
    Link(scope.path + ["work", WorkQueue.migrations.rawValue, migration], query: [("page", page)])
  }

  /// `GET` of `work/migrations/ID` in the scope: failed lines in the order of the input. `page` is the token of the next page.
  static func page(_ migration: String, in scope: Scope, _ visit: Visit) async throws(Status) -> Page {
    let response = try await visit.call(
      Calls.listMigrationFailures,
      .with {
        $0.app = scope.app
        $0.migrationId = migration
        $0.pageToken = visit.value("page") ?? ""
      })
    let rows = response.failures.map { failure -> [Markup] in
      let outcome = Format.value(failure.outcome, "MIGRATION_OUTCOME_")
      return [
        "\(failure.line)", scope.customerLink(failure.customerId),
        Part.chip(outcome, failure.outcome == .retryable ? .grace : .none),
        "<code>\(failure.reason)</code>", "\(failure.explanation)", "\(failure.advice)",
      ]
    }
    let title = Text.failuresOf(migration)
    let table =
      rows.isEmpty
      ? Part.empty(Text.noFailures)
      : Table.markup(
        title,
        heads: [Text.line, Text.customer, Text.outcome, Text.reason, Text.inWords, Text.adviceHead],
        rows: rows)
    let next = Part.next(response.nextPageToken) { link(migration, in: scope, page: $0) }
    return Page(
      title, in: scope, section: .work,
      body: """
        <p><a href="\(scope.work(.migrations))">\(Text.queueMigrations)</a></p>
        <h1>\(title)</h1>
        <p>\(Text.failuresHint)</p>
        <div class="cards-on-phones">\(table)</div>
        \(next)
        """)
  }
}

extension MigrationFailure {
  /// The instruction for a person about the failure.
  var advice: String {
    switch reason {
    case "NO_IN_APP_PURCHASE_KEY": Text.adviceKey
    case _ where outcome == .retryable: Text.adviceRetry
    case "OWNED_BY_ANOTHER_CUSTOMER": Text.adviceOwned
    case "NOT_BASE64", "NOT_A_RECEIPT", "EMPTY_DOCUMENT", "MALFORMED_LINE": Text.adviceExport
    case "WRONG_BUNDLE", "WRONG_APP", "WRONG_ENVIRONMENT": Text.adviceOtherApp
    case "XCODE_NOT_ALLOWED", "TRANSACTION_ID_ZERO": Text.adviceTestPurchase
    case "NOT_VERIFIABLE": Text.adviceOldReceipt
    case "UNKNOWN_TO_APPLE": Text.adviceUnknown
    case "INVALID_FIELD": Text.adviceField
    case "BAD_SIGNATURE", "UNTRUSTED_ROOT", "MISSING_MARKER_OID", "VERIFICATION_MISMATCH": Text.adviceForged
    case _ where reason.hasPrefix("VERIFY_RECEIPT_"): Text.adviceForged
    default: Text.adviceOther
    }
  }
}
