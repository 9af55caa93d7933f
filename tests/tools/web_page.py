# SPDX-License-Identifier: BSD-2-Clause
"""web_page.py BROWSER URL VP-CTL SOCKET GRAPH-FILE [FOLDER] - the page of vp-ctl web as a person meets it, in Chromium.

By keyboard where a person may use one.  The browser is driven over a pipe (Chrome DevTools Protocol); nothing waits for
a time, all for what must become so.  FOLDER gets screenshots.
"""
import base64
import json
import os
import subprocess
import sys
import tempfile
import time

browser, url, ctl, sock, graph_file = sys.argv[1:6]
folder = sys.argv[6] if len(sys.argv) > 6 else ""
DEADLINE = 60


class Browser:
    def __init__(self, home):
        mine_in, its_out = os.pipe()
        its_in, mine_out = os.pipe()

        def fds():
            a, b = os.dup(its_in), os.dup(its_out)
            os.dup2(a, 3)
            os.dup2(b, 4)

        self.process = subprocess.Popen(
            [browser, "--headless", "--remote-debugging-pipe", "--no-sandbox", "--disable-gpu", "--hide-scrollbars", "--no-first-run", "--disable-extensions",
             "--disable-background-networking", "--disable-dev-shm-usage", "--no-proxy-server", "--force-color-profile=srgb",
             "--user-data-dir=" + home, "about:blank"],
            preexec_fn=fds, close_fds=False, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env={**os.environ, "HOME": home})
        os.close(its_in)
        os.close(its_out)
        self.out, self.source = mine_out, os.fdopen(mine_in, "rb")
        self.n, self.session, self.events = 0, None, []
        target = self("Target.createTarget", url="about:blank")["targetId"]
        self.session = self("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in "Page", "Runtime", "Log", "Network":
            self(domain + ".enable")

    def message(self):
        text = b""
        while not text.endswith(b"\0"):
            c = self.source.read1(1) if not text else self.source.read(1)
            assert c, "the browser has ended"
            text += c
        return json.loads(text[:-1])

    def __call__(self, method, **params):
        self.n += 1
        request = {"id": self.n, "method": method, "params": params}
        if self.session:
            request["sessionId"] = self.session
        data = json.dumps(request).encode() + b"\0"
        while data:
            data = data[os.write(self.out, data):]
        while True:
            m = self.message()
            if m.get("id") == self.n:
                assert "error" not in m, (method, m)
                return m["result"]
            if "method" in m:
                self.events.append(m)

    def js(self, text):
        r = self("Runtime.evaluate", expression=text, awaitPromise=True, returnByValue=True)
        assert "exceptionDetails" not in r, (text, r["exceptionDetails"])
        return r["result"].get("value")

    def until(self, text, why=None):
        end = time.monotonic() + DEADLINE
        while not self.js(f"!!({text})"):
            if time.monotonic() > end:
                print(self.js("document.body.innerText")[:3000], [e for e in self.events if e["method"] == "Runtime.exceptionThrown"])
                raise AssertionError("never so: " + (why or text))
            time.sleep(0.05)

    def key(self, key, code=None, text=None):
        about = {"key": key, "code": code or key, "windowsVirtualKeyCode": {"Tab": 9, "Enter": 13, "Escape": 27, "ArrowLeft": 37, "ArrowUp": 38,
                                                                         "ArrowRight": 39, "ArrowDown": 40}.get(key, 0)}
        self("Input.dispatchKeyEvent", type="keyDown", **about, **({"text": text} if text else {}))
        self("Input.dispatchKeyEvent", type="keyUp", **about)

    def type(self, text):
        self("Input.insertText", text=text)

    def look(self, width, height, dark, whole=False):
        self("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=False)
        self("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": "dark" if dark else "light"}])

    def picture(self, name):
        if not folder:
            return
        data = self("Page.captureScreenshot", format="png", captureBeyondViewport=False)["data"]
        with open(os.path.join(folder, name + ".png"), "wb") as f:
            f.write(base64.b64decode(data))


def ask(*words):
    r = subprocess.run([ctl, "-s", sock, "--timeout", "120s", "--json", *words], stdout=subprocess.PIPE, check=True, timeout=200)
    return json.loads(r.stdout)


def node(name):
    return f"document.querySelector('#drawing [data-node=\"{name}\"]')"


def names():
    return {row["node"] for row in ask("show", "graph")["rows"]}


FOCUS = "document.activeElement?.dataset?.node || ''"


