internal import AppStore
internal import RPC
internal import Store
internal import Wire

// Notifications as messages of the contract.

extension Wire.Notification {
  /// `customerID` is the owner of the purchase. `problem` explains a rejected notification, which has no meaning.
  init(_ record: NotificationRecord, customerID: String?, problem: String = "") {
    self.init()
    evidenceId = record.evidenceID.rawValue
    notificationUuid = record.uuid
    version = Int32(clamping: record.version)
    notificationType = record.type
    subtype = record.subtype
    environment = record.environment.map(Wire.Environment.init) ?? .unspecified
    state = Wire.NotificationState(record.state)
    reason = record.reason
    explanation = record.meaning.isEmpty ? problem : record.meaning
    customerId = customerID ?? ""
    productId = record.productID
    transactionId = record.transactionID
    originalTransactionId = record.originalTransactionID
    signedDate = record.signedDate.map(GoogleProtobuf.Timestamp.init)
    receivedAt = GoogleProtobuf.Timestamp(record.receivedAt)
  }
}

extension Wire.NotificationState {
  init(_ state: Store.NotificationState) {
    switch state {
    case .applied: self = .applied
    case .superseded: self = .superseded
    case .unsupported: self = .unsupported
    case .rejected: self = .rejected
    case .unconfirmed: self = .unconfirmed
    }
  }
}

extension Store.NotificationState {
  /// `nil` if the request does not filter by state.
  init?(_ state: Wire.NotificationState) throws(Status) {
    switch state {
    case .applied: self = .applied
    case .superseded: self = .superseded
    case .unsupported: self = .unsupported
    case .rejected: self = .rejected
    case .unconfirmed: self = .unconfirmed
    case .unspecified: return nil
    case .unrecognized: throw .unknownValue(of: "state")
    }
  }
}
