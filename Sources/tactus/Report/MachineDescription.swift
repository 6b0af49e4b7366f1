import Essentials

/// The computer and its system, as a report describes them.
struct MachineDescription: Hashable, Encodable {
    /// The board or the computer; absent if the system does not say.
    var model: String?
    /// The processors' model; absent if the system does not say.
    var processor: String?
    /// Number of processors.
    var processors = 1
    /// Whether it is a virtual machine, as far as the processor tells.
    var isVirtual = false
    var architecture = Self.ownArchitecture
    /// Version of the kernel, such as `6.1.0-56-amd64`.
    var kernel = ""
    /// What the kernel says of how it was built, such as `SMP` and `PREEMPT_DYNAMIC`.
    var kernelOptions: [String] = []
    /// The distribution with its version; absent if the system does not say.
    var distribution: String?

    private static var ownArchitecture: String {
        #if arch(x86_64)
            "x86_64"
        #elseif arch(arm64)
            "arm64"
        #else
            "other"
        #endif
    }
}

extension MachineDescription {
    /// Reads the description; what cannot be read is left out.
    init(_ tree: SystemTree) {
        let processors = (tree.text("proc/cpuinfo") ?? "").split(separator: "\n").map(Self.field)
        model = Self.model(tree)
        processor = processors.first { $0.name == "model name" }?.value
        self.processors = max(1, processors.count { $0.name == "processor" })
        isVirtual = processors.contains { $0.name == "flags" && $0.value.split(separator: " ").contains("hypervisor") }
        kernel = tree.line("proc/sys/kernel/osrelease") ?? ""
        // The rest has a number and a date, and for kernels of one's own perhaps a name.
        kernelOptions = (tree.line("proc/sys/kernel/version") ?? "").split(separator: " ").map(String.init)
            .filter { $0 == "SMP" || $0.hasPrefix("PREEMPT") }
        let system = (tree.text("etc/os-release") ?? "").split(separator: "\n")
        distribution = system.first { $0.hasPrefix("PRETTY_NAME=") }
            .map { $0.dropFirst("PRETTY_NAME=".count).filter { $0 != "\"" } }
    }

    /// A board says what it is in its device tree, and a PC in what its firmware tells.
    private static func model(_ tree: SystemTree) -> String? {
        if let board = tree.text("proc/device-tree/model") {
            return String(board.prefix { $0 != "\0" }).trimmed
        }
        let names = ["sys_vendor", "product_name"].compactMap { tree.line("sys/class/dmi/id/\($0)") }
        let model = names.filter { !$0.isEmpty }.joined(separator: " ")
        return model.isEmpty ? nil : model
    }

    private static func field(_ line: Substring) -> (name: String, value: String) {
        let parts = line.split(separator: ":", maxSplits: 1).map { String($0).trimmed }
        return (parts.first ?? "", parts.count > 1 ? parts[1] : "")
    }
}
