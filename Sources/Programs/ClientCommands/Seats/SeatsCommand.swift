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

  @OptionGroup var client: ClientOptions
  @OptionGroup var scope: ScopeOptions

  @Argument(help: "Original transaction id.") var purchase: String

  func run() async throws {
    let (app, environment) = (try await scope.app.id(client), try scope.appEnvironment())
    try await client.showPages(
      empty: "no claimed seats", nextPageToken: \.nextPageToken,
      rows: { (page: ListSeatsResponse) in page.seats.map(\.row) },
      fetch: { connection, token in
        try await connection.listSeats(
          .with {
            $0.app = app
            $0.environment = environment
            $0.originalTransactionId = purchase
            $0.pageToken = token
          })
      })
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
    let body = ClaimSeatRequest.with {
      $0.originalTransactionId = purchase
      $0.customerId = customer
      $0.requestIdentifier = options.change.requestIdentifier
    }
    let request = try await options.completed(body)
    let response = try await options.client.withConnection { try await $0.claimSeat(request) }
    options.client.show(response, response.seat.map { [$0.row] } ?? [])
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
    let body = AssociateSeatRequest.with {
      $0.originalTransactionId = purchase
      $0.seatId = seat
      $0.customerId = customer
    }
    let request = try await options.completed(body)
    let response = try await options.client.withConnection { try await $0.associateSeat(request) }
    options.client.show(response, response.seat.map { [$0.row] } ?? [])
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
    let body = UnclaimSeatRequest.with {
      $0.originalTransactionId = purchase
      $0.seatId = seat
    }
    let request = try await options.completed(body)
    let response = try await options.client.withConnection { try await $0.unclaimSeat(request) }
    options.client.show(response, [("released", seat)])
  }
}

extension Seat {
  fileprivate var row: (String, String) {
    (seatId, "\(customerId.isEmpty ? "no customer" : customerId), since \(claimedAt.text)")
  }
}
