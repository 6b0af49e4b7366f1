import ALSASequencer
import Essentials
import Gateway
import SoundCards

/// The value of `--output`: where it goes, and its profile.
struct OutputArgument: Hashable {
    var destination: Destination
    /// The ID of a profile.
    var profile: String?

    /// Reads `PORT[=PROFILE]`; the text after the last = is a profile if it can be the name of one.
    init(argument: String) throws(BadArgument) {
        guard let equals = argument.lastIndex(of: "=") else {
            destination = try Destination(argument: argument)
            return
        }
        let id = argument[argument.index(after: equals)...]
        guard id.utf8.allSatisfy(Self.isPartOfID) else {
            destination = try Destination(argument: argument)
            return
        }
        guard !id.isEmpty else { throw BadArgument("write the name of a profile after =, such as roland-tr-8s") }
        destination = try Destination(argument: String(argument[..<equals]))
        profile = String(id)
    }

    private static func isPartOfID(_ byte: UInt8) -> Bool {
        (0x30...0x39).contains(byte) || (0x41...0x5A).contains(byte) || (0x61...0x7A).contains(byte) || byte == 0x2D
            || byte == 0x5F
    }
}

/// The value of `--name`: an output, and what to call it.
struct OutputName: Hashable {
    var destination: Destination
    var name: String

    init(destination: Destination, name: String) { (self.destination, self.name) = (destination, name) }

    /// Reads `PORT=NAME`; the name is after the last =.
    init(argument: String) throws(BadArgument) {
        let mistake = BadArgument(
            "write the port of an --output, = and a name of at most 63 letters, such as UM-ONE=Bass")
        guard let equals = argument.lastIndex(of: "=") else { throw mistake }
        name = argument[argument.index(after: equals)...].trimmed
        guard (1...63).contains(name.unicodeScalars.count), name == name.withoutControls else { throw mistake }
        destination = try Destination(argument: String(argument[..<equals]))
    }
}

extension OutputRequest {
    /// Equal for two outputs that cannot be there together: of the same kind at a port, or of any at a raw line.
    var key: Key {
        Key(argument: destination.argument, isTimeCode: isTimeCode && destination.needsSequencer)
    }

    struct Key: Hashable {
        let argument: String
        let isTimeCode: Bool
    }

    /// What it is called if it is given no name; nil if that is not known before its device is there.
    var ownName: String? { destination.ownName.map { _ in usualName } }
}

extension Destination {
    /// Refuses a name for an output that has one, and the name of the port `Clock`.
    func requireNameable(_ name: String, hasClockPort: Bool) throws(BadArgument) {
        if case .virtual = self { throw BadArgument("a virtual port has its name already") }
        guard !hasClockPort || name.lowercased() != "clock" else {
            throw BadArgument("the general port is called so; choose another name")
        }
    }

    /// What an output is called that is given no name; nil if that is not known before its device is there.
    var ownName: String? {
        switch self {
        case .name(let name), .virtual(let name): name
        case .number, .raw, .card, .device: nil
        }
    }

    /// Reads `NAME`, `CLIENT:PORT`, `virtual:NAME`, `raw:PATH[@BAUD]` or `audio:CARD/CHANNEL[+CHANNEL…]`.
    init(argument: String) throws(BadArgument) {
        if argument.hasPrefix("virtual:") {
            self = .virtual(try Self.name(argument.dropFirst("virtual:".count), such: "virtual:Drums"))
        } else if argument.hasPrefix("raw:") {
            self = try Self.raw(argument.dropFirst("raw:".count))
        } else if argument.hasPrefix("audio:") {
            self = try Self.card(argument.dropFirst("audio:".count))
        } else {
            self = try Self.port(argument)
        }
    }

    /// The text that ``init(argument:)`` reads as this output; equal for equal outputs.
    var argument: String {
        switch self {
        case .name(let name): name.lowercased()
        case .number(let address): address.description
        case .virtual(let name): "virtual:\(name)"
        case .raw(let path, _): "raw:\(path)"
        case .card: "audio:\(name)"
        case .device: name
        }
    }

    /// Refuses `virtual:Clock`, because the port `Clock` exists anyway.
    func requireNotClock() throws(BadArgument) {
        guard self == .clock else { return }
        throw BadArgument("the port Clock always exists; --no-clock-port frees its name")
    }

    private static func port(_ text: String) throws(BadArgument) -> Destination {
        switch PortAddress.read(text) {
        case .address(let address): .number(address)
        case .outOfRange: throw BadArgument("a sequencer port is 0:0 to 191:253; 'tactus ports' lists them")
        case .name: .name(try name(text[...], such: "TR-8S"))
        }
    }

    private static func name(_ text: Substring, such example: String) throws(BadArgument) -> String {
        let words = text.split(separator: " ", omittingEmptySubsequences: true)
        guard let first = words.first, let last = words.last else {
            throw BadArgument("the name is empty; an example is \(example)")
        }
        return String(text[first.startIndex..<last.endIndex])
    }

    private static func card(_ text: Substring) throws(BadArgument) -> Destination {
        let example = "audio:hw:CARD=ES8/3, or /3+4 for a profile of two lines"
        guard let slash = text.lastIndex(of: "/") else {
            throw BadArgument("the channel is missing after the card; an example is \(example)")
        }
        let words = text[text.index(after: slash)...].split(separator: "+", omittingEmptySubsequences: false)
        let channels = words.compactMap { $0.allSatisfy(isDigit) ? Int($0) : nil }
        guard channels.count == words.count, channels.allSatisfy((1...OpenCard.mostChannels).contains) else {
            throw BadArgument("channels are numbers from 1 to \(OpenCard.mostChannels); an example is \(example)")
        }
        guard Set(channels).count == channels.count else { throw BadArgument("a channel is named twice") }
        let card = try name(text[..<slash], such: example)
        guard card == card.withoutControls else { throw BadArgument("the card's name has control characters") }
        // One name for one card: samples are converted where needed, and a card's first device needs no number.
        let plain = SoundCard.itself(card)
        return .card(plain.hasSuffix(",DEV=0") ? String(plain.dropLast(",DEV=0".count)) : plain, channels: channels)
    }

    private static func raw(_ text: Substring) throws(BadArgument) -> Destination {
        var path = text
        var rate = 31250
        // An @ before the last slash belongs to a folder's name.
        if let at = text.lastIndex(of: "@"), !text[at...].contains("/") {
            path = text[..<at]
            let digits = text[text.index(after: at)...]
            guard digits.allSatisfy(isDigit), let value = Int(digits), (1...4_000_000).contains(value) else {
                throw BadArgument("the rate after @ is in bits per second, 1 to 4000000, such as 31250")
            }
            rate = value
        }
        guard !path.isEmpty else { throw BadArgument("the path is empty; an example is raw:/dev/ttyAMA0") }
        try requireByteStream(String(path))
        return .raw(path: String(path), bitsPerSecond: rate)
    }

    /// Refuses a path that exists but cannot be a MIDI line; a missing one may appear later.
    private static func requireByteStream(_ path: String) throws(BadArgument) {
        guard let kind = Files.kind(of: path), kind != .byteStream else { return }
        let found = kind == .folder ? "a folder" : "an ordinary file"
        throw BadArgument("that is \(found); use a device node, FIFO or serial line such as /dev/ttyAMA0")
    }
}

private func isDigit(_ character: Character) -> Bool { character.isASCII && character.isNumber }
