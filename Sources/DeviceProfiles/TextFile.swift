internal import Foundation

/// Files as bytes, read without waiting for pipes or filling memory.
enum TextFile {
    /// The contents of an ordinary file; of a longer one than any text may be, only enough to see that it is.
    static func bytes(of path: String) throws(Mistakes) -> [UInt8] {
        let place = Place(file: path, line: 1, column: 1)
        let target = URL(filePath: path).resolvingSymlinksInPath()
        do {
            let kind = try FileManager.default.attributesOfItem(atPath: target.path(percentEncoded: false))[.type]
            switch kind as? FileAttributeType {
            case .typeRegular: break
            case .typeSymbolicLink: throw Mistakes(place, "this is a link to a file that does not exist")
            default: throw Mistakes(place, "this is no ordinary file")
            }
            let handle = try FileHandle(forReadingFrom: target)
            defer { try? handle.close() }
            return [UInt8](try handle.read(upToCount: SourceText.longest + 1) ?? Data())
        } catch let mistakes as Mistakes {
            throw mistakes
        } catch CocoaError.fileReadNoPermission {
            throw Mistakes(place, "there is no permission to read this file")
        } catch CocoaError.fileReadNoSuchFile, CocoaError.fileNoSuchFile {
            throw Mistakes(place, "there is no such file")
        } catch {
            throw Mistakes(place, "this file cannot be read: \(error.localizedDescription)")
        }
    }

    /// The names of the files in a folder in order, hidden ones left out; nil where there is no such folder.
    static func names(in folder: String) throws(Mistakes) -> [String]? {
        var isFolder: ObjCBool = false
        guard FileManager.default.fileExists(atPath: folder, isDirectory: &isFolder) else { return nil }
        let place = Place(file: folder, line: 1, column: 1)
        guard isFolder.boolValue else { throw Mistakes(place, "profiles are kept in a folder; this is a file") }
        do {
            return try FileManager.default.contentsOfDirectory(atPath: folder).filter { !$0.hasPrefix(".") }.sorted()
        } catch {
            throw Mistakes(place, "there is no permission to read this folder")
        }
    }
}
