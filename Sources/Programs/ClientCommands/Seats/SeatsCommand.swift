internal import ArgumentParser
internal import EntitledClient
internal import Wire

/// `entitled seats`: the seats of a purchase with a quantity.
struct SeatsCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "seats", abstract: "List, claim, release and import seats of a purchase.",
    subcommands: [
      ListSeatsCommand.self, ClaimSeatCommand.self, AssociateSeatCommand.self, UnclaimSeatCommand.self,
      ImportSeatsCommand.self,
    ],
    defaultSubcommand: ListSeatsCommand.self)
}

/// `entitled seats list`.
struct ListSeatsCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "list", abstract: "List the claimed seats of a purchase.")

  @OptionGroup var options: ScopedOptions

  @Argument(help: "Original transaction id.") var purchase: String

  func run() async throws {
    let request: ListSeatsRequest = try await options.request { $0.originalTransactionId = purchase }
    try await options.showPages(
      request, { try await $0.listSeats($1) }, empty: "no claimed seats"
    ) { $0.seats.map(\.row) }
  }
}

/// `entitled seats claim`.
struct ClaimSeatCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "claim", abstract: "Claim a seat for a customer.")

  @OptionGroup var options: ScopedChangeOptions

  @Argument(help: "Original transaction id.") var purchase: String
  @Argument(help: "Customer id.") var customer: String

  func run() async throws {
    let request: ClaimSeatRequest = try await options.request {
      $0.originalTransactionId = purchase
      $0.customerId = customer
      $0.requestIdentifier = options.change.requestIdentifier
    }
    let response = try await options.withConnection { try await $0.claimSeat(request) }
    options.show(response, response.seat.map { [$0.row] } ?? [])
  }
}

/// `entitled seats associate`.
struct AssociateSeatCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "associate", abstract: "Give a claimed seat to another customer.")

  @OptionGroup var options: ScopedChangeOptions

  @Argument(help: "Original transaction id.") var purchase: String
  @Argument(help: "Seat id, as 'seats list' prints it.") var seat: String
  @Argument(help: "Customer id.") var customer: String

  func run() async throws {
    let request: AssociateSeatRequest = try await options.request {
      $0.originalTransactionId = purchase
      $0.seatId = seat
      $0.customerId = customer
    }
    let response = try await options.withConnection { try await $0.associateSeat(request) }
    options.show(response, response.seat.map { [$0.row] } ?? [])
  }
}

/// `entitled seats unclaim`.
struct UnclaimSeatCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "unclaim", abstract: "Release a claimed seat.")

  @OptionGroup var options: ScopedChangeOptions

  @Argument(help: "Original transaction id.") var purchase: String
  @Argument(help: "Seat id, as 'seats list' prints it.") var seat: String

  func run() async throws {
    let request: UnclaimSeatRequest = try await options.request {
      $0.originalTransactionId = purchase
      $0.seatId = seat
    }
    let response = try await options.withConnection { try await $0.unclaimSeat(request) }
    options.show(response, [("released", seat)])
  }
}

extension Seat {
  fileprivate var row: (String, String) {
    (seatId, "\(customerId.isEmpty ? "no customer" : customerId), since \(claimedAt.text)")
  }
}
