internal import Arbiter
internal import BeatTime
internal import RealTime
internal import Synchronization

// Whether the output thread meets its deadlines.
extension StatusPicture {
    /// So late the thread is stuck, or not let run, in nanoseconds: it may stay awake for two milliseconds by itself.
    private static let stuck: Int64 = 100_000_000
    /// How long late ticks are remembered, in microseconds.
    private static let memory: Int64 = 10_000_000

    /// Why the output thread is not on time; nil while it is.
    ///
    /// A single late tick is no reason: the third within ten seconds is.
    func lapse(at reading: ClockReading, counters: OutputThread) -> String? {
        let (wakesAt, now) = (counters.wakesAt.nanoseconds, reading.monotonic.nanoseconds)
        if wakesAt < now, now - wakesAt > Self.stuck {
            return "the output thread should have gone on \((now - wakesAt) / 1_000_000) ms ago"
        }
        let late = outputs.indices.filter { slot in
            guard outputs[slot].presence == .here else { return false }
            return counters.withCounters(of: slot) {
                $0.isOftenLate(since: reading.hostTime.microseconds - Self.memory)
            }
        }
        guard !late.isEmpty else { return nil }
        return "three or more ticks within 10 s left over 1 ms late at "
            + late.map { outputs[$0].name }.joined(separator: ", ")
    }
}

extension OutputCounters {
    /// Whether as many ticks as are remembered have been late since a time, in microseconds of host time.
    func isOftenLate(since time: Int64) -> Bool { lastLate[0].load(ordering: .relaxed) > time }
}
