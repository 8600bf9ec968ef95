internal import AppStore
internal import Store

/// One message that goes out.
struct OutgoingMessage: Hashable, Sendable {
  /// The number of the event, or of the notification's evidence.
  let position: Int64
  let environment: Environment?
  /// What it is about: a customer, or a purchase line.
  let subject: String
  /// What happened, in a word.
  let type: String
  let happenedAt: Instant
  /// What the receiver knows it by, the same at each attempt; empty where Apple's body goes out as it came.
  let id: String
  let body: [UInt8]

  var about: OrderingKey { OrderingKey(environment: environment, name: subject) }

  /// The message as one that did not arrive.
  var delivery: Delivery {
    Delivery(
      position: position, environment: environment, subject: subject, type: type, happenedAt: happenedAt,
      dueAt: nil)
  }
}

/// Where messages come from: a log in which each has a number, and later ones have greater numbers.
protocol MessageSource: Sendable {
  /// The messages behind `position`, at most `limit` of them.
  func page(
    after position: Int64, limit: Int, in reader: any StoreSnapshot
  ) throws(StoreError) -> MessagePage

  /// The message of that number; `nil` if there is none that may go out.
  func message(at position: Int64, in reader: any StoreSnapshot) throws(StoreError) -> OutgoingMessage?
}

/// A part of a log.
struct MessagePage: Sendable {
  var messages: [OutgoingMessage]
  /// Up to here the log was read, over what is not to go out too.
  var end: Int64
  /// There may be more behind it.
  var hasMore: Bool
}
