/// A place in a file, as editors count it.
public struct Place: Hashable, Comparable, Sendable, CustomStringConvertible {
    /// The file's name as it was given.
    public var file: String
    /// Counted from 1.
    public var line: Int
    /// Counted from 1, in Unicode scalars.
    public var column: Int

    public init(file: String, line: Int, column: Int) {
        self.file = file
        self.line = line
        self.column = column
    }

    /// `FILE:LINE:COLUMN`, which editors and terminals follow.
    public var description: String { "\(file):\(line):\(column)" }

    public static func < (left: Place, right: Place) -> Bool {
        (left.file, left.line, left.column) < (right.file, right.line, right.column)
    }
}

/// What is wrong at one place of a file, and what would be right.
public struct Mistake: Error, Hashable, Sendable, CustomStringConvertible {
    public var place: Place
    /// One clause for a person, such as `unknown key 'ofset' in 'clock'; did you mean 'offset'?`.
    public var message: String

    public init(_ place: Place, _ message: String) {
        self.place = place
        self.message = message
    }

    /// `FILE:LINE:COLUMN: MESSAGE`.
    public var description: String { "\(place): \(message)" }
}

/// Everything that is wrong with a file, in the order it stands there.
public struct Mistakes: Error, Hashable, Sendable, CustomStringConvertible {
    /// Never empty.
    public let all: [Mistake]

    /// Mistakes in the order of their places, each once.
    ///
    /// - Parameter mistakes: at least one.
    init(_ mistakes: [Mistake]) {
        var seen: Set<Mistake> = []
        // What is found at one place stays in the order it was found in.
        all = mistakes.filter { seen.insert($0).inserted }.enumerated().sorted {
            ($0.element.place, $0.offset) < ($1.element.place, $1.offset)
        }.map(\.element)
    }

    init(_ place: Place, _ message: String) { all = [Mistake(place, message)] }

    /// One line for each.
    public var description: String { all.map(\.description).joined(separator: "\n") }
}

/// A value and where it is written, so that whoever makes sense of it can say where it makes none.
public struct Placed<Value> {
    public var value: Value
    public var place: Place

    public init(_ value: Value, at place: Place) {
        self.value = value
        self.place = place
    }

    /// What is wrong with this value.
    ///
    /// - Parameter message: what is wrong and what would be right.
    /// - Returns: the mistake, at the value's place.
    public func mistake(_ message: String) -> Mistake { Mistake(place, message) }
}

extension Placed: Equatable where Value: Equatable {}
extension Placed: Hashable where Value: Hashable {}
extension Placed: Sendable where Value: Sendable {}
