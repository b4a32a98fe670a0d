"""Recipes are read strictly, and the packaged ones fit the findings they name."""

from __future__ import annotations

from pathlib import Path

import pytest

from elrcheck.base.errors import UsageFault
from elrcheck.catalogue.configured import release_numbers
from elrcheck.catalogue.packaged_findings import finding_files
from elrcheck.catalogue.recipe_notation.recipe_actions import (
    Create,
    Delete,
    ElectStep,
    LoseLog,
    ReassignStep,
    Signal,
    Start,
    Stream,
)
from elrcheck.catalogue.recipe_notation.recipe_file import Recipe, find_recipe, packaged_recipes, read_recipe
from elrcheck.catalogue.recipe_notation.recipe_signs import Answered, ExpectedPartition, LogEnd, PrintedLine, WaitStep
from support.edits import replaced

SMALL = """\
finding = "F-20"
name = "small"
title = "A title"
about = "About it"
expects = "lost"
versions = ["4.0.0", "4.3.1"]
[cluster]
brokers = 2
[control]
title = "ELR off"
features = { "eligible.leader.replicas.version" = 0 }
[[step]]
create = "orders"
partitions = [[0, 1]]
config = { "min.insync.replicas" = 2, "unclean.leader.election.enable" = false }
[[step]]
wait = "orders-0"
leader = -1
isr = [1, 0]
in = "run"
[[step]]
cancel = "orders-0"
[read]
partitions = ["orders-0"]
"""


def read(tmp_path: Path, text: str = SMALL) -> Recipe:
    file = tmp_path / "recipe.toml"
    file.write_text(text, encoding="utf-8")
    return read_recipe(file)


def test_what_a_recipe_says(tmp_path: Path) -> None:
    recipe = read(tmp_path)
    assert recipe.cluster.debug == ()
    more = read(tmp_path, replaced(SMALL, "brokers = 2", 'brokers = 2\ndebug = ["kafka.cluster.Partition"]'))
    assert more.cluster.debug == ("kafka.cluster.Partition",)
    create, wait, cancel = recipe.steps
    settings = {"min.insync.replicas": "2", "unclean.leader.election.enable": "false"}
    assert create.action == Create("orders", ((0, 1),), settings)
    assert wait.action == WaitStep("orders-0", ExpectedPartition(leader=(-1,), isr=(1, 0)), 60.0, False)
    assert cancel.action == ReassignStep("orders-0", None)
    assert (wait.sides, cancel.sides) == (("run",), ("run", "control"))
    assert wait.text == "wait orders-0, leader -1, isr [1, 0]" and wait.where.endswith(":16")
    assert recipe.id == "F-20/small" and not recipe.default and recipe.needs is None


