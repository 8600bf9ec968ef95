package import AppStore
package import AppStoreClient
package import Enquiry
internal import JSON
internal import Ledger
internal import Store

/// Fills a gap with what Apple's notification history has.
package struct HistoryFill: Sendable {
  /// What was found.
  package struct Outcome: Sendable {
    /// Notifications that had not arrived before.
    package var received = 0
    package var alreadyKnown = 0
    /// Whose state was another one before: they had been believed wrongly.
    package var driftedCustomers: Set<String> = []
  }

  private let inbox: NotificationInbox
  private let enquiry: PurchaseEnquiry
  private let now: @Sendable () -> Instant

  /// Fills gaps of `inbox`; `now` dates what comes.
  package init(inbox: NotificationInbox, enquiry: PurchaseEnquiry, now: @escaping @Sendable () -> Instant) {
    self.inbox = inbox
    self.enquiry = enquiry
    self.now = now
  }

  /// Takes in all that the history has of a time.
  package func run(
    _ filter: NotificationHistoryFilter, of appID: String, in environment: Environment
  ) async throws(EnquiryError) -> Outcome {
    let client = try enquiry.client(for: appID, in: environment)
    var outcome = Outcome()
    do {
      try await client.readNotificationHistory(filter, Reading(priority: .repair)) { page in
        for item in page.notificationHistory ?? [] {
          guard let payload = item.signedPayload else { continue }
          let body = JSONValue.object(["signedPayload": .string(payload)]).serialized()
          let received = try await inbox.take(
            IncomingNotification(appID: appID, body: body, source: .appStoreServerAPI, receivedAt: now()))
          outcome.count(received)
        }
      }
    } catch let error as AppStoreClientError {
      throw .appStore(error)
    } catch let error as LedgerError {
      throw .ledger(error)
    } catch {
      throw .appStore(.cancelled)
    }
    return outcome
  }
}

extension HistoryFill.Outcome {
  fileprivate mutating func count(_ notification: ReceivedNotification) {
    guard !notification.wasKnown else {
      alreadyKnown += 1
      return
    }
    received += 1
    if notification.record.state == .applied, let customer = notification.customerID {
      driftedCustomers.insert(customer)
    }
  }
}
