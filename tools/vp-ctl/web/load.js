/* SPDX-License-Identifier: BSD-2-Clause */
/* load.js - virtual processors, or their layers' stages, and workers: the busiest first, as long a bar as they have to do. */
import { at, el, perSecond, short, table, whole } from "./dom.js";
import { ratesOf, seconds } from "./rates.js";

const MOST = 32;

function bar(share) {
	const inner = el("div");

	inner.style.width = `${Math.min(100, Math.max(0, share * 100)).toFixed(1)}%`;
	return el("div", { class: "bar" }, inner);
}

function busiest(now, then, key, load) {
	const s = then ? seconds(now, then) : 0;
	const all = now[key].map((counts, i) => ({ no: i, counts, r: ratesOf(counts, then?.[key][i], s) }));

	return all.sort((a, b) => load(b.r) - load(a.r) || a.no - b.no);
}

function put(box, head, sorted, line) {
	const rest = sorted.length - MOST;

	box.replaceChildren(table("", head, sorted.slice(0, MOST).map(line)));
	if (rest > 0)
		box.append(el("p", { class: "hint" }, `and ${whole(rest)} with less to do: vp-ctl top vps`));
}

function showVps(now, then) {
	const key = now.stages ? "stages" : "vps", sorted = busiest(now, then, key, (r) => r.messages), most = sorted[0]?.r.messages || 1;
	const who = ({ no, counts }) => now.stages ? `VP ${counts.vp}, layer ${counts.layer}` : `VP ${no}`;

	if (now.stages)
		put(at("vps-body"), ["", "messages/s", "#", "#taken/s", "#forwarded/s", "#stopped/s", "#longest queue"], sorted, (one) => [who(one),
			bar(one.r.messages / most), short(one.r.messages), short(one.r.up + one.r.down), short(one.r.forwarded), short(one.r.backpressure),
			whole(one.counts.longest_queue)]);
	else
		put(at("vps-body"), ["", "messages/s", "#", "#in/s", "#out/s", "#drops/s", "#lock waited for"], sorted, (one) => {
			const cells = [who(one), bar(one.r.messages / most), short(one.r.messages), short(one.r.handed_over), short(one.r.posted_out),
				one.r.inbox_drops > 0 ? `✖ ${short(one.r.inbox_drops)}` : "0",
				one.r.lock_taken > 0 ? `${(100 * one.r.lock_contended / one.r.lock_taken).toFixed(1)} %` : "–"];

			return Object.assign(cells, { kind: one.r.inbox_drops > 0 ? "drops" : null });
		});
}

function showWorkers(now, then) {
	const busy = (r) => (r.user_ns + r.sys_ns) / 1e9, sorted = busiest(now, then, "workers", (r) => busy(r) * 1e12 + r.messages);

	put(at("workers-body"), ["", "of a processor", "#", "#messages/s", "#sleeps/s", "#moved/s"], sorted, (one) => [`worker ${one.no}`, bar(busy(one.r)),
		`${(100 * busy(one.r)).toFixed(0)} %`, short(one.r.messages), short(one.r.sleeps), perSecond(one.r.migrations)]);
}

export function showLoad(now, then) {
	showVps(now, then);
	showWorkers(now, then);
}
