import BeatTime
import CardOutput
import ClockDispatch
import MIDIClock
import Testing

@testable import Listening

/// The clock that a calibration takes for that of an output on a sound card.
@Suite
struct PlannedClockTests {
    private static let line = TickLine(
        microsecondsPerBeat: 500_000, timeOrigin: HostTime(microseconds: 0), tickOrigin: 0)
    private static let song = PlannedTransport(isPlaying: true, startTick: 96, ticksPerBar: 96)

    /// What it says in steps of 30 ms, as a calibration asks.
    private static func messages(
        _ clock: inout PlannedClock, _ played: PlayedPlan, from: Int64, until: Int64
    ) -> [(message: ClockMessage, at: Int64)] {
        stride(from: from, to: until, by: 30_000).flatMap { now in
            clock.messages(played, until: HostTime(microseconds: now)).map { ($0.message, $0.time.microseconds) }
        }
    }

    /// One that has told nothing of the first second yet.
    private static func clock(_ played: PlayedPlan) -> PlannedClock {
        PlannedClock(at: HostTime(microseconds: 1_000_000)) { played }
    }

    @Test(arguments: [OutputSettings.StartMessage.start, .none], [0, 3_000] as [Int64])
    func `it has a Start and each tick of the song, with the offset`(start: OutputSettings.StartMessage, offset: Int64)
    {
        var settings = OutputSettings()
        (settings.start, settings.isClockAlwaysOn, settings.lead) = (start, start == .start, 9_500)
        settings.offset = offset
        let played = PlayedPlan(
            plan: OutputPlan(transport: Self.song, settings: settings), map: TempoMap(Self.line))
        var clock = Self.clock(played)
        let messages = Self.messages(&clock, played, from: 1_000_000, until: 6_000_000)
        #expect(messages.count { $0.message == .start } == 1)
        let ticks = messages.drop { $0.message != .start }.filter { $0.message == .timingClock }.map(\.at)
        #expect(ticks.count > 180)
        for (number, time) in ticks.enumerated() {
            #expect(abs(time - (2_000_000 + offset + Int64(number) * 500_000 / 24)) <= 1)
        }
    }

    @Test
    func `in a song that plays it begins at a bar, and again when it is realigned`() {
        var played = PlayedPlan(
            plan: OutputPlan(transport: Self.song, settings: OutputSettings()), map: TempoMap(Self.line))
        var clock = PlannedClock(at: HostTime(microseconds: 5_000_000)) { [played] in played }
        var messages = Self.messages(&clock, played, from: 5_000_000, until: 9_000_000)
        played.realigning.ask(.atBar)
        messages += Self.messages(&clock, played, from: 9_000_000, until: 13_000_000)
        let begins = messages.indices.filter { messages[$0].message == .start }.compactMap { index in
            messages[index...].first { $0.message == .timingClock }?.at
        }
        #expect(begins == [6_000_000, 10_000_000])
    }
}
