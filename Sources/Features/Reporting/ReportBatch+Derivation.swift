internal import AppStore
internal import Entitlements
internal import Ledger
internal import Platform
internal import Reports
internal import Store

extension ReportBatch {
  /// Whether what is queued became known for more than one closing, because the worker was late or starts again. Then
  /// each day must get what was known at its closing.
  func spansDays(
    _ pending: [PendingReportEvidence], _ due: Instant?, of line: LineKey
  ) throws(StoreError) -> Bool {
    guard let first = pending.first, let last = pending.last else { return false }
    let earliest = min(first.knownAt, due ?? first.knownAt)
    guard earliest < last.knownAt else { return false }
    return try knownDay(earliest, of: line) < knownDay(last.knownAt, of: line)
  }

  /// Derives the postings of each closing from what was known before it.
  mutating func deriveInSteps(
    _ pending: [PendingReportEvidence], _ payer: inout PayerState
  ) throws(StoreError) {
    let history = try PurchaseFactHistory(of: payer.lines, in: store)
    var known: Payers = []
    if let first = pending.first {
      let before = EvidenceID(rawValue: first.id.rawValue - 1)
      known = history.payers(through: before)
      payer.lastEvidence = before
    }
    var rest = pending[...]
    while let first = rest.first {
      let day = try knownDay(first.knownAt, of: first.line)
      var group: [PendingReportEvidence] = []
      while let next = rest.first, try knownDay(next.knownAt, of: next.line) == day {
        group.append(next)
        rest = rest.dropFirst()
      }
      guard let last = group.last else { break }
      try advance(known, to: first.knownAt.advanced(byMilliseconds: -1), &payer)
      known = history.payers(through: last.id)
      payer.lastEvidence = last.id
      try derive(known, at: last.knownAt, RevisionCause(group), &payer)
    }
    try advance(known, to: now, &payer)
  }

  /// Derives the postings as of each instant up to `end` at which time alone changes them, such as the end of a period.
  mutating func advance(
    _ payers: Payers, to end: Instant, _ payer: inout PayerState
  ) throws(StoreError) {
    while let due = payer.due, due <= end { try derive(payers, at: due, .time, &payer) }
  }

  /// Appends the difference between the standing postings and those that the facts give at an instant: reversals of
  /// those that no longer hold, then the new ones. Without a difference, nothing is appended.
  mutating func derive(
    _ payers: Payers, at instant: Instant, _ cause: RevisionCause, _ payer: inout PayerState
  ) throws(StoreError) {
    guard let line = payer.lines.first else { return }
    let app = catalog.definition(of: line.appID)
    var derived: [Posting] = []
    payer.due = nil
    let requests = payer.requests.flatMap { $0.requests(through: payer.lastEvidence) }
    let consents = payer.consents?.consents(through: payer.lastEvidence) ?? []
    for (_, facts) in payers {
      let found = PayerPostings(
        facts, in: app, at: instant, claims: payer.claims, requests: requests, consents: consents)
      // Mostly there is one.
      if derived.isEmpty { derived = found.postings } else { derived += found.postings }
      payer.due = [payer.due, found.due].compactMap(\.self).min()
    }
    // Most payers have one purchase.
    let byLine = payer.lines.count == 1 ? [:] : Dictionary(grouping: derived, by: \.line)
    var changes: [Posting] = []
    for (index, line) in payer.lines.enumerated() {
      let difference = PostingDifference(
        standing: payer.standing[index],
        derived: payer.lines.count == 1 ? derived : byLine[line.lineID] ?? [])
      changes += try reversals(of: difference.removed, line, appendedSince: payer.firstAppended)
      // Mostly there are no others.
      if changes.isEmpty { changes = difference.added } else { changes += difference.added }
      payer.standing[index] = difference.standing
    }
    guard !changes.isEmpty else { return }
    let day = try open(knownDay(instant, of: line), at: instant, of: line)
    let isOfOneCause = changes.allSatisfy { cause.corrected($0) == cause }
    for (cause, postings) in isOfOneCause
      ? [cause: changes] : Dictionary(grouping: changes, by: { cause.corrected($0) })
    {
      new.append(
        NewPostings(
          postings, of: line.appID, in: line.environment, knownAt: instant, knownDay: day, cause: cause))
    }
  }

  /// The postings that take back those with these fingerprints.
  ///
  /// - first: the index in ``new`` of the first ones that may be of the purchase.
  ///
  /// - Throws: ``StoreError/corrupt(_:)`` if a standing posting is neither stored nor in ``new``.
  private func reversals(
    of fingerprints: [UInt64], _ line: LineKey, appendedSince first: Int
  ) throws(StoreError) -> [Posting] {
    guard !fingerprints.isEmpty else { return [] }
    // Those that are not stored yet count too.
    let appended = new[first...].lazy.filter { $0.appID == line.appID && $0.environment == line.environment }
      .flatMap { $0.postings.filter { $0.line == line.lineID } }
    let all = try store.postings(of: line) + appended
    let known = Dictionary(all.map { ($0.fingerprint, $0) }, uniquingKeysWith: { $1 })
    var reversals: [Posting] = []
    for fingerprint in fingerprints {
      guard let posting = known[fingerprint] else { throw .corrupt("a standing posting is not stored") }
      reversals.append(posting.reversed)
    }
    return reversals
  }

  /// The first day whose closing includes what became known at `instant`.
  private func knownDay(_ instant: Instant, of line: LineKey) throws(StoreError) -> ReportDay {
    let delay = delays[line.appID] ?? ReportPolicy.standard.closeAfter
    let day = ReportDay(closingAfter: instant, delay: delay)
    guard let calendar = calendars[line.appEnvironment] else { return day }
    // Of the past, the delay was perhaps another one.
    guard instant < calendar.closedAt else { return max(day, calendar.closed.advanced(by: 1)) }
    return try store.firstDay(closedAfter: instant, of: line.appID, in: line.environment) ?? day
  }

  /// Starts the calendar of an app with its first posting: the days before are closed.
  private mutating func open(
    _ day: ReportDay, at instant: Instant, of line: LineKey
  ) throws(StoreError) -> ReportDay {
    guard calendars[line.appEnvironment] == nil else { return day }
    let calendar = ReportCalendar(
      appID: line.appID, environment: line.environment, closed: day.advanced(by: -1),
      closedAt: min(instant, day.start))
    calendars[line.appEnvironment] = calendar
    try store.close(
      calendar.closed, at: calendar.closedAt, of: line.appID, in: line.environment)
    return day
  }
}

extension RevisionCause {
  /// The cause of what evidence brings: that of the last piece, by its source and kind; time without evidence.
  init(_ pending: [PendingReportEvidence]) {
    guard let last = pending.last else {
      self = .time
      return
    }
    self =
      switch (last.source, last.kind) {
      case (.migration, _): .migration
      case (.appStoreServerAPI, .notificationV2): .historyRepair
      case (.appStoreServerAPI, _): .poll
      default: .lateNotification
      }
  }

  /// The cause of one posting of a derivation: a posting that takes another one back corrects it.
  fileprivate func corrected(_ posting: Posting) -> RevisionCause {
    // Most postings count something. The causes are texts, and compared last.
    guard posting.count < 0, !posting.kind.isStock, !posting.kind.isDifference, self != .time,
      self != .catalogChanged
    else { return self }
    return .correctedByApple
  }
}

extension Posting.Kind {
  /// Whether a negative count is no correction, although it is no stock.
  fileprivate var isDifference: Bool {
    switch self {
    case .moved, .trialMoved, .activeOfCohort, .payerActiveOfCohort: true
    default: false
    }
  }
}
