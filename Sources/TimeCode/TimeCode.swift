/// A time of MIDI time code: hours, minutes, seconds and frames, at a rate.
///
/// Source: MIDI 1.0 detailed specification, MIDI time code.
package struct TimeCode: Hashable, Sendable, BitwiseCopyable {
    package let rate: Rate
    /// The frame's number, counted from 00:00:00:00 without gaps; 0 to ``Rate/framesPerDay`` - 1.
    package let frame: Int64

    /// How many frames a second has, and how they are numbered.
    package enum Rate: UInt8, CaseIterable, Hashable, Sendable, BitwiseCopyable {
        case twentyFour = 0
        case twentyFive = 1
        /// 30000 frames in 1001 seconds; the numbers 00 and 01 are left out in each minute but every tenth.
        case thirtyDrop = 2
        case thirty = 3

        /// Numbers of frames in a second.
        package var numbers: Int64 {
            switch self {
            case .twentyFour: 24
            case .twentyFive: 25
            case .thirtyDrop, .thirty: 30
            }
        }

        /// As people write it.
        package var name: String { self == .thirtyDrop ? "30drop" : "\(numbers)" }

        package var framesPerDay: Int64 { self == .thirtyDrop ? 24 * 6 * Self.dropIn10Minutes : 86_400 * numbers }

        /// Frames of drop-frame time code in ten minutes, and in each of its minutes without the numbers 00 and 01.
        fileprivate static let dropIn10Minutes: Int64 = 17_982
        fileprivate static let dropInMinute: Int64 = 1_798

        /// How long so many quarters of a frame last, in microseconds, rounded to the nearest.
        package func microseconds(ofQuarters quarters: Int64) -> Int64 {
            // A quarter of a frame of 1001/30000 s is 25025/3 microseconds.
            let (length, parts): (Int64, Int64) = self == .thirtyDrop ? (25_025, 3) : (250_000, numbers)
            return (quarters * length * 2 + parts).floorDivided(by: 2 * parts)
        }

        /// How many whole quarters of a frame have passed after so many microseconds.
        package func quarters(inMicroseconds microseconds: Int64) -> Int64 {
            let (length, parts): (Int64, Int64) = self == .thirtyDrop ? (25_025, 3) : (250_000, numbers)
            return (microseconds * parts).floorDivided(by: length)
        }
    }

    /// The time of a frame by its number; numbers beyond a day begin anew.
    package init(_ rate: Rate, frame: Int64) {
        self.rate = rate
        self.frame = frame - frame.floorDivided(by: rate.framesPerDay) * rate.framesPerDay
    }

    /// The parts of the time as they are shown: hours 0 to 23, minutes, seconds, and the frame's number in its second.
    package var parts: (hours: Int64, minutes: Int64, seconds: Int64, frames: Int64) {
        var number = frame
        if rate == .thirtyDrop {
            // Puts back the numbers that were left out.
            let (tens, rest) = frame.quotientAndRemainder(dividingBy: Rate.dropIn10Minutes)
            number += 18 * tens + (rest < 2 ? 0 : 2 * ((rest - 2) / Rate.dropInMinute))
        }
        let (seconds, frames) = number.quotientAndRemainder(dividingBy: rate.numbers)
        return (seconds / 3_600, seconds / 60 % 60, seconds % 60, frames)
    }

    /// The time with these parts; nil if there is no such time, such as 00:01:00:00 with dropped numbers.
    package init?(_ rate: Rate, hours: Int64, minutes: Int64, seconds: Int64, frames: Int64) {
        guard (0..<24).contains(hours), (0..<60).contains(minutes), (0..<60).contains(seconds),
            (0..<rate.numbers).contains(frames)
        else { return nil }
        let allMinutes = hours * 60 + minutes
        var frame = (allMinutes * 60 + seconds) * rate.numbers + frames
        if rate == .thirtyDrop {
            guard minutes % 10 == 0 || seconds > 0 || frames > 1 else { return nil }
            frame -= 2 * (allMinutes - allMinutes / 10)
        }
        self.init(rate, frame: frame)
    }
}

extension TimeCode: CustomStringConvertible {
    /// Such as `01:00:00:00`; with a semicolon before the frames if numbers are dropped.
    package var description: String {
        func two(_ value: Int64) -> String { value < 10 ? "0\(value)" : "\(value)" }
        let parts = parts
        let time = [parts.hours, parts.minutes, parts.seconds].map(two).joined(separator: ":")
        return time + (rate == .thirtyDrop ? ";" : ":") + two(parts.frames)
    }
}

extension Int64 {
    /// Rounded towards negative infinity.
    func floorDivided(by divisor: Int64) -> Int64 {
        let (quotient, remainder) = quotientAndRemainder(dividingBy: divisor)
        return remainder < 0 ? quotient - 1 : quotient
    }
}
