/* SPDX-License-Identifier: BSD-2-Clause */
/* rates.js - differences of two snapshots, per second; what has gone back, or came since, counts from nothing. */

const sum = (counts) => Object.values(counts).reduce((total, x) => total + x, 0);

export const seconds = (now, then) => (now.time_ns - then.time_ns) / 1e9;

export function rate(now, then, s) {
	return s > 0 && then !== undefined && now >= then ? (now - then) / s : 0;
}

/* Of each number of an object. */
export function ratesOf(now, then, s) {
	return Object.fromEntries(Object.entries(now).filter(([, x]) => typeof x === "number").map(([key, x]) => [key, rate(x, then?.[key], s)]));
}

/* A map of nodes' names to { down, up, drops, sessions }. */
export function nodeRates(now, then) {
	const before = new Map((then?.nodes || []).map((node) => [node.name, node])), s = then ? seconds(now, then) : 0;

	return new Map(now.nodes.map((node) => {
		const was = before.get(node.name);

		return [node.name, { down: rate(node.push, was?.push, s), up: rate(node.pop, was?.pop, s),
			drops: rate(sum(node.drops), was && sum(was.drops), s), sessions: Math.max(0, node.sessions_made - node.sessions_gone) }];
	}));
}
