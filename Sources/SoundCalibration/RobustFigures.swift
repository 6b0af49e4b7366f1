/// The median of the values; 0 if there are none.
func median(_ values: [Double]) -> Double {
    guard !values.isEmpty else { return 0 }
    let sorted = values.sorted()
    let middle = sorted.count / 2
    return sorted.count % 2 == 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2
}

/// A standard deviation that a few outliers hardly change.
///
/// It is 1.48 times the median distance from the median, which is the standard deviation of a normal distribution.
func robustDeviation(_ values: [Double]) -> Double {
    let middle = median(values)
    return 1.4826 * median(values.map { abs($0 - middle) })
}
