/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * page.js - looks again and again, and shows what it sees.
 *
 * Counters come from the memory that vp-ctl shares with the graph, so that looking costs the graph nothing; nodes and
 * cables are asked for when the page begins and when nodes have come or gone.  The end of the graph is said, and ends it.
 */
import { ask, Ended, snapshot } from "./ask.js";
import { at, el, say } from "./dom.js";
import { cablesOf, Drawing } from "./draw.js";
import { showLoad } from "./load.js";
import { Open } from "./node.js";
import { params } from "./params.js";
import { nodeRates } from "./rates.js";
import { follow } from "./way.js";

const EVERY = 1000, RARELY = 5000;

let now, then, rows = [], known = "", paused = false;
const opened = new Open(), drawing = new Drawing((name) => open(name));

function state(kind, text) {
	at("state").className = kind;
	say(at("state"), text);
}

async function open(name) {
	history.replaceState(null, "", name === null ? location.pathname : "#" + encodeURIComponent(name));
	if ([...at("way-node").options].some((option) => option.value === name))
		at("way-node").value = name;
	await opened.open(name, rows.find((row) => row.node === name));
	show();
}

/* Nodes and cables anew, when there are others.  Why not, where the graph refuses: another time, then. */
async function look() {
	const names = now.nodes.map((node) => `${node.name} ${node.protocol}`).join("\n");

	if (names === known)
		return "";
	try {
		rows = (await ask({ cmd: "show", what: "graph" })).rows;
		drawing.draw(rows, cablesOf((await ask({ cmd: "show", what: "params" })).rows));
	} catch (error) {
		if (error instanceof Ended)
			throw error;
		return error.message;
	}
	at("way-node").replaceChildren(...rows.filter((row) => row.over.length === 0 || rows.some((other) => other.over.includes(row.node)))
		.map((row) => el("option", {}, row.node)));
	known = names;
	return "";
}

function show() {
	const rates = nodeRates(now, then);

	document.title = `${now.graph} – vp-ctl web`;
	say(at("title"), now.graph);
	say(at("about"), `${now.threading}, ${now.vps.length} virtual processors, ${now.workers.length} workers` +
		`${now.lock === "none" ? "" : ", lock " + now.lock}, ${now.virtual ? "virtual" : "real"} time, process ${now.pid}`);
	drawing.show(rates, opened.name);
	opened.show(now, then);
	showLoad(now, then);
}

async function turn() {
	try {
		if (!paused) {
			const next = await snapshot();

			then = now;
			now = next;
			const trouble = await look();

			show();
			state(trouble ? "ended" : "live", trouble || "live");
		}
	} catch (error) {
		state("ended", error.message);
		if (error instanceof Ended) {
			document.body.classList.add("ended");
			document.querySelectorAll("button").forEach((button) => { button.disabled = true; });
			return;
		}
	}
	setTimeout(turn, document.hidden ? RARELY : EVERY);
}

at("pause").addEventListener("click", () => {
	paused = !paused;
	at("pause").setAttribute("aria-pressed", paused);
	state(paused ? "paused" : "live", paused ? "paused" : "live");
});
at("way-form").addEventListener("submit", follow);
document.addEventListener("keydown", (event) => {
	if (event.key === "Escape" && opened.name !== null)
		open(null);
});

async function threading() {
	try {
		at("threading-body").replaceChildren(await params("threading"));
	} catch (error) {
		at("threading-body").replaceChildren(el("p", { class: "error" }, error.message));
	}
}

async function begin() {
	await turn();
	await threading();
	const name = decodeURIComponent(location.hash.slice(1));

	if (now !== undefined && rows.some((row) => row.node === name))
		await open(name);
}

begin();
