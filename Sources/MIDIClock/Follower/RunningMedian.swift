/// The median of the last numbers given, at most ``capacity`` of them; allocates only when made.
struct RunningMedian: Sendable {
    /// How many numbers it regards.
    let capacity: Int
    private var newest: [Double] = []
    private var sorted: [Double] = []
    private var next = 0

    init(capacity: Int) {
        self.capacity = capacity
        newest.reserveCapacity(capacity)
        sorted.reserveCapacity(capacity)
    }

    /// How many numbers there are.
    var count: Int { sorted.count }

    /// The middle one, of an even number the upper of the two in the middle; zero when there is none.
    var value: Double { sorted.isEmpty ? 0 : sorted[sorted.count / 2] }

    /// Takes in a number, which must be finite, in place of the oldest when full.
    mutating func insert(_ number: Double) {
        if newest.count < capacity {
            newest.append(number)
        } else {
            sorted.remove(at: place(of: newest[next]))
            newest[next] = number
        }
        next = (next + 1) % capacity
        sorted.insert(number, at: place(of: number))
    }

    /// Forgets all numbers.
    mutating func removeAll() {
        newest.removeAll(keepingCapacity: true)
        sorted.removeAll(keepingCapacity: true)
        next = 0
    }

    /// Where the first number not below this one stands, or would stand.
    private func place(of number: Double) -> Int {
        var low = 0
        var high = sorted.count
        while low < high {
            let middle = (low + high) / 2
            if sorted[middle] < number { low = middle + 1 } else { high = middle }
        }
        return low
    }
}
