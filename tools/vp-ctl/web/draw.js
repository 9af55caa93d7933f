/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * draw.js - the graph as a drawing that is made once for each set of nodes, and its rates, which change every second.
 *
 * One node is in the order of Tab; arrows go to the nearest one that way, Enter and a click open it.  What drops has a
 * dashed frame, a cross and the word, and is red.
 */
import { at, svg, say, short, perSecond, whole } from "./dom.js";
import { layout } from "./layout.js";

const HIGH = 76, GAP = 26, BETWEEN = 26, EDGE = 14, LETTER = 7.2, LONGEST = 26, MOST = 600;

const cut = (text) => text.length > LONGEST ? text.slice(0, LONGEST - 1) + "…" : text;

/* Two nodes with the same parameter `wire` are a cable's ends. */
export function cablesOf(params) {
	const wires = params.filter((row) => row.parameter === "wire" && row.value);

	return wires.flatMap((a, i) => wires.slice(i + 1).filter((b) => b.value === a.value).map((b) => ({ a: a.node, b: b.node, name: a.value })));
}

export class Drawing {
	constructor(open) {
		this.open = open;
		this.parts = new Map();
		this.edges = [];
		this.chosen = null;
	}

	/* Rows of show graph, and cables. */
	draw(rows, cables) {
		const box = at("drawing"), focused = box.contains(document.activeElement);

		this.parts.clear();
		this.edges = [];
		if (rows.length > MOST) {
			box.replaceChildren(`${whole(rows.length)} nodes are too many for a drawing: “A message's way” and the address (#node) open each.`);
			return;
		}
		const names = new Set(rows.map((row) => row.node));
		const ends = cables.filter((cable) => names.has(cable.a) && names.has(cable.b));
		const width = (name) => Math.max(148, Math.min(name.length, LONGEST) * LETTER + 24);
		const { place, rows: ranks, right } = layout(rows, ends, width, GAP);
		const levels = ends.length === 0 ? 0 : 22 * Math.min(ends.length, 6) + 20;
		const high = ranks * (HIGH + BETWEEN) - BETWEEN + 2 * EDGE + levels;
		const picture = svg("svg", { width: right + 2 * EDGE, height: high, viewBox: `0 0 ${right + 2 * EDGE} ${high}`, role: "group", "aria-labelledby": "graph-title" });

		for (const spot of place.values()) {
			spot.x += EDGE;
			spot.y = EDGE + (ranks - 1 - spot.rank) * (HIGH + BETWEEN);
		}
		this.place = place;
		rows.forEach((row) => row.over.forEach((low) => place.has(low) && picture.append(this.edge(row.node, low))));
		ends.forEach((cable, i) => picture.append(...this.cable(cable, i % 6)));
		rows.forEach((row) => picture.append(this.node(row, width(row.node))));
		picture.addEventListener("keydown", (event) => this.key(event));
		box.replaceChildren(picture);
		this.choose(names.has(this.chosen) ? this.chosen : rows.length !== 0 ? rows[0].node : null, focused);
	}

	edge(high, low) {
		const a = this.place.get(high), b = this.place.get(low), y = a.y + HIGH, middle = (y + b.y) / 2;
		const line = svg("path", { class: "edge", d: `M${a.x} ${y}C${a.x} ${middle} ${b.x} ${middle} ${b.x} ${b.y}` });

		this.edges.push({ a: high, b: low, line, label: null });
		return line;
	}

	cable(cable, level) {
		const a = this.place.get(cable.a), b = this.place.get(cable.b), down = 20 + 22 * level;
		const deep = Math.max(a.y, b.y) + HIGH + down;
		const line = svg("path", { class: "cable", d: `M${a.x} ${a.y + HIGH}V${deep}H${b.x}V${b.y + HIGH}` });
		const label = svg("text", { class: "label", x: (a.x + b.x) / 2, y: deep + 14 }, cut(cable.name));

		this.edges.push({ ...cable, line: null, label });
		return [line, label];
	}

