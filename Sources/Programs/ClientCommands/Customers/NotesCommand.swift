internal import ArgumentParser
internal import CommandSupport
internal import EntitledClient
internal import Wire

/// `entitled notes`.
struct NotesCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "notes", abstract: "Add, list and delete notes about a customer.",
    subcommands: [AddNoteCommand.self, ListNotesCommand.self, DeleteNoteCommand.self])
}

/// `entitled notes add`.
struct AddNoteCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "add", abstract: "Add a note about a customer.")

  @OptionGroup var options: ScopedOptions

  @Option(help: "Name of the person who writes it.") var actor = ""

  @Argument(help: "Customer id.") var customer: String
  @Argument(help: "Text.") var text: String

  func run() async throws {
    let request: AddNoteRequest = try await options.request {
      $0.customerId = customer
      $0.text = text
      $0.actor = actor
    }
    let response = try await options.withConnection { try await $0.addNote(request) }
    options.show(response, response.note.map { [$0.row] } ?? [])
  }
}

/// `entitled notes list`.
struct ListNotesCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "list", abstract: "List the notes about a customer, newest first.")

  @OptionGroup var options: ScopedOptions

  @Argument(help: "Customer id.") var customer: String

  func run() async throws {
    let request: ListNotesRequest = try await options.request { $0.customerId = customer }
    try await options.showPages(
      request, { try await $0.listNotes($1) }, empty: "no notes about '\(customer)'"
    ) { $0.notes.map(\.row) }
  }
}

/// `entitled notes delete`.
struct DeleteNoteCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(commandName: "delete", abstract: "Delete a note.")

  @OptionGroup var options: AppOptions

  @Option(help: "Name of the person who deletes it.") var actor = ""
  @Option(help: "Reason, for the audit log.") var reason = ""

  @Argument(help: "Note id, as 'notes list' prints it.") var note: String

  func run() async throws {
    let request: DeleteNoteRequest = try await options.request {
      $0.noteId = note
      $0.actor = actor
      $0.note = reason
    }
    let response = try await options.withConnection { try await $0.deleteNote(request) }
    options.show(response, [("deleted", note)])
  }
}

extension Note {
  fileprivate var row: (String, String) {
    (noteId, "\(createdAt.text)  \(actor.isEmpty ? "" : "\(actor): ")\(text)")
  }
}

/// `entitled attributes`.
struct AttributesCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "attributes", abstract: "Show or set the attributes of a customer.",
    discussion: "NAME=VALUE sets an attribute, NAME= removes it. Without either, the command shows them.")

  @OptionGroup var options: ScopedOptions

  @Option(help: "Name of the person who changes them.") var actor = ""
  @Option(help: "Reason, for the audit log.") var note = ""

  @Argument(help: "Customer id.") var customer: String
  @Argument(help: "NAME=VALUE or NAME=.") var changes: [String] = []

  func run() async throws {
    guard !changes.isEmpty else {
      let request: GetCustomerAttributesRequest = try await options.request { $0.customerId = customer }
      let response = try await options.withConnection { try await $0.getCustomerAttributes(request) }
      return options.showList(
        response, response.attributes.map(\.row), empty: "no attributes of '\(customer)'")
    }
    let request: SetCustomerAttributesRequest = try await options.request {
      $0.customerId = customer
      $0.attributes = try changes.map(CustomerAttribute.init(change:))
      $0.actor = actor
      $0.note = note
    }
    let response = try await options.withConnection { try await $0.setCustomerAttributes(request) }
    options.showList(response, response.attributes.map(\.row), empty: "no attributes of '\(customer)'")
  }
}

extension CustomerAttribute {
  fileprivate init(change: String) throws {
    let parts = change.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
    guard parts.count == 2, !parts[0].isEmpty else {
      throw Failure("an attribute is NAME=VALUE or NAME=, not '\(change)'", status: 64)
    }
    self.init()
    name = String(parts[0])
    value = String(parts[1])
  }

  fileprivate var row: (String, String) { (name, value) }
}
