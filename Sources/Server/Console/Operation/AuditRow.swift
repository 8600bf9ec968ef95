internal import Bytes
internal import Markup
internal import Pages
internal import Wire

/// One row of the audit page: a call, or the calls of one look.
///
/// A page of the console makes several calls, whose entries have the id of the person's request. A call that changes
/// something is not grouped.
struct AuditRow {
  private static let maxNames = 3
  private static let maxSubjects = 10

  /// Latest first; at least one.
  private(set) var entries: [AuditEntry]

  /// Groups entries, latest first. A row is at the place of its latest entry.
  static func rows(_ entries: [AuditEntry], isLook: (AuditEntry) -> Bool) -> [AuditRow] {
    var rows: [AuditRow] = []
    var places: [[String]: Int] = [:]
    for entry in entries {
      guard isLook(entry), !entry.requestId.isEmpty else {
        rows.append(AuditRow(entries: [entry]))
        continue
      }
      let key = [entry.requestId, entry.app, entry.caller, entry.actor]
      if let place = places[key] {
        rows[place].entries.append(entry)
      } else {
        places[key] = rows.count
        rows.append(AuditRow(entries: [entry]))
      }
    }
    return rows
  }

  func cells(_ visit: Visit) -> [Markup] {
    let (latest, subjects) = (entries[0], subjects)
    let notes = entries.map(\.note).distinct.filter { !$0.isEmpty }
    return [
      Format.time(latest.time), Format.name(latest.who), call(about: subjects), Format.name(latest.app),
      "\(names(of: subjects, visit))\(entries.flatMap(\.moments).distinct)",
      notes.map(visit.links.note).joined(separator: "<br>"), outcome, "\(latest.address)",
      Format.id(latest.requestId),
    ]
  }

  /// The customers and other objects of most of the calls, because some responses show others beside them; without such,
  /// those of all calls.
  private var subjects: [String] {
    let all = entries.flatMap(\.subjects)
    let counts = all.reduce(into: [OpaqueID: Int]()) { $0[OpaqueID($1), default: 0] += 1 }
    let common = all.distinctIDs.filter { (counts[OpaqueID($0)] ?? 0) * 2 > entries.count }
    return common.isEmpty ? all.distinctIDs : common
  }

  /// The method, or a sentence about the look, which opens to its calls.
  private func call(about subjects: [String]) -> Markup {
    guard entries.count > 1 else { return "<code>\(entries[0].methodName)</code>" }
    let calls = entries.reversed().map { entry in
      let others: Markup =
        entry.subjects == subjects ? "" : " \(Format.name(entry.subjects.joined(separator: ", ")))"
      let outcome: Markup = entry.succeeded ? "" : " \(Part.chip(entry.outcome, .none))"
      return "<li><code>\(entry.methodName)</code>\(others)\(outcome)\(entry.moments)</li>\n" as Markup
    }
    let rest = subjects.count - Self.maxNames
    let names = subjects.prefix(Self.maxNames).joined(separator: ", ")
    let sentence: Markup =
      subjects.isEmpty
      ? "\(Text.sawNoCustomer)"
      : "\(Text.lookedAt) \(Format.name(names))\(rest > 0 ? Text.andMore(rest) : "")"
    return """
      <details><summary>\(sentence) <span class="quiet">\(Text.calls(entries.count))</span></summary><ul>
      \(calls)</ul></details>
      """
  }

  /// The names of what the calls are about. A customer is a link that finds it, because an entry names no environment.
  private func names(of subjects: [String], _ visit: Visit) -> Markup {
    let customers = Set(entries.flatMap(\.customerIds).map(OpaqueID.init))
    let limit = entries.count > 1 ? Self.maxSubjects : subjects.count
    let names = subjects.prefix(limit).map { subject -> Markup in
      guard customers.contains(OpaqueID(subject)), visit.mayCall(Calls.findCustomers) else {
        return Format.name(subject)
      }
      return "<a href=\"\(Link(["find"], query: [("q", subject)]))\">\(Format.name(subject))</a>"
    }
    let rest = subjects.count - names.count
    return "\(names.joined(separator: ", "))\(rest > 0 ? Text.andMore(rest) : "")"
  }

  private var outcome: Markup {
    let failures = entries.filter { !$0.succeeded }.map(\.outcome).distinct
    return failures.isEmpty ? "\(Text.ok)" : failures.map { Part.chip($0, .none) }.joined(separator: " ")
  }
}

extension AuditEntry {
  fileprivate var succeeded: Bool { outcome == "OK" }

  fileprivate var who: String { [caller, actor].filter { !$0.isEmpty }.joined(separator: " / ") }

  /// The method without its service; an HTTP route as it is.
  fileprivate var methodName: String {
    guard method.hasPrefix("/"), let name = method.split(separator: "/").last else { return method }
    return String(name)
  }

  fileprivate var subjects: [String] { customerIds + [subject].filter { !$0.isEmpty } }

  /// The `as_of` and `known_at` of the call, if it was not about the present.
  fileprivate var moments: [Markup] {
    [(Text.asOf, asOf), (Text.asKnownAt, knownAt)].compactMap { label, time in
      time.map { "<br><span class=\"quiet\">\(label) \(Format.time($0))</span>" }
    }
  }
}

extension Array where Element: Hashable {
  /// The elements, each once, in their order.
  fileprivate var distinct: [Element] {
    var seen: Set<Element> = []
    return filter { seen.insert($0).inserted }
  }
}