@pytest.mark.parametrize(
    ("before", "after", "says"),
    [
        ("leader = -1", "leadr = -1", "did you mean `leader`"),
        ('cancel = "orders-0"', 'cancle = "orders-0"', "did you mean `cancel`"),
        ('cancel = "orders-0"', "stop = 2", "one of the 2 brokers"),
        ('cancel = "orders-0"', "sleep = 3", "`because` is missing"),
        ('cancel = "orders-0"', 'pause = "controler"', "a whole number"),
        ('cancel = "orders-0"', 'stop = "broker"', "a whole number"),
        ('cancel = "orders-0"', 'lose-log = "orders-0"\nbroker = 2', "one of the 2 brokers"),
        ('cancel = "orders-0"', 'elect = "orders-0"\ntype = "clean"', "preferred or unclean"),
        ('cancel = "orders-0"', 'cancel = "orders"', "a partition such as orders-1"),
        ('cancel = "orders-0"', 'said = 1\npattern = "("', "no regular expression"),
        ('cancel = "orders-0"', 'log = "orders-0"\nbroker = 1', "waits for an `end`"),
        ('cancel = "orders-0"', 'elect = "orders-0"\ntype = "unclean"\nrefused = "x"\nif-needed = true', "either"),
        ('cancel = "orders-0"', 'answered = "orders-0"\ninstead = { stop = 1 }', "`stop` shows nothing"),
        ('cancel = "orders-0"', 'answered = "orders-0"\ninstead = true', "a table such as"),
        (
            'cancel = "orders-0"',
            'answered = "orders-0"\ninstead = { log = "orders-0", broker = 2, end = 1 }',
            "one of the 2 brokers",
        ),
        (
            'cancel = "orders-0"',
            'answered = "orders-0"\ninstead = { wait = "orders-0", decides = true }',
            "unknown key `decides`",
        ),
        (
            'cancel = "orders-0"',
            'wait = "orders-0"\nisr = [0]\ninstead = { said = 1, pattern = "x" }',
            "unknown key `instead`",
        ),
        ('cancel = "orders-0"', 'produce = "orders-0"\nrecords = 1\nacks = 0', "1 or all"),
        ('cancel = "orders-0"', 'produce = "orders-0"\nrecords = 1\nvia = 2', "one of the 2 brokers"),
        ('cancel = "orders-0"', 'wait = "orders-0"\nseconds = 3', "says what it waits for"),
        ('cancel = "orders-0"', 'configure = "topics"\nset = {}', "`topic NAME`"),
        ('partitions = ["orders-0"]', 'partitions = ["orders-1"]', "no step creates"),
        ('cancel = "orders-0"', 'delete = "order"', "no step before creates `order`"),
        ('cancel = "orders-0"', 'delete = "orders-0"', "a name of small letters, digits and _"),
        ('cancel = "orders-0"', 'delete = "orders"', "nothing of it can be read"),
        ('in = "run"', 'in = "both"', "run or control"),
        ('["4.0.0", "4.3.1"]', '["4.0.0"]', "the oldest and the newest"),
        ('["4.0.0", "4.3.1"]', '["4.0", "4.3.1"]', "a release such as 4.1.2"),
        ("brokers = 2", "brokers = 9", "at most 5"),
        ("brokers = 2", 'brokers = 2\ndebug = ["a=b"]', "the name of a logger"),
        ('expects = "lost"', 'expects = "gone"', "lost or unavailable"),
        ('name = "small"', 'name = "Small"', "small letters"),
        ('finding = "F-20"', 'finding = "P-20"', "the id of a finding"),
        ('title = "A title"', 'title = ""', "not an empty one"),
        ('name = "small"', 'name = "small"\nsurprise = 1', "unknown key `surprise`"),
    ],
)
def test_mistakes_are_refused_with_their_place(tmp_path: Path, before: str, after: str, says: str) -> None:
    assert before in SMALL
    with pytest.raises(UsageFault) as caught:
        read(tmp_path, replaced(SMALL, before, after))
    text = caught.value.render()
    assert says in text and "recipe.toml" in text


def test_steps_on_the_controller_and_on_logs(tmp_path: Path) -> None:
    steps = """pause = "controller"
[[step]]
kill = "controller"
[[step]]
start = "controller"
[[step]]
lose-log = "orders-0"
broker = 1
[[step]]
lose-log = "__transaction_state-0"
broker = 0
from = 7
[[step]]
elect = "orders-0"
type = "unclean"
refused = "ElectionNotNeeded"
[[step]]
create = "large"
partitions = [[0], [1]]
times = 3
"""
    recipe = read(tmp_path, replaced(SMALL, 'cancel = "orders-0"\n', steps))
    assert [step.action for step in recipe.steps[2:]] == [
        Signal("pause", None, False, 120.0),
        Signal("kill", None, True, 120.0),
        Start(None, True, 240.0),
        LoseLog("orders-0", 1),
        LoseLog("__transaction_state-0", 0, 7),
        ElectStep("orders-0", "unclean", None, "ElectionNotNeeded"),
        Create("large", ((0,), (1,)), {}, 3),
    ]


