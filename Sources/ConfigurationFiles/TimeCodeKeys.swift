internal import Essentials
package import TimeCode

/// The section `time-code` of a profile: time code is sent instead of a clock.
struct TimeCodeSection: Hashable, Sendable {
    /// Nil for a clock.
    var rate: TimeCode.Rate?
    /// With which time a song begins, whatever the rate.
    var start = Start()

    /// Hours, minutes, seconds and frames, each from 0 to 99.
    struct Start: Hashable, Sendable {
        var hours: Int64 = 0
        var minutes: Int64 = 0
        var seconds: Int64 = 0
        var frames: Int64 = 0
    }

    static let keys: [Key<Profile>] = [
        Key(
            "rate", \.timeCodeSection.rate,
            .choice(["24": .twentyFour, "25": .twentyFive, "30": .thirty, "30drop": .thirtyDrop])),
        Key("start", \.timeCodeSection.start, .start),
    ]
}

extension Profile {
    /// The time code with which a song begins, if that is sent; nil for a clock.
    package var timeCode: TimeCode? {
        let start = timeCodeSection.start
        return timeCodeSection.rate.flatMap {
            TimeCode($0, hours: start.hours, minutes: start.minutes, seconds: start.seconds, frames: start.frames)
        }
    }

    /// What is wrong with the section `time-code`, each with its fix.
    ///
    /// - Parameter section: as last read.
    /// - Returns: the mistakes.
    func timeCodeMistakes(in section: YAMLNode?) -> [Mistake] {
        guard let section, let place = section.place(of: "start") ?? section.place(of: "rate") else { return [] }
        guard timeCodeSection.rate != nil else {
            // A rate that is wrong has been told already.
            return section.place(of: "rate") != nil
                ? [] : [Mistake(place, "'start' needs a 'rate' beside it: 24, 25, 30 or 30drop")]
        }
        guard match.isEmpty else {
            let advice = "'time-code' cannot be combined with a profile that recognises machines by 'match'"
            return [Mistake(place, "\(advice); 'profile: mtc-25' is one without")]
        }
        guard timeCode == nil else { return [] }
        let reason = "a number is too high, or drop-frame time code leaves it out"
        return [Mistake(place, "there is no such time at this rate: \(reason)")]
    }
}

extension Kind<TimeCodeSection.Start> {
    /// Four numbers of two digits each; the frames may come after a semicolon, as drop-frame time code is written.
    fileprivate static var start: Self {
        Kind(wanted: "hours, minutes, seconds and frames such as 01:00:00:00") { text, _ throws(Complaint) in
            let parts = text.split(omittingEmptySubsequences: false) { $0 == ":" || $0 == ";" }
            let numbers = parts.compactMap { $0.count == 2 && $0.utf8.allSatisfy(isDigit) ? Int64($0) : nil }
            guard parts.count == 4, numbers.count == 4 else { throw Complaint() }
            return TimeCodeSection.Start(
                hours: numbers[0], minutes: numbers[1], seconds: numbers[2], frames: numbers[3])
        }
    }
}

private func isDigit(_ byte: UInt8) -> Bool { (0x30...0x39).contains(byte) }
