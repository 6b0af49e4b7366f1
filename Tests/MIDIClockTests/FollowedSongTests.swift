import BeatTime
import MIDIClock
import Simulation
import Testing

@Suite
struct FollowedSongTests {
    /// A follower that receives messages of a steady leader, one tick every 20 ms.
    private struct Rig {
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
    func `the first tick after Start is the beginning of the song, and tick numbers continue`() {
        var rig = Rig()
        rig.ticks(50)
        rig.send(.start)
        #expect(rig.follower.song.motion == .pending)
        #expect(rig.follower.nextTick == 50)
        rig.ticks(1)
        #expect(rig.follower.song.motion == .playing)
        #expect(rig.follower.song.origin == 50)
        #expect(rig.position == 0)
        rig.ticks(23)
        #expect(rig.position == 23)
        #expect(rig.follower.estimate?.tick == 73)
    }

    @Test
    func `Stop freezes the song while ticks are counted, and Continue resumes where it stopped`() {
        var rig = Rig()
        rig.send(.start)
        rig.ticks(31)
        rig.send(.stop)
        rig.ticks(100)
        #expect(rig.follower.song.motion == .stopped)
        #expect(rig.follower.song.resumePosition == 31)
        #expect(rig.follower.song.origin == 0)
        #expect(rig.follower.nextTick == 131)
        rig.send(.continue)
        rig.ticks(1)
        #expect(rig.position == 31)
        #expect(rig.follower.song.origin == 100)
    }

    @Test
    func `Song Position while stopped moves where Continue resumes; Start resets it`() {
        var rig = Rig()
        rig.send(.songPosition(16))
        rig.send(.continue)
        rig.ticks(1)
        #expect(rig.position == 96)
        rig.send(.stop)
        rig.send(.songPosition(32))
        rig.send(.start)
        rig.ticks(1)
        #expect(rig.position == 0)
    }

    @Test
    func `Song Position while playing waits for Continue, with or without a Stop before it`() {
        var rig = Rig()
        rig.send(.start)
        rig.ticks(10)
        rig.send(.songPosition(8))
        rig.ticks(10)
        #expect(rig.position == 19)
        rig.send(.continue)
        rig.ticks(1)
        #expect(rig.position == 48)
        rig.send(.songPosition(4))
        rig.send(.stop)
        rig.ticks(5)
        rig.send(.continue)
        rig.ticks(3)
        #expect(rig.position == 26)
    }

    @Test
    func `while playing, Continue changes nothing and Start begins again`() {
        var rig = Rig()
        rig.send(.start)
        rig.ticks(10)
        rig.send(.continue)
        rig.ticks(1)
        #expect(rig.position == 10)
        rig.send(.start)
        rig.ticks(1)
        #expect(rig.position == 0)
    }

    @Test
    func `a wrapped Song Position is taken as the nearest full position`() {
        var rig = Rig()
        // The last sixteenth that 14 bits can express; then past the wrap.
        rig.send(.songPosition(16_383))
        rig.send(.continue)
        rig.ticks(6 * 17)
        rig.send(.stop)
        rig.send(.songPosition(16))
        #expect(rig.follower.song.resumePosition == (16_384 + 16) * 6)
        rig.send(.songPosition(16_380))
        #expect(rig.follower.song.resumePosition == 16_380 * 6)
        rig.send(.start)
        rig.ticks(1)
        rig.send(.stop)
        rig.send(.songPosition(8_000))
        #expect(rig.follower.song.resumePosition == 48_000)
    }

    @Test
    func `ticks lost just before Start, Stop or Continue do not shift the song`() {
        for message in [ClockMessage.start, .stop, .continue] {
            var rig = Rig()
            rig.send(.start)
            rig.ticks(300)
            rig.time += 3 * 20_000
            rig.ticks(1)
            rig.send(message)
            rig.ticks(40)
            #expect(rig.follower.counts.lost == 3)
            switch message {
            case .start: #expect(rig.position == 39)
            case .stop: #expect(rig.follower.song.resumePosition == 304)
            default: #expect(rig.position == 343)
            }
            #expect(rig.follower.nextTick == 344)
        }
    }

    @Test
    func `the first tick after Start and an overflow is the beginning of the song`() {
        var rig = Rig()
        rig.ticks(200)
        rig.send(.start)
        rig.follower.messagesLost()
        rig.time += 7 * 20_000
        rig.ticks(3)
        #expect(rig.position == 2)
        #expect(rig.follower.nextTick == 210)
    }

    @Test
    func `a song that starts with another tempo is at the right place`() {
        for period in [Int64(6_000), 8_000, 12_000, 30_000, 40_000, 55_000] {
            var rig = Rig()
            rig.ticks(200)
            rig.send(.stop)
            rig.send(.start)
            for _ in 0..<50 {
                rig.time += period - 20_000
                rig.ticks(1)
            }
            #expect(rig.position == 49)
            #expect(rig.follower.nextTick == 250)
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
    func `transport messages in any order leave the follower where a counting machine is`(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        var rig = Rig()
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
                rig.ticks(count)
                for _ in 0..<count { machine.takes(message) }
            } else {
                rig.send(message)
                machine.takes(message)
            }
            #expect((rig.follower.song.motion == .playing) == machine.isMoving)
            if machine.isMoving {
                #expect(rig.position == machine.position - 1)
            } else {
                #expect(rig.follower.song.resumePosition == machine.position)
            }
        }
    }
}
