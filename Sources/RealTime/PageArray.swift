internal import Glibc

/// A fixed number of elements that can be locked in memory, freed with their owner.
///
/// The array starts at a page boundary, so that locking it uses as little as possible of the user's limit.
///
/// ```swift
/// let squares = PageArray<Int>(count: 4) { $0 * $0 }
/// assert(squares[3] == 9)
/// ```
public struct PageArray<Element: ~Copyable>: ~Copyable {
    /// Address of the elements, for calls into C; valid as long as this value.
    public let start: UnsafeMutablePointer<Element>
    public let count: Int

    /// Allocates the array and fills it.
    ///
    /// - Parameters:
    ///   - count: number of elements.
    ///   - element: creates the element at an index.
    /// - Throws: what `element` throws; elements created by then are destroyed.
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

    /// An element; the caller must use a valid index.
    @inlinable
    public subscript(index: Int) -> Element {
        // Addressors, as in the standard library's pointers: nothing is copied or allocated.
        unsafeAddress { UnsafePointer(start + index) }
        nonmutating unsafeMutableAddress { start + index }
    }

    /// Locks the first elements in memory and loads them at once.
    ///
    /// - Parameter count: their number, at most the array's.
    /// - Returns: whether the system allowed it.
    public func lock(first count: Int) -> Bool {
        LockedMemory.lock(start, byteCount: count * MemoryLayout<Element>.stride)
    }
}
