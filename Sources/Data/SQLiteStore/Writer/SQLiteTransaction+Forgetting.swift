internal import AppStore
internal import SQLite
internal import Store

extension SQLiteTransaction {
  func forgetBodies(
    of selection: EvidenceSelection, receivedBefore moment: Instant, after id: EvidenceID?, limit: Int
  ) throws(StoreError) -> (last: EvidenceID?, forgotten: Int) {
    let connection = evidence.connection
    // In the order of arrival, so that the first one that is too young ends it.
    let select = try Statement(
      """
      SELECT evidence_id, received_at, kind, rejection, body NOT NULL FROM evidence
      WHERE evidence_id > ? ORDER BY evidence_id LIMIT ?
      """, on: connection)
    try select.bind(1, id?.rawValue ?? 0)
    try select.bind(2, Int64(limit))
    var (last, chosen): (EvidenceID?, [Int64]) = (nil, [])
    while try select.step(), select.number(1) < moment.millisecondsSince1970 {
      last = EvidenceID(rawValue: select.number(0))
      let isRejected = select.text(3) != ""
      let isChosen =
        switch selection {
        case .rejected: isRejected
        case .accepted(let kinds):
          !isRejected && kinds.contains(Evidence.Kind(rawValue: select.text(2) ?? ""))
        }
      if isChosen, select.number(4) == 1 { chosen.append(select.number(0)) }
    }
    select.reset()
    let forget = try Statement(
      "UPDATE evidence SET body = NULL, packing = 0 WHERE evidence_id = ?", on: connection)
    for number in chosen {
      try forget.bind(1, number)
      try forget.run()
    }
    return (last, chosen.count)
  }
}
