/* SPDX-License-Identifier: BSD-2-Clause */
/* node.js - the node that is open: drops and counters with their rates, times, parameters, sessions and connections. */
import { ask } from "./ask.js";
import { at, el, perSecond, say, table, whole } from "./dom.js";
import { histogram } from "./hist.js";
import { params } from "./params.js";
import { rate, seconds } from "./rates.js";

const PAGE = 50, MOST = 1000, KEPT = 11;

/* Rows of an answer, more of them by a button. */
async function rowsOf(what, node, columns) {
	const box = el("div", { class: "wide" }), rows = [];
	const load = async (cursor) => {
		const answer = await ask({ cmd: "show", what, node, limit: PAGE, ...(cursor ? { cursor } : {}) });
		const more = el("button", { type: "button" }, "More");

		rows.push(...answer.rows);
		box.replaceChildren(rows.length === 0 ? el("p", { class: "hint" }, "none") :
			table("", columns, rows.map((row) => columns.map((name) => row[name.replace("#", "")]))));
		if (!answer.cursor)
			return;
		if (rows.length < MOST)
			box.append(more);
		else
			box.append(el("p", { class: "hint" }, `more than ${MOST}: vp-ctl show ${what} ${node}`));
		more.addEventListener("click", async () => {
			more.disabled = true;
			try {
				await load(answer.cursor);
			} catch (error) {
				more.replaceWith(el("p", { class: "error" }, error.message));
			}
		});
	};

	await load(null);
	return box;
}

const SESSIONS = ["#vp", "above", "local", "remote", "state", "#references"];
const CONNECTIONS = ["#vp", "#connection", "#messages", "#bytes"];

export class Open {
	constructor() {
		this.name = null;
		this.turn = 0;
		this.past = [];
	}

	/* A node, or null; row is its one of show graph. */
	async open(name, row) {
		const turn = ++this.turn, body = at("node-body");

		this.name = name;
		this.past = [];
		say(at("node-title"), name === null ? "Node" : `Node ${name}`);
		if (name === null) {
			body.replaceChildren(el("p", { class: "hint" }, "None is open."));
			return;
		}
		this.counts = el("div", { class: "counts" });
		this.times = el("div", { class: "times" });
		const lower = el("div", {}, el("p", { class: "hint" }, "asking …"));
		const place = row.file === null ? "" : `, ${row.file}:${row.line}`;

		body.replaceChildren(el("p", { class: "hint" }, `${row.protocol}${row.over.length === 0 ? "" : " over " + row.over.join(", ")}${place}`),
			this.counts, this.times, lower);
		try {
			const parts = [await params(name), await rowsOf("sessions", name, SESSIONS), await rowsOf("connections", name, CONNECTIONS)];

			if (turn === this.turn)
				lower.replaceChildren(...["Parameters", "Sessions", "Connections"].flatMap((title, i) => [el("h3", {}, title), parts[i]]));
		} catch (error) {
			if (turn === this.turn)
				lower.replaceChildren(el("p", { class: "error" }, error.message));
		}
	}

	show(now, then) {
		const node = now.nodes.find((one) => one.name === this.name), was = then?.nodes.find((one) => one.name === this.name);

		if (this.name === null || this.counts === undefined)
			return;
		if (node === undefined) {
			this.counts.replaceChildren(el("p", { class: "error" }, "it is no more in the graph"));
			return;
		}
		this.past = [...this.past, { time_ns: now.time_ns, times: node.times || {} }].slice(-KEPT);
		this.showCounts(node, was, then ? seconds(now, then) : 0);
		this.showTimes(node);
	}

	showCounts(node, was, s) {
		const line = (name, x, before, kind) => ({ kind, cells: [name, whole(x), perSecond(rate(x, before, s))] });
		const lines = [line("▼ down", node.push, was?.push), line("▲ up", node.pop, was?.pop), line("sessions made", node.sessions_made, was?.sessions_made),
			line("sessions ended", node.sessions_gone, was?.sessions_gone)];

		for (const [name, n] of Object.entries(node.drops))
			lines.push(line(n > 0 ? `✖ dropped: ${name}` : `dropped: ${name}`, n, was?.drops[name], n > 0 ? "drops" : null));
		for (const [name, n] of Object.entries(node.counters))
			lines.push(line(name, n, was?.counters[name]));
		this.counts.replaceChildren(table("", ["counter", "#since the start", "#now"], lines.map((x) => Object.assign(x.cells, { kind: x.kind }))));
	}

	showTimes(node) {
		const first = this.past[0], span = Math.round((this.past[this.past.length - 1].time_ns - first.time_ns) / 1e9);

		this.times.replaceChildren(...Object.entries(node.times || {}).map(([kind, t]) => histogram(kind, t, span > 0 ? first.times[kind] : undefined, span)));
	}
}
