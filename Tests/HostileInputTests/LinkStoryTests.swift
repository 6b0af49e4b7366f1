import HostileInput
import Simulation
import Testing

/// How the fuzzer's inputs reach the Link engine.
@Suite
struct LinkStoryTests {
    @Test
    func `many scripts of the corpus join sessions`() throws {
        let scripts = try Corpus.inputs(of: .link)
        let joined = scripts.count { script in
            var story = LinkStory(script)
            story.happen()
            return story.hasJoined
        }
        #expect(joined > scripts.count / 5, "else joining is not tried")
    }

    @Test
    func `a script in which a peer is announced that answers pings joins its session`() {
        // An announcement on IPv4 of a session 2^40 us ahead, then 100 ms.
        let number: [UInt8] = [0, 0, 1, 0, 0, 0, 0, 0, 0]
        let tempo: [UInt8] = [0, 0, 0, 0, 0, 7, 0xa1, 0x20, 0]
        let zero = [UInt8](repeating: 0, count: 9)
        var story = LinkStory([64, 5, 1, 1] + number + tempo + zero + zero + zero + zero + [160, 10])
        story.happen()
        #expect(story.hasJoined)
        #expect(story.broken.isEmpty)
    }
}
