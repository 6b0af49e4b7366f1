import SwiftSyntax

extension SyntaxProtocol {
    /// The declaration in whose body this stands, such as `TickPlanner.deviceConnected`; nil outside of bodies.
    var declaration: String? {
        var member: String?
        var place = Syntax(self)
        while let above = place.parent {
            if member == nil, place.is(CodeBlockSyntax.self) || place.is(AccessorBlockSyntax.self) {
                member = above.memberName
            } else if let member, let type = above.typeName {
                return "\(type).\(member)"
            }
            place = above
        }
        return member
    }

    /// The name of what has a body.
    private var memberName: String? {
        switch Syntax(self).as(SyntaxEnum.self) {
        case .functionDecl(let function): function.name.text
        case .initializerDecl: "init"
        case .deinitializerDecl: "deinit"
        case .subscriptDecl: "subscript"
        case .patternBinding(let binding): binding.pattern.trimmedDescription
        default: nil
        }
    }

    private var typeName: String? {
        if let extended = self.as(ExtensionDeclSyntax.self) { return extended.extendedType.trimmedDescription }
        guard Syntax(self).isProtocol((any DeclGroupSyntax).self) else { return nil }
        return Syntax(self).asProtocol((any NamedDeclSyntax).self)?.name.text
    }
}

extension CodeBlockItemSyntax {
    /// Whether this can be left out and all the rest still compiles: a call, or an assignment that is not the first.
    var isDroppable: Bool {
        guard case .expr(var action) = item, !mayBeValue else { return false }
        let text = trimmedDescription
        if Self.spared.contains(where: { text.hasPrefix($0) }) { return false }
        if let tried = action.as(TryExprSyntax.self) { action = tried.expression }
        if let awaited = action.as(AwaitExprSyntax.self) { action = awaited.expression }
        guard let assignment = action.as(InfixOperatorExprSyntax.self) else {
            return action.is(FunctionCallExprSyntax.self)
        }
        if assignment.operator.is(AssignmentExprSyntax.self) {
            return !setsFirst(assignment.leftOperand.trimmedDescription)
        }
        return ["+=", "-="].contains(assignment.operator.trimmedDescription)
    }

    /// What is logged, few tests ask; what never returns, or asks what must be, is no decision.
    private static let spared = ["log", "precondition", "assert", "fatalError", "exit", "self.init", "super.init"]

    /// Whether an assignment may be what gives a property or a variable its first value.
    private func setsFirst(_ name: String) -> Bool {
        var place = Syntax(self)
        while let above = place.parent {
            if above.is(InitializerDeclSyntax.self) { return true }
            for statement in above.as(CodeBlockItemListSyntax.self) ?? [] {
                let bindings = statement.item.as(VariableDeclSyntax.self)?.bindings ?? []
                if bindings.contains(where: { $0.initializer == nil && $0.pattern.trimmedDescription == name }) {
                    return true
                }
            }
            place = above
        }
        return false
    }

    /// Whether this may be what a body returns, or an `if` or a `switch`, without saying `return`.
    private var mayBeValue: Bool {
        guard let block = parent?.parent, parent?.as(CodeBlockItemListSyntax.self)?.count == 1 else { return false }
        guard let owner = block.parent else { return false }
        switch Syntax(block).as(SyntaxEnum.self) {
        case .closureExpr, .accessorBlock: return true
        case .switchCase: return owner.parent.map(Self.isValue) ?? false
        default: break
        }
        switch owner.as(SyntaxEnum.self) {
        case .functionDecl(let function): return function.signature.returnClause != nil
        case .accessorDecl(let accessor): return accessor.accessorSpecifier.tokenKind == .keyword(.get)
        case .ifExpr: return Self.isValue(owner)
        default: return false
        }
    }

    private static func isValue(_ branching: Syntax) -> Bool {
        guard let above = branching.parent else { return false }
        if above.is(IfExprSyntax.self) { return isValue(above) }
        let statement = above.is(ExpressionStmtSyntax.self) ? above.parent : above
        return statement?.as(CodeBlockItemSyntax.self)?.mayBeValue ?? true
    }
}
