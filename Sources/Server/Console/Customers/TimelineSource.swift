internal import Pages
internal import Wire

/// The origin of an event, for the filter of a timeline.
enum TimelineSource: String, Sendable, CaseIterable {
  /// A command of the operator's people and systems.
  case operators = "us"
  /// Apple, the customer, or time.
  case others = "apple"

  /// The source that the address of a page selects; `nil`: all.
  init?(_ visit: Visit) {
    self.init(rawValue: visit.value("source") ?? "")
  }

  func includes(_ event: EntitlementEvent) -> Bool { event.actor.isEmpty == (self == .others) }

  var title: String {
    switch self {
    case .operators: Text.sourceOperators
    case .others: Text.sourceOthers
    }
  }
}
