internal import ALSASequencer

/// Whose clock to follow when Link is off, as the user wrote it.
package enum FollowChoice: Hashable, Sendable {
    /// Nobody's.
    case off
    /// The configured raw device, or else whatever the user has subscribed to `Clock In`.
    case auto
    /// A sequencer port by its name, by a unique part of it, or by number as `client:port`.
    case port(String)

    /// Why a text is not a choice, as a clause that says what would be right.
    package struct ParseError: Error, Hashable, Sendable, CustomStringConvertible {
        package var description: String
    }

    /// Longest name of a port: its client's name, a colon and its own.
    private static let longestName = 127

    private static let example = "use a name such as TR-8S, a number such as 24:0, auto or off"

    /// Reads `off`, `auto`, or a port.
    ///
    /// - Parameter text: what the user wrote; surrounding spaces are ignored.
    /// - Throws: when no port can have that name.
    package init(_ text: String) throws(ParseError) {
        let name = String(text.drop { $0 == " " }.reversed().drop { $0 == " " }.reversed())
        switch name {
        case "off": self = .off
        case "auto": self = .auto
        case "": throw ParseError(description: "the name is empty; \(Self.example)")
        default:
            guard name.utf8.count <= Self.longestName, !name.unicodeScalars.contains(where: { $0.value < 0x20 }) else {
                throw ParseError(
                    description: "a port's name is one line of at most \(Self.longestName) bytes")
            }
            for kind in ["raw:", "virtual:"] where name.hasPrefix(kind) {
                throw ParseError(
                    description: "\(kind) is for outputs; \(Self.example), or "
                        + "--clock-in hw:CARD,DEVICE for a raw device")
            }
            if case .outOfRange = PortAddress.read(name) {
                throw ParseError(description: "a sequencer port is 0:0 to 191:253; 'tactus ports' lists them")
            }
            self = .port(name)
        }
    }

    /// Whether it names a sequencer port.
    var namesPort: Bool { if case .port = self { true } else { false } }

    /// The text that ``init(_:)`` reads as this choice.
    package var text: String {
        switch self {
        case .off: "off"
        case .auto: "auto"
        case .port(let name): name
        }
    }
}
