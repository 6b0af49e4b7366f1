import Essentials
import Simulation
import Testing

@testable import Doctor

/// The probes, on a system made of files.
@Suite
struct ProbeTests {
    private let files = FileTree()
    private var tree: SystemTree { SystemTree(root: files.root) }

    @Test
    func `governors are read from processors that have one`() throws {
        try files.write("sys/devices/system/cpu/cpu0/cpufreq/scaling_governor", "schedutil\n")
        try files.write("sys/devices/system/cpu/cpu11/cpufreq/scaling_governor", "performance\n")
        try files.write("sys/devices/system/cpu/cpu2/online", "0\n")
        try files.write("sys/devices/system/cpu/cpufreq/boost", "1\n")
        #expect(KernelFacts.read(tree).governors == [0: "schedutil", 11: "performance"])
    }

    @Test
    func `preemption is read from every possible source`() throws {
        try files.write("proc/sys/kernel/version", "#1 SMP PREEMPT_DYNAMIC Debian\n")
        try files.write("proc/sys/kernel/osrelease", "6.1.0-0-amd64\n")
        try files.write("boot/config-6.1.0-0-amd64", "CONFIG_PREEMPT_VOLUNTARY=y\n")
        #expect(KernelFacts.read(tree).preemption == .voluntary)
        #expect(KernelFacts.read(tree).isPreemptionChoosable)
        try files.write("proc/cmdline", "quiet preempt=full\n")
        #expect(KernelFacts.read(tree).preemption == .full)
        try files.write("sys/kernel/debug/sched/preempt", "(none) voluntary full\n")
        #expect(KernelFacts.read(tree).preemption == Preemption.none)
        try files.write("etc/default/grub", "GRUB_CMDLINE_LINUX=\"\"\n")
        #expect(KernelFacts.read(tree).hasGRUB)
    }

