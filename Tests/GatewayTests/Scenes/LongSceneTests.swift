import Glibc
import Simulation
import Testing

/// Runs whole gateways through ordinary days, or the first minutes of them where time is short.
@Suite
struct LongSceneTests {
    /// The length of each scene: from the environment's `HOURS`.
    private static let hours = getenv("HOURS").flatMap { Double(String(cString: $0)) } ?? 0.1

    /// `HOURS=24 SIM_SEED=1...2` plays two days; `SIM_SEED=n` plays seed n again.
    @Test(arguments: Seeds.standing(1...2))
    func `in an ordinary day, machines stay in step and get every tick once`(seed: UInt64) {
        let scene = RandomScene(seed: seed, hours: Self.hours)
        var account = TickAccount()
        if let promise = scene.brokenPromise(&account) { return scene.report(promise) }
        #expect(account.stretches > 0)
        print(
            "seed \(seed), \(Self.hours) h: \(scene.steps.count) steps; \(account.ticks) ticks in",
            "\(account.stretches) quiet stretches of one machine each, none lost or doubled")
    }
}
