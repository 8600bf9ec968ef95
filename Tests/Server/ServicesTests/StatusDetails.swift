import RPC
import Wire

extension Status {
  /// The invalid field of the request that the details name.
  var invalidField: String? {
    let packed = (try? GoogleRPC.Status.decode(details))?.details ?? []
    let requests = packed.compactMap { try? $0.unpacked(as: GoogleRPC.BadRequest.self) }
    return requests.first?.fieldViolations.first?.field
  }
}

/// The status that `body` throws; `nil` if it throws none.
func thrownStatus(_ body: () throws -> Void) -> Status? {
  do { try body() } catch { return error as? Status }
  return nil
}
