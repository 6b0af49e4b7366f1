import ArgumentParser
import BeatTime
import ClockDispatch
import ControlServer
import Essentials
import Gateway
import Glibc
import Logging
import MIDIClock
import RealTime

/// Why an argument is refused, as a clause that says what would be right.
struct BadArgument: Error, Hashable, CustomStringConvertible {
    var description: String

    init(_ description: String) { self.description = description }
}

extension Tempo {
    init(argument: String) throws(BadArgument) {
        guard let value = decimal(argument), CommandRange.tempo.contains(value) else {
            throw BadArgument("a tempo is a number from \(CommandRange.tempo.numbers), such as 128.5")
        }
        self.init(beatsPerMinute: value)
    }
}

extension Beats {
    init(quantumArgument argument: String) throws(BadArgument) {
        guard let value = decimal(argument), CommandRange.quantum.contains(value) else {
            throw BadArgument("a quantum is a number of beats from \(CommandRange.quantum.numbers), such as 4")
        }
        self.init(value)
    }
}

extension HTTPAddress {
    init(argument: String) throws(BadArgument) {
        guard let address = HTTPAddress(argument) else {
            throw BadArgument("an address is numbers and a port, such as 127.0.0.1:8808 or [::1]:8808")
        }
        self = address
    }
}

/// A token file as it was when it was read.
struct TokenFile {
    let path: String
    /// The token, or why there is none.
    let token: Result<BearerToken, Failure>
    /// Whether users other than its owner and group may read it.
    let isReadableByOthers: Bool

    /// Reads a file once, so that it may be a pipe, and all that is said of it is about the same file.
    init(_ path: String) {
        self.path = path
        let descriptor = open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else {
            let failure =
                switch errno {
                case EACCES: Failure(.noPermission, "token file \(path): no permission to read it")
                case ENOENT: Failure(.usage, "token file \(path): there is no such file")
                default: Self.unreadable(path)
                }
            token = .failure(failure)
            isReadableByOthers = false
            return
        }
        defer { close(descriptor) }
        isReadableByOthers = Files.isReadableByOthers(descriptor)
        guard let bytes = try? Files.bytes(from: descriptor, atMost: 1 << 16),
            let contents = String(validating: bytes, as: UTF8.self)
        else {
            token = .failure(Self.unreadable(path))
            return
        }
        token =
            BearerToken(contents).map(Result.success)
            ?? .failure(
                Failure(
                    .usage, "token file \(path): must contain one word and nothing else, such as 32 random letters"))
    }

    private static func unreadable(_ path: String) -> Failure {
        Failure(.usage, "token file \(path): not a readable text file")
    }

    /// Whether this user may not read it.
    var isForbidden: Bool { if case .failure(let failure) = token { failure.status == .noPermission } else { false } }

    /// What makes the token easy to get; nothing if there is no token.
    var notices: [Notice] {
        guard let length = try? token.get().text.utf8.count else { return [] }
        let short = Notice.shortToken(path: path, length: length, shortest: Self.shortest)
        return (length < Self.shortest ? [short] : []) + (isReadableByOthers ? [.readableToken(path: path)] : [])
    }

    /// Shortest token without a warning.
    private static let shortest = 16
}

extension FollowChoice {
    init(argument: String) throws(BadArgument) {
        do {
            self = try FollowChoice(argument)
        } catch {
            throw BadArgument(error.description)
        }
    }
}

/// Reads `hw:CARD,DEVICE`, with the card's number or short name.
func clockInDevice(argument: String) throws(BadArgument) -> String {
    let mistake = BadArgument("a raw MIDI device is hw:CARD,DEVICE, such as hw:1,0; 'amidi -l' lists them")
    let parts = argument.split(separator: ",", omittingEmptySubsequences: false)
    guard argument.hasPrefix("hw:"), (2...3).contains(parts.count) else { throw mistake }
    // libasound would accept more in a name: braces, options, other plug-ins.
    let card = parts[0].dropFirst("hw:".count)
    guard (1...15).contains(card.utf8.count), card.utf8.allSatisfy({ isDigit($0) || isLetter($0) || $0 == 0x5F }) else {
        throw mistake
    }
    for number in parts.dropFirst() {
        guard number.utf8.allSatisfy(isDigit), let value = Int(number), value < 32 else { throw mistake }
    }
    return argument
}

private func isDigit(_ byte: UInt8) -> Bool { (0x30...0x39).contains(byte) }
private func isLetter(_ byte: UInt8) -> Bool { (0x41...0x5A).contains(byte) || (0x61...0x7A).contains(byte) }

/// A switch as users write it.
enum Switch: String, ExpressibleByArgument, CaseIterable {
    case on, off
}

func priority(argument: String) throws(BadArgument) -> Int {
    guard let value = Int(argument), (0...99).contains(value) else {
        throw BadArgument("a priority is a whole number from 0 to 99; with 0, none is requested")
    }
    return value
}

func dispatchChoice(argument: String) throws(BadArgument) -> DispatchChoice {
    guard let choice = DispatchChoice(rawValue: argument) else {
        throw BadArgument("use auto, direct or queue")
    }
    return choice
}

func logLevel(argument: String) throws(BadArgument) -> Logger.Level {
    guard let level = Logger.Level(rawValue: argument) else {
        throw BadArgument("a level is trace, debug, info, notice, warning, error or critical")
    }
    return level
}

func interfaceName(argument: String) throws(BadArgument) -> String {
    guard !argument.isEmpty, argument.utf8.count < 16, !argument.contains(where: { $0.isWhitespace || $0 == "/" })
    else {
        throw BadArgument("a network interface has a name such as eth0 or wlan0")
    }
    return argument
}

/// Reads a number with at most one point and an optional sign; no exponent, no `nan`.
func signedDecimal(_ text: String) -> Double? {
    guard let sign = text.first, "+-".contains(sign) else { return decimal(text) }
    return decimal(String(text.dropFirst())).map { sign == "-" ? -$0 : $0 }
}

extension TempoRange {
    init(argument: String) throws(BadArgument) {
        guard let (low, high) = twoTempos(argument), let range = TempoRange(lowest: low, highest: high) else {
            throw BadArgument(
                "a range is two tempos from \(CommandRange.tempo.numbers), the second at least twice the first, such as 60-180"
            )
        }
        self = range
    }
}

extension TempoFence {
    init(argument: String) throws(BadArgument) {
        guard let (low, high) = twoTempos(argument), let fence = TempoFence(lowest: low, highest: high) else {
            throw BadArgument("use two tempos from \(CommandRange.tempo.numbers), the lower first, such as 118-132")
        }
        self = fence
    }
}

/// Two tempos with a hyphen between, in thousandths of a beat per minute.
private func twoTempos(_ text: String) -> (low: Int64, high: Int64)? {
    let ends = text.split(separator: "-", omittingEmptySubsequences: false).map { decimal(String($0)) }
    guard ends.count == 2, let low = ends[0], let high = ends[1], Tempo.allowed.contains(low),
        Tempo.allowed.contains(high)
    else { return nil }
    return (Int64((low * 1_000).rounded()), Int64((high * 1_000).rounded()))
}

/// Reads digits with at most one point; no sign, no exponent, no name of a number.
private func decimal(_ text: String) -> Double? {
    guard text.utf8.allSatisfy({ (0x30...0x39).contains($0) || $0 == 0x2E }) else { return nil }
    guard let value = Double(text), value.isFinite else { return nil }
    return value
}
