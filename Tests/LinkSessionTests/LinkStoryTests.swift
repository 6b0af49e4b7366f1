import Foundation
import Simulation
import Testing

/// What the fuzzer has found worth keeping (`make link-fuzz`): each line of the corpus is a script in hexadecimal digits.
@Suite
struct LinkStoryTests {
    private static var scripts: [[UInt8]] {
        get throws {
            let file = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "Corpus/link-stories.txt")
            return try String(contentsOf: file, encoding: .utf8).split(separator: "\n").map { line in
                let digits = Array(line.utf8)
                return stride(from: 0, to: digits.count - 1, by: 2).map { index in
                    UInt8(String(decoding: digits[index...index + 1], as: UTF8.self), radix: 16) ?? 0
                }
            }
        }
    }

    @Test
    func `no script of the corpus breaks a promise, and many of them join sessions`() throws {
        let scripts = try Self.scripts
        #expect(scripts.count > 50)
        var joined = 0
        for script in scripts {
            var story = LinkStory(script)
            story.happen()
            #expect(story.broken.isEmpty)
            joined += story.hasJoined ? 1 : 0
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
