import Testing

@testable import Doctor

@Suite
struct PermissionFactsTests {
    @Test
    func `limits are the hard ones`() {
        let text = """
            Limit                     Soft Limit           Hard Limit           Units
            Max locked memory         65536                8388608              bytes
            Max realtime priority     0                    95
            """
        let limits = PermissionFacts.Limits(text)
        #expect(limits.lockedMemory == 8_388_608)
        #expect(limits.realTimePriority == 95)
        let free = PermissionFacts.Limits("Max locked memory   unlimited   unlimited   bytes")
        #expect(free.lockedMemory == nil)
        #expect(free.realTimePriority == 0)
        #expect(PermissionFacts.Limits("Max locked memory\nMax realtime priority 3") == PermissionFacts.Limits())
    }

    private static let passwords = "root:x:0:0::/root:/bin/sh\nanna:x:1000:1000:Anna,,,:/home/anna:/bin/bash\n"
    private static let groups = "root:x:0:\naudio:x:29:anna,ben\nanna:x:1000:\n"

    @Test(arguments: [("29 1000", true), ("1000", false), ("129 290", false), ("", false)])
    func `the process's group membership counts`(numbers: String, expected: Bool) {
        let status = "Name:\tx\nUid:\t0\t1000\t1000\t1000\nGid:\t1000\t1000\t1000\t1000\nGroups:\t\(numbers) \n"
        let user = PermissionFacts.User(
            status: status, passwords: Self.passwords, groups: Self.groups, caller: nil)
        #expect(user.name == "anna")
        #expect(user.isRoot == false)
        #expect(user.isInAudio == expected)
        #expect(user.isListedInAudio)
        #expect(user.hasAudioGroup)
    }

    @Test
    func `an unlisted user is not a member of any group`() {
        let user = PermissionFacts.User(
            status: "Uid:\t7\t7\t7\t7\n", passwords: Self.passwords, groups: "audio:x:29:\n", caller: nil)
        #expect(user == PermissionFacts.User())
    }

    @Test
    func `a primary group counts as well`() {
        let user = PermissionFacts.User(
            status: "Uid:\t5\t5\t5\t5\nGid:\t29\t29\t29\t29\n", passwords: "kai:x:5:29::/:/bin/sh",
            groups: "audio:x:29:", caller: nil)
        #expect(user.isInAudio)
        #expect(user.isListedInAudio)
    }

    @Test
    func `only lines that raise a hard limit are grants`() {
        let text = """
            # @audio - rtprio 99
            @audio - rtprio 95   # for the clock
            @audio\thard\tmemlock\tunlimited
            *  soft  rtprio 95
            anna - rtprio -1
            anna - rtprio
            ben - rtprio much
            """
        #expect(
            LimitGrant.list(text) == [
                LimitGrant(domain: "@audio", item: "rtprio", value: 95),
                LimitGrant(domain: "@audio", item: "memlock", value: nil),
                LimitGrant(domain: "anna", item: "rtprio", value: nil),
            ])
    }
}
