"""The page in a real Chromium: what a person does, and what is really on the screen."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from mpnp.studio.scene import Scene
from mpnp.studio.server import Server
from mpnp.studio.workspace import Workspace

from .conftest import MODEL
from .pages import believed, click, colour, labels, near, place, ready, until, visit

RED, BLUE = (0, 114, 178), (230, 159, 0)  # the first two colours, by the names of the classes in the test's graph


def test_an_example_is_opened_from_the_start_page(chromium: Any, server: Server) -> None:
    with visit(chromium, server, room="") as page:
        page.click("[data-name=karate]")
        page.wait_for_url("**/graph/karate", wait_until="commit")
        ready(page)
        assert page.text_content("#title") == "Karate club"
        assert labels(page).count(-1) == 32 and set(believed(page)) == {0, 1}
        assert page.text_content("#kept") == "kept in karate-labels.csv"


def test_a_click_paints_and_colours_change(chromium: Any, server: Server) -> None:
    with visit(chromium, server) as page:
        assert near(colour(page, 0), RED) and near(colour(page, 5), BLUE)
        before = colour(page, 2)
        page.keyboard.press("2")
        click(page, 1)
        until(page, "studio.store.state.labels[1] === 1")
        ready(page)
        assert near(colour(page, 1), BLUE)
        assert colour(page, 2) != before  # nobody touched it: the belief did
        assert page.locator("#classes small").all_text_contents() == ["1", "2"]


def test_a_lasso_paints_all_inside(chromium: Any, server: Server) -> None:
    with visit(chromium, server) as page:
        page.click("[data-tool=lasso]")
        page.click("#classes .pick >> nth=0")
        (left, top), (right, bottom) = place(page, 3), place(page, 5)
        corners = [(left - 25, top + 140), (left - 25, bottom - 30), (right + 20, bottom - 30), (right + 20, top + 140)]
        page.mouse.move(*corners[0])
        page.mouse.down()
        for corner in [*corners[1:], corners[0]]:
            page.mouse.move(*corner, steps=5)
        page.mouse.up()
        until(page, "studio.store.state.labels[4] === 0")
        assert labels(page) == [0, -1, -1, 0, 0, 0]
        ready(page)
        assert near(colour(page, 5), RED)


def test_erase_undo_redo(chromium: Any, server: Server) -> None:
    with visit(chromium, server) as page:
        page.click("#erase")
        click(page, 0)
        until(page, "studio.store.state.labels[0] === -1")
        assert page.locator("#redo").is_disabled()
        page.click("#undo")
        until(page, "studio.store.state.labels[0] === 0")
        page.keyboard.press("Control+Shift+Z")
        until(page, "studio.store.state.labels[0] === -1")
        page.keyboard.press("Control+Z")
        until(page, "studio.store.state.labels[0] === 0")
        assert page.locator("#undo").is_disabled()


def test_layers_show_what_they_say(chromium: Any, server: Server) -> None:
    with visit(chromium, server) as page:
        seen = {}
        for layer in ("label", "confidence", "total", "aleatoric", "epistemic", "sets", "changed"):
            page.click(f"[data-layer={layer}]")
            assert page.get_attribute(f"[data-layer={layer}]", "aria-checked") == "true"
            seen[layer] = (colour(page, 0), colour(page, 2))
        assert seen["confidence"][0] != seen["total"][0] != seen["label"][0]
        assert seen["total"][0] != seen["total"][1]  # the node in the middle is in more doubt
        assert seen["total"] == seen["aleatoric"]  # of this model all doubt is of this kind
        assert "need 9 labels" in page.evaluate(
            "studio.store.set('layer', 'sets'), document.getElementById('legend').textContent"
        )
        page.click("[data-layer=changed]")
        page.evaluate("studio.acts.paint([3, 4], 0)")
        until(page, "studio.store.belief.revision === 1")
        assert "turned the belief about" in page.text_content("#legend")


def test_doubt_in_the_model_is_seen_however_small(chromium: Any, tmp_path: Path) -> None:
    server = Server(Workspace(tmp_path, "universal"))
    server.start()
    try:
        with visit(chromium, server, room="karate") as page:
            page.click("[data-layer=epistemic]")
            told = re.search(r"at most (\d+) %", page.text_content("#legend"))
            assert told is not None and 0 < int(told[1]) < 60  # a part of all doubt, yet its ramp is used to the end
            least, most = page.evaluate(
                """(() => {
                  const { store, summary } = studio;
                  const doubt = Array.from(summary(store.belief).total, (all, i) => all - store.belief.aleatoric[i]);
                  return [Math.min(...doubt), Math.max(...doubt)].map((one) => doubt.indexOf(one));
                })()"""
            )
            assert sum(colour(page, least)) - sum(colour(page, most)) > 150  # light: the more, the darker
    finally:
        server.stop()


@pytest.mark.parametrize("width", [1280, 390])
@pytest.mark.parametrize("room", ["life", "sphere", "karate"])
def test_all_nodes_can_be_reached_when_all_are_shown(chromium: Any, server: Server, width: int, room: str) -> None:
    """None lies under the layers, the legend or the buttons."""
    with visit(chromium, server, room=room, width=width) as page:
        hidden = page.evaluate(
            """(() => {
              const { view, store } = studio;
              const box = view.canvas.getBoundingClientRect();
              const words = document.getElementById("legend").getBoundingClientRect(); // lets clicks through, but hides
              return Array.from({ length: store.nodes }, (_, node) => view.at(node).map((z, i) => z + (i ? box.top : box.left)))
                .filter(([x, y]) => document.elementFromPoint(x, y) !== view.canvas || (x < words.right && y > words.top)).length;
            })()"""
        )
        assert hidden == 0


def test_it_asks_and_is_answered(chromium: Any, server: Server) -> None:
    with visit(chromium, server) as page:
        asked = page.evaluate("studio.store.questions.queue.map((one) => one.node)")
        assert sorted(asked) == [1, 2, 3, 4]
        names = ["ann", "bob", "cem", "dora", "eve", "finn"]
        assert page.text_content(".asked") == names[asked[0]] + "N"
        assert "'red'" in page.text_content(".why") or "'blue'" in page.text_content(".why")
        page.click(".row button >> text=Skip")
        until(page, f"studio.store.asked && studio.store.asked.node !== {asked[0]}")
        second = page.evaluate("studio.store.asked.node")
        assert page.text_content(".asked") == names[second] + "N"
        page.click(".answers button >> nth=1")
        until(page, f"studio.store.state.labels[{second}] === 1")
        page.select_option("#strategy", "random")
        until(page, "studio.store.questions?.strategy === 'random' && !!studio.store.asked")
        assert "drawn at random" in page.text_content(".why")


def test_an_interview_takes_number_keys_alone(chromium: Any, server: Server) -> None:
    with visit(chromium, server) as page:
        page.keyboard.press("i")
        assert page.evaluate("document.body.classList.contains('interviewing')")
        for key in "1212":
            before = page.evaluate("studio.store.state.revision")
            until(page, "!!studio.store.asked")
            page.keyboard.press(key)
            until(page, f"studio.store.state.revision > {before}")
            ready(page)
        assert -1 not in labels(page)
        assert "Nothing is left to ask." in page.text_content("#ask")
        page.keyboard.press("Escape")
        assert not page.evaluate("studio.store.interview")


def test_an_interview_on_a_phone_shows_the_question_and_all_answers(chromium: Any, server: Server) -> None:
    with visit(chromium, server, room="blocks", width=390, has_touch=True, is_mobile=True) as page:
        page.evaluate("document.getElementById('panel').scrollTop = 150")  # down to the button
        page.tap("#ask .strong")
        until(page, "document.body.classList.contains('interviewing')")
        until(page, "!studio.view.flight || !studio.view.waiting")
        tabs = page.locator("#tabs").bounding_box()
        for one in (page.locator("#ask .asked"), *page.locator("#ask .answers button").all()):
            box = one.bounding_box()
            assert box["y"] >= tabs["y"] + tabs["height"] and box["y"] + box["height"] <= 800
        assert page.text_content("#toast") == "The studio asks, you tap the class."


def test_a_node_is_shown_with_its_evidence(chromium: Any, server: Server) -> None:
    with visit(chromium, server) as page:
        click(page, 2)
        until(page, "studio.store.card?.node === 2")
        text = page.text_content("#node")
        for part in (
            "cem",
            "No label given",
            "Its neighbours",
            "Nodes with features like its own",
            "Neighbours (3)",
            "ann, 1 step",
            "side",
        ):
            assert part in text, part
        page.click(".neighbours button >> text=dora")
        until(page, "studio.store.node === 3")
        page.fill("#search", "fin")
        page.keyboard.press("Enter")
        until(page, "studio.store.node === 5")
        assert page.text_content(".node-name") == "finn"


def test_classes_are_added_renamed_and_recoloured(chromium: Any, server: Server) -> None:
    with visit(chromium, server) as page:
        page.click("#add-class")
        page.keyboard.type("green 3")
        page.keyboard.press("Enter")
        until(page, "studio.store.classes.length === 3")
        page.keyboard.press("1")
        page.keyboard.press("r")
        page.keyboard.type("crimson")
        page.keyboard.press("Enter")
        until(page, "studio.store.classes[0].name === 'crimson'")
        page.locator("#classes input[type=color] >> nth=0").fill("#aa0000")
        until(page, "studio.store.classes[0].colour === '#AA0000'")
        ready(page)
        assert near(colour(page, 0), (170, 0, 0))
        page.click("#add-class")
        page.keyboard.type("blue")
        page.keyboard.press("Enter")
        until(page, "document.getElementById('toast').textContent.includes('already')")


def test_suspects_are_shown_and_mended(chromium: Any, server: Server) -> None:
    with visit(chromium, server) as page:
        page.evaluate("studio.acts.paint([1], 1), studio.acts.paint([2], 0), studio.acts.paint([4], 1)")
        until(page, "studio.store.state.revision === 3")
        ready(page)
        assert int(page.text_content("#suspect-count")) >= 1
        page.click("#tab-suspects")
        page.locator("#suspects li", has_text="bob").locator("text=Make it 'red'").click()
        until(page, "studio.store.state.labels[1] === 0")
        ready(page)
        assert "bob" not in page.text_content("#suspects")


def test_progress_has_a_sign_and_a_curve(chromium: Any, server: Server) -> None:
    with visit(chromium, server) as page:
        page.evaluate("studio.acts.paint([1, 2], 0)")
        until(page, "studio.store.verdict?.points.length >= 1")
        page.keyboard.press("o")
        assert "Go on" in page.text_content(".sign") and "4 of 6" in page.text_content(".figures")
        assert page.locator(".chart circle").count() == 1


def test_a_reload_and_a_killed_server_lose_nothing(chromium: Any, server: Server, scene: Scene, tmp_path: Path) -> None:
    with visit(chromium, server) as page:
        page.keyboard.press("2")
        click(page, 1)
        until(page, "studio.store.state.labels[1] === 1")
        page.reload()
        ready(page)
        assert labels(page) == [0, 1, -1, -1, -1, 1]
        server.stop()
        until(page, "!document.getElementById('lost').hidden")
        assert "Everything up to now is saved" in page.text_content("#lost")
        page.problems.clear()  # of a socket that is no more
        again = Workspace(tmp_path, MODEL)
        again.add("triangles", scene)
        second = Server(again)
        second.start()
        try:
            page.goto(second.guard.address("/graph/triangles"))
            ready(page)
            assert labels(page) == [0, 1, -1, -1, -1, 1]
            page.keyboard.press("Control+Z")
            until(page, "studio.store.state.labels[1] === -1")
        finally:
            page.close()
            second.stop()
            page.problems.clear()  # of the socket that was lost


def test_two_tabs_stay_in_step(chromium: Any, server: Server) -> None:
    with visit(chromium, server) as one, visit(chromium, server) as two:
        one.keyboard.press("1")
        click(one, 3)
        until(two, "studio.store.state.labels[3] === 0")
        ready(two)
        assert near(colour(two, 3), RED)
        two.keyboard.press("Control+Z")
        until(one, "studio.store.state.labels[3] === -1")


def test_everything_by_keyboard(chromium: Any, server: Server) -> None:
    with visit(chromium, server, room="") as page:
        until(page, "document.querySelectorAll('.card').length >= 5")
        for _ in range(20):
            page.keyboard.press("Tab")
            if page.evaluate("document.activeElement.dataset.name") == "karate":
                break
        page.keyboard.press("Enter")
        page.wait_for_url("**/graph/karate", wait_until="commit")
        ready(page)
        page.goto(page.url.replace("karate", "triangles"))
        ready(page)
        page.keyboard.press("/")
        page.keyboard.type("cem")
        page.keyboard.press("Enter")
        until(page, "studio.store.node === 2")
        page.keyboard.press("ArrowRight")
        until(page, "studio.store.node === 3")
        page.keyboard.press("2")
        page.keyboard.press("Enter")
        until(page, "studio.store.state.labels[3] === 1")
        page.keyboard.press("g")  # and its neighbours
        page.keyboard.press("1")
        page.keyboard.press("Enter")
        until(page, "studio.store.state.labels[5] === 0")
        assert labels(page) == [0, -1, 0, 0, 0, 0]
        page.keyboard.press("e")
        page.keyboard.press("Enter")
        until(page, "studio.store.state.labels[3] === -1")
        page.keyboard.press(".")
        assert page.evaluate("studio.store.layer") == "confidence"
        zoom, x = page.evaluate("[studio.view.camera.zoom, studio.view.camera.x]")
        page.keyboard.press("Shift+ArrowLeft")
        assert page.evaluate("studio.view.camera.x") == pytest.approx(x + 60)
        page.keyboard.press("+")
        page.keyboard.press("]")
        assert page.evaluate("[studio.view.camera.zoom, studio.view.camera.turn]") == [zoom * 1.25, 0.15]
        page.keyboard.press("f")
        assert page.evaluate("studio.view.camera.x") == 0
        theme = page.evaluate("document.documentElement.dataset.theme")
        page.keyboard.press("d")
        assert page.evaluate("document.documentElement.dataset.theme") != theme
        page.keyboard.press("?")
        assert page.locator("#help").is_visible()
        page.keyboard.press("Escape")
        assert not page.locator("#help").is_visible()


def test_wheel_and_drag_move_the_picture(chromium: Any, server: Server) -> None:
    with visit(chromium, server) as page:
        x, y = place(page, 5)
        page.mouse.move(x, y)
        page.mouse.wheel(0, -300)
        until(page, "studio.view.camera.zoom > 1.5")
        assert place(page, 5) == pytest.approx((x, y), abs=1)  # what is under the pointer stays there
        page.mouse.down()
        page.mouse.move(x - 100, y + 40, steps=4)
        page.mouse.up()
        assert place(page, 5) == pytest.approx((x - 100, y + 40), abs=1)
        assert labels(page) == [0, -1, -1, -1, -1, 1]


def test_a_picture_that_is_kept_and_moved_is_the_one_drawn_anew(chromium: Any, server: Server) -> None:
    """What a machine that cannot keep up shows while the picture moves."""
    with visit(chromium, server) as page:
        kept, drawn = page.evaluate(
            """() => {
              const { view, store } = studio;
              const { camera, renderer } = view;
              const { gl } = renderer;
              const look = () => Array.from({ length: store.nodes }, (_, node) => {
                const [x, y] = view.at(node);
                const pixel = new Uint8Array(4);
                gl.readPixels(x * view.ratio, view.canvas.height - y * view.ratio, 1, 1, gl.RGBA, gl.UNSIGNED_BYTE, pixel);
                return [...pixel.slice(0, 3)];
              });
              view.spared = 1;
              view.moving = true;
              view.draw();
              camera.pan(-40, 25);
              camera.zoomAt(0.8, 200, 100);
              camera.rotate(0.4, 0);
              if (!view.drawAgain()) return [[], []];
              const again = look();
              view.draw();
              return [again, look()];
            }"""
        )
        assert len(kept) == 6 and len({tuple(one) for one in drawn}) >= 3
        assert all(near(one, other) for one, other in zip(kept, drawn, strict=True))
        assert page.evaluate("(studio.view.recolour(), studio.view.kept)") is None  # other colours: drawn anew


def test_a_finger_paints(chromium: Any, server: Server) -> None:
    with visit(chromium, server, width=390, has_touch=True, is_mobile=True) as page:
        page.tap("#classes .pick >> nth=1")
        page.touchscreen.tap(*place(page, 1))
        until(page, "studio.store.state.labels[1] === 1")


def test_a_finger_draws_a_loop(chromium: Any, server: Server) -> None:
    with visit(chromium, server, width=390, has_touch=True, is_mobile=True) as page:
        page.tap("#classes .pick >> nth=0")
        page.tap("[data-tool=lasso]")
        (left, top), (right, bottom) = place(page, 3), place(page, 5)
        low, high = min(top, bottom) - 20, max(top, bottom) + 20
        x = (place(page, 2)[0] + left) / 2  # between the two sides
        corners = [(x, high), (x, low), (right + 15, low), (right + 15, high), (x, high)]
        finger = page.context.new_cdp_session(page)
        for i, (x, y) in enumerate(corners):
            kind = "touchMove" if i else "touchStart"
            finger.send("Input.dispatchTouchEvent", {"type": kind, "touchPoints": [{"x": x, "y": y}]})
        finger.send("Input.dispatchTouchEvent", {"type": "touchEnd", "touchPoints": []})
        until(page, "studio.store.state.labels[3] === 0")
        assert labels(page)[:3] == [0, -1, -1] and labels(page)[5] == 0


@pytest.mark.parametrize("width", [1280, 390])
@pytest.mark.parametrize("room", ["", "triangles", "lamp"])
def test_nothing_hangs_over_the_edge(chromium: Any, server: Server, width: int, room: str, tmp_path: Path) -> None:
    with visit(chromium, server, room=room, width=width) as page:
        page.screenshot(path=tmp_path / f"{room or 'start'}-{width}.png")
        assert page.evaluate("document.documentElement.scrollWidth") <= width
        for panel in ("#view", "#palette", "#panel", "#layers", "#export") if room else ("#drop", "#examples"):
            box = page.locator(panel).bounding_box()
            assert box["x"] >= 0 and box["x"] + box["width"] <= width + 1, panel


def test_files_are_opened(chromium: Any, server: Server, tmp_path: Path) -> None:
    with visit(chromium, server, room="") as page:
        files = [
            {"name": "nodes.csv", "mimeType": "text/csv", "buffer": b"id,label\na,x\nb,\nc,y\n"},
            {"name": "edges.csv", "mimeType": "text/csv", "buffer": b"source,target\na,b\nb,c\n"},
        ]
        page.set_input_files("#files", [{"name": "bad.pt", "mimeType": "", "buffer": b"x"}])
        until(page, "document.getElementById('toast').textContent.includes('bad.pt')")
        page.problems.clear()  # the browser notes the refusal
        page.set_input_files("#files", files)
        page.wait_for_url("**/graph/graph", wait_until="commit")
        ready(page)
        assert labels(page) == [0, -1, 1]


def test_files_are_dropped(chromium: Any, server: Server) -> None:
    with visit(chromium, server, room="") as page:
        page.evaluate(
            """() => {
              const data = new DataTransfer();
              data.items.add(new File(["id\\na\\nb\\n"], "nodes.csv"));
              data.items.add(new File(["source,target\\na,b\\n"], "edges.csv"));
              document.dispatchEvent(new DragEvent("drop", { dataTransfer: data, bubbles: true, cancelable: true }));
            }"""
        )
        page.wait_for_url("**/graph/graph", wait_until="commit")
        ready(page)
        assert page.evaluate("studio.store.scene.names") == ["a", "b"]


def test_exports_are_files(chromium: Any, server: Server) -> None:
    with visit(chromium, server) as page:
        contents = {}
        for button in ("labels", "predictions", "script", "png", "svg"):
            page.evaluate("document.getElementById('export').open = true")
            with page.expect_download() as download:
                page.click(f"#export-{button}")
            contents[button] = Path(download.value.path()).read_bytes()
        assert contents["labels"] == b"node,label\nann,red\nfinn,blue\n"
        assert contents["predictions"].startswith(b"node,given,label,p_red,p_blue")
        assert b"label-propagation" in contents["script"]
        assert contents["png"].startswith(b"\x89PNG")
        assert contents["svg"].startswith(b"<svg") and contents["svg"].count(b"<circle") == 6


def test_a_drawing_is_the_picture(chromium: Any, server: Server) -> None:
    """Of a solid graph: every node and edge, and what is far smaller and paler, as on the page."""
    with visit(chromium, server, room="sphere") as page:
        edges, strength, nodes = page.evaluate(
            """(async () => {
              const { drawing } = await import("/static/picture.js");
              const { store, view } = studio;
              const made = drawing(store, view);
              const seen = view.projected();
              const depth = (node) => store.state.labels[node] < 0 ? seen[3 * node + 2] : 0; // given ones look otherwise
              const named = Object.fromEntries(store.scene.names.map((name, i) => [name, depth(i)]));
              const nodes = [...made.querySelectorAll("circle")].map((one) => ({
                depth: named[one.textContent], r: Number(one.getAttribute("r")),
                light: one.getAttribute("fill").match(/\\d+/g).reduce((sum, part) => sum + Number(part), 0) }));
              nodes.sort((a, b) => a.depth - b.depth);
              const group = made.querySelector("g");
              return [group.childElementCount - store.scene.edges.length / 2, Number(group.getAttribute("stroke-opacity")), nodes];
            })()"""
        )
        assert edges == 0 and 0.1 < strength < 0.3 and len(nodes) == 600
        assert nodes[0]["depth"] < 0 < nodes[-1]["depth"]
        assert nodes[0]["r"] < nodes[-1]["r"] and nodes[0]["light"] > nodes[-1]["light"]


def test_the_menu_closes_by_itself(chromium: Any, server: Server) -> None:
    with visit(chromium, server) as page:
        for leave in ("choose", "elsewhere", "Escape"):
            page.click("#export summary")
            assert page.evaluate("document.getElementById('export').open")
            if leave == "choose":
                with page.expect_download():
                    page.click("#export-svg")
            elif leave == "elsewhere":
                page.mouse.click(*place(page, 2))
            else:
                page.keyboard.press("Escape")
            assert not page.evaluate("document.getElementById('export').open"), leave
