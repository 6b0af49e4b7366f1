import Testing

@testable import Doctor

@Suite
struct PermissionJudgementTests {
    private static let anna = PermissionFacts.User(name: "anna", hasAudioGroup: true)
    private static let grant = LimitGrant(domain: "@audio", item: "rtprio", value: 95)

    private func findings(_ facts: PermissionFacts, opensSequencer: Bool = true) -> [Finding.Code: Finding] {
        let findings = facts.findings(opensSequencer: opensSequencer)
        return Dictionary(uniqueKeysWithValues: findings.map { ($0.code, $0) })
    }

    private func refused(_ user: PermissionFacts.User, _ grants: [LimitGrant] = []) -> PermissionFacts {
        PermissionFacts(
            realTime: .refused("rtkit is not installed"), isMemoryLockGranted: false, user: user, grants: grants)
    }

    @Test
    func `a user with all permissions needs no group`() {
        let found = findings(PermissionFacts(user: Self.anna))
        #expect(found.count == 3)
        #expect(found.values.allSatisfy { $0.level == .ok && $0.fix == nil })
    }

    @Test
    func `without a thread to try it, nothing is said of real-time priority`() {
        let found = findings(PermissionFacts(realTime: nil, user: Self.anna))
        #expect(found[.realTime] == nil)
        #expect(found[.lockedMemory]?.level == .ok)
    }

    @Test
    func `an active desktop user needs neither limit nor group if rtkit grants priority`() {
        let found = findings(PermissionFacts(realTime: .byRealTimeKit(priority: 20), user: Self.anna))
        let told = found[.realTime]?.found ?? ""
        #expect(told.hasPrefix("priority 20 is granted by rtkit (80 is refused: the limit is 0; if you need more: "))
        #expect(told.contains("/etc/security/limits.d"))
        #expect(found.values.allSatisfy { $0.level == .ok && $0.fix == nil })
    }

    @Test
    func `root by sudo is told that this says nothing about the calling user`() {
        var user = PermissionFacts.User(name: "root", isRoot: true)
        user.caller = "anna"
        let found = findings(PermissionFacts(user: user))
        #expect(
            found[.realTime]?.found
                == "priority 80 is granted, as always to root; to check the rights of anna, run it without sudo")
        #expect(found[.audioGroup]?.found == "root needs no group")
    }

    @Test
    func `without permissions the fix is a limit and joining the group`() {
        let found = findings(refused(Self.anna))
        #expect(found[.realTime]?.level == .warning)
        #expect(found[.realTime]?.found == "priority 80 is refused (the limit is 0), and rtkit is not installed")
        #expect(
            found[.realTime]?.fix
                == "echo '@audio - rtprio 95' | sudo tee -a /etc/security/limits.d/tactus.conf && "
                + "sudo usermod -aG audio $USER # then log out and in again")
        #expect(found[.lockedMemory]?.fix?.hasPrefix("echo '@audio - memlock 65536'") == true)
        #expect(found[.audioGroup]?.fix == "sudo usermod -aG audio $USER # then log out and in again")
    }

    @Test
    func `on a system without the group the fix creates it`() {
        var user = Self.anna
        user.hasAudioGroup = false
        let found = findings(refused(user))
        #expect(found[.audioGroup]?.fix?.hasPrefix("sudo groupadd --system audio && sudo usermod") == true)
        #expect(found[.realTime]?.fix?.contains("sudo groupadd --system audio && ") == true)
    }

    @Test
    func `a member of the group needs only the limit`() {
        var user = Self.anna
        user.isInAudio = true
        let found = findings(refused(user))
        #expect(
            found[.realTime]?.fix
                == "echo '@audio - rtprio 95' | sudo tee -a /etc/security/limits.d/tactus.conf "
                + "# then log out and in again")
        #expect(found[.audioGroup]?.level == .ok)
    }

    @Test
    func `if the limit exists a user needs only the group`() {
        let fix = findings(refused(Self.anna, [Self.grant]))[.realTime]?.fix
        #expect(fix == "sudo usermod -aG audio $USER # then log out and in again")
    }

    @Test(arguments: ["@audio", "anna", "*"])
    func `a limit that is not in effect applies from the next login`(domain: String) {
        var user = Self.anna
        user.isListedInAudio = domain == "@audio"
        let found = findings(refused(user, [LimitGrant(domain: domain, item: "rtprio", value: nil)]))
        #expect(found[.realTime]?.fix == "it is granted from the next login: log out and in again")
        if domain == "@audio" { #expect(found[.audioGroup]?.fix == "log out and in again") }
    }

    @Test(arguments: [
        LimitGrant(domain: "@audio", item: "rtprio", value: 40), LimitGrant(domain: "@audio", item: "nice", value: 95),
        LimitGrant(domain: "@realtime", item: "rtprio", value: 95),
    ])
    func `a low limit, another limit or another group's does not count`(grant: LimitGrant) {
        var user = Self.anna
        user.isInAudio = true
        let found = findings(refused(user, [grant]))
        #expect(found[.realTime]?.fix?.hasPrefix("echo '@audio - rtprio 95'") == true)
    }

    @Test
    func `a container gets the permission from outside`() {
        var facts = refused(PermissionFacts.User(name: "root", isRoot: true))
        #expect(findings(facts)[.realTime]?.fix?.contains("--cap-add SYS_NICE") == true)
        facts = refused(Self.anna)
        facts.isContainer = true
        #expect(findings(facts)[.realTime]?.fix?.contains("--ulimit rtprio=95") == true)
    }

    @Test
    func `the group matters if the sequencer is refused, even if priority is not`() {
        let found = findings(PermissionFacts(user: Self.anna), opensSequencer: false)
        #expect(found[.audioGroup]?.level == .warning)
    }
}
