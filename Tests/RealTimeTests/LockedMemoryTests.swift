import Glibc
import RealTime
import Testing

@Suite
struct LockedMemoryTests {
    @Test
    func `what is to be locked begins with a page`() {
        let page = Int(getpagesize())
        let pieces: [UnsafeMutablePointer<Int64>] = (1...8).map(LockedMemory.allocate)
        defer { for piece in pieces { piece.deallocate() } }
        #expect(pieces.allSatisfy { Int(bitPattern: $0) % page == 0 })
    }
}
