import Simulation
import Testing

/// Runs whole gateways through random scenes.
@Suite
struct RandomSceneTests {
    /// `SIM_SEED=1...10000` plays ten thousand; `SIM_SEED=n` plays seed n again.
    @Test(arguments: Seeds.standing(1...40))
    func `whatever happens, machines stay in step, settings are kept and only one clock leads`(seed: UInt64) {
        let scene = RandomScene(seed: seed)
        if let promise = scene.brokenPromise() { scene.report(promise) }
    }

    @Test
    func `shrinking a scene leaves only the steps that the failure needs`() {
        let scene = RandomScene(seed: 1)
        let (first, second) = (scene.steps[3], scene.steps[44])
        let found = scene.shrunk {
            $0.steps.contains { $0.step == first.step } && $0.steps.contains { $0.step == second.step }
        }
        #expect(found.steps.map(\.step) == [first.step, second.step])
    }
}

extension RandomScene {
    /// Records that a promise was broken, with the few steps that suffice for it if they can be found.
    func report(_ promise: BrokenPromise) {
        func fails(_ scene: RandomScene) -> Bool { scene.brokenPromise()?.kind == promise.kind }
        // Of a long scene, the last steps are often enough.
        guard let tail = [30, 100, 300].lazy.map({ last($0, before: promise.time) }).first(where: fails) else {
            Issue.record("\(promise)\nafter\n\(last(30, before: promise.time).text)")
            return
        }
        let smaller = tail.shrunk(fails)
        let account = smaller.account().joined(separator: "\n")
        Issue.record("\(promise)\n\(smaller.steps.count) steps suffice:\n\(smaller.text)\n\(account)")
    }

    private var text: String { steps.map { "\($0.step), then \($0.wait) ms" }.joined(separator: "\n") }
}

extension BrokenPromise {
    /// The promise without its numbers and details, to tell whether two failures are the same.
    fileprivate var kind: String { promise.prefix { $0 != ";" }.filter { !$0.isNumber } }
}
