/// A record of a simulated world: a digest of everything, and the last lines for debugging.
package struct Trace: Sendable {
    /// Equal for equal runs.
    package private(set) var digest = Digest()
    private var ring: [Line] = []
    private var next = 0
    private static let capacity = 40

    /// One line; the text is built only if needed.
    private struct Line: Sendable {
        let time: WorldTime
        let node: Int
        let what: StaticString
        let numbers: [Int64]
    }

    package init() {}

    /// Records an event at a node.
    ///
    /// - Parameters:
    ///   - what: a constant text.
    ///   - node: the node.
    ///   - numbers: details; they count in the digest.
    ///   - time: when it happened.
    package mutating func record(_ what: StaticString, node: Int, _ numbers: [Int64] = [], at time: WorldTime) {
        digest.combine(UInt64(bitPattern: time.microseconds))
        digest.combine(UInt64(truncatingIfNeeded: node))
        digest.combine(UInt64(what.utf8CodeUnitCount))
        for number in numbers { digest.combine(UInt64(bitPattern: number)) }
        let line = Line(time: time, node: node, what: what, numbers: numbers)
        if ring.count < Self.capacity { ring.append(line) } else { ring[next] = line }
        next = (next + 1) % Self.capacity
    }

    /// The last lines, oldest first.
    package var lastLines: [String] {
        let ordered = ring.count < Self.capacity ? ring[...] : ring[next...] + ring[..<next]
        return ordered.map { line in
            let numbers = line.numbers.map { " \($0)" }.joined()
            return "\(line.time.microseconds) us  node \(line.node)  \(line.what)\(numbers)"
        }
    }
}

/// A broken promise of a simulated world, with everything needed to reproduce it.
package struct BrokenPromise: Error, CustomStringConvertible {
    package let scenario: String
    package let seed: UInt64
    package let time: WorldTime
    package let promise: String
    package let lastLines: [String]

    package init(_ promise: String, scenario: String, seed: UInt64, time: WorldTime, trace: Trace) {
        self.promise = promise
        self.scenario = scenario
        self.seed = seed
        self.time = time
        lastLines = trace.lastLines
    }

    package var description: String {
        """
        \(promise)
        scenario \(scenario), at \(time.microseconds) us; replay with SIM_SEED=\(seed)
        \(lastLines.joined(separator: "\n"))
        """
    }
}
