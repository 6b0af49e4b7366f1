import BeatTime
import MIDIClock
import Simulation
import Testing

@Suite
struct FollowedSongTests {
    /// A follower fed by a steady master of 20 ms ticks, message by message.
    private struct Desk {
        var follower = ClockFollower()
        var time: Int64 = 1_000_000

        mutating func ticks(_ count: Int) {
            for _ in 0..<count {
                time += 20_000
                follower.received(.timingClock, at: HostTime(microseconds: time))
            }
        }

        mutating func send(_ message: ClockMessage) {
            follower.received(message, at: HostTime(microseconds: time + 5_000))
        }

        /// The song position of the newest tick.
        var position: Int64? { follower.song.position(ofTick: follower.nextTick - 1) }
    }

    @Test
    func `the first tick after Start is the song's top, and the numbers of ticks go on`() {
        var desk = Desk()
        desk.ticks(50)
        desk.send(.start)
        #expect(desk.follower.song.motion == .pending)
        #expect(desk.follower.nextTick == 50)
        desk.ticks(1)
        #expect(desk.follower.song.motion == .playing)
        #expect(desk.follower.song.origin == 50)
        #expect(desk.position == 0)
        desk.ticks(23)
        #expect(desk.position == 23)
        #expect(desk.follower.estimate?.tick == 73)
    }

    @Test
    func `Stop freezes the song while ticks are counted on, and Continue goes on where it stopped`() {
        var desk = Desk()
        desk.send(.start)
        desk.ticks(31)
        desk.send(.stop)
        desk.ticks(100)
        #expect(desk.follower.song.motion == .stopped)
        #expect(desk.follower.song.resumePosition == 31)
        #expect(desk.follower.song.origin == 0)
        #expect(desk.follower.nextTick == 131)
        desk.send(.continue)
        desk.ticks(1)
        #expect(desk.position == 31)
        #expect(desk.follower.song.origin == 100)
    }

    @Test
    func `Song Position while stopped moves where Continue goes on; Start forgets it`() {
        var desk = Desk()
        desk.send(.songPosition(16))
        desk.send(.continue)
        desk.ticks(1)
        #expect(desk.position == 96)
        desk.send(.stop)
        desk.send(.songPosition(32))
        desk.send(.start)
        desk.ticks(1)
        #expect(desk.position == 0)
    }

    @Test
    func `Song Position while playing waits for Continue, with or without a Stop before it`() {
        var desk = Desk()
        desk.send(.start)
        desk.ticks(10)
        desk.send(.songPosition(8))
        desk.ticks(10)
        #expect(desk.position == 19)
        desk.send(.continue)
        desk.ticks(1)
        #expect(desk.position == 48)
        desk.send(.songPosition(4))
        desk.send(.stop)
        desk.ticks(5)
        desk.send(.continue)
        desk.ticks(3)
        #expect(desk.position == 26)
    }

    @Test
    func `Continue and Start while playing: the one changes nothing, the other begins again`() {
        var desk = Desk()
        desk.send(.start)
        desk.ticks(10)
        desk.send(.continue)
        desk.ticks(1)
        #expect(desk.position == 10)
        desk.send(.start)
        desk.ticks(1)
        #expect(desk.position == 0)
    }

    @Test
    func `a Song Position that has wrapped is taken for the nearest full position`() {
        var desk = Desk()
        // The last sixteenth that 14 bits can name; then on past the wrap.
        desk.send(.songPosition(16_383))
        desk.send(.continue)
        desk.ticks(6 * 17)
        desk.send(.stop)
        desk.send(.songPosition(16))
        #expect(desk.follower.song.resumePosition == (16_384 + 16) * 6)
        desk.send(.songPosition(16_380))
        #expect(desk.follower.song.resumePosition == 16_380 * 6)
        desk.send(.start)
        desk.ticks(1)
        desk.send(.stop)
        desk.send(.songPosition(8_000))
        #expect(desk.follower.song.resumePosition == 48_000)
    }

    @Test
    func `ticks lost just before Start, Stop or Continue do not shift the song`() {
        for message in [ClockMessage.start, .stop, .continue] {
            var desk = Desk()
            desk.send(.start)
            desk.ticks(300)
            desk.time += 3 * 20_000
            desk.ticks(1)
            desk.send(message)
            desk.ticks(40)
            #expect(desk.follower.counts.lost == 3)
            switch message {
            case .start: #expect(desk.position == 39)
            case .stop: #expect(desk.follower.song.resumePosition == 304)
            default: #expect(desk.position == 343)
            }
            #expect(desk.follower.nextTick == 344)
        }
    }

    @Test
    func `the first tick after Start and an overflow is the song's top`() {
        var desk = Desk()
        desk.ticks(200)
        desk.send(.start)
        desk.follower.messagesLost()
        desk.time += 7 * 20_000
        desk.ticks(3)
        #expect(desk.position == 2)
        #expect(desk.follower.nextTick == 210)
    }

    @Test
    func `a song that starts with a tempo of its own is at the right place`() {
        for period in [Int64(6_000), 8_000, 12_000, 30_000, 40_000, 55_000] {
            var desk = Desk()
            desk.ticks(200)
            desk.send(.stop)
            desk.send(.start)
            for _ in 0..<50 {
                desk.time += period - 20_000
                desk.ticks(1)
            }
            #expect(desk.position == 49)
            #expect(desk.follower.nextTick == 250)
        }
    }

    /// What a machine that only counts does (MIDI 1.0: System Real-Time, Song Position Pointer).
    private struct Machine {
        var position: Int64 = 0
        var located: Int64?
        var isMoving = false
        var isPending = false

        mutating func takes(_ message: ClockMessage) {
            switch message {
            case .timingClock:
                if isPending { (isMoving, isPending) = (true, false) }
                if isMoving { position += 1 }
            case .start: (position, located, isMoving, isPending) = (0, nil, false, true)
            case .stop: (position, located, isMoving, isPending) = (located ?? position, nil, false, false)
            case .continue:
                guard !isMoving || located != nil else { return }
                (position, located, isMoving, isPending) = (located ?? position, nil, false, true)
            case .songPosition(let beats):
                if isMoving { located = Int64(beats) * 6 } else { position = Int64(beats) * 6 }
            }
        }
    }

    @Test(arguments: [UInt64](1...50))
    func `transport in any order leaves the follower where a counting machine is`(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        var desk = Desk()
        var machine = Machine()
        for _ in 0..<500 {
            let message: ClockMessage =
                switch Int.random(in: 0..<5, using: &random) {
                case 0: .start
                case 1: .stop
                case 2: .continue
                case 3: .songPosition(UInt16.random(in: 0...4_000, using: &random))
                default: .timingClock
                }
            if message == .timingClock {
                let count = Int.random(in: 1...5, using: &random)
                desk.ticks(count)
                for _ in 0..<count { machine.takes(message) }
            } else {
                desk.send(message)
                machine.takes(message)
            }
            #expect((desk.follower.song.motion == .playing) == machine.isMoving)
            if machine.isMoving {
                #expect(desk.position == machine.position - 1)
            } else {
                #expect(desk.follower.song.resumePosition == machine.position)
            }
        }
    }
}
