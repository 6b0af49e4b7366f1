import SwiftOperators
import SwiftParser
import SwiftSyntax
import SwiftSyntaxBuilder

/// Finds what can be broken in the sources of one target, and puts the chosen changes behind switches.
///
/// What it writes compiles if the source does: types stay as they are, and so does all that the compiler knows of
/// variables that get their value later. The broken code stands beside the sound one:
/// `(mutated(7) ? a <= b : a < b)`.
final class Breaker: SyntaxRewriter {
    private(set) var found: [Mutant] = []
    private let target: String
    /// The numbers of the switches, by the names of the mutants.
    private let switches: [String: Int]
    private var counts: [String: Int] = [:]
    private var file = ""

    /// The functions that switches call, a file of each target.
    ///
    /// They allocate nothing: a thread that must not may be the first to call them.
    static let support = """
        import Glibc

        private let chosen = getenv("TACTUS_MUTANT").map { atoi($0) } ?? 0

        func mutated(_ number: Int32) -> Bool { number == chosen }

        func flipped(_ number: Int32, _ condition: Bool) -> Bool { condition != mutated(number) }

        """

    init(target: String, switches: [String: Int] = [:]) {
        self.target = target
        self.switches = switches
        super.init()
    }

    /// A source with the chosen changes in it, each behind its switch.
    func broken(_ source: String, file: String) -> String {
        self.file = file
        let tree = OperatorTable.standardOperators.foldAll(Parser.parse(source: source)) { _ in }
        return rewrite(tree).description
    }

    /// Notes a change of a node; returns the number of its switch if it is chosen.
    private func number(_ kind: Mutant.Kind, of node: some SyntaxProtocol, becoming after: String = "") -> Int? {
        guard let declaration = node.declaration else { return nil }
        let named = "\(target) \(declaration) \(kind.rawValue)"
        counts[named, default: 0] += 1
        let name = "\(named) \(counts[named, default: 0])"
        found.append(
            Mutant(
                name: name, target: target, declaration: declaration, kind: kind, file: file,
                before: node.trimmedDescription, after: after))
        return switches[name]
    }

    /// Leaves alone what must be constant, what other targets have compiled in, and what only matches.
    override func visitAny(_ node: Syntax) -> Syntax? {
        switch node.kind {
        case .functionParameterClause, .attribute, .genericArgumentClause, .genericParameterClause, .expressionPattern:
            return node
        default:
            let attributes = node.asProtocol((any WithAttributesSyntax).self)?.attributes
            return attributes?.trimmedDescription.contains("@inlinable") == true ? node : nil
        }
    }

    override func visit(_ node: InfixOperatorExprSyntax) -> ExprSyntax {
        guard let spelled = node.operator.as(BinaryOperatorExprSyntax.self)?.operator.text,
            let other = Self.swaps[spelled]
        else { return super.visit(node) }
        let switched = number(.swap, of: node, becoming: node.spelled(other).trimmedDescription)
        let sound = super.visit(node)
        guard let switched, let inner = sound.as(InfixOperatorExprSyntax.self) else { return sound }
        return inner.within { "(mutated(\(raw: switched)) ? \($0.spelled(other)) : \($0))" }
    }

    private static let swaps = [
        "<": "<=", "<=": "<", ">": ">=", ">=": ">", "==": "!=", "!=": "==", "&&": "||", "||": "&&",
    ]

    override func visit(_ node: BooleanLiteralExprSyntax) -> ExprSyntax {
        let isTrue = node.literal.tokenKind == .keyword(.true)
        guard let switched = number(.flip, of: node, becoming: isTrue ? "false" : "true") else {
            return super.visit(node)
        }
        return ExprSyntax(node).within { _ in "\(raw: isTrue ? "!" : "")mutated(\(raw: switched))" }
    }

    override func visit(_ node: IntegerLiteralExprSyntax) -> ExprSyntax {
        // What is raised from these might not fit into a byte, which the compiler refuses.
        guard let value = Int(node.literal.text.filter { $0 != "_" }), !(64...255).contains(value),
            let switched = number(.raise, of: node, becoming: "\(2 * value + 1)")
        else { return super.visit(node) }
        return ExprSyntax(node).within { "(mutated(\(raw: switched)) ? \(raw: 2 * value + 1) : \($0))" }
    }

    override func visit(_ node: StringLiteralExprSyntax) -> ExprSyntax {
        let isEmpty = node.segments.trimmedDescription.isEmpty
        let switched = isEmpty ? nil : number(.text, of: node, becoming: "\"\"")
        let sound = super.visit(node)
        guard let switched else { return sound }
        return sound.within { "(mutated(\(raw: switched)) ? \"\" : \($0))" }
    }

