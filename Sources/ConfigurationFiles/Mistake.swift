/// A place in a file, as editors count it.
package struct Place: Hashable, Comparable, Sendable, CustomStringConvertible {
    /// The file's name as it was given.
    package var file: String
    /// Counted from 1.
    package var line: Int
    /// Counted from 1, in Unicode scalars.
    package var column: Int

    package init(file: String, line: Int, column: Int) {
        self.file = file
        self.line = line
        self.column = column
    }

    /// `FILE:LINE:COLUMN`, which editors and terminals follow.
    package var description: String { "\(file):\(line):\(column)" }

    package static func < (left: Place, right: Place) -> Bool {
        (left.file, left.line, left.column) < (right.file, right.line, right.column)
    }
}

/// What is wrong at one place of a file, and what would be right.
package struct Mistake: Error, Hashable, Sendable, CustomStringConvertible {
    package var place: Place
    /// One clause for a person, such as `unknown key 'ofset' in 'clock'; did you mean 'offset'?`.
    package var message: String

    package init(_ place: Place, _ message: String) {
        self.place = place
        self.message = message
    }

    /// `FILE:LINE:COLUMN: MESSAGE`.
    package var description: String { "\(place): \(message)" }
}

/// Everything that is wrong with a file, in the order it stands there.
package struct Mistakes: Error, Hashable, Sendable, CustomStringConvertible {
    /// Never empty.
    package let all: [Mistake]

    /// Mistakes in the order of their places, each once.
    ///
    /// - Parameter mistakes: at least one.
    package init(_ mistakes: [Mistake]) {
        var seen: Set<Mistake> = []
        // What is found at one place stays in the order it was found in.
        all = mistakes.filter { seen.insert($0).inserted }.enumerated().sorted {
            ($0.element.place, $0.offset) < ($1.element.place, $1.offset)
        }.map(\.element)
    }

    init(_ place: Place, _ message: String) { all = [Mistake(place, message)] }

    /// One line for each.
    package var description: String { all.map(\.description).joined(separator: "\n") }
}

/// A value and where it is written, so that whoever makes sense of it can say where it makes none.
package struct Placed<Value> {
    package var value: Value
    package var place: Place

    package init(_ value: Value, at place: Place) {
        self.value = value
        self.place = place
    }

    /// What is wrong with this value.
    ///
    /// - Parameter message: what is wrong and what would be right.
    /// - Returns: the mistake, at the value's place.
    package func mistake(_ message: String) -> Mistake { Mistake(place, message) }
}

extension Placed: Equatable where Value: Equatable {}
extension Placed: Hashable where Value: Hashable {}
extension Placed: Sendable where Value: Sendable {}