def drawn(b):
    """All nodes, with rates; the cable by its name; what drops, by words and a line of its own."""
    b.until("document.querySelectorAll('#drawing .node').length")
    assert set(b.js("[...document.querySelectorAll('#drawing .node')].map(n => n.dataset.node)")) == names()
    b.until(node("client") + ".querySelector('.flow').textContent.match(/▼ [1-9].* ▲ [1-9]/)", "rates at client")
    b.until(node("impair") + ".matches('.drops') && " + node("impair") + ".querySelector('.dropped').textContent.match(/✖ drops [1-9].*\\/s/)")
    assert b.js(f"getComputedStyle({node('impair')}.querySelector('rect')).strokeDasharray") != "none"
    assert "drops" in b.js(node("impair") + ".getAttribute('aria-label')")
    assert not b.js(node("quiet") + ".matches('.drops, .busy')")
    b.until("[...document.querySelectorAll('#drawing .label')].some(l => l.textContent.startsWith('<img src=x'))")
    assert b.js("document.querySelectorAll('img, iframe, object, embed').length") == 0 and b.js("typeof window.harmed") == "undefined"
    overlap = """[...document.querySelectorAll('#drawing .node rect')].map(r => r.getBoundingClientRect()).some((a, i, all) =>
        all.slice(i + 1).some(b => a.left < b.right && b.left < a.right && a.top < b.bottom && b.top < a.bottom))"""
    assert not b.js(overlap), "nodes lie on each other"
    outside = """[...document.querySelectorAll('#drawing .node')].filter(n => { const r = n.querySelector('rect').getBBox();
        return [...n.querySelectorAll('text')].some(t => { const x = t.getBBox(); return x.width && (x.x < r.x || x.x + x.width > r.x + r.width); }); }).map(n => n.textContent)"""
    assert b.js(outside) == [], b.js(outside)


def by_keyboard(b):
    """Tab into the drawing, arrows, Enter, Escape."""
    for _ in range(10):
        b.key("Tab")
        if b.js(FOCUS):
            break
    else:
        raise AssertionError("Tab does not come to the drawing")
    seen, first = set(), b.js(FOCUS)
    for _ in range(4):
        for way in ("ArrowDown",) * 12 + ("ArrowRight",) + ("ArrowUp",) * 12 + ("ArrowRight",):
            b.key(way)
            seen.add(b.js(FOCUS))
    assert "" not in seen and len(seen) > len(names()) / 2, (first, seen)
    assert b.js("document.querySelectorAll('#drawing [tabindex=\"0\"]').length") == 1
    b.js(node("load") + ".focus()")
    b.key("Enter", text="\r")
    b.until("document.getElementById('node-title').textContent === 'Node load'")
    b.until("location.hash === '#load'")
    b.until("document.querySelectorAll('#node .hist rect').length", "a histogram of round trips")
    b.until("[...document.querySelectorAll('#node .times td')].some(td => /[1-9].* (ns|µs|ms|s)$/.test(td.textContent))", "percentiles")
    b.until("document.querySelector('#node form[data-param=rate]')")
    b.until("[...document.querySelectorAll('#node h3')].some(h => h.textContent === 'Connections' && h.nextSibling.querySelectorAll('tbody tr').length === 8)")
    b.key("Escape")
    b.until("document.getElementById('node-title').textContent === 'Node'")


def change(b, param, value, end):
    form = f"document.querySelector('#node form[data-param=\"{param}\"]')"
    b.until(form)
    b.js(f"{form}.querySelector('input').focus(); {form}.querySelector('input').select()")
    b.type(value)
    b.key("Enter", text="\r")
    b.until(f"{form}.querySelector('output').textContent.match({end})", f"{param} = {value}")
    return b.js(f"[{form}.querySelector('output').className, {form}.querySelector('input').getAttribute('aria-invalid'), {form}.querySelector('output').textContent]")


def parameters(b):
    """A live one is changed, in the graph; a wrong value is refused, in the words of the graph."""
    b.js(node("impair") + ".dispatchEvent(new MouseEvent('click', { bubbles: true }))")
    b.until("document.getElementById('node-title').textContent === 'Node impair'")
    assert change(b, "loss", "3%", "/^was /")[:2] == ["", None]
    assert ask("get", "impair", "loss")["rows"][0]["value"] == "0.03"
    refused = change(b, "loss", "<b>many</b>", "/loss/")
    assert refused[:2] == ["error", "true"] and b.js("document.querySelectorAll('#node b').length") == 0, refused
    assert ask("get", "impair", "loss")["rows"][0]["value"] == "0.03"
    assert change(b, "loss", "1%", "/^was /")[:2] == ["", None]
    b.until("[...document.querySelectorAll('#node .drops td')].some(td => td.textContent.startsWith('✖ dropped'))")


