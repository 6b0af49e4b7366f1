/// The median of the last numbers, at most ``capacity`` of them; allocates only in `init`.
struct RunningMedian: Sendable {
    /// Most numbers that are stored.
    let capacity: Int
    private var newest: [Double] = []
    private var sorted: [Double] = []
    private var next = 0

    init(capacity: Int) {
        self.capacity = capacity
        newest.reserveCapacity(capacity)
        sorted.reserveCapacity(capacity)
    }

    /// How many numbers are stored.
    var count: Int { sorted.count }

    /// The middle number, or the upper of the two middle ones; zero if there is none.
    var value: Double { sorted.isEmpty ? 0 : sorted[sorted.count / 2] }

    /// Adds a finite number; replaces the oldest when full.
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

    /// Index of the first number not below this one.
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
