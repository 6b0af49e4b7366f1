/// The length of a program's audio periods, written `512/48000`: frames in a period, and frames a second.
package struct AudioPeriod: Hashable, Sendable, CustomStringConvertible {
    /// Frames in a period, 16 to 8192.
    package let frames: Int
    /// Frames a second, 8000 to 384 000.
    package let rate: Int

    package init?(frames: Int, rate: Int) {
        guard (16...8_192).contains(frames), (8_000...384_000).contains(rate), frames * 10 <= rate else { return nil }
        (self.frames, self.rate) = (frames, rate)
    }

    /// Its length; at most 100 000.
    package var microseconds: Double { Double(frames) * 1_000_000 / Double(rate) }

    package var description: String { "\(frames)/\(rate)" }
}

extension Kind<AudioPeriod> {
    /// Frames in a period over frames a second.
    static var period: Self {
        Kind(wanted: "frames in a period and frames a second, such as 512/48000") { text, _ throws(Complaint) in
            let numbers = text.split(separator: "/", omittingEmptySubsequences: false).map { Int($0) }
            guard numbers.count == 2, let frames = numbers[0], let rate = numbers[1],
                let period = AudioPeriod(frames: frames, rate: rate)
            else { throw Complaint() }
            return period
        }
    }
}