def test_what_is_seen_where_a_finding_is_absent(tmp_path: Path) -> None:
    steps = """answered = "orders-0"
seconds = 5
instead = { wait = "orders-0", isr = [0] }
[[step]]
said = 100
pattern = "resigns"
instead = { log = "orders-0", broker = 1, end = 3, seconds = 4 }
[[step]]
elect = "orders-0"
type = "preferred"
if-needed = true
"""
    answered, sign, elect = read(tmp_path, replaced(SMALL, 'cancel = "orders-0"\n', steps)).steps[2:]
    alone = WaitStep("orders-0", ExpectedPartition(isr=(0,)), 10.0, False)
    assert answered.action == Answered("orders-0", 5.0, alone)
    assert sign.action == PrintedLine(100, "resigns", 60.0, LogEnd("orders-0", 1, 3, 4.0))
    assert elect.action == ElectStep("orders-0", "preferred", None, None, True)
    assert answered.text == "answered orders-0"
    assert elect.text == "elect orders-0, type preferred, if-needed yes"


def test_a_topic_is_deleted_after_it_was_created(tmp_path: Path) -> None:
    more = 'create = "old"\npartitions = [[0]]\n[[step]]\ndelete = "old"\n[[step]]\ncancel = "orders-0"'
    recipe = read(tmp_path, replaced(SMALL, 'cancel = "orders-0"', more))
    assert [step.action for step in recipe.steps[2:4]] == [Create("old", ((0,),), {}), Delete("old")]
    assert recipe.steps[3].text == "delete old"
    early = 'delete = "old"\n[[step]]\ncreate = "old"\npartitions = [[0]]'
    with pytest.raises(UsageFault, match="no step before creates"):
        read(tmp_path, replaced(SMALL, 'cancel = "orders-0"', early))


def test_a_control_that_changes_nothing_is_refused(tmp_path: Path) -> None:
    features = 'features = { "eligible.leader.replicas.version" = 0 }\n'
    same = replaced(replaced(SMALL, 'in = "run"\n', ""), features, "")
    with pytest.raises(UsageFault, match="does the same"):
        read(tmp_path, same)
    start, end = SMALL.index("[control]"), SMALL.index("[[step]]")
    with pytest.raises(UsageFault, match="no \\[control\\]"):
        read(tmp_path, SMALL[:start] + SMALL[end:])


def test_the_packaged_recipes_fit_the_findings() -> None:
    recipes = packaged_recipes()
    findings = {file.name.removesuffix(".toml") for file in finding_files()}
    assert recipes and {recipe.finding for recipe in recipes} <= findings
    for finding in {recipe.finding for recipe in recipes}:
        of_finding = [recipe for recipe in recipes if recipe.finding == finding]
        assert [recipe.default for recipe in of_finding].count(True) == 1
        assert find_recipe(finding).default
    for recipe in recipes:
        assert recipe.file.endswith(f"{recipe.finding}-{recipe.name}.toml")
        releases = [run.kafka for run in recipe.seen if run.outcome in ("lost", "unavailable")]
        assert (recipe.versions is None) == (not releases)
        if recipe.versions is not None:
            assert release_numbers(recipe.versions[0]) <= release_numbers(recipe.versions[1])
        assert recipe.control is not None
        assert find_recipe(recipe.id.lower().replace("f-", "F-")) == recipe
        assert find_recipe(recipe.finding, recipe.name) == recipe


@pytest.mark.parametrize(
    ("name", "order", "says"),
    [("F-3", None, "no recipe for"), ("F-20/los", None, "did you mean `loss`"), ("F-20/loss", "x", "two recipes")],
)
def test_a_recipe_that_is_not_there(name: str, order: str | None, says: str) -> None:
    with pytest.raises(UsageFault) as caught:
        find_recipe(name, order)
    assert says in caught.value.render()


def test_a_stream_of_records(tmp_path: Path) -> None:
    sent = '[[step]]\nstream = "orders-0"\nrate = 50\n[[step]]\nstream-end = "orders-0"\n[read]'
    recipe = read(tmp_path, replaced(SMALL, "[read]", sent))
    assert [step.action for step in recipe.steps[-2:]] == [Stream("orders-0", 50), Stream("orders-0", None)]
