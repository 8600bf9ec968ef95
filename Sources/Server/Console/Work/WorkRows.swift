internal import AppStore
internal import Markup
internal import Pages
internal import RPC
internal import Wire

/// The rows that are read from a list.
struct RequestedRows: Sendable {
  /// The token of the page; empty for the first one.
  var token = ""
  /// The most rows; 0: as many as the contract has on a page.
  var size: Int32 = 0
}

/// One page of a work list.
struct WorkRows: Sendable {
  /// A row as cells of the table and as values of the CSV.
  struct Row: Sendable {
    let cells: [Markup]
    let values: [String]
  }

  var rows: [Row] = []
  /// The token of the next page; empty on the last page.
  var next = ""
  /// The number of rows on all pages; `nil`: not known.
  var total: Int64?
  /// The markup before the table.
  var head: Markup = ""
  /// The text in place of the table without rows; `nil`: that of the queue.
  var empty: String?

  static func page(
    of queue: WorkQueue, _ page: RequestedRows, _ scope: Scope, _ visit: Visit
  ) async throws(Status) -> WorkRows {
    switch queue {
    case .refunds: try await refunds(page, scope, visit)
    case .unclaimed: try await unclaimed(page, scope, visit)
    case .deadLetters: try await deadLetters(page, scope, visit)
    case .consents: try await consents(page, scope, visit)
    case .rejected: try await rejected(page, scope, visit)
    case .drift: try await drift(page, scope, visit)
    case .contradictions: try await contradictions(page, scope, visit)
    case .disagreements: try await disagreements(page, scope, visit)
    case .migrations: try await migrations(page, scope, visit)
    }
  }
}

extension WorkRows {
  /// A button for an action on the whole list; `nil` if it would be refused.
  static func button(_ action: ActionName, in scope: Scope, _ visit: Visit) -> Markup? {
    guard action.isOpen(to: visit) else { return nil }
    let style: Markup = action.isIrreversible ? "button danger" : "button"
    return "<a class=\"\(style)\" href=\"\(scope.action(action))\">\(action.title)…</a>"
  }

  static func head(_ action: ActionName, in scope: Scope, _ visit: Visit) -> Markup {
    button(action, in: scope, visit).map { "<p class=\"row actions\">\($0)</p>\n" } ?? ""
  }
}

// The findings of the service.
extension WorkRows {
  private static func contradictions(
    _ page: RequestedRows, _ scope: Scope, _ visit: Visit
  ) async throws(Status) -> WorkRows {
    let response = try await visit.call(Calls.listContradictions, .page(page, in: scope))
    let rows = response.contradictions.map { contradiction in
      Row(
        cells: cells(contradiction, scope),
        values: [
          contradiction.customerId, contradiction.kind, contradiction.transactionId,
          contradiction.explanation,
        ])
    }
    return WorkRows(rows: rows, next: response.nextPageToken)
  }

  static func cells(_ contradiction: CustomerContradiction, _ scope: Scope) -> [Markup] {
    [
      scope.customerLink(contradiction.customerId), Part.chip(Format.words(contradiction.kind), .none),
      "\(contradiction.explanation)", contradiction.transactionId.given.map(scope.purchaseLink) ?? "",
    ]
  }
}

extension GoogleProtobuf.Timestamp? {
  /// The time in RFC 3339; empty for an unset one.
  var text: String { self?.instant?.description ?? "" }
}
