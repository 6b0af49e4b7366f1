import Simulation
import Testing

/// Whole gateways through scenes that nobody has thought of.
@Suite
struct RandomSceneTests {
    /// `SIM_SEED=1...10000` plays ten thousand; `SIM_SEED=n` plays one again.
    @Test(arguments: Seeds.standing(1...40))
    func `whatever happens, machines are in step, nothing set is lost and nobody leads beside another`(seed: UInt64) {
        let scene = RandomScene(seed: seed)
        guard let promise = scene.brokenPromise() else { return }
        let smaller = scene.shrunk { $0.brokenPromise()?.kind == promise.kind }
        let steps = smaller.steps.map { "\($0.step), then \($0.wait) ms" }.joined(separator: "\n")
        let account = smaller.account().joined(separator: "\n")
        Issue.record("\(promise)\n\(smaller.steps.count) steps suffice:\n\(steps)\n\(account)")
    }

    @Test
    func `steps that a fault does not need are found`() {
        let scene = RandomScene(seed: 1)
        let (first, second) = (scene.steps[3], scene.steps[44])
        let found = scene.shrunk {
            $0.steps.contains { $0.step == first.step } && $0.steps.contains { $0.step == second.step }
        }
        #expect(found.steps.map(\.step) == [first.step, second.step])
    }
}

extension BrokenPromise {
    /// What is broken, whichever machine and tick it is about.
    fileprivate var kind: String { promise.prefix { $0 != ";" }.filter { !$0.isNumber } }
}
