/// Adds the sums of a store up to rows.
///
/// Buckets and series have numbers, because reports may have 100,000 rows, and comparing and hashing their texts and days for
/// each sum takes longer than everything else.
struct ReportTableBuilder {
  /// The identity of a row, besides its bucket.
  struct Series: Hashable {
    var groups: [String]
    var currency: String
    var age: Int64
  }

  let query: ReportQuery
  /// The first days of the query's buckets, in order.
  let buckets: [ReportDay]
  private(set) var series: [Series] = []
  private var seriesNumbers: [Series: Int] = [:]
  /// The number of the bucket of each day from the first bucket's on.
  private let bucketOfDay: [Int]
  /// The offsets in ``cells`` of the rows of each bucket, by series; -1: no row.
  private var offsets: [[Int]]
  private var cells: [Int64] = []
  /// Of converted amounts, what ``cells`` are more, in millionths of a thousandth.
  private var millionths: [Int64] = []

  init(_ query: ReportQuery) {
    self.query = query
    var buckets: [ReportDay] = []
    var bucketOfDay: [Int] = []
    var bucket = query.granularity.firstDay(of: query.from)
    while bucket < query.to {
      let next = query.granularity.firstDay(after: bucket)
      for _ in bucket.number..<min(next, query.to).number { bucketOfDay.append(buckets.count) }
      buckets.append(bucket)
      bucket = next
    }
    self.buckets = buckets
    self.bucketOfDay = bucketOfDay
    offsets = Array(repeating: [], count: buckets.count)
  }

  private var columns: [ReportColumn] { query.report.columns }

  /// The values of a row by the number of its series; `nil` without any.
  func values(_ bucket: Int, ofSeries number: Int) -> ArraySlice<Int64>? {
    offset(of: number, in: bucket).map { cells[$0..<$0 + columns.count] }
  }

  /// Adds sums to the columns and rows in which they count. Sums that are for conversion alone are left out.
  mutating func add(_ sums: ReportSums) {
    var terms = ReportTerms(query, sums.groups)
    let hasMillionths = query.isConverted && !sums.millionths.isEmpty
    let notMet = [Int](repeating: -1, count: sums.groups.count)
    // The numbers of the series of one age by group, and those of the other ages.
    var (age, numbers, others) = (Int64(0), notMet, [Int64: [Int]]())
    var (run, places) = (Int32(-1), [ReportTerms.Place]())
    for (index, total) in sums.totals.enumerated() {
      if total.run != run {
        run = total.run
        let new = sums.runs[Int(run)]
        places = new.isRated ? [] : terms.places(of: new) { self.bucket(of: new, $0) }
        let newAge = query.report.hasAges && new.cohortDay != nil ? new.age : 0
        if newAge != age {
          others[age] = numbers
          (age, numbers) = (newAge, others.removeValue(forKey: newAge) ?? notMet)
        }
      }
      let group = Int(total.group)
      var (bucket, row) = (-1, 0)
      for place in places where terms.counts(place, group) {
        if place.bucket != bucket {
          if numbers[group] < 0 { numbers[group] = number(of: sums.groups[group], age) }
          (bucket, row) = (place.bucket, self.row(of: numbers[group], in: place.bucket))
        }
        cells[row + place.column] &+= place.value(of: total.sums)
        if hasMillionths { millionths[row + place.column] &+= place.value(of: sums.millionths[index]) }
      }
    }
  }

  /// The number of the bucket to which the sums of a run add; `nil`: none.
  func bucket(of run: ReportSums.Run, _ span: ReportColumn.Span) -> Int? {
    switch span {
    case .bucket:
      guard let cohortDay = run.cohortDay else {
        return run.day >= query.from ? bucket(of: run.day) : nil
      }
      return bucket(of: cohortDay)
    case .opening:
      if run.day < query.from { return buckets.isEmpty ? nil : 0 }
      // Counts from the bucket after its own.
      guard let bucket = bucket(of: run.day), bucket + 1 < buckets.count else { return nil }
      return bucket + 1
    case .closing: return run.day < query.from ? (buckets.isEmpty ? nil : 0) : bucket(of: run.day)
    }
  }

  private func bucket(of day: ReportDay) -> Int? {
    guard let first = buckets.first else { return nil }
    let index = Int(clamping: day.number - first.number)
    return bucketOfDay.indices.contains(index) ? bucketOfDay[index] : nil
  }

