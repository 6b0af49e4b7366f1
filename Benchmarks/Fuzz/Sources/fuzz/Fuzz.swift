import CFuzzer
import HostileInput

/// Uses the compiler's fuzzer to find bytes that trap a reader, or make it break its promises: `fuzz READER OPTION…`.
///
/// Options are the fuzzer's own, such as `-runs=10000000` and a folder for inputs that reached new code.
@main
struct Fuzz {
    nonisolated(unsafe) private static var reader = HostileInput.link

    static func main() {
        var words = CommandLine.unsafeArgv
        var count = CommandLine.argc
        let names = HostileInput.allCases.map(\.rawValue).joined(separator: " | ")
        guard count > 1, let reader = words[1].flatMap({ HostileInput(rawValue: String(cString: $0)) }) else {
            fatalError("usage: fuzz \(names) OPTION...")
        }
        Self.reader = reader
        // The fuzzer sees the rest.
        words[1] = words[0]
        words += 1
        count -= 1
        var rest: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>? = words
        _ = LLVMFuzzerRunDriver(&count, &rest) { bytes, count in
            let input = Array(UnsafeBufferPointer(start: bytes, count: count))
            if let promise = Fuzz.reader.brokenPromise(input) { fatalError("not so: \(promise)") }
            return 0
        }
    }
}