	node(row, width) {
		const spot = this.place.get(row.node), left = -width / 2 + 10;
		const words = (kind, y) => svg("text", { class: kind, x: left, y });
		const part = { row, flow: words("flow", 38), more: words("small", 54), drops: words("dropped", 70) };

		part.group = svg("g", { class: "node", role: "button", tabindex: "-1", transform: `translate(${spot.x} ${spot.y})`, "data-node": row.node },
			svg("title", {}, row.node === row.protocol ? row.node : `${row.node} (${row.protocol})`),
			svg("rect", { x: -width / 2, y: 0, width, height: HIGH, rx: row.over.length === 0 ? 0 : 8 }),
			svg("text", { x: left, y: 18 }, svg("tspan", { class: "name" }, cut(row.node)),
				svg("tspan", { class: "small" }, row.node === row.protocol ? "" : " " + cut(row.protocol))),
			part.flow, part.more, part.drops);
		part.group.addEventListener("click", () => {
			this.choose(row.node, true);
			this.open(row.node);
		});
		part.group.addEventListener("focus", () => this.choose(row.node, false));
		this.parts.set(row.node, part);
		return part.group;
	}

	choose(name, focus) {
		this.parts.get(this.chosen)?.group.setAttribute("tabindex", "-1");
		this.chosen = name;
		this.parts.get(name)?.group.setAttribute("tabindex", "0");
		if (focus)
			this.parts.get(name)?.group.focus();
	}

	key(event) {
		const way = { ArrowUp: [0, -1], ArrowDown: [0, 1], ArrowLeft: [-1, 0], ArrowRight: [1, 0] }[event.key];

		if (event.key === "Enter" || event.key === " ")
			this.open(this.chosen);
		else if (way !== undefined)
			this.choose(this.nearest(way) ?? this.chosen, true);
		else
			return;
		event.preventDefault();
	}

	/* The nearest node that way; what lies aside counts more. */
	nearest([dx, dy]) {
		const from = this.place.get(this.chosen);
		let best = null, least = Infinity;

		for (const [name, spot] of this.place) {
			const ahead = dx * (spot.x - from.x) + dy * (spot.y - from.y);
			const cost = ahead + 3 * (Math.abs(dy * (spot.x - from.x)) + Math.abs(dx * (spot.y - from.y)));

			if (ahead > 1 && cost < least) {
				least = cost;
				best = name;
			}
		}
		return best;
	}

	/* rates: a map of names to { down, up, drops, sessions }. */
	show(rates, opened) {
		for (const [name, part] of this.parts) {
			const r = rates.get(name) || { down: 0, up: 0, drops: 0, sessions: 0 };
			const flow = `▼ ${short(r.down)}  ▲ ${short(r.up)}`, dropped = r.drops > 0 ? `✖ drops ${perSecond(r.drops)}` : "";

			say(part.flow, flow);
			say(part.more, r.sessions === 1 ? "1 session" : `${whole(r.sessions)} sessions`);
			say(part.drops, dropped);
			part.group.setAttribute("class", "node" + (r.drops > 0 ? " drops" : r.down + r.up > 0 ? " busy" : "") + (name === opened ? " open" : ""));
			part.group.setAttribute("aria-label", `${name}, ${part.row.protocol}: ${perSecond(r.down)} down, ${perSecond(r.up)} up, ` +
				`${r.sessions} sessions${r.drops > 0 ? ", drops " + perSecond(r.drops) : ""}`);
		}
		for (const edge of this.edges) {
			const passed = (name) => rates.has(name) ? rates.get(name).down + rates.get(name).up : Infinity;
			const least = Math.min(passed(edge.a), passed(edge.b)), rate = Number.isFinite(least) ? least : 0;

			edge.line?.setAttribute("stroke-width", (1 + Math.log10(1 + rate) / 2).toFixed(2));
			if (edge.label !== null)
				say(edge.label, `${cut(edge.name)}: ${perSecond(rate)}`);
		}
	}
}