    override func visit(_ node: TernaryExprSyntax) -> ExprSyntax {
        let switched = number(.choose, of: node, becoming: "!(\(node.condition.trimmed))")
        let sound = super.visit(node)
        guard let switched, let inner = sound.as(TernaryExprSyntax.self) else { return sound }
        return ExprSyntax(inner.with(\.condition, inner.condition.negated(by: switched)))
    }

    override func visit(_ node: ConditionElementSyntax) -> ConditionElementSyntax {
        guard case .expression(let condition) = node.condition else { return super.visit(node) }
        // The compiler knows that `while true` does not end.
        if condition.is(BooleanLiteralExprSyntax.self) { return node }
        let switched = number(.negate, of: condition, becoming: "!(\(condition.trimmed))")
        let sound = super.visit(node)
        guard let switched, case .expression(let inner) = sound.condition else { return sound }
        return sound.with(\.condition, .expression(inner.negated(by: switched)))
    }

    override func visit(_ node: WhereClauseSyntax) -> WhereClauseSyntax {
        let switched = number(.negate, of: node.condition, becoming: "!(\(node.condition.trimmed))")
        let sound = super.visit(node)
        guard let switched else { return sound }
        return sound.with(\.condition, sound.condition.negated(by: switched))
    }

    /// Without its `if`, what stands after `else` is done.
    override func visit(_ node: IfExprSyntax) -> ExprSyntax {
        let switched = number(.dropIf, of: node)
        let sound = super.visit(node)
        guard let switched, var inner = sound.as(IfExprSyntax.self) else { return sound }
        let first = ConditionElementSyntax(
            condition: .expression("!mutated(\(raw: switched))"), trailingComma: .commaToken(trailingTrivia: .space))
        inner.conditions.insert(first, at: inner.conditions.startIndex)
        return ExprSyntax(inner)
    }

    override func visit(_ node: GuardStmtSyntax) -> StmtSyntax {
        // What is bound there is needed below.
        let isPlain = node.conditions.allSatisfy { $0.condition.is(ExprSyntax.self) }
        let switched = isPlain ? number(.dropGuard, of: node) : nil
        let sound = super.visit(node)
        guard let switched, var inner = sound.as(GuardStmtSyntax.self) else { return sound }
        inner.conditions = ConditionElementListSyntax(
            inner.conditions.map { element in
                guard case .expression(let condition) = element.condition else { return element }
                return element.with(
                    \.condition,
                    .expression(condition.within { "(mutated(\(raw: switched)) ? true : (\($0)))" }))
            })
        return StmtSyntax(inner)
    }

    override func visit(_ node: DeferStmtSyntax) -> StmtSyntax {
        let switched = number(.dropDefer, of: node)
        let sound = super.visit(node)
        guard let switched, var inner = sound.as(DeferStmtSyntax.self) else { return sound }
        inner.body.statements = ["if !mutated(\(raw: switched)) {\(inner.body.statements)}"]
        return StmtSyntax(inner)
    }

    override func visit(_ node: CodeBlockItemSyntax) -> CodeBlockItemSyntax {
        let switched = node.isDroppable ? number(.drop, of: node) : nil
        let sound = super.visit(node)
        guard let switched, case .expr(let action) = sound.item else { return sound }
        return sound.with(\.item, .expr(action.within { "if !mutated(\(raw: switched)) { \($0) }" }))
    }
}

extension InfixOperatorExprSyntax {
    /// The same with another operator.
    fileprivate func spelled(_ text: String) -> Self {
        let token = TokenSyntax.binaryOperator(
            text, leadingTrivia: `operator`.leadingTrivia, trailingTrivia: `operator`.trailingTrivia)
        return with(\.operator, ExprSyntax(BinaryOperatorExprSyntax(operator: token)))
    }
}

extension ExprSyntaxProtocol {
    /// Other code around an expression; comments and line ends before and after stay outside.
    fileprivate func within(_ code: (Self) -> ExprSyntax) -> ExprSyntax {
        code(trimmed).with(\.leadingTrivia, leadingTrivia).with(\.trailingTrivia, trailingTrivia)
    }

    /// The opposite of a condition while a switch is on.
    fileprivate func negated(by switched: Int) -> ExprSyntax {
        within { "flipped(\(raw: switched), \($0))" }
    }
}
