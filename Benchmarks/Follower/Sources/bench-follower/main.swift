import BeatTime
import MIDIClock
import Simulation
import Glibc

let jitters: [(String, MasterClock.Jitter, Double)] = [
    ("g0.1", .gaussian(100), 100), ("usb", .uniform(1_000), 288.7), ("g1", .gaussian(1_000), 1000),
    ("heavy", .heavyTailed, 330), ("frames", .frames, 288.7),
]
let methods: [(String, any Method)] = [
    ("ours", Ours()), ("mean24", MeanOfIntervals(length: 24)), ("mean10", MeanOfIntervals(length: 10)),
    ("dll", DelayLockedLoop(omega: 0.0314)), ("ls48", LeastSquares(length: 48)),
]
func f(_ x: Double, _ d: Int = 3) -> String {
    if x.isNaN { return "-" }
    let p = [1.0, 10, 100, 1000, 10000][d]
    return "\((x * p).rounded() / p)"
}
func pad(_ s: String, _ n: Int) -> String { s + String(repeating: " ", count: max(0, n - s.count)) }
let only = CommandLine.arguments.dropFirst().first
let runs: UInt64 = 40
for (jn, jitter, s) in jitters {
    print(jn, "CRB256 tempo", f(s * (12 / 256.0 / (256 * 256 - 1)).squareRoot() / 20833.3 * 120, 4), "next", f(s * (4 * 256.0 + 2).squareRoot() / (256 * 255.0).squareRoot(), 1))
    for (mn, method) in methods where only == nil || mn == only {
        var lock: [Double] = [], st: [Double] = [], sp: [Double] = [], settle: [Double] = [], sm: [Double] = [], rm: [Double] = [], win: [Double] = []
        var nt: [Double] = [], np: [Double] = []
        var ev: [[(Double, Double, Double)]] = Array(repeating: [], count: 6)
        for seed in 1...runs {
            var r = SeededGenerator(seed: seed)
            let base = jn == "frames" ? 125.1 : 120.0
            let steady = MasterClock(count: 2600, jitter: jitter, random: &r) { _ in base }
            let q = readings(steady, of: method)
            lock.append(settling(q, from: 0, within: 0.1).map { Double($0) } ?? .infinity)
            let late = q.filter { $0.number > 600 }
            st.append(rootMeanSquare(late.map(\.tempo)))
            let mp = late.map(\.phase).reduce(0, +) / Double(late.count)
            sp.append(rootMeanSquare(late.map { $0.phase - mp }))
            nt.append(rootMeanSquare(late.map { let n = Double($0.window ?? 48); return $0.tempo / (s * (12 / (n * (n * n - 1))).squareRoot() / 20833.3 * 120) }))
            np.append(rootMeanSquare(late.map { let n = Double($0.window ?? 48); return ($0.phase - mp) / (s * ((4 * n + 2) / (n * (n - 1))).squareRoot()) }))
            win.append(Double(late.filter { ($0.window ?? 0) >= 192 }.count) / Double(late.count))
            let step = MasterClock(count: 1000, jitter: jitter, random: &r) { $0 < 600 ? base : base + 6 }
            let qs = readings(step, of: method)
            settle.append(settling(qs, from: 600, within: 0.25).map { Double($0) } ?? .infinity)
            sm.append(qs.filter { $0.number >= 590 && $0.number < 900 }.map { abs($0.phase - mp) }.max() ?? 0)
            let ramp = MasterClock(count: 1000, jitter: jitter, random: &r) { base + 20 * Double(min(max($0 - 600, 0), 96)) / 96 }
            rm.append(readings(ramp, of: method).filter { $0.number >= 590 && $0.number < 750 }.map { abs($0.phase - mp) }.max() ?? 0)
            let faults: [[MasterClock.Fault]] = [[.lost(600..<601)], [.lost(600..<603)], [.lost(600..<612)], [.stall(after: 600, microseconds: 75000)], [.doubled(600), .doubled(610)], []]
            for (i, fl) in faults.enumerated() {
                let m = MasterClock(count: 1000, jitter: jitter, faults: fl, random: &r) { i == 5 && $0 >= 600 ? base + 6 : base }
                let m2 = i == 5 ? MasterClock(count: 1000, jitter: jitter, faults: [.stall(after: 600, microseconds: 75000)], random: &r) { $0 >= 600 ? base + 6 : base } : m
                let e = readings(m2, of: method).filter { $0.number >= 600 && $0.number < 950 }
                let tail = e.suffix(200)
                ev[i].append((e.map { abs($0.tempo) }.max()!, e.map { abs($0.phase - mp) }.max()!, tail.map { abs($0.phase) }.max()!))
            }
        }
        print(pad(mn, 8), "lock", f(median(lock), 0), "tempo", f(median(st), 4), "ph", f(median(sp), 1), "norm", f(median(nt), 2), f(median(np), 2), "w>=192", f(win.reduce(0, +) / Double(win.count)), "| step", f(median(settle), 0), "max", f(median(sm) / 1000, 2), "| ramp", f(median(rm) / 1000, 2), "|", ev.map { f(median($0.map(\.0)), 2) + "/" + f($0.map(\.0).max()!, 2) + " " + f(median($0.map(\.1)) / 1000, 1) + "/" + f($0.map(\.2).max()! / 1000, 1) }.joined(separator: " | "))
    }
}