    @Test
    func `the program that uses a port is found by the socket`() throws {
        let header =
            "  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode\n"
        let row = "00000000:0000 07 00000000:00000000 00:00000000 00000000  1000        0"
        try files.write(
            "proc/net/udp", header + "  1: 00000000:5148 \(row) 777 2 0 0\n  2: 00000000:5149 \(row) 778 2 0 0\n")
        try files.write(
            "proc/net/udp6", header + "  1: 00000000000000000000000000000000:5148 \(row) 779 2 0 0\n  cut\n")
        try files.link("proc/42/fd/3", to: "socket:[777]")
        try files.write("proc/42/comm", "Live\n")
        try files.link("proc/7/fd/9", to: "socket:[779]")
        try files.link("proc/8/fd/9", to: "socket:[778]")
        try files.link("proc/self/fd/9", to: "socket:[777]")
        #expect(
            PortHolders.programs(holding: 20808, tree)
                == [.init(name: "a program", process: 7), .init(name: "Live", process: 42)])
        #expect(PortHolders.programs(holding: 20810, tree).isEmpty)
    }

    @Test
    func `only who can keep an address from others is named`() throws {
        let header =
            "  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode\n"
        func row(_ address: String, _ inode: Int, _ state: String = "07") -> String {
            "  1: \(address):5148 00000000:0000 \(state) 00000000:00000000 00:00000000 00000000  1000        0 \(inode) 2 0\n"
        }
        func words(_ bytes: [UInt8]) -> String {
            stride(from: 0, to: bytes.count, by: 4).map { start in
                let word = bytes[start..<start + 4].withUnsafeBytes { $0.loadUnaligned(as: UInt32.self) }
                let text = String(word, radix: 16, uppercase: true)
                return String(repeating: "0", count: 8 - text.count) + text
            }.joined()
        }
        for process in 1...6 { try files.link("proc/\(process)/fd/3", to: "socket:[\(process)]") }
        func guilty(of address: String, _ transport: PortHolders.Transport = .udp) -> [Int] {
            PortHolders.programs(barring: address, 20808, transport, tree).map(\.process)
        }
        let group = words([0xFF, 0x12] + Array(repeating: 0, count: 12) + [0x80, 0x80])
        // 1 waits for IPv4 and meanwhile has Link's group of IPv6, 2 has an address of its own, 3 has all.
        try files.write("proc/net/udp6", header + row(group, 1))
        try files.write("proc/net/udp", header + row(words([192, 168, 7, 2]), 2) + row(words([0, 0, 0, 0]), 3))
        #expect(guilty(of: "224.76.78.75") == [3])
        #expect(guilty(of: "192.168.7.2") == [2, 3])
        #expect(guilty(of: "0.0.0.0") == [2, 3])
        #expect(guilty(of: "::") == [1])
        // One that has all addresses of IPv6 may have those of IPv4, too.
        try files.write("proc/net/udp6", header + row(words(Array(repeating: 0, count: 16)), 4))
        try files.write("proc/net/udp", header)
        #expect(guilty(of: "224.76.78.75") == [4])
        try files.write(
            "proc/net/tcp", header + row(words([127, 0, 0, 1]), 5, "0A") + row(words([127, 0, 0, 1]), 6, "01"))
        #expect(guilty(of: "127.0.0.1", .tcp) == [5])
        #expect(guilty(of: "127.0.0.2", .tcp).isEmpty)
    }

    @Test
    func `a service is found in the administrator's or the package's folder, with its overrides`() throws {
        try files.write("run/systemd/system/x", "")
        #expect(ServiceFacts.read(tree).systemUnit == nil)
        try files.write("usr/lib/systemd/system/tactus.service", "LimitRTPRIO=10\n")
        #expect(ServiceFacts.read(tree).systemUnit?.realTimePriority == "10")
        try files.write("usr/local/lib/systemd/system/tactus.service", "LimitRTPRIO=20\n")
        #expect(ServiceFacts.read(tree).systemUnit?.path == "/usr/local/lib/systemd/system/tactus.service")
        try files.write("usr/lib/systemd/system/tactus.service.d/a.conf", "LimitRTPRIO=30\n")
        try files.write("etc/systemd/system/tactus.service.d/limits.conf", "[Service]\nLimitRTPRIO=95\n")
        try files.write("etc/systemd/system/tactus.service.d/readme", "LimitRTPRIO=1\n")
        #expect(ServiceFacts.read(tree).systemUnit?.realTimePriority == "95")
        try files.write("usr/lib/systemd/user/tactus.service", "")
        #expect(ServiceFacts.read(tree).userUnit == "/usr/lib/systemd/user/tactus.service")
    }

    @Test(arguments: [
        (nil, false, "", SequencerFacts.Module.installed),
        ("kernel/sound/core/seq/snd-seq.ko.xz: kernel/x.ko", false, "ID=debian", .installed),
        ("kernel/net/x.ko:", false, "ID=debian\nNAME=ubuntu", .absent(isUbuntu: false)),
        ("kernel/net/x.ko:", false, "ID=mint\nID_LIKE=\"ubuntu debian\"", .absent(isUbuntu: true)),
        ("kernel/net/x.ko:", true, "ID=debian", .outside),
    ])
    func `where the sequencer's module is`(
        modules: String?, isContainer: Bool, system: String, expected: SequencerFacts.Module
    ) {
        let found = SequencerFacts.Module(modules: modules, isContainer: isContainer, system: system)
        #expect(found == expected)
    }

    @Test
    func `a container is recognized by its mark, unless the kernel's own processes are visible`() throws {
        #expect(tree.isContainer == false)
        try files.write(".dockerenv", "")
        #expect(tree.isContainer)
        try files.write("proc/2/comm", "tactus\n")
        #expect(tree.isContainer)
        try files.write("proc/2/comm", "kthreadd\n")
        #expect(tree.isContainer == false)
    }

    @Test
    func `networks are written as address and length`() {
        #expect(NetworkFacts.network(of: 0xc0a8_072a, mask: 0xffff_ff00) == "192.168.7.0/24")
    }

    @Test
    func `a system without information files is read without errors`() {
        let facts = KernelFacts.read(tree)
        #expect(facts.preemption == nil)
        #expect(facts.governors.isEmpty)
        #expect(PortHolders.programs(holding: 20808, tree).isEmpty)
        #expect(ServiceFacts.read(tree).finding.level == .ok)
        let permissions = PermissionFacts.read(tree)
        #expect(
            permissions.user
                == PermissionFacts.User(
                    status: "", passwords: "", groups: "",
                    caller: permissions.user.caller))
        #expect(permissions.limits == PermissionFacts.Limits())
    }
}
