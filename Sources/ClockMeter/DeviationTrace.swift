/// Minimum and maximum of a value over equal spans of time, in constant memory.
///
/// When the spans are used up, each two neighbors become one of twice the length.
struct DeviationTrace {
    /// The values in one span.
    struct Span: Hashable {
        var least = Double.infinity
        var greatest = -Double.infinity

        var isEmpty: Bool { least > greatest }

        func joined(with other: Span) -> Span {
            Span(least: min(least, other.least), greatest: max(greatest, other.greatest))
        }
    }

    private static let capacity = 512
    /// Initial length of a span, in microseconds.
    private static let shortest: Int64 = 50_000

    private var spans: [Span] = []
    private var start: Int64 = 0
    /// Present length of a span, in microseconds.
    private var length = shortest

    /// Adds a value; one from before the first span counts there.
    mutating func add(_ value: Double, at time: Int64) {
        if spans.isEmpty { start = time }
        while case let index = max(0, time &- start) / length, index >= Self.capacity { halve() }
        let index = Int(max(0, time &- start) / length)
        while spans.count <= index { spans.append(Span()) }
        spans[index] = spans[index].joined(with: Span(least: value, greatest: value))
    }

    private mutating func halve() {
        length *= 2
        spans = stride(from: 0, to: spans.count, by: 2).map { index in
            index + 1 < spans.count ? spans[index].joined(with: spans[index + 1]) : spans[index]
        }
    }

    /// All spans that are not empty.
    ///
    /// - Parameter origin: the time of second 0, in microseconds.
    /// - Returns: spans in order.
    func points(since origin: Int64) -> [ClockFigures.Span] {
        spans.indices.filter { !spans[$0].isEmpty }.map { index in
            let from = start &- origin &+ Int64(index) * length
            return ClockFigures.Span(
                fromSecond: Double(from) / 1_000_000, seconds: Double(length) / 1_000_000,
                leastMicroseconds: spans[index].least, greatestMicroseconds: spans[index].greatest)
        }
    }
}
