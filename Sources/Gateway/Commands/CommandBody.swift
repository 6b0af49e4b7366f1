internal import Essentials

/// A command's values: one JSON object, such as `{"bpm":128.5}`.
package struct CommandBody: Hashable, Sendable {
    private let scalars: [String: Scalar]

    package init(_ scalars: [String: Scalar] = [:]) { self.scalars = scalars }

    /// Reads a body with these keys and no others; the caller checks for missing ones.
    ///
    /// If only one of the keys may be given, `isOne` says so to whoever sends no object; ``only(of:)`` checks it.
    package init(_ keys: [String], isOne: Bool = false, in json: some Collection<UInt8>) throws(BadCommand) {
        guard let object = try? JSON.value([String: Scalar].self, from: json) else {
            throw .notJSON(expecting: keys, isOne: isOne)
        }
        if let stranger = object.keys.filter({ !keys.contains($0) }).min() {
            let known =
                switch keys.count {
                case 0: "this request takes no keys"
                case 1: "the key here is \(keys[0])"
                default: "the keys here are \(keys.joined(separator: ", "))"
                }
            throw .badValue("\(stranger): unknown; \(known)")
        }
        scalars = object
    }

    /// Reads a body that may be missing, as may its keys.
    package init(optional keys: [String], in json: some Collection<UInt8>) throws(BadCommand) {
        if json.isEmpty { self.init() } else { try self.init(keys, in: json) }
    }

    /// The one of several keys that is given; the first if none is.
    func only(of keys: [String]) throws(BadCommand) -> String {
        let given = keys.filter { scalars[$0] != nil }
        guard given.count < 2 else { throw .badValue("\(given.joined(separator: ", ")): only one of these") }
        return given.first ?? keys[0]
    }

    /// The value of a key, even if it is missing.
    package func required(_ key: String) -> CommandValue { CommandValue(key: key, scalar: scalars[key] ?? .other) }

    /// The value of a key; nil if it is missing.
    package func optional(_ key: String) -> CommandValue? { scalars[key].map { CommandValue(key: key, scalar: $0) } }

    /// As JSON on one line.
    package var json: String { (try? JSON.text(scalars)) ?? "{}" }

    package enum Scalar: Codable, Hashable, Sendable {
        case boolean(Bool)
        case number(Double)
        case text(String)
        case numbers([Double])
        case other

        package init(from decoder: any Decoder) throws {
            let container = try decoder.singleValueContainer()
            if let value = try? container.decode(Bool.self) {
                self = .boolean(value)
            } else if let value = try? container.decode(Double.self) {
                self = .number(value)
            } else if let value = try? container.decode(String.self) {
                self = .text(value)
            } else if let values = try? container.decode([Double].self) {
                self = .numbers(values)
            } else {
                self = .other
            }
        }

        package func encode(to encoder: any Encoder) throws {
            var container = encoder.singleValueContainer()
            switch self {
            case .boolean(let value): try container.encode(value)
            case .number(let value): try container.encode(value)
            case .text(let value): try container.encode(value)
            case .numbers(let values): try container.encode(values)
            case .other: try container.encodeNil()
            }
        }
    }
}

/// Why a request means no command.
package enum BadCommand: Error, Hashable, Sendable {
    /// The body is not one JSON object with these keys, or with one of them.
    case notJSON(expecting: [String], isOne: Bool)
    /// A key is unknown or missing, or has a wrong value; says which, and what would be right.
    case badValue(String)
}

/// A value in a command's body, with its name for error messages.
package struct CommandValue {
    fileprivate let key: String
    fileprivate let scalar: CommandBody.Scalar

    package func boolean() throws(BadCommand) -> Bool {
        guard case .boolean(let value) = scalar else { throw .badValue("\(key): true or false") }
        return value
    }

    package func integer(in range: ClosedRange<Int>) throws(BadCommand) -> Int {
        guard case .number(let value) = scalar, let whole = Int(exactly: value), range.contains(whole) else {
            throw .badValue("\(key): a whole number from \(range.lowerBound) to \(range.upperBound)")
        }
        return whole
    }

    package func text() throws(BadCommand) -> String {
        guard case .text(let value) = scalar else { throw .badValue("\(key): a text") }
        return value
    }

    package func number(in range: ClosedRange<Double>) throws(BadCommand) -> Double {
        guard case .number(let value) = scalar, range.contains(value) else {
            throw .badValue("\(key): \(range.inWords)")
        }
        return value
    }

    func number(_ range: CommandRange) throws(BadCommand) -> Double {
        guard case .number(let value) = scalar, range.contains(value) else {
            throw .badValue("\(key): \(range.numbers)")
        }
        return value
    }

    /// One of two numbers.
    func number(among first: Double, _ second: Double) throws(BadCommand) -> Double {
        guard case .number(let value) = scalar, value == first || value == second else {
            throw .badValue("\(key): \(shortest(first, atMost: 3)) or \(shortest(second, atMost: 3))")
        }
        return value
    }

    /// One of several words.
    func choice<Value>(among choices: KeyValuePairs<String, Value>) throws(BadCommand) -> Value {
        guard case .text(let text) = scalar, let choice = choices.first(where: { $0.key == text }) else {
            throw .badValue("\(key): \(choices.map { "\"\($0.key)\"" }.joined(separator: " or "))")
        }
        return choice.value
    }

    /// Two tempos, the second at least twice the first.
    func octave(in range: CommandRange) throws(BadCommand) -> ClosedRange<Double> {
        guard case .numbers(let values) = scalar, values.count == 2, values.allSatisfy(range.contains),
            values[1] >= 2 * values[0]
        else {
            throw .badValue(
                "\(key): two tempos from \(range.numbers), the second at least twice the first, such as [40,300]")
        }
        return values[0]...values[1]
    }

    func followChoice() throws(BadCommand) -> FollowChoice {
        guard case .text(let text) = scalar else { throw .badValue("\(key): auto, off, or a port such as TR-8S") }
        do {
            return try FollowChoice(text)
        } catch {
            throw .badValue("\(key): \(error)")
        }
    }
}
