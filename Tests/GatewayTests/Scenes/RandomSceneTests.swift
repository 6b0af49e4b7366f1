import Simulation
import Testing

/// Runs whole gateways through random scenes.
@Suite
struct RandomSceneTests {
    /// `SIM_SEED=1...10000` plays ten thousand; `SIM_SEED=n` plays seed n again.
    @Test(arguments: Seeds.standing(1...40))
    func `whatever happens, machines stay in step, settings are kept and only one clock leads`(seed: UInt64) {
        let scene = RandomScene(seed: seed)
        guard let promise = scene.brokenPromise() else { return }
        let smaller = scene.shrunk { $0.brokenPromise()?.kind == promise.kind }
        let steps = smaller.steps.map { "\($0.step), then \($0.wait) ms" }.joined(separator: "\n")
        let account = smaller.account().joined(separator: "\n")
        Issue.record("\(promise)\n\(smaller.steps.count) steps suffice:\n\(steps)\n\(account)")
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

extension BrokenPromise {
    /// The promise without its numbers and details, to tell whether two failures are the same.
    fileprivate var kind: String { promise.prefix { $0 != ";" }.filter { !$0.isNumber } }
}
