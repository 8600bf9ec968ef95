internal import Entitlements
internal import FamilySharing
internal import Ledger
internal import RPC
internal import Store
internal import Wire

/// `ListSeats` of `entitled.v1.AppStoreService`. One instance for each event loop, since its reader belongs to
/// one.
struct SeatListService {
  private let reader: any StoreReader
  private let catalog: CurrentCatalog

  init(reader: any StoreReader, catalog: CurrentCatalog) {
    self.reader = reader
    self.catalog = catalog
  }

  var methods: [Method] {
    [
      .unary("/\(AppStoreService.name)/ListSeats") { (request: ListSeatsRequest, _) throws(Status) in
        try list(request)
      }
    ]
  }

  /// The seats that are held, the first claim first. The token is the last seat of the page before.
  private func list(_ request: ListSeatsRequest) throws(Status) -> ListSeatsResponse {
    let app = try catalog.value.app(request.app)
    let environment = try app.environment(request.environment)
    try RequestValidation.given(request.originalTransactionId, "original_transaction_id")
    let size = try RequestValidation.pageSize(request.pageSize)
    let purchase = LineKey(
      appID: app.id, environment: environment, originalTransactionID: request.originalTransactionId)
    do throws(StoreError) {
      let all = try reader.seats(of: purchase)
      let start = all.firstIndex { $0.seatID == request.pageToken }.map { $0 + 1 } ?? 0
      let rest = all[start...].filter(\.isHeld)
      var response = ListSeatsResponse()
      response.purchased = Int32(clamping: SeatCapacity(try reader.facts(of: purchase)).current)
      for seat in rest.prefix(size) {
        response.seats.append(
          Wire.Seat(seat, of: try reader.owners(of: purchase.other(seat.seatID)).first))
      }
      if rest.count > size { response.nextPageToken = rest[size - 1].seatID }
      return response
    } catch {
      throw Status(error)
    }
  }
}
