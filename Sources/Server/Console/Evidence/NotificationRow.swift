internal import Markup
internal import Pages
internal import Wire

/// A notification of Apple's in a table.
enum NotificationRow {
  static let heads = [Text.when, Text.type, Text.state, Text.inWords, Text.evidenceHead]

  static func cells(_ notification: Notification, _ scope: Scope) -> [Markup] {
    let state = Format.value(notification.state, "NOTIFICATION_STATE_")
    let reason: Markup = notification.reason.given.map { " <code>\($0)</code>" } ?? ""
    return [
      Format.time(notification.receivedAt), "<code>\(notification.fullType)</code>",
      Part.chip(state, tone(of: notification.state)) + reason,
      "\(notification.explanation)", scope.evidenceLink(notification.evidenceId),
    ]
  }

  private static func tone(of state: NotificationState) -> Tone {
    switch state {
    case .applied: .full
    case .rejected: .none
    case .unsupported, .unconfirmed: .grace
    default: .ended
    }
  }
}

extension Notification {
  /// The type with its subtype, as Apple's documentation writes them.
  var fullType: String { [notificationType, subtype].filter { !$0.isEmpty }.joined(separator: " / ") }
}
