/// The sums that a store computes for a query.
///
/// A report of 400 days has up to a million. So the texts of groups are kept once, and so is what neighbouring sums have in
/// common; a sum alone is three amounts and two numbers, without reference counts. As a collection it has each as a
/// ``ReportSum``.
package struct ReportSums: Sendable {
  /// The members that sums have in common besides their group. Mostly the sums of a run follow each other.
  package struct Run: Hashable, Sendable {
    /// The kind of the postings.
    package var kind: Posting.Kind
    /// See ``ReportSum/day``.
    package var day: ReportDay
    /// See ``ReportSum/cohortDay``.
    package var cohortDay: ReportDay?
    /// See ``ReportCell/Key/age``.
    package var age: Int64

    package init(kind: Posting.Kind, day: ReportDay, cohortDay: ReportDay? = nil, age: Int64 = 0) {
      self.kind = kind
      self.day = day
      self.cohortDay = cohortDay
      self.age = age
    }
  }

  /// The texts by which sums are apart.
  package struct Group: Hashable, Sendable {
    /// The values of ``ReportQuery/groupBy``.
    package var values: [String]
    /// ``Posting/reason``; empty if the query does not need it.
    package var reason: String
    /// ISO 4217; empty without an amount.
    package var currency: String

    package init(values: [String], reason: String, currency: String) {
      self.values = values
      self.reason = reason
      self.currency = currency
    }
  }

  /// A sum of one run and group.
  package struct Total: Sendable {
    /// An index of ``runs``.
    package let run: Int32
    /// An index of ``groups``.
    package let group: Int32
    /// The sums of the postings.
    package var sums: ReportCell.Sums

    /// `run` and `group` are indexes of ``runs`` and ``groups``, below 2^31.
    package init(run: Int, group: Int, sums: ReportCell.Sums) {
      self.run = Int32(clamping: run)
      self.group = Int32(clamping: group)
      self.sums = sums
    }
  }

  /// Each may occur several times.
  package private(set) var runs: [Run]
  /// Each may occur several times.
  package private(set) var groups: [Group]
  /// The sums. Several may be of the same run and group.
  package private(set) var totals: [Total]
  /// Of converted sums ``ReportSum/millionths``, in the order of ``totals``; otherwise empty.
  private(set) var millionths: [ReportCell.Sums] = []

  /// Takes the sums as a store has computed them: each total must refer to an element of `runs` and of `groups`.
  /// Nothing is converted yet.
  package init(runs: [Run], groups: [Group], totals: [Total]) {
    self.runs = runs
    self.groups = groups
    self.totals = totals
  }

  /// Creates a value of single sums.
  package init(_ sums: some Sequence<ReportSum>) {
    self.init(runs: [], groups: [], totals: [])
    var runNumbers: [Run: Int] = [:]
    var groupNumbers: [Group: Int] = [:]
    for sum in sums {
      let run = runNumbers[sum.run] ?? runs.count
      if run == runs.count {
        runNumbers[sum.run] = run
        runs.append(sum.run)
      }
      let group = groupNumbers[sum.group] ?? groups.count
      if group == groups.count {
        groupNumbers[sum.group] = group
        groups.append(sum.group)
      }
      totals.append(Total(run: run, group: group, sums: sum.sums))
      millionths.append(sum.millionths)
    }
  }

  /// Adds sums that are not converted to others that are not.
  package static func += (left: inout ReportSums, right: ReportSums) {
    let (runs, groups) = (left.runs.count, left.groups.count)
    left.runs += right.runs
    left.groups += right.groups
    left.totals += right.totals.map {
      Total(run: runs + Int($0.run), group: groups + Int($0.group), sums: $0.sums)
    }
    left.millionths = []
  }
}

extension ReportSums: RandomAccessCollection, ExpressibleByArrayLiteral {
  package init(arrayLiteral sums: ReportSum...) { self.init(sums) }

  package var startIndex: Int { totals.startIndex }
  package var endIndex: Int { totals.endIndex }

  package subscript(index: Int) -> ReportSum {
    let total = totals[index]
    var sum = ReportSum(run: runs[Int(total.run)], group: groups[Int(total.group)], sums: total.sums)
    if !millionths.isEmpty { sum.millionths = millionths[index] }
    return sum
  }
}

/// A sum that a store computes for a query: of all cells with the same run and group.
package struct ReportSum: Hashable, Sendable {
  /// The kind, the days and the age.
  package var run: ReportSums.Run
  /// The values of the query's dimensions, the reason and the currency.
  package var group: ReportSums.Group
  /// The sums of the postings.
  package var sums: ReportCell.Sums
  /// Of converted amounts, what they are more than ``sums``, in millionths of a thousandth: values are rounded once.
  package var millionths = ReportCell.Sums()

  package init(run: ReportSums.Run, group: ReportSums.Group, sums: ReportCell.Sums) {
    self.run = run
    self.group = group
    self.sums = sums
  }

  package init(
    kind: Posting.Kind, day: ReportDay, groups: [String] = [], reason: String = "", currency: String = "",
    cohortDay: ReportDay? = nil, age: Int64 = 0, sums: ReportCell.Sums
  ) {
    self.init(
      run: ReportSums.Run(kind: kind, day: day, cohortDay: cohortDay, age: age),
      group: ReportSums.Group(values: groups, reason: reason, currency: currency), sums: sums)
  }

  /// The day of the postings; of a stock before the query's first day, any earlier day. Of stocks as first closed,
  /// the first day whose closing has them.
  package var day: ReportDay { run.day }
  /// When the members of the cohort joined it, or the day of a rate; `nil`: neither.
  package var cohortDay: ReportDay? { run.cohortDay }
  /// ISO 4217; empty without an amount.
  package var currency: String { group.currency }
}

extension ReportSums.Run {
  /// Whether its sums have amounts of another day's rate, which is ``cohortDay``. They are part of another sum, too.
  var isRated: Bool { age == ReportCell.ratedAge }
}