def loads(b):
    b.until("document.querySelectorAll('#vps tbody tr').length === 4 && document.querySelectorAll('#workers-body tbody tr').length === 2")
    b.until("Math.max(...[...document.querySelectorAll('#vps .bar div')].map(d => parseFloat(d.style.width))) === 100")
    order = b.js("[...document.querySelectorAll('#vps .bar div')].map(d => parseFloat(d.style.width))")
    assert order == sorted(order, reverse=True), order


def ladder(b):
    """Of messages through ip: down, over the cable, up; another is chosen; what is refused says why."""
    b.js("document.getElementById('way-node').value = 'ip2'; document.getElementById('way-form').requestSubmit()")
    b.until("document.querySelectorAll('#way .ladder .step').length > 1")
    assert b.js("document.querySelectorAll('#way-message option').length") == 3
    was = b.js("document.querySelector('#way .ladder').textContent")
    b.js("{ const pick = document.getElementById('way-message'); pick.value = '2'; pick.dispatchEvent(new Event('change')); }")
    assert b.js("document.querySelector('#way .ladder').textContent") != was
    assert b.js("document.querySelector('#way .ladder svg').getAttribute('aria-label')").startswith("message 3: ")
    b.js("document.getElementById('way-count').value = 1; document.getElementById('way-form').requestSubmit()")
    b.until("document.querySelectorAll('#way-message option').length === 1 && document.getElementById('way-pick').hidden")


def pause(b):
    """While it is paused the page looks at nothing, however often it might."""
    b.js("{ const later = window.setTimeout; window.turns = 0; window.setTimeout = (f) => later(() => { window.turns++; f(); }, 1); }")
    b.js("document.getElementById('pause').click()")
    b.until("document.getElementById('state').textContent === 'paused' && window.turns > 0")
    was, turns = b.js("[document.getElementById('vps-body').textContent, window.turns]")
    b.until(f"window.turns > {turns + 5}")
    assert b.js("document.getElementById('vps-body').textContent") == was
    b.js("document.getElementById('pause').click()")
    b.until(f"document.getElementById('vps-body').textContent !== {json.dumps(was)}")


def another_graph(b):
    """A layer comes and goes: it is drawn, and drawn no more."""
    ask("apply", graph_file, "args=hop=true")
    b.until(node("above"))
    b.until(node("above") + ".querySelector('.flow').textContent.match(/▼ [1-9]/)")
    ask("apply", graph_file)
    b.until("!" + node("above"))


def pictures(b):
    for dark in False, True:
        b.look(1280, 1500, dark)
        b.until(f"matchMedia('(prefers-color-scheme: dark)').matches === {json.dumps(dark)}")
        b.picture("dark" if dark else "light")
    b.look(380, 800, False)
    b.picture("narrow")
    assert b.js("document.documentElement.scrollWidth <= 380"), "wider than a narrow window"
    b.look(1280, 900, False)


def end(b):
    """It is said, and nothing can be pressed any more, unless the page was too slow to hear of it."""
    ask("stop")
    b.until("document.getElementById('state').textContent.match(/has ended|does not answer/)")
    if b.js("document.getElementById('state').textContent.includes('has ended')"):
        assert b.js("[...document.querySelectorAll('button')].every(button => button.disabled)")


def nothing_foreign(b):
    asked = [e["params"]["request"]["url"] for e in b.events if e["method"] == "Network.requestWillBeSent"]
    assert asked and all(u.startswith((url, "data:")) for u in asked), [u for u in asked if not u.startswith(url)]
    bad = [e for e in b.events if e["method"] == "Runtime.exceptionThrown" or (e["method"] == "Log.entryAdded" and e["params"]["entry"]["level"] == "error")]
    assert not bad, bad


def main():
    with tempfile.TemporaryDirectory() as home:
        b = Browser(home)
        try:
            b.look(1280, 900, False)
            b("Page.navigate", url=url)
            b.until("document.getElementById('state')?.textContent === 'live'")
            for step in drawn, by_keyboard, parameters, loads, ladder, pictures, pause, another_graph, nothing_foreign, end:
                print(step.__name__, flush=True)
                step(b)
        finally:
            b.process.kill()
            b.process.wait()


main()
