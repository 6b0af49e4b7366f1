internal import Essentials

extension ServiceFacts {
    static func read(_ tree: SystemTree) -> ServiceFacts {
        var facts = ServiceFacts()
        facts.hasSystemd = tree.exists("run/systemd/system")
        let system = ["etc/systemd/system", "usr/local/lib/systemd/system", "usr/lib/systemd/system"]
        if let folder = system.first(where: { tree.exists("\($0)/\(unit)") }) {
            // Overrides may be in any of the folders; the one nearest to the administrator counts last.
            let overrides = system.reversed().flatMap { folder in
                tree.names("\(folder)/\(unit).d").filter { $0.hasSuffix(".conf") }.map { "\(folder)/\(unit).d/\($0)" }
            }
            let texts = (["\(folder)/\(unit)"] + overrides).compactMap(tree.text)
            facts.systemUnit = Unit(path: "/\(folder)/\(unit)", texts: texts)
        }
        let home = environment("HOME").map { "\($0.dropFirst())/.config/systemd/user" }
        let user = [home, "etc/systemd/user", "usr/local/lib/systemd/user", "usr/lib/systemd/user"].compactMap(\.self)
        facts.userUnit = user.first { tree.exists("\($0)/\(unit)") }.map { "/\($0)/\(unit)" }
        return facts
    }

    private static let unit = "tactus.service"
}
