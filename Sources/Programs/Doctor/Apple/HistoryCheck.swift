package import AppStore
internal import AppStoreClient

/// Reads the notification history of the last day, from which the service repairs gaps. Only the first page is read.
package struct HistoryCheck: DoctorCheck {
  package let name = "history"
  package var subject: String { access.subject }
  package let timeLimit = Duration.seconds(30)
  private let access: AppleAccess
  private let now: @Sendable () -> Instant

  /// Checks through `access`; `now` ends the day that is read.
  package init(_ access: AppleAccess, now: @escaping @Sendable () -> Instant) {
    self.access = access
    self.now = now
  }

  /// Keeps the notifications' documents for ``OCSPCheck``.
  package func run() async -> Finding {
    let end = now()
    let filter = NotificationHistoryFilter(startDate: end.advanced(byDays: -1), endDate: end)
    let page: NotificationHistoryResponse
    do throws(AppStoreClientError) {
      page = try await access.client.send(.notificationHistory(filter), timeout: .seconds(20))
    } catch {
      return .fault(error.description, action: error.action)
    }
    let items = page.notificationHistory ?? []
    access.add(items.compactMap(\.signedPayload))
    return .ok("notifications in the last day: \(items.count)\(page.hasMore == true ? " or more" : "")")
  }
}
