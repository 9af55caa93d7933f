/* SPDX-License-Identifier: BSD-2-Clause */
/* hist.js - times that an application measures: percentiles, and a histogram over a logarithmic axis. */
import { el, svg, table, time, whole } from "./dom.js";

const WIDE = 520, HIGH = 96, SIDE = 24;

export const WHAT = { rtt: "from sending a message to its answer", queue: "waiting since it was due", exec: "worked on", delay: "from when it was due until consumed" };

/* Places of `now` less those of `then`: [[from, below, n], ...]. */
export function since(now, then) {
	const was = new Map((then || []).map(([from, , n]) => [from, n]));

	return now.map(([from, below, n]) => [from, below, n - (was.get(from) || 0)]).filter(([, , n]) => n > 0);
}

/* By nearest rank, the middle of the place. */
export function percentile(places, p) {
	const total = places.reduce((sum, [, , n]) => sum + n, 0);
	let seen = 0;

	for (const [from, below, n] of places) {
		seen += n;
		if (seen >= p * total)
			return time((from + below - 1) / 2);
	}
	return null;
}

/* Quarters of a power of two, each as high as it has messages. */
function picture(places, label) {
	const step = (ns) => Math.floor(Math.log2(Math.max(ns, 1)) * 4), bars = new Map();

	places.forEach(([from, , n]) => bars.set(step(from), (bars.get(step(from)) || 0) + n));
	const first = Math.min(...bars.keys()), last = Math.max(...bars.keys()) + 1, most = Math.max(...bars.values());
	const x = (steps) => SIDE + (steps - first) / (last - first) * (WIDE - 2 * SIDE);
	const image = svg("svg", { class: "hist", width: WIDE, height: HIGH + 20, viewBox: `0 0 ${WIDE} ${HIGH + 20}`, role: "img", "aria-label": label });

	for (const [at, n] of bars) {
		const high = Math.max(1, n / most * (HIGH - 6));

		image.append(svg("rect", { x: x(at) + .5, y: HIGH - high, width: Math.max(1, x(at + 1) - x(at) - 1), height: high },
			svg("title", {}, `${time(2 ** (at / 4))} to ${time(2 ** ((at + 1) / 4))}: ${whole(n)}`)));
	}
	image.append(svg("path", { class: "axis", d: `M${SIDE} ${HIGH}H${WIDE - SIDE}` }));
	const every = Math.max(1, Math.ceil((last - first) / 8));

	for (let at = first; at <= last; at += every)
		image.append(svg("text", { x: x(at), y: HIGH + 14 }, time(2 ** (at / 4))));
	return image;
}

/* A kind of time of a node, now and some seconds before. */
export function histogram(kind, now, then, span) {
	const all = now.places, late = since(all, then?.places);
	const row = (name, places) => [name, whole(places.reduce((sum, [, , n]) => sum + n, 0)),
		...[.5, .9, .99, .999].map((p) => percentile(places, p))];

	if (all.length === 0)
		return el("p", { class: "hint" }, `${kind}, ${WHAT[kind] || ""}: none yet`);
	return el("div", {}, table(`${kind}: ${WHAT[kind] || "a time"}`, ["", "#messages", "#median", "#90 %", "#99 %", "#99.9 %"],
		[row("all", all), ...(then ? [row(`last ${span} s`, late)] : [])]),
	picture(late.length !== 0 ? late : all, `${kind}, how many messages took how long; the table has its percentiles`));
}
