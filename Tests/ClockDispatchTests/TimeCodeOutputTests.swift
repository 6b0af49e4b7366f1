import BeatTime
import MIDIClock
import Simulation
import Testing
import TimeCode

@testable import ClockDispatch

/// Outputs of time code, beside a clock.
@Suite
struct TimeCodeOutputTests {
    /// A clock at port 0 and time code at port 1; the song begins after 500 ms and stops after 2 s.
    private func stage(_ dispatchCase: DispatchCase, _ rate: TimeCode.Rate = .twentyFive) -> DispatchStage {
        let stage = DispatchStage(dispatchCase, outputs: 2)
        let begin = HostTime(microseconds: (stage.kernel.now - stage.kernel.apart) / 1_000 + 500_000)
        stage.board.slots[1].stream = .timeCode(start: TimeCode(rate, frame: 90_000))
        stage.board.transport.startTick = stage.board.map.nearestTick(to: begin)
        stage.board.songBegin = begin
        let start = stage.kernel.now
        stage.changes = [
            (start + 100_000_000, { $0.transport.isPlaying = true }),
            (start + 2_000_000_000, { $0.transport.isPlaying = false }),
        ]
        return stage
    }

    private func timeCode(_ stage: DispatchStage) -> [(message: TimeCodeMessage, time: Int64)] {
        stage.messages(1).compactMap { sent in
            if case .timeCode(let message) = sent.event { (message, sent.time) } else { nil }
        }
    }

    @Test(arguments: DispatchCase.all)
    func `pieces leave in order and at their times, full frames before and after them`(dispatchCase: DispatchCase)
        throws
    {
        let stage = stage(dispatchCase)
        stage.run(milliseconds: 2_500)
        let sent = timeCode(stage)
        #expect(stage.messages(1).count == sent.count)
        #expect(sent.first?.message == .fullFrame(TimeCode(.twentyFive, frame: 90_000)))
        #expect(sent.first.map { (1_100_000_000...1_110_000_000).contains($0.time) } == true)
        let pieces = sent.dropFirst().dropLast()
        #expect(pieces.count >= 149)
        for (number, piece) in pieces.enumerated() {
            let time = TimeCode(.twentyFive, frame: 90_000 + Int64(number / 8) * 2)
            #expect(piece.message == .quarterFrame(piece: UInt8(number % 8), of: time))
            // 25 frames a second make 10 ms for each piece.
            let lateness = piece.time - 1_500_000_000 - Int64(number) * 10_000_000
            #expect((-82_000...120_000).contains(lateness), "piece \(number) is \(lateness) ns late")
        }
        guard case .fullFrame(let last)? = sent.last?.message else {
            Issue.record("the last message is no full frame")
            return
        }
        #expect((90_037...90_039).contains(last.frame), "\(last)")
    }

    @Test
    func `beside time code a clock's ticks keep their places`() {
        let stage = stage(DispatchCase(way: DispatchWay(mode: .queue)), .thirtyDrop)
        stage.run(milliseconds: 2_500)
        #expect(stage.lateness().count >= stage.ticksDue() - 1)
        #expect(stage.lateness().dropFirst().allSatisfy { (-82...82).contains($0) }, "\(stage.lateness())")
    }

    @Test
    func `a line that takes a full frame only in part gets the rest before anything else`() {
        let stage = stage(.direct)
        stage.board.slots[1].sink = .line(7)
        var isFull = true
        stage.kernel.lineRoom = { bytes in
            guard isFull, bytes.bytes[0] == 0xF0 else { return .max }
            isFull = false
            return 4
        }
        stage.run(milliseconds: 2_500)
        let bytes = stage.kernel.lineBytes
        #expect(Array(bytes.prefix(11)) == [0xF0, 0x7F, 0x7F, 0x01, 0x01, 0x21, 0, 0, 0, 0xF7, 0xF1])
        #expect(bytes.count { $0 == 0xF1 } >= 149)
    }

    @Test
    func `a receiver that is connected again is told the present time`() throws {
        let stage = stage(DispatchCase(way: DispatchWay(mode: .queue)))
        let start = stage.kernel.now
        stage.changes.insert((start + 1_000_000_000, { $0.slots[1].sink = .idle }), at: 1)
        stage.changes.insert(
            (start + 1_200_000_000, { ($0.slots[1].sink, $0.slots[1].connections) = (.port(1), 1) }), at: 2)
        stage.run(milliseconds: 1_900)
        let later = timeCode(stage).filter { $0.time >= start + 1_200_000_000 }
        guard case .fullFrame(let told)? = later.first?.message else {
            Issue.record("no full frame")
            return
        }
        #expect((90_017...90_020).contains(told.frame))
        #expect(later.dropFirst().first?.message == .quarterFrame(piece: 0, of: told))
    }
}
