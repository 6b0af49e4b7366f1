package import ConfigurationFiles
internal import OpenSoundControl
internal import Simulation

/// A reader of bytes that may come from anywhere; no bytes may trap it or make it break its promises.
package enum HostileInput: String, CaseIterable, Sendable {
    /// Datagrams to a Link engine, and other events; the bytes are the script of a ``LinkStory``.
    case link
    /// A packet of Open Sound Control.
    case osc
    /// A device profile in YAML.
    case profile
    /// A configuration file in YAML.
    case configuration

    /// Reads some bytes.
    ///
    /// - Parameter bytes: any.
    /// - Returns: the first broken promise; nil if there is none.
    package func brokenPromise(_ bytes: [UInt8]) -> String? {
        switch self {
        case .link:
            var story = LinkStory(bytes)
            story.happen()
            return story.broken.first
        case .osc:
            let messages = OSCPacket(bytes).messages
            guard messages.count <= 64 else { return "messages are bounded" }
            return messages.allSatisfy { $0.address.hasPrefix("/") } ? nil : "an address begins with a slash"
        case .profile:
            return Self.fault(in: bytes) { () throws(Mistakes) in _ = try Profile(yaml: bytes, file: "f") }
        case .configuration:
            return Self.fault(in: bytes) { () throws(Mistakes) in
                _ = try ConfigurationFile(yaml: bytes, file: "f")
            }
        }
    }

    private static func fault(in bytes: [UInt8], _ read: () throws(Mistakes) -> Void) -> String? {
        do throws(Mistakes) {
            try read()
            return nil
        } catch {
            return misreported(error, of: bytes).map { "a mistake is reported where it is: \($0)" }
        }
    }

    /// The first mistake that is not reported on one line, at a position inside the file.
    package static func misreported(_ mistakes: Mistakes, of bytes: [UInt8]) -> Mistake? {
        let lines = lines(of: bytes)
        return mistakes.all.first { mistake in
            guard lines.indices.contains(mistake.place.line - 1) else { return true }
            let columns = 1...lines[mistake.place.line - 1] + 1
            return !columns.contains(mistake.place.column) || mistake.message.isEmpty || mistake.message.contains("\n")
        }
    }

    /// Number of characters in each line as an editor sees it, as far as the bytes are text.
    private static func lines(of bytes: [UInt8]) -> [Int] {
        var lengths = [0]
        var wasReturn = false
        for scalar in String(decoding: bytes, as: UTF8.self).unicodeScalars {
            if scalar == "\n", wasReturn {
                wasReturn = false
                continue
            }
            wasReturn = scalar == "\r"
            if scalar == "\n" || scalar == "\r" { lengths.append(0) } else { lengths[lengths.count - 1] += 1 }
        }
        return lengths
    }
}
