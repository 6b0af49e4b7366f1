import CFuzzer
import Simulation

/// Uses the compiler's fuzzer to find datagrams that trap the Link engine or make it break its promises.
///
/// An input is the script of a ``LinkStory``. Arguments are the fuzzer's own, such as `-runs=10000000` and a folder for
/// inputs that reached new code.
@main
struct LinkFuzz {
    static func main() {
        var count = CommandLine.argc
        var words: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>? = CommandLine.unsafeArgv
        _ = LLVMFuzzerRunDriver(&count, &words) { bytes, count in
            var story = LinkStory(Array(UnsafeBufferPointer(start: bytes, count: count)))
            story.happen()
            if let promise = story.broken.first { fatalError("not so: \(promise)") }
            return 0
        }
    }
}
