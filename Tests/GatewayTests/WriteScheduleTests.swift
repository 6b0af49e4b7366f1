import RealTime
import Testing

@testable import Gateway

/// In virtual time.
@Suite
struct WriteScheduleTests {
    private static let start = MonotonicTime(nanoseconds: 1_000_000_000_000)

    private func time(_ seconds: Double) -> MonotonicTime {
        Self.start.advanced(byNanoseconds: Int64(seconds * 1e9))
    }

    /// Times of writes within some seconds, for changes at a given rate.
    private func writings(_ change: WriteSchedule.Change, perSecond rate: Int, for seconds: Int) -> [Double] {
        var (schedule, writings) = (WriteSchedule(at: Self.start), [Double]())
        for step in 0..<seconds * rate {
            let now = Double(step) / Double(rate)
            schedule.changed(change, at: time(now))
            guard let due = schedule.due, due <= time(now) else { continue }
            schedule.begins(at: time(now))
            schedule.succeeded()
            writings.append(now)
        }
        return writings
    }

    @Test
    func `a single setting is written at once`() {
        var schedule = WriteSchedule(at: Self.start)
        #expect(schedule.due == nil)
        schedule.changed(.setting, at: time(30))
        #expect(schedule.due == time(30))
    }

    @Test
    func `a knob turned fifty times a second is written once a second`() {
        let writings = writings(.setting, perSecond: 50, for: 60)
        #expect((59...60).contains(writings.count))
        #expect(zip(writings, writings.dropFirst()).allSatisfy { $1 - $0 >= 1 && $1 - $0 < 1.1 })
    }

    @Test
    func `a drifting tempo is written once a minute, but a setting is not delayed by that`() {
        #expect(writings(.drift, perSecond: 50, for: 600).count == 10)
        var schedule = WriteSchedule(at: Self.start)
        schedule.changed(.drift, at: time(2))
        #expect(schedule.due == time(59))
        schedule.changed(.setting, at: time(3))
        #expect(schedule.due == time(3))
        schedule.changed(.drift, at: time(4))
        #expect(schedule.due == time(3))
    }

    @Test
    func `a failed write is repeated without a new change`() {
        var schedule = WriteSchedule(at: Self.start)
        schedule.changed(.setting, at: time(5))
        schedule.failed(at: time(5))
        #expect(schedule.due == time(15))
        schedule.begins(at: time(15))
        #expect(schedule.due == nil)
    }

    @Test
    func `that a device begins to play is written at once, right after another write, too`() {
        for earlier in [WriteSchedule.Change.setting, .drift] {
            var schedule = WriteSchedule(at: Self.start)
            schedule.changed(.setting, at: time(5))
            schedule.begins(at: time(5))
            schedule.succeeded()
            schedule.changed(earlier, at: time(5.01))
            schedule.changed(.start, at: time(5.02))
            #expect(schedule.due == time(5.02))
        }
    }

    @Test
    func `a disk that refuses is not asked more than once a second by devices that begin to play`() {
        var schedule = WriteSchedule(at: Self.start)
        schedule.changed(.start, at: time(5))
        schedule.begins(at: time(5))
        schedule.failed(at: time(5))
        schedule.changed(.start, at: time(5.1))
        #expect(schedule.due == time(6))
    }

    @Test
    func `a disk that does not answer for long counts as hanging until it does`() {
        var schedule = WriteSchedule(at: Self.start)
        schedule.changed(.setting, at: time(5))
        #expect(!schedule.isHanging(at: time(100)))
        schedule.begins(at: time(5))
        #expect(!schedule.isHanging(at: time(6)) && schedule.isHanging(at: time(20)))
        schedule.succeeded()
        #expect(!schedule.isHanging(at: time(20)))
    }
}
