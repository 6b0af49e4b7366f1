import BeatTime
import Testing

@testable import TimeCode

/// What a receiver of time code makes of the messages of an output.
@Suite
struct TimeCodeStreamTests {
    /// Reads pieces as a receiver does: a whole time after the eighth, two frames after the first of them began.
    private struct Receiver {
        var nibbles: [UInt8] = []
        var began = HostTime(microseconds: 0)
        /// Times as they were told, and when the frame of each began.
        var times: [(parts: [UInt8], began: HostTime)] = []
        var fullFrames: [(time: TimeCode, at: HostTime)] = []
        var faults: [String] = []

        mutating func hear(_ message: TimeCodeMessage, at time: HostTime) {
            switch message {
            case .fullFrame(let frame):
                nibbles = []
                fullFrames.append((frame, time))
            case .quarterFrame(let piece, let frame):
                let data = TimeCodeMessage.data(ofPiece: piece, of: frame)
                if data >> 4 == 0 { (nibbles, began) = ([], time) }
                guard Int(data >> 4) == nibbles.count else { return faults.append("piece \(data >> 4) is misplaced") }
                nibbles.append(data & 0xF)
                guard nibbles.count == 8 else { return }
                times.append((stride(from: 0, to: 8, by: 2).map { nibbles[$0] | nibbles[$0 + 1] << 4 }, began))
            }
        }
    }

    private struct Output {
        var stream = TimeCodeStream()
        var receiver = Receiver()
        var now = HostTime(microseconds: 5_000_000)

        /// Sends everything that is due until a time, each when it is due, or as late as a thread that is held up.
        mutating func run(_ plan: TimeCodePlan, until end: HostTime) {
            while let next = stream.next(plan, at: now), next.due < end {
                now = max(now, next.due)
                receiver.hear(next.message, at: now)
                stream.sent(next)
            }
            now = end
        }
    }

    private func at(_ seconds: Double) -> HostTime { HostTime(microseconds: Int64(seconds * 1e6)) }

    private func start(_ rate: TimeCode.Rate) throws -> TimeCode {
        try #require(TimeCode(rate, hours: 23, minutes: 0, seconds: 0, frames: 0))
    }

    @Test(arguments: TimeCode.Rate.allCases)
    func `a day long each time is whole, in real time, two frames after the one before`(rate: TimeCode.Rate) throws {
        let start = try start(rate)
        let begin = at(7)
        var output = Output()
        output.run(TimeCodePlan(begin: begin, start: start), until: at(7 + 86_500))
        #expect(output.receiver.faults.isEmpty)
        #expect(output.receiver.fullFrames.map(\.time) == [start])
        #expect(Int64(output.receiver.times.count) >= rate.framesPerDay / 2)
        var wrong = 0
        for (index, (parts, began)) in output.receiver.times.enumerated() {
            let expected = TimeCode(rate, frame: start.frame + 2 * Int64(index)).parts
            let hours = UInt8(expected.hours) | rate.rawValue << 5
            if parts != [UInt8(expected.frames), UInt8(expected.seconds), UInt8(expected.minutes), hours] {
                wrong += 1
            }
            let exact = Double(2 * index) * (rate == .thirtyDrop ? 1_001.0 / 30_000 : 1 / Double(rate.numbers)) * 1e6
            if abs(Double(begin.microseconds(to: began)) - exact) > 1 { wrong += 1 }
        }
        #expect(wrong == 0)
    }

    @Test(arguments: [TimeCode.Rate.twentyFour, .thirtyDrop, .thirty])
    func `pieces begin with an even frame, even if the song does not`(rate: TimeCode.Rate) throws {
        let odd = try #require(TimeCode(rate, hours: 1, minutes: 0, seconds: 0, frames: 3))
        var output = Output()
        output.run(TimeCodePlan(begin: at(7), start: odd), until: at(9))
        let first = try #require(output.receiver.times.first)
        #expect(first.parts[0] == 4)
        #expect(at(7).microseconds(to: first.began) == rate.microseconds(ofQuarters: 4))
    }