  /// The number of the series of a group and age; a new series gets the next one.
  private mutating func number(of group: ReportSums.Group, _ age: Int64) -> Int {
    let wanted = Series(
      groups: group.values, currency: query.report.isByCurrency ? group.currency : "", age: age)
    if let known = seriesNumbers[wanted] { return known }
    seriesNumbers[wanted] = series.count
    series.append(wanted)
    return series.count - 1
  }

  private func offset(of series: Int, in bucket: Int) -> Int? {
    guard series < offsets[bucket].count, offsets[bucket][series] >= 0 else { return nil }
    return offsets[bucket][series]
  }

  /// The offset in ``cells`` of a row, which begins with zeros.
  private mutating func row(of series: Int, in bucket: Int) -> Int {
    if let known = offset(of: series, in: bucket) { return known }
    let start = cells.count
    let missing = series + 1 - offsets[bucket].count
    if missing > 0 { offsets[bucket].append(contentsOf: repeatElement(-1, count: missing)) }
    offsets[bucket][series] = start
    cells.append(contentsOf: repeatElement(0, count: columns.count))
    if query.isConverted { millionths.append(contentsOf: repeatElement(0, count: columns.count)) }
    return start
  }

  /// The rows in order, with stocks carried from bucket to bucket.
  ///
  /// - Throws: ``ReportTable/Failure/tooManyRows`` at the first row beyond the limit.
  func rows(limit: Int) throws(ReportTable.Failure) -> [ReportTable.Row] {
    var rows: [ReportTable.Row] = []
    let width = columns.count
    let order = series.indices.sorted { series[$0].precedes(series[$1]) }
    let stocks = columns.indices.filter { columns[$0].span != .bucket }
    let derived = DerivedColumn.all(of: query)
    let zeros = [Int64](repeating: 0, count: width)
    var carried = [Int64](repeating: 0, count: series.count * stocks.count)
    var carriedMillionths = carried
    var isCarried = [Bool](repeating: false, count: series.count)
    for (number, bucket) in buckets.enumerated() {
      for index in order {
        let offset = offset(of: index, in: number)
        guard offset != nil || isCarried[index] else { continue }
        var row = offset.map { Array(cells[$0..<$0 + width]) } ?? zeros
        var rest = query.isConverted ? offset.map { Array(millionths[$0..<$0 + width]) } ?? zeros : zeros
        var hasStock = false
        for (place, column) in stocks.enumerated() {
          let stock = index * stocks.count + place
          row[column] &+= carried[stock]
          carried[stock] = row[column]
          if query.isConverted {
            rest[column] &+= carriedMillionths[stock]
            carriedMillionths[stock] = rest[column]
          }
          if row[column] != 0 || rest[column] != 0 { hasStock = true }
        }
        isCarried[index] = hasStock
        if query.isConverted {
          for column in row.indices { row[column] = RateTable.rounded(row[column], rest[column]) }
        }
        for column in derived { column.set(in: &row) }
        guard row.contains(where: { $0 != 0 }) else { continue }
        guard rows.count < limit else { throw .tooManyRows }
        rows.append(
          ReportTable.Row(
            bucket: bucket, groups: series[index].groups, currency: series[index].currency,
            age: series[index].age, values: row))
      }
    }
    return rows
  }
}

/// A column that is made up of others, by their numbers.
private struct DerivedColumn {
  let column: Int
  let plus: [Int]
  let minus: [Int]

  /// The derived columns of a query, with the positions of those they are computed from.
  static func all(of query: ReportQuery) -> [DerivedColumn] {
    let columns = query.report.columns
    return columns.enumerated().compactMap { index, column in
      guard let derivation = column.derivation, query.isConverted || !derivation.isOfConversion else {
        return nil
      }
      let numbers = { (names: [String]) in columns.indices.filter { names.contains(columns[$0].name) } }
      return DerivedColumn(column: index, plus: numbers(derivation.plus), minus: numbers(derivation.minus))
    }
  }

  func set(in row: inout [Int64]) {
    var value: Int64 = 0
    for column in plus { value &+= row[column] }
    for column in minus { value &-= row[column] }
    row[column] = value
  }
}

extension ReportTableBuilder.Series {
  /// The order of the rows of a bucket.
  func precedes(_ other: Self) -> Bool {
    (currency, age) == (other.currency, other.age)
      ? groups.lexicographicallyPrecedes(other.groups) : (currency, age) < (other.currency, other.age)
  }
}
