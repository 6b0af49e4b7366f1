/// Finds the nearest of sorted times, for searches that are sorted too.
///
/// Each search continues where the last one ended.
struct NearestSearch {
    private let times: [Double]
    private var index = 0

    init(_ times: [Double]) { self.times = times }

    /// The index of the time nearest to a place.
    ///
    /// - Parameter place: the place; not earlier than in the last search.
    /// - Returns: nil if no time is left.
    mutating func nearest(to place: Double) -> Int? {
        while index + 1 < times.count, abs(times[index + 1] - place) < abs(times[index] - place) { index += 1 }
        return index < times.count ? index : nil
    }

    /// Removes the time found last, and all times before it, from further searches.
    mutating func take() { index += 1 }
}
