internal import BeatTime
internal import ClockDispatch
internal import RealTime

extension StatusPicture {
    /// Lateness at which the output thread counts as stuck, in nanoseconds; by design it may wait awake for 2 ms.
    private static let stuck: Int64 = 100_000_000

    /// Why the output thread is late or stuck; nil if it is not.
    func clockTrouble(at reading: ClockReading, counters: OutputThread) -> String? {
        let (wakesAt, now) = (counters.wakesAt.nanoseconds, reading.monotonic.nanoseconds)
        if wakesAt < now, now - wakesAt > Self.stuck {
            return "the clock's thread is stuck: it should have run \((now - wakesAt) / 1_000_000) ms ago"
        }
        let late = outputs.indices.filter { slot in
            outputs[slot].presence == .here
                && counters.withCounters(of: slot) { $0.isOftenLate(at: reading.hostTime) }
        }
        guard !late.isEmpty else { return nil }
        let names = late.map { outputs[$0].name }.joined(separator: ", ")
        return "more than 1 % of the last seconds' ticks were over a millisecond late, or left out: \(names)"
    }
}
