internal import Glibc

/// A fixed number of elements that can be locked in memory, freed with their owner.
///
/// They begin with a page, so that locking them takes no more of what a user is allowed than it must.
public struct PageArray<Element: ~Copyable>: ~Copyable {
    /// Where the elements lie, for calls into C; valid as long as this value.
    public let start: UnsafeMutablePointer<Element>
    public let count: Int

    /// Allocates the array and fills it.
    ///
    /// - Parameters:
    ///   - count: how many elements there are.
    ///   - element: makes the one at an index.
    /// - Throws: what `element` throws; what was made by then is freed.
    public init<Failure: Error>(count: Int, of element: (Int) throws(Failure) -> Element) throws(Failure) {
        let byteCount = count * MemoryLayout<Element>.stride
        let start = UnsafeMutableRawPointer.allocate(byteCount: byteCount, alignment: Int(getpagesize()))
            .bindMemory(to: Element.self, capacity: count)
        var made = 0
        do throws(Failure) {
            while made < count {
                (start + made).initialize(to: try element(made))
                made += 1
            }
        } catch {
            start.deinitialize(count: made)
            start.deallocate()
            throw error
        }
        self.start = start
        self.count = count
    }

    deinit {
        start.deinitialize(count: count)
        start.deallocate()
    }

    /// An element; the caller keeps to the indices there are.
    @inlinable
    public subscript(index: Int) -> Element {
        // Addresses, as the standard library's pointers give them: nothing is copied or allocated on the way.
        unsafeAddress { UnsafePointer(start + index) }
        nonmutating unsafeMutableAddress { start + index }
    }

    /// Locks the first elements in memory, bringing them in at once.
    ///
    /// - Parameter count: how many; no more than there are.
    /// - Returns: whether the system allowed it.
    public func lock(first count: Int) -> Bool {
        LockedMemory.lock(start, byteCount: count * MemoryLayout<Element>.stride)
    }
}
