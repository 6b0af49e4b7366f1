import BeatTime
import LinkSession
import Simulation

/// How often peers name the author of a change rightly.
struct ChangeJudgement: CustomStringConvertible {
    var certain = 0
    var probable = 0
    /// A wrong author, or none, marked as probable.
    var wrongProbable = 0
    /// A wrong author without the mark.
    var wrong = 0
    var missed = 0

    var count: Int { certain + probable + wrongProbable + wrong + missed }
    /// The share of rightly named authors.
    var share: Double { Double(certain + probable) / Double(max(1, count)) }

    var description: String {
        "\(certain + probable) of \(count) authors right, \(probable) of them probably; "
            + "\(wrongProbable) probably and wrong, \(wrong) wrong, \(missed) missed"
    }

    /// Lets two to five peers change tempo and transport at random moments, and asks each who did it.
    mutating func judgeScene(seed: UInt64, _ conditions: LinkConditions) throws {
        var world = LinkWorld("who changed what", seed: seed, conditions: conditions)
        var random = SeededGenerator(seed: seed).split("users")
        let nodes = (0..<Int.random(in: 2...5, using: &random)).map {
            world.addNode(tempo: 100 + Double($0), skewUpTo: 40)
        }
        for node in nodes {
            world.setStartStopSync(true, at: node)
            try world.enable(node)
            try world.run(until: world.now.value + 1)
        }
        try world.run(until: world.now.value + .random(in: 1...3, using: &random))
        for step in 0..<20 {
            let author = nodes.randomElement(using: &random) ?? 0
            let tempo = Tempo(beatsPerMinute: 60 + Double(step * 7 % 20) * 5)
            var what = SessionChange.What.tempo(tempo)
            try world.edit(author) { state, now in
                if step % 4 == 3 {
                    what = state.isPlaying ? .stop : .play
                    state.setIsPlaying(!state.isPlaying, at: now)
                } else {
                    state.setTempo(tempo, at: now)
                }
            }
            // Tempos that follow each other faster may count as one.
            try world.run(until: world.now.value + .random(in: 1.05...1.5, using: &random))
            for observer in nodes where observer != author { judge(what, by: author, seenBy: observer, in: world) }
        }
    }

    private mutating func judge(
        _ what: SessionChange.What, by author: Int, seenBy observer: Int, in world: LinkWorld
    ) {
        guard let change = world.nodes[observer].engine.changeLog.changes.last, change.what.rounded == what.rounded
        else {
            missed += 1
            return
        }
        switch (change.origin.node == world.nodes[author].engine.nodeID, change.isProbable) {
        case (true, false): certain += 1
        case (true, true): probable += 1
        case (false, true): wrongProbable += 1
        case (false, false): wrong += 1
        }
    }
}

extension LinkWorld {
    /// A node as another one hears it.
    func announcer(_ node: Int, heardBy other: Int) -> Announcer {
        Announcer(
            node: nodes[node].engine.nodeID, address: LinkMedium.address(of: node),
            interface: LinkMedium.address(of: other))
    }
}

extension SessionChange.What {
    /// The change as it travels: a tempo in whole microseconds per beat.
    var rounded: SessionChange.What {
        if case .tempo(let tempo) = self { .tempo(Tempo(microsecondsPerBeat: tempo.microsecondsPerBeat)) } else { self }
    }
}
