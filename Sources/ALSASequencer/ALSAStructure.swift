internal import CALSA

/// An opaque libasound structure, freed with its owner.
package struct ALSAStructure: ~Copyable {
    /// For calls of libasound; valid as long as this value.
    package let pointer: OpaquePointer
    private let free: @convention(c) (OpaquePointer?) -> Void

    /// Allocates a structure with libasound's pair of functions for its kind.
    ///
    /// - Throws: when there is no memory.
    package init(
        _ allocate: (UnsafeMutablePointer<OpaquePointer?>?) -> Int32,
        _ free: @escaping @convention(c) (OpaquePointer?) -> Void
    ) throws(ALSAError) {
        var allocated: OpaquePointer?
        try check("malloc", allocate(&allocated))
        pointer = allocated!  // a zero return means it has been allocated
        self.free = free
    }

    deinit { free(pointer) }
}
