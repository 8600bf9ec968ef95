package import AppStore
package import Entitlements
package import JSON
package import Store

/// The log of entitlement events, filtered for a webhook.
struct EventSource: MessageSource {
  /// The number of events that are read together if the webhook does not select all.
  private static let pageSize = 500

  /// The events that become messages.
  let filter: EventSelection
  let format: WebhookFormat
  /// Makes the member `data`, which the contract defines.
  let encode: EventEncoding

  /// Reads at most 500 events after `position`, or `limit` if the webhook selects all; at most `limit` of them become
  /// messages. The end of the page is the last event that was read, also one that the filter leaves out.
  func page(
    after position: Int64, limit: Int, in reader: any StoreSnapshot
  ) throws(StoreError) -> MessagePage {
    let size = filter.selectsAll ? limit : Self.pageSize
    let events = try reader.events(ofApp: filter.appID, after: position, limit: size)
    var page = MessagePage(end: position, hasMore: events.count == size)
    for event in events {
      if filter.passes(event.event) {
        guard page.deliveries.count < limit else {
          page.hasMore = true
          return page
        }
        page.deliveries.append(delivery(event))
      }
      page.end = event.sequence
    }
    return page
  }

  /// Returns the event as a message; `nil` if there is none with this sequence, or if the webhook does not select it.
  func message(at position: Int64, in reader: any StoreSnapshot) throws(StoreError) -> OutgoingMessage? {
    guard position > 0,
      let event = try reader.events(ofApp: filter.appID, after: position - 1, limit: 1).first,
      event.sequence == position, filter.passes(event.event)
    else { return nil }
    return message(event)
  }

  func selects(_ delivery: Delivery) -> Bool {
    (filter.kinds.isEmpty || filter.kinds.contains { Self.type(of: $0) == delivery.type })
      && (filter.environments.isEmpty || delivery.environment.map(filter.environments.contains) ?? false)
  }

  private static func type(of kind: EntitlementChange.Kind) -> String {
    "entitlement.\(kind.rawValue.lowercased())"
  }

  /// The delivery of an event before its first attempt. It has no time to be due until the store reschedules its ordering
  /// key.
  private func delivery(_ stored: StoredEvent) -> Delivery {
    let event = stored.event
    return Delivery(
      position: stored.sequence, environment: event.customer.environment, subject: Self.subject(stored),
      type: Self.type(of: event.change.kind), occurredAt: event.recordedAt, dueAt: nil)
  }

  /// The message of an event. Its type and id are the same in each format, so that a receiver recognizes a repetition
  /// after a change of the format.
  private func message(_ stored: StoredEvent) -> OutgoingMessage {
    let event = stored.event
    let type = Self.type(of: event.change.kind)
    let body: JSONObject =
      switch format {
      case .standard:
        [
          "type": .string(type), "timestamp": .string(event.change.effectiveAt.description),
          "data": encode(stored),
        ]
      case .cloudEvents: cloudEvent(stored, type: type)
      }
    return OutgoingMessage(
      position: stored.sequence, environment: event.customer.environment,
      subject: Self.subject(stored), type: type, occurredAt: event.recordedAt, id: Self.id(stored),
      body: JSONValue.object(body).serialized())
  }

  /// The event as CloudEvents 1.0 has it. `source` and `id` together are unique.
  private func cloudEvent(_ stored: StoredEvent, type: String) -> JSONObject {
    let event = stored.event
    return [
      "specversion": "1.0", "id": .string(Self.id(stored)),
      "source": .string("/apps/\(event.customer.appID)"), "type": .string("entitled.v1.\(type)"),
      "subject": .string(Self.subject(stored)), "time": .string(event.change.effectiveAt.description),
      "datacontenttype": "application/json", "data": encode(stored),
    ]
  }

  /// The ordering key: the customer. Events of a segment about a purchase without an owner have that of the purchase, and
  /// those about no purchase have a separate one.
  private static func subject(_ stored: StoredEvent) -> String {
    guard stored.event.customer.customerID.isEmpty else { return stored.event.customer.customerID }
    let line = stored.event.change.subject?.originalTransactionID ?? ""
    return "#\(line.isEmpty ? String(stored.sequence) : line)"
  }

  /// The message id: the same for each attempt, but different after a store was restored from a backup and assigns the
  /// sequence again.
  private static func id(_ stored: StoredEvent) -> String {
    "evt_\(stored.event.customer.appID)_\(stored.sequence)_\(stored.event.recordedAt.millisecondsSince1970)"
  }
}

/// Encodes an event as the API defines it, which this target does not depend on.
package typealias EventEncoding = @Sendable (StoredEvent) -> JSONValue

/// The selection of events for a webhook.
package struct EventSelection: Hashable, Sendable {
  /// The events of other apps never pass.
  package let appID: String
  /// Empty for all.
  package let kinds: Set<EntitlementChange.Kind>
  /// Empty for all.
  package let environments: Set<AppStore.Environment>

  /// Whether every event of the app passes.
  var selectsAll: Bool { kinds.isEmpty && environments.isEmpty }

  /// Whether the webhook receives the event.
  func passes(_ event: NewEvent) -> Bool {
    event.customer.appID == appID && (kinds.isEmpty || kinds.contains(event.change.kind))
      && (environments.isEmpty || environments.contains(event.customer.environment))
  }
}
