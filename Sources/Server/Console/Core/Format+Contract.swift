internal import AppStore
internal import Markup
internal import Pages
internal import Wire

// Texts of values of the contract.
extension Format {
  static func time(_ timestamp: GoogleProtobuf.Timestamp?) -> Markup { time(timestamp?.instant) }

  static func money(_ money: Wire.Money) -> String {
    self.money(milliunits: money.milliunits, money.currency)
  }

  /// The value of an enum of the contract without the prefix of its type.
  static func value(_ value: some WireEnum, _ prefix: String) -> String {
    value.protoName.hasPrefix(prefix)
      ? words(String(value.protoName.dropFirst(prefix.count))) : value.protoName
  }
}

extension GoogleProtobuf.Timestamp {
  /// `nil` for a malformed one.
  var instant: Instant? { millisecondsSince1970.map(Instant.init(millisecondsSince1970:)) }

  init(_ instant: Instant) { self.init(millisecondsSince1970: instant.millisecondsSince1970) }
}
