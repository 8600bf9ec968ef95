internal import Markup
internal import Pages
internal import RPC
internal import Wire

/// The latest rejected notification of each app and environment. `GetStatus` counts accepted ones only, so that a wrong
/// configuration that rejects all of them would look like an app without customers.
struct RejectedNotifications {
  private var latest: [Scope: Notification] = [:]

  /// A list that cannot be read leaves its app out, because the other columns are of use without it.
  init(of apps: [AppStatus], _ visit: Visit) async {
    guard visit.mayCall(Calls.listNotifications) else { return }
    for app in apps {
      let answer = await visit.attempt(
        Calls.listNotifications,
        .with {
          $0.app = app.app
          $0.environment = app.environment
          $0.state = .rejected
          $0.pageSize = 1
        })
      latest[Scope(app: app.app, environment: app.environment)] = try? answer.get().notifications.first
    }
  }

  /// The last accepted notification of an app, and the last rejected one, which is a warning if it arrived later.
  func markup(after app: AppStatus) -> Markup {
    let accepted = Format.time(app.lastNotificationAt)
    let scope = Scope(app: app.app, environment: app.environment)
    guard let rejected = latest[scope] else { return accepted }
    let isLast =
      app.lastNotificationAt?.instant.map { accepted in
        rejected.receivedAt?.instant.map { $0 > accepted } ?? false
      } ?? true
    let link: Markup =
      "<a href=\"\(scope.work(.rejected))\">\(Text.rejectedAt) \(Format.time(rejected.receivedAt))</a>"
    let reason = Text.cause(ofRejection: rejected.reason)
    let cause: Markup = isLast ? Part.chip(reason, .none) : "<span class=\"quiet\">\(reason)</span>"
    return "\(accepted)<br>\(link) \(cause)"
  }
}
