internal import PostgreSQL
internal import Store

/// Queries that are sent together, those with one text as one statement, and their results until these are used.
struct FetchedReads {
  /// A query with its parameters.
  private struct Key: Hashable {
    let sql: String
    let parameters: [PostgresValue]
  }

  private var waiting: [String: [PostgresRequest]] = [:]
  private var results: [Key: FetchedRows] = [:]
  /// The texts for sets, by that of the query and its number of parameters.
  private var setQueries: [String: String] = [:]

  var isEmpty: Bool { waiting.isEmpty }

  mutating func add(_ request: PostgresRequest) { waiting[request.sql, default: []].append(request) }

  mutating func removeAll() {
    waiting = [:]
    results = [:]
  }

  /// Returns the result of a query that was sent.
  subscript(request: PostgresRequest) -> FetchedRows? {
    results.isEmpty ? nil : results[Key(sql: request.sql, parameters: request.parameters)]
  }

  /// Sends the waiting queries with `send`, which returns the result of each.
  mutating func fetch(
    _ send: ([PostgresRequest]) throws(StoreError) -> [PostgresRows]
  ) throws(StoreError) {
    let groups = Array(waiting.values)
    waiting = [:]
    var requests: [PostgresRequest] = []
    var isSet: [Bool] = []
    for group in groups {
      if group.count > 1, let columns = PostgresArray.columns(of: group.map(\.parameters)) {
        requests.append(PostgresRequest(setQuery(group[0]), columns))
        isSet.append(true)
      } else {
        requests += group
        isSet.append(false)
      }
    }
    var received = try send(requests)[...]
    for (group, isSet) in zip(groups, isSet) {
      if isSet, let rows = received.popFirst() {
        keep(rows, of: group)
      } else {
        for request in group { keep(received.popFirst().map { FetchedRows($0) }, of: request) }
      }
    }
  }

  private mutating func setQuery(_ request: PostgresRequest) -> String {
    if let known = setQueries[request.sql] { return known }
    let text = SetStatement.query(request.sql, parameterCount: request.parameters.count)
    if setQueries.count < 1000 { setQueries[request.sql] = text }
    return text
  }

  /// Keeps the rows of each query of a set, whose last column is the number of the query.
  private mutating func keep(_ rows: PostgresRows, of group: [PostgresRequest]) {
    var found = [[Int]](repeating: [], count: group.count)
    let place = CInt(rows.columnCount - 1)
    for row in 0..<rows.count { found[Int(rows.number(row, place)) - 1].append(row) }
    for (request, found) in zip(group, found) { keep(FetchedRows(rows, only: found), of: request) }
  }

  private mutating func keep(_ rows: FetchedRows?, of request: PostgresRequest) {
    results[Key(sql: request.sql, parameters: request.parameters)] = rows
  }
}

/// The rows of one query, perhaps among those of others.
struct FetchedRows {
  let rows: PostgresRows
  /// The numbers of its rows; `nil` for all.
  private let numbers: [Int]?

  init(_ rows: PostgresRows, only numbers: [Int]? = nil) {
    self.rows = rows
    self.numbers = numbers
  }

  var count: Int { numbers?.count ?? rows.count }

  /// Returns the number in ``rows`` of a row.
  func number(of row: Int) -> Int { numbers?[row] ?? row }
}
