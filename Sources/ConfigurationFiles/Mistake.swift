/// A position in a file, as editors count.
package struct Place: Hashable, Comparable, Sendable, CustomStringConvertible {
    /// The file's name as it was given.
    package var file: String
    /// Counted from 1; 0 means the whole file.
    package var line: Int
    /// Counted from 1, in Unicode scalars.
    package var column: Int

    package init(file: String, line: Int, column: Int) {
        self.file = file
        self.line = line
        self.column = column
    }

    /// The file as a whole, such as one that is missing.
    static func whole(_ file: String) -> Place { Place(file: file, line: 0, column: 0) }

    /// `FILE:LINE:COLUMN`, which editors and terminals follow; only the file if it is all of it.
    package var description: String { line == 0 ? file : "\(file):\(line):\(column)" }

    package static func < (left: Place, right: Place) -> Bool {
        (left.file, left.line, left.column) < (right.file, right.line, right.column)
    }
}

/// A mistake at one position in a file, with its fix.
package struct Mistake: Error, Hashable, Sendable, CustomStringConvertible {
    package var place: Place
    /// One clause, such as `unknown key 'ofset' in 'clock'; did you mean 'offset'?`.
    package var message: String

    package init(_ place: Place, _ message: String) {
        self.place = place
        self.message = message
    }

    /// `FILE:LINE:COLUMN: MESSAGE`.
    package var description: String { "\(place): \(message)" }
}

/// All mistakes in a file, in order of position.
package struct Mistakes: Error, Hashable, Sendable, CustomStringConvertible {
    /// Never empty.
    package let all: [Mistake]

    /// Sorts mistakes by position and removes duplicates.
    ///
    /// - Parameter mistakes: at least one.
    package init(_ mistakes: [Mistake]) {
        var seen: Set<Mistake> = []
        // Mistakes at one position keep their order.
        all = mistakes.filter { seen.insert($0).inserted }.enumerated().sorted {
            ($0.element.place, $0.offset) < ($1.element.place, $1.offset)
        }.map(\.element)
    }

    init(_ place: Place, _ message: String) { all = [Mistake(place, message)] }

    /// Most mistakes that are told to people.
    package static let mostTold = 20

    /// A line for each of the first mistakes, and one that counts the others.
    package var lines: [String] {
        let more = all.count - Self.mostTold
        let rest = more > 0 ? ["and \(more) more mistake\(more == 1 ? "" : "s")"] : []
        return all.prefix(Self.mostTold).map(\.description) + rest
    }

    /// ``lines``, as one text.
    package var description: String { lines.joined(separator: "\n") }
}

/// A value with its position, for error messages about it.
package struct Placed<Value> {
    package var value: Value
    package var place: Place

    package init(_ value: Value, at place: Place) {
        self.value = value
        self.place = place
    }

    /// A mistake about this value.
    ///
    /// - Parameter message: what is wrong and how to fix it.
    /// - Returns: the mistake, at the value's position.
    package func mistake(_ message: String) -> Mistake { Mistake(place, message) }
}

extension Placed: Equatable where Value: Equatable {}
extension Placed: Hashable where Value: Hashable {}
extension Placed: Sendable where Value: Sendable {}
