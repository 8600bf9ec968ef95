// The report of withdrawn consents.
extension Report {
  static let consents = Report(
    .consents, "Withdrawn consents of parents or guardians by the day of the withdrawal",
    [
      .count("withdrawn", [.consentWithdrawn], ofCohort: true, "Withdrawals (RESCIND_CONSENT)."),
      .count("settled", [.consentSettled], ofCohort: true, "Of these, those that the operator settled."),
      .count(
        "overdue", [.consentOverdue], ofCohort: true, "Of these, those that were open at their deadline."),
      .count(
        "open", [.consentWithdrawn], ofCohort: true, less: [.consentSettled], "Withdrawn less settled."),
    ])
}