    @Test
    func `a stop says where, and the next song where it begins, before any piece`() throws {
        let start = try start(.twentyFive)
        var output = Output()
        output.run(TimeCodePlan(begin: at(6), start: start), until: at(8.5))
        output.run(TimeCodePlan(begin: nil, start: start), until: at(20))
        output.run(TimeCodePlan(begin: at(21), start: start), until: at(22))
        #expect(output.receiver.fullFrames.map(\.time.description) == ["23:00:00:00", "23:00:02:12", "23:00:00:00"])
        #expect(output.receiver.fullFrames.map(\.at) == [at(5), at(8.5), at(20)])
        #expect(output.receiver.times.allSatisfy { !(at(8.5)...at(20)).contains($0.began) })
    }

    @Test
    func `who joins a playing song is told the present time`() throws {
        let start = try start(.thirty)
        var output = Output(now: at(100.01))
        output.run(TimeCodePlan(begin: at(7), start: start), until: at(102))
        let first = try #require(output.receiver.times.first)
        let told = try #require(output.receiver.fullFrames.first)
        #expect(told.time.frame - start.frame == 93 * 30 + 2)
        #expect(first.parts[0] == 2 && first.parts[1] == 33)
        #expect(first.began == at(100.066667))
    }

    @Test
    func `a beginning that moves while it is awaited needs no second full frame`() throws {
        let start = try start(.thirty)
        var output = Output()
        for moved in 0..<10 {
            output.run(
                TimeCodePlan(begin: at(8 + Double(moved) / 10), start: start), until: at(5.1 + Double(moved) / 10))
        }
        output.run(TimeCodePlan(begin: at(8.9), start: start), until: at(10))
        #expect(output.receiver.fullFrames.count == 1)
        #expect(output.receiver.times.first?.began == at(8.9))
    }

    @Test
    func `a full frame that was refused is sent again, and no piece before it`() throws {
        let start = try start(.twentyFive)
        var output = Output()
        func refuse(_ count: Int, _ plan: TimeCodePlan) throws {
            for _ in 0..<count {
                let planned = output.stream.next(plan, at: output.now)
                let next = try #require(planned)
                #expect(next.message.isFullFrame)
                output.now = max(output.now, next.due)
                output.stream.sent(next)
                output.stream.refused()
            }
        }
        let plan = TimeCodePlan(begin: at(5.03), start: start)
        try refuse(5, plan)
        #expect(output.now == at(5.08))
        output.run(plan, until: at(8.5))
        let told = try #require(output.receiver.fullFrames.first)
        #expect(told.time.description == "23:00:00:02" && told.at == at(5.1))
        #expect(output.receiver.times.first?.began == at(5.11))
        let stopped = TimeCodePlan(begin: nil, start: start)
        try refuse(5, stopped)
        output.run(stopped, until: at(20))
        let last = try #require(output.receiver.fullFrames.last)
        #expect(last.time.description == "23:00:03:11" && last.at == at(8.6))
        #expect(output.receiver.fullFrames.count == 2 && output.receiver.faults.isEmpty)
    }

    @Test
    func `a nudge moves the pieces, and interrupts nothing`() throws {
        let start = try start(.twentyFive)
        var output = Output()
        for nudges in 0..<10 {
            let plan = TimeCodePlan(begin: at(6), start: start, offset: Int64(nudges) * 500)
            output.run(plan, until: at(7 + Double(nudges)))
        }
        #expect(output.receiver.fullFrames.count == 1 && output.receiver.faults.isEmpty)
        let last = try #require(output.receiver.times.last)
        #expect(last.began == at(15.9245) || last.began == at(15.8445), "\(last)")
    }

    @Test
    func `after a stall longer than a frame a full frame says where it goes on; a short one loses nothing`() throws {
        let start = try start(.twentyFive)
        let plan = TimeCodePlan(begin: at(6), start: start)
        var output = Output()
        output.run(plan, until: at(7))
        output.now = at(7.03)
        output.run(plan, until: at(8))
        #expect(output.receiver.fullFrames.count == 1 && output.receiver.faults.isEmpty)
        #expect(output.receiver.times.count == 25)
        output.now = at(8.5)
        output.run(plan, until: at(9))
        #expect(output.receiver.fullFrames.count == 2 && output.receiver.faults.isEmpty)
        let last = try #require(output.receiver.times.last)
        #expect(last.began == at(8.88) && last.parts[0] == 22 && last.parts[1] == 2)
    }
}

extension TimeCodeMessage {
    fileprivate var isFullFrame: Bool { if case .fullFrame = self { true } else { false } }
}
