internal import SignedData
package import Store

/// Returns at most `limit` defects of evidence whose body does not match its hash. Calls `report` with the number of
/// checked pieces of evidence after every thousand.
package func evidenceFaults(
  _ connection: any SQLConnection, limit: Int, _ report: (Int) -> Void
) throws(StoreError) -> [String] {
  var found: [String] = []
  let query = EvidenceQueries(connection, try BodyCompressor(connection))
  var (last, count): (EvidenceID?, Int) = (nil, 0)
  while true {
    let ids = try query.ids(after: last, limit: 1000)
    for id in ids {
      if let fault = fault(of: id, query), found.count < limit { found.append(fault) }
      last = id
    }
    count += ids.count
    report(count)
    guard ids.count == 1000 else { return found }
  }
}

/// Returns the defect of one piece of evidence; `nil` if its body matches its hash and size, or was purged.
private func fault(of id: EvidenceID, _ query: EvidenceQueries) -> String? {
  do {
    guard let content = try query.evidence(id)?.evidence.content, let body = content.body else { return nil }
    let hash = SHA256.hash(body[...])
    return hash == content.hash && body.count == content.size
      ? nil : "evidence \(id.rawValue) does not match its hash"
  } catch {
    return "evidence \(id.rawValue): \(error)"
  }
}
