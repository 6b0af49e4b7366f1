/// Finds the nearest of times in order, for places that are asked for in order; each search goes on from the last.
struct NearestSearch {
    private let times: [Double]
    private var index = 0

    init(_ times: [Double]) { self.times = times }

    /// The index of the time nearest to a place.
    ///
    /// - Parameter place: not before the one asked for last.
    /// - Returns: nil if there is none.
    mutating func nearest(to place: Double) -> Int? {
        while index + 1 < times.count, abs(times[index + 1] - place) < abs(times[index] - place) { index += 1 }
        return index < times.count ? index : nil
    }

    /// Leaves out the time found last, and all before it.
    mutating func take() { index += 1 }
}
