/// What to listen to: a sound card, its channels, and the output whose machine is heard.
package struct ListeningRequest: Hashable, Sendable {
    /// The output, by its ID or a name that only it has.
    package var output: String
    /// The sound card, as libasound knows it, such as `hw:1`.
    package var device: String
    /// Counted from 1.
    package var channel: Int
    /// The channel to compare with.
    package var against: Int?
    /// How late the card itself hears, in milliseconds; nil if it is not known, or cancels with ``against``.
    package var inputLatency: Double?

    package static let channelNumbers = 1...256
    package static let inputLatencies = 0.0...500

    package init(output: String, device: String, channel: Int = 1, against: Int? = nil, inputLatency: Double? = nil) {
        self.output = output
        self.device = device
        self.channel = channel
        self.against = against
        self.inputLatency = inputLatency
    }

    /// The channels listened to, the machine's first.
    var channels: [Int] { [channel] + (against.map { [$0] } ?? []) }

    /// Throws if the values do not go together.
    package func check() throws(ListeningProblem) {
        guard channel != against else {
            throw ListeningProblem(.badValue, "channel and against are the same channel; compare two different ones")
        }
        guard against == nil || inputLatency == nil else {
            throw ListeningProblem(
                .badValue, "beside another channel the sound card's latency cancels; leave out its input latency")
        }
        guard isOrdinaryDevice else {
            throw ListeningProblem(
                .badValue,
                "name a sound card such as hw:1, plughw:1, dsnoop:1, sysdefault:1 or default, or one of asound.conf")
        }
    }

    /// Whether ``device`` names a card and nothing else.
    ///
    /// To libasound a name may be a whole configuration, such as `tee:hw:1,/home/me/.profile`, which writes into a file.
    /// Whoever may use the API is not therefore allowed to do that.
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
