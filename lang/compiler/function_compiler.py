"""Compiles the Python source of a model function to typed IR (`elrcheck.lang.ir`).

The language is the subset of Python that reads as a definition: assignments to fresh names, if/elif/else, match,
`require`, `return`, conditional expressions and comprehensions. Everything else is refused when the model is loaded,
with the place and what to write instead, so a model that loads runs in every reading.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Sequence
from typing import Any, Protocol

from elrcheck.lang import expr
from elrcheck.lang.compiler.expressions import Expressions
from elrcheck.lang.compiler.match_statements import Matching
from elrcheck.lang.compiler.scope import Env, FunctionSource, Value
from elrcheck.lang.expr import Expression
from elrcheck.lang.guards import label
from elrcheck.lang.ir import Block, Fn, If, Let, Require, Ret, StateView, fn_nodes, state_view
from elrcheck.lang.marks import mistake_in
from elrcheck.lang.runtime import LeadsTo
from elrcheck.lang.source import ModelError, Source
from elrcheck.lang.tree import free_names
from elrcheck.lang.types import ModelTypeError, Ty, is_finite, type_of

# Kind of function -> possible numbers of states, kind of the return type, and the parameters as they are written.
ROLES: dict[str, tuple[tuple[int, ...], str, str]] = {
    "init": ((0,), "state", "the configuration, (c, ..)"),
    "bound": ((1,), "bool", "(c, s)"),
    "action": ((1,), "", "one state, (c, s, ..)"),
    "always": ((1, 2), "bool", "a state, (c, s), or a step, (c, s, t)"),
    "sometimes": ((1, 2), "bool", "a state, (c, s), or a step, (c, s, t)"),
    "lemma": ((1,), "bool", "(c, s)"),
    "leads_to": ((1,), "", "one state, (c, s, ..)"),
    "rule": ((0,), "bool", "no state of the model"),
}
CHOOSING = ("action", "leads_to", "init")
# Kind of statement that the language does not support -> its name, and what to write instead.
STATEMENTS = {
    "For": ("a for loop", "a loop is a comprehension: all(..), any(..), tuple(.. for n in range(c.nodes))"),
    "While": ("a while loop", "write a repetition as a comprehension, or as a step that is enabled again"),
    "AugAssign": ("an assignment such as +=", "give the new value a name: more = n + 1"),
    "Return": ("return without a value", ""),
    "Raise": ("raise", "a step that is not possible is refused by require(condition, name)"),
    "Assert": ("assert", "a step that is not possible is refused by require(condition, name)"),
    "FunctionDef": ("a function inside a function", "write it at the level of the module, with @op"),
    "Pass": ("pass", ""),
    "Try": ("try", "ask before: with if, or require()"),
}


class CheckingSource(FunctionSource, Protocol):
    """Functions, the types in their signatures, and the checks of these types."""

    def hints(self, function: Callable[..., object], /) -> dict[str, Any]: ...
    def demand_limits(self, ty: Ty, /) -> None: ...


class FunctionCompiler(Expressions):
    """Compiles the body of one function; expressions are handled by the base class."""

    source: Source
    functions: CheckingSource

    def __init__(self, functions: CheckingSource, function: Callable[..., object]) -> None:
        super().__init__(functions, Source(function), function.__globals__)
        self.function = function
        self.env: Env = {}

    def inlined_state(
        self, node: ast.Call, fn: Fn, views: Sequence[StateView], values: Sequence[Expression]
    ) -> StateView:
        """See `Calls.inlined_state`. The operator's body replaces the call.

        So back ends need no calls that return states, and a step is one expression for each field.
        """
        if fn.kind != "op":
            self.source.error(node, f"{fn.name} is @{fn.kind}: only a function with @op can be called here")
        return self._state_of(self._body_for(fn, views, values))

    def inlined_value(
        self, node: ast.Call, fn: Fn, views: Sequence[StateView], values: Sequence[Expression]
    ) -> Expression:
        """See `Calls.inlined_value`. The operator's body replaces the call; what has changed gets local names.

        So a call in any back end names one of the states of a step.
        """
        changed: list[tuple[str, Expression]] = []
        states = [self._with_names(view, changed) for view in views]
        body = self._value_of(self._body_for(fn, states, values))
        for name, value in reversed(changed):
            body = expr.LetIn(body.ty, name, value, body)
        return body

    def _with_names(self, view: StateView, changed: list[tuple[str, Expression]]) -> StateView:
        """Return the state with a local name for each changed field; add these names to `changed`."""
        fields = dict(view.fields)
        for field, value in view.fields.items():
            if not isinstance(value, expr.StateVariable | expr.Variable):
                changed.append((self.fresh(field), value))
                fields[field] = expr.Variable(value.ty, changed[-1][0])
        return StateView(view.moment, fields, view.pristine)

    def _value_of(self, block: Block) -> Expression:
        """Convert a block that returns a value to an expression."""
        match block:
            case Let(name=name, value=value, rest=rest):
                body = self._value_of(rest)
                return expr.LetIn(body.ty, name, value, body)
            case If(condition=condition, then=then, orelse=orelse):
                return self._either(condition, self._value_of(then), self._value_of(orelse), self.source.tree)
            case Ret(value=value) if not isinstance(value, StateView):
                return value
        raise AssertionError(block)

    def _body_for(self, fn: Fn, views: Sequence[StateView], values: Sequence[Expression]) -> Block:
        """Return the body of another operator with these arguments, in which no local name hides one of ours."""
        arguments: Env = dict(zip(fn.states, views, strict=True))
        arguments |= {name: value for (name, _), value in zip(fn.params, values, strict=True)}
        inner = FunctionCompiler(self.functions, fn.source)
        inner.used = self.used
        env = {arg.arg: arguments.get(arg.arg) or self._config() for arg in inner.source.tree.args.args}
        body = inner._block(inner._statements(), env, fn)
        self.used = inner.used
        return body

    def _state_of(self, block: Block) -> StateView:
        """Convert a block that returns a state to one expression for each field."""
        match block:
            case Let(name=name, value=value, rest=rest):
                view = self._state_of(rest)
                fields = {
                    f: expr.LetIn(e.ty, name, value, e) if name in free_names(e) else e for f, e in view.fields.items()
                }
                return StateView(view.moment, fields, False)
            case If(condition=condition, then=then, orelse=orelse):
                choice = self.either(condition, self._state_of(then), self._state_of(orelse), self.source.tree)
                assert isinstance(choice, StateView)
                return choice
            case Ret(value=StateView() as view):
                return view
        raise AssertionError(block)

    def sign(self, fn: Fn) -> None:
        """Fill in the parameters and the return type of a function."""
        source, tree = self.source, self.source.tree
        self._plain_parameters(tree.args)
        try:
            hints = self.functions.hints(self.function)
        except NameError as fault:
            source.error(tree, f"{fault}: an annotation needs it", "import it")
        fn.params, fn.states, fn.has_config = [], [], False
        for arg in tree.args.args:
            if arg.arg not in hints:
                source.error(arg, f"parameter '{arg.arg}' needs a type annotation")
            self._parameter(fn, arg, hints[arg.arg])
        if "return" not in hints:
            source.error(tree, "the result needs a type annotation: -> bool, -> State, ...")
        fn.ret = self._type(tree, hints["return"])
        self.types = (fn.ret, *(ty for _, ty in fn.params))
        self._role(fn)

    def fill(self, fn: Fn) -> None:
        """Fill in the body of a function whose signature is known."""
        self.used = {name for name, _ in fn.params}
        fn.body = self._block(self._statements(), self.env, fn)
        for e in fn_nodes(fn):
            if isinstance(e, expr.Image | expr.Union) and not is_finite(e.ty) and e.node is not None:
                message = f"a set of {e.ty.elem}: only types with finitely many values have sets"
                self.source.error(e.node, message, "give it a name with a type: xs: frozenset[Round] = frozenset(..)")

    def _statements(self) -> list[ast.stmt]:
        """Return the statements of the body, without the docstring."""
        body = self.source.tree.body
        return [s for s in body if not (isinstance(s, ast.Expr) and isinstance(s.value, ast.Constant))]

    def _plain_parameters(self, parameters: ast.arguments) -> None:
        """Refuse parameters that are not passed by position or have a default."""
        others = [*parameters.posonlyargs, *parameters.kwonlyargs, parameters.vararg, parameters.kwarg]
        odd = next((arg for arg in others if arg is not None), None)
        if odd is not None:
            self.source.error(odd, f"'{odd.arg}': model functions have plain parameters, no *, / or **")
        if parameters.defaults:
            self.source.error(parameters.defaults[0], "parameters of model functions have no defaults")

    def _role(self, fn: Fn) -> None:
        """Check the parameters and the return type against the kind of the function."""
        tree = self.source.tree
        states, returns, shape = ROLES.get(fn.kind, ((0, 1, 2), "", ""))
        if len(fn.states) not in states:
            self.source.error(tree, f"@{fn.kind} takes {shape}; this has {len(fn.states)} states")
        if fn.kind == "action" and fn.ret.kind != "state":
            self.source.error(tree, f"an action returns the next state, not {fn.ret}")
        if wrong := mistake_in(fn.marks, {name: ty.kind for name, ty in fn.params}):
            self.source.error(tree, wrong)
        if fn.kind == "leads_to" and fn.ret.cls is not LeadsTo:
            message = "a leads_to property takes one state and returns LeadsTo(premise, conclusion)"
            self.source.error(tree, message)
        if returns and fn.ret.kind != returns:
            self.source.error(tree, f"@{fn.kind} returns {returns}, not {fn.ret}")
        if fn.kind in ROLES and fn.params and fn.kind not in (*CHOOSING, "rule"):
            message = f"@{fn.kind} takes {shape}, and no '{fn.params[0][0]}'"
            self.source.error(tree, message, "quantify: all(.. for n in range(c.nodes))")
        if fn.kind in CHOOSING:
            for arg in tree.args.args:
                ty = dict(fn.params).get(arg.arg)
                if ty is not None and not is_finite(ty):
                    self.source.error(
                        arg,
                        f"every value of '{arg.arg}' is tried, and {ty} is infinite",
                        "choices are a sort, bool, an enum, a nat(..) with hi=, records and sets of these, or T | None",
                    )

    def _type(self, node: ast.AST, hint: object) -> Ty:
        try:
            ty = type_of(hint)
        except ModelTypeError as error:
            self.source.error(node, str(error), error.help)
        try:
            self.functions.demand_limits(ty)
        except ModelError as error:
            if error.where:
                raise
            self.source.error(node, error.message, error.help)
        return ty

    def _config(self) -> expr.WholeConfig:
        return expr.WholeConfig(type_of(self.functions.config))

    def _parameter(self, fn: Fn, arg: ast.arg, hint: object) -> None:
        env = self.env
        ty = self._type(arg, hint)
        if ty.kind == "config":
            fn.has_config = True
            env[arg.arg] = self._config()
        elif ty.kind == "state":
            fn.states.append(arg.arg)
            moment: expr.Moment = "next" if len(fn.states) == 2 else "now"
            env[arg.arg] = state_view(moment, self.functions.state_fields)
        else:
            fn.params.append((arg.arg, ty))
            env[arg.arg] = expr.Variable(ty, arg.arg)

    # ------------------------------------------------------------------------- statements

    def _block(self, statements: list[ast.stmt], env: Env, fn: Fn) -> Block:
        if not statements:
            self.source.error(self.source.tree, "a path through the function ends without return")
        first, rest = statements[0], statements[1:]
        match first:
            case ast.Return(value=ast.expr() as value):
                return Ret(self._result(value, env, fn))
            case ast.Expr(value=ast.Call(func=ast.Name(id="require"), args=[_, *_]) as call):
                condition, name = self._guard(call, env, fn)
                return Require(condition, name, self._block(rest, env, fn))
            case ast.Assign(targets=[ast.Name(id=name_)], value=value):
                return self._assign(name_, self.ex(value, env), env, lambda e: self._block(rest, e, fn))
            case ast.Assign(targets=[ast.Tuple() as target], value=value):
                parts = self.part(value, env)
                local = self.fresh("both")
                names = self.named(target, expr.Variable(parts.ty, local))
                return Let(local, parts, self._block(rest, {**env, **names}, fn))
            case ast.AnnAssign(target=ast.Name(id=name_), value=ast.expr() as value, annotation=annotation):
                want = self._annotation(annotation)
                coerced = self.coerce(self.ex(value, env), want, value)
                return self._assign(name_, coerced, env, lambda e: self._block(rest, e, fn))
            case ast.If():
                return self._if(first, rest, env, fn)
            case ast.Match():
                return self._block([*self._matched(first, env), *rest], env, fn)
            case ast.Assign():
                self.source.error(first, "only 'name = expression': values are immutable, use replace() or put()")
            case ast.Expr():
                self.ex(first.value, env)  # errors in the expression itself come first
                self.source.error(first, "a value without a use does nothing: name it, or return it")
            case _:
                name, help = STATEMENTS.get(type(first).__name__, (type(first).__name__, ""))
                self.source.error(
                    first,
                    f"{name} is not in the modelling language: write assignments, if, match, require() and return",
                    help,
                )

    def _guard(self, call: ast.Call, env: Env, fn: Fn) -> tuple[Expression, str]:
        """Return the condition and the name of a guard."""
        if fn.kind not in ("action", "init"):
            self.source.error(
                call,
                f"require() is for actions and @init, and this is @{fn.kind}",
                "return a bool here, and let the action require it",
            )
        condition, *names = call.args
        if call.keywords or len(names) > 1 or not all(_is_text(name) for name in names):
            self.source.error(call, 'write require(condition, "what has to hold")')
        return self.boolean(condition, env), label(call)

    def _result(self, node: ast.expr, env: Env, fn: Fn) -> Value:
        value = self.ex(node, env)
        if fn.ret.kind == "state":
            if not isinstance(value, StateView):
                self.source.error(node, f"the next state is expected here, this is {value.ty}")
            return value
        return self.coerce(value, fn.ret, node)

    def _annotation(self, node: ast.expr) -> Ty:
        # The annotation is part of the module, whose code has already run, so evaluating it runs no foreign code.
        return self._type(node, eval(ast.unparse(node), self.globals))

    def _if(self, node: ast.If, rest: list[ast.stmt], env: Env, fn: Fn) -> Block:
        condition = self.boolean(node.test, env)
        then_returns, else_returns = _returns(node.body), _returns(node.orelse)
        if then_returns or else_returns:
            then = self._block(node.body + ([] if then_returns else rest), dict(env), fn)
            orelse = self._block(node.orelse + ([] if else_returns else rest), dict(env), fn)
            return If(condition, then, orelse)
        env_then, env_else = dict(env), dict(env)
        names = list(dict.fromkeys(self._straight(node.body, env_then) + self._straight(node.orelse, env_else)))

        def join(index: int, env: Env) -> Block:
            if index == len(names):
                return self._block(rest, env, fn)
            name = names[index]
            if name not in env_then or name not in env_else:  # local to one branch
                return join(index + 1, {k: v for k, v in env.items() if k != name})
            value = self.either(condition, env_then[name], env_else[name], node)
            return self._assign(name, value, env, lambda e: join(index + 1, e))

        return join(0, env)

    def _matched(self, node: ast.Match, env: Env) -> list[ast.stmt]:
        """Rewrite a match statement as `if` statements."""
        return Matching(self.globals, lambda e: self.part(e, env).ty, self.source.error).as_if(node)

    def _straight(self, body: list[ast.stmt], env: Env) -> list[str]:
        """Return the names that a branch without return assigns; put their values into env."""
        names: list[str] = []
        binds: list[tuple[str, Expression]] = []
        for statement in body:
            match statement:
                case ast.Assign(targets=[ast.Name(id=name)], value=value):
                    compiled = self.ex(value, env)
                    names.append(name)
                    if isinstance(compiled, StateView):
                        env[name] = compiled
                        continue
                    local = self.fresh(name)
                    binds.append((local, compiled))
                    env[name] = expr.Variable(compiled.ty, local)
                case ast.If():
                    names += self._joined(statement, env)
                case ast.Match():
                    names += self._straight(self._matched(statement, env), env)
                case _:
                    self.source.error(statement, "a branch that falls through may only assign names")
        for name in set(names):
            value_ = env[name]
            if isinstance(value_, StateView):
                continue
            for local, compiled in reversed(binds):
                if isinstance(value_, expr.Variable) and value_.name == local:
                    value_ = compiled
                elif local in free_names(value_):
                    value_ = expr.LetIn(value_.ty, local, compiled, value_)
            env[name] = value_
        return names

    def _joined(self, node: ast.If, env: Env) -> list[str]:
        """Return the names that both branches of an `if` inside a branch assign; put their values into env."""
        condition, then, orelse = self.boolean(node.test, env), dict(env), dict(env)
        names = dict.fromkeys(self._straight(node.body, then) + self._straight(node.orelse, orelse))
        both = [name for name in names if name in then and name in orelse]
        for name in both:
            env[name] = self.either(condition, then[name], orelse[name], node)
        return both

    def _assign(self, name: str, value: Value, env: Env, then: Callable[[Env], Block]) -> Block:
        env = dict(env)
        if isinstance(value, StateView):
            env[name] = value
            return then(env)
        local = self.fresh(name)
        env[name] = expr.Variable(value.ty, local)
        return Let(local, value, then(env))


def _is_text(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and isinstance(node.value, str)


def _returns(body: list[ast.stmt]) -> bool:
    if not body:
        return False
    last = body[-1]
    return isinstance(last, ast.Return) or (isinstance(last, ast.If) and _returns(last.body) and _returns(last.orelse))
