package import ALSASequencer

/// Where an output sends.
package enum Destination: Hashable, Sendable {
    /// A sequencer port by name or a unique part of it; case-insensitive, surrounding spaces are ignored.
    case name(String)
    /// A sequencer port by number.
    case number(PortAddress)
    /// A sequencer port of our own that others subscribe to.
    case virtual(String)
    /// A device node, FIFO or serial line; the speed matters only for serial lines.
    case raw(path: String, bitsPerSecond: Int)
    /// Channels of a sound card, counted from 1, by libasound's name of the card; one for each line of the profile.
    case card(String, channels: [Int])
    /// A device that a profile has recognized; nobody writes that.
    case device(Device)

    /// The general port `Clock`, which exists unless the user switches it off.
    package static let clock = Destination.virtual("Clock")

    package var isRaw: Bool { if case .raw = self { true } else { false } }
    package var isCard: Bool { if case .card = self { true } else { false } }

    /// Whether it needs the sequencer.
    package var needsSequencer: Bool { !isRaw && !isCard }

    /// What an output is called that is given no name.
    package var name: String {
        switch self {
        case .name(let name), .virtual(let name): name
        case .number(let address): address.description
        case .raw(let path, _): path
        case .card(let card, let channels): "\(card)/\(channels.map(String.init).joined(separator: "+"))"
        case .device(let device): device.clientName
        }
    }
}

/// Identifies a device by its names, and by its place among equal ones.
package struct Device: Hashable, Sendable {
    var clientName: String
    var portName: String
    /// Where its card is plugged in; nil for a program.
    var place: String?

    init(_ port: PortDescription) {
        clientName = port.clientName
        portName = port.portName
        place = port.card?.place
    }

    /// Whether a port may be this device, perhaps plugged in elsewhere.
    func isNamed(like port: PortDescription) -> Bool {
        clientName == port.clientName && portName == port.portName
    }
}
