internal import PostgreSQL

/// Combines deferred statements that change one row each into one statement for each table and form.
///
/// No table has triggers or foreign keys, so changes of different tables may change places. Those of one table keep their
/// order wherever they could meet the same row. A statement that is not a ``RowStatement`` keeps its place among all.
struct WriteCombiner {
  /// The forms of the statements seen so far; `nil` for those that cannot be combined.
  private var forms: [String: RowStatement?] = [:]

  /// Returns statements with the same effect.
  mutating func combined(_ requests: [PostgresRequest]) -> [PostgresRequest] {
    guard requests.count > 2 else { return requests }
    var output: [PostgresRequest] = []
    var tables: [String: TableWrites] = [:]
    for request in requests {
      guard let form = form(of: request.sql) else {
        for table in tables.values { table.finish(into: &output) }
        tables.removeAll(keepingCapacity: true)
        output.append(request)
        continue
      }
      let table = tables[form.table] ?? TableWrites()
      tables[form.table] = table
      table.add(request, form, finishingInto: &output)
    }
    for table in tables.values { table.finish(into: &output) }
    return output
  }

  private mutating func form(of sql: String) -> RowStatement? {
    if let known = forms[sql] { return known }
    let form = RowStatement(sql)
    // The texts are those of this program, apart from few that contain numbers.
    if forms.count < 1000 { forms[sql] = .some(form) }
    return form
  }
}

/// Consecutive changes of one table.
private final class TableWrites {
  private struct Group {
    let form: RowStatement
    var requests: [PostgresRequest]
  }

  /// By text.
  private var groups: [String: Group] = [:]
  /// The text that inserted each row.
  private var keys: [[PostgresValue]: String] = [:]

  /// Adds a statement. Appends those before it to `output` first if the order could matter.
  func add(
    _ request: PostgresRequest, _ form: RowStatement, finishingInto output: inout [PostgresRequest]
  ) {
    let key = form.key(of: request.parameters)
    if mustFollow(request.sql, form, key) { finish(into: &output) }
    if let key { keys[key] = request.sql }
    if groups[request.sql]?.requests.append(request) == nil {
      groups[request.sql] = Group(form: form, requests: [request])
    }
  }

  private func mustFollow(_ sql: String, _ form: RowStatement, _ key: [PostgresValue]?) -> Bool {
    guard let key else { return groups.keys.contains { $0 != sql } }
    if groups.contains(where: { $0.key != sql && $0.value.form.hasNoKey }) { return true }
    guard let earlier = keys[key] else { return false }
    return earlier != sql || !form.keepsExisting
  }

  /// Appends the combined statements to `output`.
  func finish(into output: inout [PostgresRequest]) {
    for (_, group) in groups {
      if group.requests.count > 1, let sql = group.form.setSQL,
        let columns = PostgresArray.columns(of: group.requests.map(\.parameters))
      {
        output.append(PostgresRequest(sql, columns))
      } else {
        output += group.requests
      }
    }
    groups.removeAll(keepingCapacity: true)
    keys.removeAll(keepingCapacity: true)
  }
}
