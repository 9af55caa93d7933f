/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * layout.js - where nodes stand: devices at the bottom, each node above what it lies over, hosts beside each other, those
 * that a cable joins next to each other.  In layers (Sugiyama, Tagawa, Toda, IEEE Transactions on Systems, Man, and
 * Cybernetics 11(2), 1981): order by the mean place of neighbours, then places by least squares.
 */

const ORDERING = 6, SWEEPS = 30;

/* The layer of each: 0 has nothing below. */
function ranks(nodes, lower) {
	const rank = new Map();
	const visit = (name, trail) => {
		if (rank.has(name) || trail.has(name))
			return rank.get(name) || 0;
		trail.add(name);
		rank.set(name, Math.max(-1, ...lower.get(name).map((low) => visit(low, trail))) + 1);
		return rank.get(name);
	};

	nodes.forEach((node) => visit(node.node, new Set()));
	return rank;
}

/* The names in the order of a walk over edges and then, from host to host, over cables. */
function walk(nodes, lower, upper, cables) {
	const order = [], seen = new Set(), ends = new Map(nodes.map((node) => [node.node, []]));

	for (const cable of cables) {
		ends.get(cable.a).push(cable.b);
		ends.get(cable.b).push(cable.a);
	}
	for (const node of nodes) {
		const hosts = [node.node];

		while (hosts.length !== 0) {
			const stack = [hosts.shift()];

			while (stack.length !== 0) {
				const name = stack.pop();

				if (seen.has(name))
					continue;
				seen.add(name);
				order.push(name);
				stack.push(...upper.get(name), ...lower.get(name));
				hosts.push(...ends.get(name));
			}
		}
	}
	return order;
}

const mean = (values, otherwise) => values.length === 0 ? otherwise : values.reduce((sum, x) => sum + x, 0) / values.length;

/* Places nearest to those wanted, in their order, neighbours apart by what their widths need: pool adjacent violators. */
function spread(row, wanted, width, gap) {
	const offset = [], blocks = [];
	let sum = 0;

	row.forEach((name, i) => {
		sum += i === 0 ? 0 : (width(row[i - 1]) + width(name)) / 2 + gap;
		offset.push(sum);
	});
	row.forEach((name, i) => {
		let block = { at: wanted[i] - offset[i], n: 1 };

		while (blocks.length !== 0 && blocks[blocks.length - 1].at > block.at) {
			const before = blocks.pop();

			block = { at: (before.at * before.n + block.at * block.n) / (before.n + block.n), n: before.n + block.n };
		}
		blocks.push(block);
	});
	return blocks.flatMap((block) => Array(block.n).fill(block.at)).map((x, i) => x + offset[i]);
}

/*
 * nodes: rows of show graph; cables: [{ a, b }]; width(name), gap.  A map of names to { x, rank }, x being the middle, and
 * the widest row's right end.
 */
export function layout(nodes, cables, width, gap) {
	const names = new Set(nodes.map((node) => node.node));
	const lower = new Map(nodes.map((node) => [node.node, node.over.filter((low) => names.has(low))]));
	const upper = new Map(nodes.map((node) => [node.node, []]));
	const rank = ranks(nodes, lower), rows = [], x = new Map();

	for (const [name, lows] of lower)
		lows.forEach((low) => upper.get(low).push(name));
	for (const name of walk(nodes, lower, upper, cables))
		(rows[rank.get(name)] ||= []).push(name);
	rows.forEach((row) => spread(row, row.map(() => 0), width, gap).forEach((at, i) => x.set(row[i], at)));
	for (let sweep = 0; sweep < SWEEPS; sweep++)
		for (const row of sweep % 2 === 0 ? rows : [...rows].reverse()) {
			const want = new Map(row.map((name) => [name, mean([...upper.get(name), ...lower.get(name)].map((near) => x.get(near)), x.get(name))]));

			if (sweep < ORDERING)
				row.sort((a, b) => want.get(a) - want.get(b));
			spread(row, row.map((name) => want.get(name)), width, gap).forEach((at, i) => x.set(row[i], at));
		}
	const left = Math.min(0, ...nodes.map((node) => x.get(node.node) - width(node.node) / 2));
	const place = new Map(nodes.map((node) => [node.node, { x: x.get(node.node) - left, rank: rank.get(node.node) }]));

	return { place, rows: rows.length, right: Math.max(0, ...nodes.map((node) => place.get(node.node).x + width(node.node) / 2)) };
}
