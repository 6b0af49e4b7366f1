/// What to listen to: a sound card, its channels, and the output whose machine is heard.
package struct ListeningRequest: Hashable, Sendable {
    /// The output's ID, or a name that only this output has.
    package var output: String
    /// libasound's name of the sound card, such as `hw:1`.
    package var device: String
    /// The channel on which the machine is heard, counted from 1.
    package var channel: Int
    /// The channel to compare with, counted from 1; nil if there is none.
    package var against: Int?
    /// The delay that the card adds, in milliseconds; nil if it is not known, or if it cancels with ``against``.
    package var inputLatency: Double?

    /// Limits of ``channel`` and ``against``.
    package static let channelNumbers = 1...256
    /// Limits of ``inputLatency``, in milliseconds.
    package static let inputLatencies = 0.0...500

    package init(output: String, device: String, channel: Int = 1, against: Int? = nil, inputLatency: Double? = nil) {
        self.output = output
        self.device = device
        self.channel = channel
        self.against = against
        self.inputLatency = inputLatency
    }

    /// The channels to read, first the machine's.
    var channels: [Int] { [channel] + (against.map { [$0] } ?? []) }

    /// Throws if the device's name is not a plain one, or if values contradict each other.
    package func check() throws(ListeningProblem) {
        guard channel != against else {
            throw ListeningProblem(.badValue, "channel and against are the same channel; compare two different ones")
        }
        guard against == nil || inputLatency == nil else {
            throw ListeningProblem(
                .badValue, "with a second channel the sound card's latency cancels out; leave out its input latency")
        }
        guard isOrdinaryDevice else {
            throw ListeningProblem(
                .badValue,
                "name a sound card such as hw:1, plughw:1, dsnoop:1, sysdefault:1 or default, or one of asound.conf")
        }
    }

    /// Whether ``device`` names a card and nothing else.
    ///
    /// libasound also accepts a whole configuration as a name. For example, `tee:hw:1,/home/me/.profile` would write to
    /// that file, and users of the API must not be able to do that.
    private var isOrdinaryDevice: Bool {
        func isPlain(_ text: Substring, besides others: String) -> Bool {
            !text.isEmpty && text.utf8.count < 100
                && text.unicodeScalars.allSatisfy {
                    $0.isASCII && ($0.properties.isAlphabetic || $0.properties.numericType != nil)
                        || others.unicodeScalars.contains($0)
                }
        }
        let parts = device.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
        guard parts.count == 2 else { return isPlain(device[...], besides: "_-.") }
        return ["hw", "plughw", "dsnoop", "sysdefault"].contains(parts[0]) && isPlain(parts[1], besides: "_-.,=")
    }
}
